"""What the operator's commands need on Nova's fixtures: access as administrator, and aggregates."""

import uuid

import fixtures
import requests
from keystoneauth1 import session, token_endpoint

from tests.functional.base import PROJECT


class OperatorMixin:
    """For a `CloudTestCase`."""

    def access_of(self, module):
        """Let a command reach Nova and Placement.

        Nova's fixture knows its callers by headers, where a cloud has Keystone's tokens.
        """
        for name, value in (
            ("session_for", lambda *_: (self.as_admin(), {})),
            ("placement_for", lambda _conf: self.ledger),
        ):
            self.useFixture(fixtures.MonkeyPatch(f"{module}.{name}", value))

    def as_admin(self):
        plain = requests.Session()
        plain.headers.update(
            {
                "X-Auth-User": "admin",
                "X-User-Id": "admin",
                "X-Auth-Project-Id": PROJECT,
                "X-Roles": "reader,member,admin",
            }
        )
        auth = token_endpoint.Token(self.admin_api.base_url, "admin")
        return session.Session(auth=auth, session=plain)

    def aggregate_of(self, hosts, **values):
        """Make an aggregate with `twotier:` metadata; returns its id."""
        made = self.admin_api.post_aggregate({"aggregate": {"name": uuid.uuid4().hex}})["id"]
        self.describe(made, **values)
        for host in hosts:
            self.admin_api.add_host_to_aggregate(made, host)
        return made

    def describe(self, aggregate, **values):
        metadata = {f"twotier:{key}": str(value) for key, value in values.items()}
        body = {"set_metadata": {"metadata": metadata}}
        self.admin_api.post_aggregate_action(aggregate, body)
