"""What is asked of Keystone about trusts, and what is made of its answers."""

import pathlib
import re

import fixtures
import testtools
from keystoneauth1 import exceptions as ksa_exc
from keystoneauth1 import fixture as keystone_fixture
from requests_mock.contrib import fixture as requests_mock_fixture

from nova_twotier import conf as config
from nova_twotier.cloud.sessions import session_for
from nova_twotier.cloud.trusts import NoTrust, TrustError, Trusts, log_in

KEYSTONE = "http://keystone.test/identity"
TRUSTS = f"{KEYSTONE}/v3/OS-TRUST/trusts"
PASSWORD = f"""
[nova]
auth_type = password
auth_url = {KEYSTONE}
username = twotier
password = s3cret
user_domain_name = Default
project_name = service
project_domain_name = Default
"""
PLAIN = """
[nova]
auth_type = admin_token
endpoint = http://nova.test
token = admin
"""


class KeystoneTestCase(testtools.TestCase):
    OPTIONS = PASSWORD

    def setUp(self):
        super().setUp()
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "nova-twotier.conf")
        path.write_text(self.OPTIONS)
        self.conf = config.load(["--config-file", str(path)], "test")
        self.session, _options = session_for(self.conf, "nova")
        self.keystone = self.useFixture(requests_mock_fixture.Fixture())
        self.keystone.get(
            re.compile(f"^{KEYSTONE}/?$"),
            json={"versions": {"values": [keystone_fixture.V3Discovery(f"{KEYSTONE}/v3")]}},
        )
        self.log_in_answers("manager-token")

    def log_in_answers(self, token, **answer):
        body = keystone_fixture.V3Token(user_id="manager")
        self.login = self.keystone.post(
            f"{KEYSTONE}/v3/auth/tokens",
            **(answer or {"json": body, "headers": {"X-Subject-Token": token}}),
        )


class TestCreation(KeystoneTestCase):
    def setUp(self):
        super().setUp()
        self.trusts = Trusts(self.session, ["member", "reader"])

    def create(self):
        return self.trusts.create("alices-token", "alice", "demo", "job-uuid")

    def test_asked_with_the_owners_token(self):
        asked = self.keystone.post(TRUSTS, json={"trust": {"id": "t1"}}, status_code=201)
        self.assertEqual("t1", self.create())
        self.assertEqual("alices-token", asked.last_request.headers["X-Auth-Token"])
        self.assertEqual(
            {
                "trust": {
                    "trustor_user_id": "alice",
                    "trustee_user_id": "manager",
                    "project_id": "demo",
                    "impersonation": True,
                    "roles": [{"name": "member"}, {"name": "reader"}],
                    "nova_twotier_job": "job-uuid",
                }
            },
            asked.last_request.json(),
        )

    def test_refused(self):
        for status in (401, 403, 404):
            self.keystone.post(TRUSTS, status_code=status)
            self.assertRaises(NoTrust, self.create)

    def test_keystone_is_down(self):
        for answer in ({"status_code": 503}, {"exc": ksa_exc.ConnectFailure}):
            self.keystone.post(TRUSTS, **answer)
            error = self.assertRaises(TrustError, self.create)
            self.assertNotIsInstance(error, NoTrust)

    def test_the_manager_cannot_log_in(self):
        for status, words in (
            (401, "Keystone refused the credentials of [nova]: check username, password"),
            (503, "the user of [nova] cannot log in"),
        ):
            self.log_in_answers("", status_code=status)
            error = self.assertRaises(TrustError, self.create)
            self.assertNotIsInstance(error, NoTrust)
            self.assertIn(words, str(error))


class TestListing(KeystoneTestCase):
    def test_those_of_the_manager(self):
        listed = [{"id": "t1", "nova_twotier_job": "job-uuid"}, {"id": "t2"}]
        asked = self.keystone.get(TRUSTS, json={"trusts": listed})
        given = Trusts(self.session, []).given()
        self.assertEqual([("t1", "job-uuid"), ("t2", None)], given)
        self.assertEqual(["manager"], asked.last_request.qs["trustee_user_id"])
        self.assertEqual("manager-token", asked.last_request.headers["X-Auth-Token"])

    def test_keystone_does_not_tell(self):
        for answer in ({"status_code": 403}, {"exc": ksa_exc.ConnectFailure}):
            self.keystone.get(TRUSTS, **answer)
            self.assertRaises(TrustError, Trusts(self.session, []).given)


class TestDeletion(KeystoneTestCase):
    def delete(self):
        Trusts(self.session, []).delete("t1")

    def test_by_the_manager(self):
        asked = self.keystone.delete(f"{TRUSTS}/t1", status_code=204)
        self.delete()
        self.assertEqual("manager-token", asked.last_request.headers["X-Auth-Token"])

    def test_gone_already(self):
        self.keystone.delete(f"{TRUSTS}/t1", status_code=404)
        self.delete()

    def test_keystone_is_down(self):
        self.keystone.delete(f"{TRUSTS}/t1", status_code=503)
        error = self.assertRaises(TrustError, self.delete)
        self.assertNotIsInstance(error, NoTrust, "it is asked again")

    def test_not_allowed(self):
        self.keystone.delete(f"{TRUSTS}/t1", status_code=403)
        error = self.assertRaises(NoTrust, self.delete)
        self.assertIn("twotier-manage trust sweep", str(error))


class TestLogIn(KeystoneTestCase):
    def log_in(self):
        return log_in(self.conf, self.session, "t1")

    def test_for_the_trust_and_nothing_else(self):
        self.log_in_answers("trust-token")
        auth = self.log_in()
        self.assertEqual("trust-token", auth.get_token(self.session))
        asked = self.login.last_request.json()["auth"]
        self.assertEqual({"OS-TRUST:trust": {"id": "t1"}}, asked["scope"])
        self.assertEqual("twotier", asked["identity"]["password"]["user"]["name"])

    def test_broken(self):
        self.log_in_answers("", status_code=403)
        self.assertRaises(NoTrust, self.log_in)

    def test_a_trust_that_is_gone(self):
        """Keystone answers as if the password were wrong, which it is not."""

        def refuse_trusts(request, answer):
            gone = "OS-TRUST:trust" in request.json()["auth"]["scope"]
            answer.status_code = 401 if gone else 201
            answer.headers["X-Subject-Token"] = "manager-token"
            return keystone_fixture.V3Token(user_id="manager")

        self.keystone.post(f"{KEYSTONE}/v3/auth/tokens", json=refuse_trusts)
        self.assertRaises(NoTrust, self.log_in)

    def test_the_credentials_are_refused_while_the_session_still_has_a_token(self):
        """No job fails of that."""
        self.session.get_token()
        self.log_in_answers("", status_code=401)
        error = self.assertRaises(TrustError, self.log_in)
        self.assertNotIsInstance(error, NoTrust)
        self.assertIn("refused the credentials of [nova]", str(error))

    def test_keystone_is_down(self):
        no_keystone = {"status_code": 404, "text": "no such site"}
        for answer in ({"status_code": 503}, {"exc": ksa_exc.ConnectFailure}, no_keystone):
            self.log_in_answers("", **answer)
            error = self.assertRaises(TrustError, self.log_in)
            self.assertNotIsInstance(error, NoTrust)


class TestWithoutPassword(KeystoneTestCase):
    OPTIONS = PLAIN

    def test_it_is_said(self):
        error = self.assertRaises(TrustError, log_in, self.conf, self.session, "t1")
        self.assertIn("[nova]auth_type takes no trusts", str(error))
