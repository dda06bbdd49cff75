"""The whole application on a SQLite database, as a WSGI server would call it."""

import pathlib
import uuid

import fixtures
import testtools
from falcon import testing
from keystoneauth1 import fixture as tokens
from keystoneauth1.access import AccessInfoV3
from keystonemiddleware.fixture import AuthTokenFixture

from nova_twotier import conf as config
from nova_twotier.api.app import build
from nova_twotier.api.site import Site
from nova_twotier.cloud.trusts import Given
from nova_twotier.db import terms
from nova_twotier.db.models import Event, Leader, Place
from nova_twotier.db.store import open_store
from tests.new_databases import CopiedSchema

KEYSTONE = "http://keystone.test/v3"
KEYSTONE_OPTIONS = f"""
[keystone_authtoken]
auth_type = password
auth_url = {KEYSTONE}
www_authenticate_uri = {KEYSTONE}
username = twotier
password = s3cret
user_domain_name = Default
project_name = service
project_domain_name = Default
service_token_roles_required = true
"""

#: In the Host header of requests.
HOST = "localhost"
#: Seconds; longer than any test.
LEASE = 3600

OTHER = "0f5ac7ae-5a3e-4d43-8f5c-5b1f3ab1b2c3"


class ApiCase(testtools.TestCase):
    """Requests are made by `alice:demo`, a member, unless the test says by whom."""

    AUTH = "auth_strategy = noauth"
    OPTIONS = ""

    def setUp(self):
        super().setUp()
        self.logged = self.useFixture(fixtures.FakeLogger())
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.store, self.application = self.make()
        if self.store is not None:
            self.begin("default")
        self.client = testing.TestClient(lambda environ, start: self.application(environ, start))

    def make(self):
        path = self.directory / "nova-twotier.conf"
        path.write_text(
            f"[DEFAULT]\nstate_path = {self.directory}\n[coordination]\nlease = {LEASE}\n"
            f"[api]\n{self.AUTH}\n{self.OPTIONS}\n"
        )
        conf = config.load(["--config-file", str(path)], "twotier-api")
        with CopiedSchema():
            store = open_store(conf)
        self.addCleanup(store.close)
        return store, build(conf, store)

    def ask(self, method, path, by="alice:demo", **rest):
        headers = {"X-Auth-Token": by} if by else {}
        headers |= rest.pop("headers", {})
        rest.setdefault("host", HOST)
        return self.client.simulate_request(method, path, headers=headers, **rest)

    def get(self, path, by="alice:demo", **rest):
        return self.ask("GET", path, by, **rest)

    def answered(self, status, answer):
        """The body of an answer that must have this status."""
        self.assertEqual(status, answer.status_code, answer.text)
        return answer.json

    def refused(self, status, code, answer):
        """The details of a refusal, in the one format there is."""
        body = self.answered(status, answer)
        self.assertEqual(["errors"], list(body))
        for error in body["errors"]:
            self.assertEqual((status, f"twotier.{code}"), (error["status"], error["code"]))
            self.assertEqual(answer.headers["x-openstack-request-id"], error["request_id"])
            self.assertTrue(error["title"])
        return [error["detail"] for error in body["errors"]]

    def submit(self, by="alice:demo", **body):
        return self.answered(201, self.ask("POST", "/v1/jobs", by, json={"size": 1, **body}))

    def begin(self, pool):
        """A manager is at work."""
        terms.begin(self.store, pool, "manager")

    def last_beat(self, at):
        """The manager of the default pool has stopped; its last heartbeat was at this time."""
        with self.store.transaction() as session:
            session.get(Leader, "default").renewed_at = at

    def change(self, job, **values):
        """What the manager does to a job."""
        with self.store.transaction() as session:
            row = session.merge(self.store.find(job["uuid"]))
            for name, value in values.items():
                setattr(row, name, value)

    def hold_slot(self, job, process, tier="fg", host="host1", since=0.0, until=None, slot=0):
        """A process of a job holds a slot; returns the id of its server."""
        server = str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{job['uuid']} {process}"))
        with self.store.transaction() as session:
            row = session.merge(self.store.find(job["uuid"]))
            row.started_at = since if row.started_at is None else row.started_at
            session.add(
                Place(
                    job=row.number,
                    process=process,
                    server=server,
                    host=host,
                    tier=tier,
                    slot=slot,
                    since=since,
                    until=until,
                )
            )
        return server

    def happen(self, job, kind, detail="", at=0.0, reason=None):
        with self.store.transaction() as session:
            number = self.store.find(job["uuid"]).number if job else None
            session.add(Event(at=at, job=number, kind=kind, detail=detail, reason=reason))


class FakeTrusts:
    """Stands in for Keystone's trusts; `refusal` is raised instead of making one."""

    def __init__(self):
        self.made, self.deleted = [], []
        #: The job of each that there is, or None if it is not ours.
        self.there = {}
        self.refusal = None

    def create(self, token, user, project, job):
        if self.refusal:
            raise self.refusal
        self.made.append((token, user, project))
        trust = f"trust-{len(self.made)}"
        self.there[trust] = job
        return trust

    def given(self):
        return [Given(trust, job) for trust, job in self.there.items()]

    def delete(self, trust):
        self.deleted.append(trust)
        self.there.pop(trust, None)


class FakeLogins:
    """Stands in for logins at Keystone: it lets everybody into the project demo."""

    def __init__(self):
        token = tokens.V3Token(user_id="alice", user_name="Alice")
        token.set_project_scope(id="demo", name="demo")
        token.add_role(name="member")
        self._access = AccessInfoV3(token, auth_token="token")

    def with_password(self, *_):
        return self._access

    def with_application_credential(self, *_):
        return self._access

    def with_token(self, *_):
        return self._access

    def projects(self, _token):
        return [{"id": "demo", "name": "demo", "domain_id": "default", "enabled": True}]


class KeystoneCase(ApiCase):
    """The same behind keystonemiddleware; `self.keystone` knows the tokens."""

    AUTH = "auth_strategy = keystone\nmetrics = true"
    OPTIONS = KEYSTONE_OPTIONS

    def setUp(self):
        super().setUp()
        self.keystone = self.useFixture(AuthTokenFixture())
        self.trusts = FakeTrusts()
        self.useFixture(fixtures.MockPatchObject(Site, "trusts", self.trusts))

    def token_for(self, *roles, project_id=None, system=False, domain_id=None):
        """A token of alice's with these roles in a project, in the system, in a domain."""
        token = tokens.V3Token(user_id="alice", user_name="Alice")
        if project_id:
            token.set_project_scope(id=project_id)
        if domain_id:
            token.set_domain_scope(id=domain_id)
        if system:
            token.set_system_scope()
        for role in roles:
            token.add_role(name=role)
        return self.keystone.add_token(token, token_id=uuid.uuid4().hex)
