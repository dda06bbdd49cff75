"""Logins at the board by Keystone's single sign-on."""

import html
import re
from urllib.parse import urlencode

import requests
import testtools

from nova_twotier import conf as config
from nova_twotier.api import app
from nova_twotier.api.websso import Provider
from nova_twotier.conf import ConfigError
from tests.unit.api.case import KEYSTONE, KEYSTONE_OPTIONS, ApiCase
from tests.unit.api.test_board import TOKENS, LoginCase
from tests.unit.logs import EverythingLogged

ORIGIN = "http://keystone.test"
PROJECTS = f"{KEYSTONE}/auth/projects"
UNSCOPED = "gAAAAA-unscoped"
WEBSSO = "board_websso = acme/openid:ACME Corporation,saml2:University\n"


class SingleSignOnCase(LoginCase):
    OPTIONS = f"board = true\n{WEBSSO}login_limit = 4/hour\n{KEYSTONE_OPTIONS}"

    def land(self, origin=ORIGIN, path="/board", **form):
        """Keystone has the browser post a form."""
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        headers |= {"Origin": origin} if origin else {}
        return self.ask("POST", path, None, headers=headers, body=urlencode(form))

    def projects(self, token=UNSCOPED):
        return self.ask("POST", "/v1/login/projects", None, json={"token": token})


class TestChoices(SingleSignOnCase):
    def test_the_page_knows_them(self):
        federation = f"{KEYSTONE}/auth/OS-FEDERATION"
        self.assertEqual(
            [
                {
                    "name": "ACME Corporation",
                    "url": f"{federation}/identity_providers/acme/protocols/openid/websso",
                },
                {"name": "University", "url": f"{federation}/websso/saml2"},
            ],
            self.get("/board/settings.json", None).json["websso"],
        )


class TestLanding(SingleSignOnCase):
    def test_the_page_has_the_token_and_only_its_scripts(self):
        answer = self.land(token=UNSCOPED)
        page = self.get("/board", None)
        self.assertEqual(200, answer.status_code)
        self.assertEqual(
            page.text.replace("<body>", f'<body data-token="{UNSCOPED}">'), answer.text
        )
        self.assertEqual("no-store", answer.headers["cache-control"])
        self.assertNotIn("etag", answer.headers)
        self.assertNotIn("set-cookie", answer.headers)
        for name in ("content-security-policy", "referrer-policy", "content-type"):
            self.assertEqual(page.headers[name], answer.headers[name])

    def test_a_token_that_contains_markup(self):
        token = "\"><script>alert(1)</script>'&"
        text = self.land(token=token).text
        self.assertNotIn("<script>", text)
        [found] = re.findall('data-token="([^"]*)"', text)
        self.assertEqual(token, html.unescape(found))

    def test_only_keystone_sends_here(self):
        for origin in (
            *(None, "null", "https://attacker.test", "http://keystone.test.attacker.test"),
            *("https://keystone.test", "http://keystone.test:8080", "http://localhost"),
        ):
            answer = self.land(origin, token="of-an-attacker")
            self.refused(403, "login.wrong_origin", answer)
            self.assertNotIn("of-an-attacker", answer.text)

    def test_forms_without_a_token(self):
        for form in ({}, {"token": ""}, {"token": "a b"}, {"token": "é"}, {"tokens": "a"}):
            self.refused(400, "request.invalid", self.land(**form))

    def test_a_form_with_more_fields_than_keystone_sends(self):
        fields = {f"field{number}": "x" for number in range(10)}
        answer = self.land(token=UNSCOPED, **fields)
        self.assertEqual(
            ["token: Keystone sent none"], self.refused(400, "request.invalid", answer)
        )

    def test_a_slash_at_the_end(self):
        answer = self.land(path="/board/", token=UNSCOPED)
        self.assertEqual(308, answer.status_code)
        self.assertNotIn(UNSCOPED, answer.headers["location"])

    def test_the_token_is_not_logged(self):
        logged = self.useFixture(EverythingLogged())
        self.land(token=UNSCOPED)
        self.mocked.get(PROJECTS, json={"projects": []})
        self.answered(200, self.projects())
        self.answered(200, self.login({"token": UNSCOPED, "project_id": "d1"}))
        self.assertNotIn(UNSCOPED, logged.output)


class TestProjects(SingleSignOnCase):
    def test_by_name(self):
        found = [
            {"id": each, "name": name, "domain_id": "default", "enabled": True, "links": {}}
            for each, name in (("p2", "shop"), ("p1", "demo"))
        ]
        self.mocked.get(PROJECTS, json={"projects": found, "links": {}})
        answer = self.projects()
        self.assertEqual(
            [
                {"id": "p1", "name": "demo", "domain_id": "default"},
                {"id": "p2", "name": "shop", "domain_id": "default"},
            ],
            self.answered(200, answer)["projects"],
        )
        self.assertEqual("no-store", answer.headers["cache-control"])
        self.assertEqual(UNSCOPED, self.mocked.last_request.headers["X-Auth-Token"])

    def test_keystone_does_not_know_the_token(self):
        self.mocked.get(PROJECTS, status_code=401, json={"error": {}})
        self.refused(401, "login.refused", self.projects())

    def test_keystone_is_down(self):
        self.mocked.get(PROJECTS, exc=requests.ConnectionError)
        self.refused(503, "service.unavailable", self.projects())

    def test_they_count_as_logins(self):
        self.mocked.get(PROJECTS, json={"projects": []})
        for number in range(4):
            self.answered(200, self.projects(f"token{number}"))
        self.refused(429, "login.too_often", self.projects())


class TestToken(SingleSignOnCase):
    def test_it_is_exchanged_for_one_of_the_project(self):
        answered = self.answered(200, self.login({"token": UNSCOPED, "project_id": "d1"}))
        self.assertEqual("the-token", answered["token"])
        self.assertEqual({"methods": ["token"], "token": {"id": UNSCOPED}}, self.sent["identity"])
        self.assertEqual({"project": {"id": "d1"}}, self.sent["scope"])

    def test_it_has_ended(self):
        self.mocked.post(TOKENS, status_code=401, json={"error": {}})
        answer = self.login({"token": UNSCOPED, "project_id": "d1"})
        self.refused(401, "login.refused", answer)


class TestOff(LoginCase):
    def test_nobody_lands(self):
        self.assertEqual([], self.get("/board/settings.json", None).json["websso"])
        self.refused(405, "request.method_not_allowed", self.ask("POST", "/board", None))


class TestOrigins(testtools.TestCase):
    def test_as_browsers_write_them(self):
        for url, origin in (
            ("https://keystone.example.org/v3/auth", "https://keystone.example.org"),
            ("https://Keystone.Example.Org:443/identity", "https://keystone.example.org"),
            ("http://keystone:80/", "http://keystone"),
            ("https://keystone:80/", "https://keystone:80"),
            ("http://[2001:DB8::1]:5000/v3", "http://[2001:db8::1]:5000"),
        ):
            self.assertEqual(origin, Provider("x", url).origin)


class TestMistakes(ApiCase):
    def make(self):
        return None, None

    def refused_options(self, options, keystone=KEYSTONE_OPTIONS):
        path = self.directory / "wrong.conf"
        path.write_text(f"[api]\nboard = true\n{options}\n{keystone}")
        conf = config.load(["--config-file", str(path)], "twotier-api")
        return str(self.assertRaises(ConfigError, app.check, conf))

    def test_they_are_said_at_the_start(self):
        for way in ("a/b/c", "../openid", "open id", "openid?x=1"):
            said = self.refused_options(f"board_websso = {way}:ACME")
            self.assertIn(f"[api]board_websso has {way!r}", said)

    def test_keystone_has_no_address(self):
        nowhere = KEYSTONE_OPTIONS.replace(f"www_authenticate_uri = {KEYSTONE}", "")
        self.assertIn("set [api]board_websso_url", self.refused_options(WEBSSO, nowhere))
        for url in ("javascript:alert(1)", "keystone:5000", "https://", "http://[", "http://a?b"):
            said = self.refused_options(f"{WEBSSO}board_websso_url = {url}")
            self.assertIn("Keystone's address for browsers", said)
