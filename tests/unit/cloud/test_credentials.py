"""What is said when Keystone, or a service, refuses the credentials of the configuration."""

import pathlib
import re

import fixtures
import requests_mock
import testtools
from keystoneauth1 import fixture as keystone_fixture
from requests_mock.contrib import fixture as requests_mock_fixture

from nova_twotier import conf as config
from nova_twotier.audit.nova import Nova
from nova_twotier.cloud import qos
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.sessions import placement_for, session_for
from nova_twotier.ledger.placement import PlacementError

KEYSTONE = "http://keystone.test/v3"
SERVICE = "http://service.test"
SECTION = f"""
[%s]
auth_type = password
auth_url = {KEYSTONE}
username = twotier
password = wrong
user_domain_name = Default
project_name = service
project_domain_name = Default
endpoint_override = {SERVICE}
"""
MANAGER = "[manager]\nflavor = f\nimage = i\n"
#: As Keystone answers: each time with another id.
REFUSAL = {"error": {"code": 401, "message": "The request you have made requires authentication."}}


class TestRefusedCredentials(testtools.TestCase):
    def setUp(self):
        super().setUp()
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "nova-twotier.conf")
        path.write_text(SECTION % "nova" + SECTION % "placement" + MANAGER)
        self.conf = config.load(["--config-file", str(path)], "test")
        self.http = self.useFixture(requests_mock_fixture.Fixture())
        version = keystone_fixture.V3Discovery(KEYSTONE)
        self.http.get(re.compile(f"^{KEYSTONE}/?$"), json={"version": version})

    def keystone_refuses(self):
        self.http.post(
            f"{KEYSTONE}/auth/tokens",
            status_code=401,
            json=REFUSAL,
            headers={"X-OpenStack-Request-ID": "req-secret"},
        )

    def service_refuses(self):
        token = keystone_fixture.V3Token()
        token.set_project_scope()
        token.add_service("network").add_standard_endpoints(public=SERVICE)
        headers = {"X-Subject-Token": "t"}
        self.http.post(f"{KEYSTONE}/auth/tokens", status_code=201, json=token, headers=headers)
        self.http.register_uri(
            requests_mock.ANY, re.compile(f"^{SERVICE}"), status_code=401, text="<html>req-secret"
        )

    def refusals(self):
        """What everything that talks to a service says: the section, and the error."""
        cloud = Cloud(self.conf)
        session, options = session_for(self.conf, "nova")
        neutron = qos.Qos(session, self.conf.network)
        return [
            ("nova", self.assertRaises(CloudError, cloud.check)),
            ("nova", self.assertRaises(CloudError, cloud.servers)),
            ("nova", self.assertRaises(CloudError, Nova(session, **options).shapes)),
            ("nova", self.assertRaises(CloudError, lambda: neutron.available)),
            (
                "placement",
                self.assertRaises(PlacementError, placement_for(self.conf).get, "/traits"),
            ),
        ]

    def check(self, who):
        for section, error in self.refusals():
            self.assertTrue(error.login)
            self.assertRegex(
                str(error),
                rf"^({who}) refused the credentials of \[{section}\]: check username, password, "
                rf".* in section \[{section}\] of the configuration, or the options of its "
                "auth_type$",
            )

    def test_by_keystone(self):
        self.keystone_refuses()
        self.check("Keystone")

    def test_by_the_service(self):
        self.service_refuses()
        self.check("Nova|Neutron|Placement")

    def test_a_request_is_worth_a_retry_once_they_are_right(self):
        self.keystone_refuses()
        self.assertTrue(self.assertRaises(CloudError, Cloud(self.conf).servers).passing)
