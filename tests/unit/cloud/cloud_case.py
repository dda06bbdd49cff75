"""A Cloud whose Nova and Keystone answer as the test says."""

import pathlib
import re
import types

import fixtures
import testtools
from keystoneauth1 import fixture as keystone_fixture
from requests_mock.contrib import fixture as requests_mock_fixture

from nova_twotier import conf as config
from nova_twotier.cloud.nova import Cloud
from nova_twotier.core.jobs import Job as CoreJob
from tests.unit.logs import EverythingLogged

KEYSTONE = "http://keystone.test"
TOKENS = f"{KEYSTONE}/v3/auth/tokens"
TRUSTS = f"{KEYSTONE}/v3/OS-TRUST/trusts"
NOVA = "http://nova.test/v2.1"
PASSWORD = "s3cret-password"
OPTIONS = f"""
[DEFAULT]
debug = true
[nova]
auth_type = password
auth_url = {KEYSTONE}/v3
username = twotier
password = {PASSWORD}
user_domain_name = Default
project_name = service
project_domain_name = Default
endpoint_override = {NOVA}
[manager]
flavor = slot
image = 8c0d7d7e-6f5e-4c3c-9a3b-1f2e3d4c5b6a
"""
SLOT = {"id": "f1", "name": "slot", "extra_specs": {"resources:CUSTOM_TWOTIER_SLOT": "1"}}
JOB = "0d5b1a8e-4a39-4b0f-9d0e-4d7a8e1f2c3b"


class CloudCase(testtools.TestCase):
    """The manager is user `manager` of project `service`; `self.log` has everything there is."""

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(EverythingLogged())
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "nova-twotier.conf")
        path.write_text(OPTIONS)
        self.conf = config.load(["--config-file", str(path)], "test")
        self.http = self.useFixture(requests_mock_fixture.Fixture())
        version = keystone_fixture.V3Discovery(f"{KEYSTONE}/v3")
        self.http.get(re.compile(f"^{KEYSTONE}/v3/?$"), json={"version": version})
        self.http.post(TOKENS, json=self._log_in)
        #: What Keystone answers to who logs in by a trust.
        self.trust_status = 201
        self.http.get(f"{NOVA}/flavors/detail", json={"flavors": [SLOT]})
        self.http.get(re.compile(f"^{NOVA}/images/"), json={"image": {"metadata": {}}})
        self.http.get(f"{NOVA}/os-server-groups", json={"server_groups": []})
        group = {"server_group": {"id": "g1", "name": "group"}}
        self.http.post(f"{NOVA}/os-server-groups", json=group)
        self.booted = self.http.post(f"{NOVA}/servers", json={"server": {"id": "s1"}})
        self.cloud = Cloud(self.conf)

    def _log_in(self, request, context):
        by_trust = "OS-TRUST:trust" in request.json()["auth"]["scope"]
        context.status_code = self.trust_status if by_trust else 201
        context.headers["X-Subject-Token"] = "trust-token" if by_trust else "managers-token"
        token = keystone_fixture.V3Token(user_id="manager")
        token.set_project_scope(id="service")
        return token

    @staticmethod
    def job(**values):
        nothing = dict.fromkeys(("image", "flavor", "networks", "key_name", "trust_id", "peers"))
        core = CoreJob(1, 2, 0.0, values.pop("cpu", (0.5, 0.5)))
        given = {**nothing, "core": core, "project_id": "p", "user_id": "u", **values}
        return types.SimpleNamespace(uuid=JOB, number=1, size=2, mbps=0, **given)
