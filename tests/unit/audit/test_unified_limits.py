"""Which of Keystone's registered limits are Nova's."""

import testtools
from keystoneauth1 import fixture, session
from keystoneauth1.identity import v3
from requests_mock.contrib.fixture import Fixture

from nova_twotier.audit import unified_limits
from nova_twotier.cloud.errors import CloudError

KEYSTONE = "http://keystone/v3"
LIMITS = f"{KEYSTONE}/registered_limits"


class TestRegistered(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.http = self.useFixture(Fixture())
        self.http.get(KEYSTONE, json={"version": fixture.V3Discovery(KEYSTONE)})
        token = fixture.V3Token()
        token.set_project_scope()
        for kind, identifier in (("identity", "k"), ("compute", "n")):
            service = token.add_service(kind, id=identifier)
            for region in ("north", "south"):
                service.add_standard_endpoints(public=f"http://{kind}", region=region)
        self.http.post(f"{KEYSTONE}/auth/tokens", json=token, headers={"X-Subject-Token": "t"})
        auth = v3.Password(KEYSTONE, user_id="u", password="p", project_id="p")
        self.session = session.Session(auth)

    def test_those_of_its_service_and_region(self):
        limits = [{"resource_name": "servers", "default_limit": 10, "region_id": "south"}]
        asked = self.http.get(LIMITS, json={"registered_limits": limits})
        options = {"service_type": "compute", "interface": "public", "region_name": "south"}
        self.assertEqual({"servers": 10}, unified_limits.registered(self.session, options))
        self.assertEqual({"service_id": ["n"], "region_id": ["south"]}, asked.last_request.qs)

    def refused(self, **options):
        error = self.assertRaises(
            CloudError, unified_limits.registered, self.session, {"interface": "public", **options}
        )
        return str(error)

    def test_keystone_refuses(self):
        self.http.get(LIMITS, status_code=403)
        self.assertIn("Keystone does not tell the limits of Nova", self.refused())

    def test_no_nova_in_the_catalog(self):
        self.assertIn("compute service in west region not found", self.refused(region_name="west"))
