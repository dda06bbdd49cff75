"""Tokens of Keystone, through keystonemiddleware."""

import base64
import sys
from unittest import mock

import requests
import requests_mock
from keystoneauth1 import fixture as keystone_fixture

from nova_twotier.conf import ConfigError
from tests.unit.api.case import KEYSTONE, KEYSTONE_OPTIONS, ApiCase, KeystoneCase
from tests.unit.logs import EverythingLogged

PUBLIC = ("/", "/v1", "/v1/", "/v1/openapi.json", "/healthcheck", "/metrics")


class TestTokens(KeystoneCase):
    def test_a_member_of_a_project(self):
        job = self.submit(self.token_for("member", "reader", project_id="demo"))
        self.assertEqual(("demo", "alice"), (job["project_id"], job["user_id"]))
        path = f"/v1/jobs/{job['uuid']}"
        reader = self.token_for("reader", project_id="demo")
        self.answered(200, self.get(path, reader))
        self.refused(403, "request.forbidden", self.ask("DELETE", path, reader))
        outsider = self.token_for("member", "reader", project_id="other")
        self.refused(404, "job.not_found", self.ask("DELETE", path, outsider))
        self.answered(202, self.ask("DELETE", path, self.token_for("admin", project_id="other")))

    def test_the_whole_system(self):
        job = self.submit(self.token_for("member", project_id="demo"))
        reader = self.token_for("reader", system=True)
        listed = self.answered(200, self.get("/v1/jobs?all_projects=true", reader))
        self.assertEqual([job["uuid"]], [each["uuid"] for each in listed["jobs"]])
        path = f"/v1/jobs/{job['uuid']}"
        self.answered(200, self.get(path, reader))
        self.refused(403, "request.forbidden", self.ask("DELETE", path, reader))
        [detail] = self.refused(400, "request.invalid", self.get("/v1/jobs", reader))
        self.assertIn("all_projects=true", detail)
        administrator = self.token_for("admin", "member", "reader", system=True)
        self.answered(202, self.ask("DELETE", path, administrator))
        answer = self.ask("POST", "/v1/jobs", administrator, json={"size": 1})
        self.refused(403, "request.forbidden", answer)

    def test_tokens_for_no_project(self):
        for token in (self.token_for("admin", "member"), self.token_for("admin", domain_id="d")):
            for path in ("/v1/jobs", "/v1/jobs?all_projects=true", "/v1/queue", "/v1/hosts"):
                [detail] = self.refused(403, "request.forbidden", self.get(path, token))
                self.assertIn("ask Keystone for one that is scoped to a project", detail)

    def test_without_a_valid_token(self):
        for token in (None, "", "nonsense"):
            answer = self.get("/v1/jobs", token)
            self.refused(401, "request.unauthorized", answer)
            self.assertEqual(f'Keystone uri="{KEYSTONE}"', answer.headers["www-authenticate"])

    def test_headers_of_an_identity_do_not_help(self):
        headers = {
            "X-Identity-Status": "Confirmed",
            "X-User-Id": "alice",
            "X-Project-Id": "demo",
            "X-Roles": "admin",
        }
        for path in ("/v1/jobs", "/v1//jobs", "//v1/jobs", "/v1/jobs/", "/v1/openapi.json/jobs"):
            answer = self.get(path, None, headers=headers)
            self.refused(401, "request.unauthorized", answer)

    def test_what_needs_no_token(self):
        for path in PUBLIC:
            self.assertEqual(200, self.get(path, None).status_code, path)

    def test_no_secrets_in_the_log(self):
        logged = self.useFixture(EverythingLogged())
        token = self.token_for("member", project_id="demo")
        user_data = base64.b64encode(b"the key of the guest").decode()
        self.submit(token, user_data=user_data)
        self.refused(
            400,
            "request.invalid",
            self.ask("POST", "/v1/jobs", token, json={"user_data": user_data}),
        )
        self.get("/v1/jobs", "nonsense-token")
        self.assertIn("twotier:jobs:create", logged.output)
        for secret in (token, "nonsense-token", "s3cret", user_data):
            self.assertNotIn(secret, logged.output)


class TestDelayedDecision(KeystoneCase):
    """The middleware lets requests pass that it has not confirmed."""

    OPTIONS = f"{KEYSTONE_OPTIONS}\ndelay_auth_decision = true"

    def test_only_who_is_confirmed(self):
        path = "/v1/jobs?all_projects=true"
        for token in (None, "nonsense"):
            self.refused(401, "request.unauthorized", self.get(path, token))
        self.answered(200, self.get(path, self.token_for("admin", project_id="demo")))

    def test_headers_of_an_identity_do_not_help(self):
        headers = {"X-Identity-Status": "Confirmed", "X-Project-Id": "demo", "X-Roles": "admin"}
        self.refused(401, "request.unauthorized", self.get("/v1/jobs", None, headers=headers))


class TestKeystoneIsDown(ApiCase):
    AUTH, OPTIONS = KeystoneCase.AUTH, KeystoneCase.OPTIONS

    def test_it_is_said(self):
        with requests_mock.Mocker() as mocked:
            mocked.register_uri(requests_mock.ANY, requests_mock.ANY, exc=requests.ConnectionError)
            answer = self.get("/v1/jobs", "some-token")
            [detail] = self.refused(503, "request.service_unavailable", answer)
            self.assertIn("Keystone, does not answer", detail)
            self.assertEqual("5", answer.headers["retry-after"])
            self.assertEqual(200, self.get("/v1", None).status_code)


class TestWrongPassword(ApiCase):
    AUTH, OPTIONS = KeystoneCase.AUTH, KeystoneCase.OPTIONS

    def test_the_log_names_the_section(self):
        version = keystone_fixture.V3Discovery(KEYSTONE)
        with requests_mock.Mocker() as mocked:
            mocked.get(KEYSTONE, json={"version": version})
            mocked.post(f"{KEYSTONE}/auth/tokens", status_code=401, json={"error": {}})
            answer = self.get("/v1/jobs", "some-token")
        self.refused(503, "request.service_unavailable", answer)
        said = "Keystone refused the credentials of [keystone_authtoken]: check username, password"
        self.assertEqual(1, self.logged.output.count(said))
        self.assertNotIn("Traceback", self.logged.output)


class TestNotConfigured(ApiCase):
    AUTH = "auth_strategy = keystone"

    def make(self):
        return None, None

    def test_it_is_said_at_the_start(self):
        error = self.assertRaises(ConfigError, super().make)
        self.assertIn("[keystone_authtoken] has no auth_type", str(error))


class TestIncomplete(TestNotConfigured):
    OPTIONS = "[keystone_authtoken]\nauth_type = password"

    def test_it_is_said_at_the_start(self):
        error = self.assertRaises(ConfigError, ApiCase.make, self)
        self.assertIn("not given: auth_url", str(error))


class TestNoMemcachedClient(TestNotConfigured):
    OPTIONS = f"{KEYSTONE_OPTIONS}\nmemcached_servers = localhost:11211"

    def test_it_is_said_at_the_start(self):
        with mock.patch.dict(sys.modules, {"memcache": None}):
            sys.modules.pop("oslo_cache._memcache_pool", None)
            error = self.assertRaises(ConfigError, ApiCase.make, self)
        self.assertIn("install python-memcached", str(error))
