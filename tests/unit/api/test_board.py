"""The board's files as they are served, and its logins."""

import hashlib
import pathlib
import re
import time
from unittest import mock
from urllib.parse import urlsplit

import jsonschema
import requests
from keystoneauth1 import fixture as tokens
from requests_mock.contrib import fixture as requests_mock_fixture

from nova_twotier import conf as config
from nova_twotier.api import app, board, login_schemas
from nova_twotier.conf import ConfigError
from tests.unit.api.case import KEYSTONE, KEYSTONE_OPTIONS, ApiCase, KeystoneCase
from tests.unit.logs import EverythingLogged

STATIC = pathlib.Path(board.__file__).parent / "static"
TOKENS = f"{KEYSTONE}/auth/tokens"
PASSWORD = {"user": "alice", "password": "pa55word"}


class TestFiles(ApiCase):
    OPTIONS = "board = true"

    def test_each_has_its_type_and_may_load_only_its_own_origin(self):
        served = {
            "/board": "text/html; charset=utf-8",
            "/board/app.js": "text/javascript; charset=utf-8",
            "/board/vendor/preact.js": "text/javascript; charset=utf-8",
            "/board/vendor/preact.LICENSE": "text/plain; charset=utf-8",
            "/board/style.css": "text/css; charset=utf-8",
            "/board/icon.svg": "image/svg+xml",
            "/board/settings.json": "application/json",
        }
        for path, kind in served.items():
            answer = self.get(path, None)
            self.assertEqual((200, kind), (answer.status_code, answer.headers["content-type"]))
            self.assertEqual("no-cache", answer.headers["cache-control"])
            self.assertEqual("nosniff", answer.headers["x-content-type-options"])
            self.assertEqual("no-referrer", answer.headers["referrer-policy"])
            policy = dict(
                part.strip().split(" ", 1)
                for part in answer.headers["content-security-policy"].split(";")
            )
            expected = {
                "default-src": "'none'",
                "script-src": "'self'",
                "style-src": "'self'",
                "connect-src": "'self'",
                "img-src": "'self' data:",
                "base-uri": "'none'",
                "form-action": "'none'",
                "frame-ancestors": "'none'",
            }
            self.assertEqual(expected, policy)

    def test_every_file_that_a_browser_needs(self):
        for path in STATIC.rglob("*"):
            if path.suffix in (".js", ".css", ".svg", ".LICENSE"):
                answer = self.get(f"/board/{path.relative_to(STATIC)}", None)
                self.assertEqual(path.read_bytes(), answer.content, path)

    def test_an_unchanged_file_is_not_sent_again(self):
        tag = self.get("/board/app.js", None).headers["etag"]
        again = self.get("/board/app.js", None, headers={"If-None-Match": tag})
        self.assertEqual((304, b""), (again.status_code, again.content))
        self.assertEqual(tag, again.headers["etag"])
        other = self.get("/board/style.css", None, headers={"If-None-Match": tag})
        self.assertEqual(200, other.status_code)

    def test_an_unchanged_file_is_not_sent_again_through_a_proxy_that_compresses(self):
        tag = self.get("/board/app.js", None).headers["etag"]
        for sent in (f"W/{tag}", f'{tag[:-1]}-gzip"', f'W/{tag[:-1]}-br"'):
            again = self.get("/board/app.js", None, headers={"If-None-Match": sent})
            self.assertEqual(304, again.status_code, sent)

    def test_nothing_else_is_there(self):
        for path in (
            "/board/../app.py",
            "/board/%2e%2e/app.py",
            "/board/..%2fapp.py",
            "/board/vendor/../../app.py",
            "/board/vendor",
            "/board/vendor/README.md",
            "/board/vendor/SHA256SUMS",
            "/board/index.html",
            "/board//etc/passwd",
        ):
            self.refused(404, "request.not_found", self.get(path, None))

    def test_a_slash_at_the_end(self):
        answer = self.get("/board/", None)
        self.assertEqual(308, answer.status_code)
        self.assertEqual("/board", urlsplit(answer.headers["location"]).path)

    def test_the_page_has_nothing_inline_and_nothing_from_elsewhere(self):
        page = self.get("/board", None).text
        self.assertNotRegex(page, r"(?i)<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|://")
        for name in re.findall(r'(?:src|href)="([^"]+)"', page):
            self.assertEqual(200, self.get(f"/{name}", None).status_code, name)

    def test_browsers_are_told_of_every_module_at_once(self):
        told = re.findall('rel="modulepreload" href="board/([^"]+)"', self.get("/board", None).text)
        there = {str(path.relative_to(STATIC)) for path in STATIC.rglob("*.js")}
        self.assertEqual(sorted(there), sorted(told))

    def test_it_says_how_to_log_in(self):
        self.assertEqual("noauth", self.get("/board/settings.json", None).json["auth_strategy"])
        [detail] = self.refused(
            404, "login.off", self.ask("POST", "/v1/login", None, json=PASSWORD)
        )
        self.assertIn("[api]board", detail)


class TestOff(ApiCase):
    def test_there_is_no_board(self):
        for path in ("/board", "/board/", "/board/app.js", "/board/settings.json"):
            self.refused(404, "request.not_found", self.get(path, None))


class TestModules(ApiCase):
    def imports(self):
        for path in STATIC.rglob("*.js"):
            for name in re.findall(
                r"""\b(?:from|import)\s*\(?["']([^"']+)["']""", path.read_text()
            ):
                yield path, name

    def test_they_import_files_that_are_there(self):
        found = list(self.imports())
        self.assertGreater(len(found), 10)
        for path, name in found:
            self.assertTrue(name.startswith("./"), (path, name))
            self.assertTrue((path.parent / name).is_file(), (path, name))

    def test_ours_make_no_markup_of_texts(self):
        for path in STATIC.glob("*.js"):
            wrong = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|Function\("
            self.assertNotRegex(path.read_text(), wrong, path)

    def test_the_libraries_are_as_they_came(self):
        vendor = STATIC / "vendor"
        known = dict(
            reversed(line.split()) for line in (vendor / "SHA256SUMS").read_text().splitlines()
        )
        ours = {"README.md", "SHA256SUMS", "ui.js"}
        self.assertEqual({path.name for path in vendor.iterdir()} - ours, set(known))
        for name, digest in known.items():
            self.assertEqual(digest, hashlib.sha256((vendor / name).read_bytes()).hexdigest(), name)


class LoginCase(KeystoneCase):
    OPTIONS = f"board = true\nlogin_limit = 4/hour\n{KEYSTONE_OPTIONS}"

    def setUp(self):
        super().setUp()
        self.mocked = self.useFixture(requests_mock_fixture.Fixture())
        self.token = tokens.V3Token(
            user_id="a1", user_name="alice", expires="2026-12-24T12:00:00.000000Z"
        )
        self.token.set_project_scope(id="d1", name="demo")
        self.token.add_role(name="reader")
        self.token.add_role(name="member")
        self.issue()

    def issue(self):
        self.mocked.post(TOKENS, json=self.token, headers={"X-Subject-Token": "the-token"})

    def login(self, body=PASSWORD, **rest):
        return self.ask("POST", "/v1/login", None, json=body, **rest)

    @property
    def sent(self):
        return self.mocked.last_request.json()["auth"]


class TestLogin(LoginCase):
    def test_a_password(self):
        answer = self.login({**PASSWORD, "project": "demo"})
        told = self.answered(200, answer)
        jsonschema.validate(told, login_schemas.LOGGED_IN)
        self.assertEqual(
            {
                "token": "the-token",
                "expires_at": "2026-12-24T12:00:00.000+00:00",
                "user": {"id": "a1", "name": "alice"},
                "project": {"id": "d1", "name": "demo"},
                "roles": ["member", "reader"],
            },
            told,
        )
        self.assertEqual("no-store", answer.headers["cache-control"])
        domain = {"name": "Default"}
        user = {"name": "alice", "password": "pa55word", "domain": domain}
        self.assertEqual(
            {"methods": ["password"], "password": {"user": user}}, self.sent["identity"]
        )
        self.assertEqual({"project": {"name": "demo", "domain": domain}}, self.sent["scope"])

    def test_domains(self):
        self.answered(200, self.login({**PASSWORD, "domain": "lab", "project": "demo"}))
        self.assertEqual("lab", self.sent["identity"]["password"]["user"]["domain"]["name"])
        self.assertEqual("lab", self.sent["scope"]["project"]["domain"]["name"])
        body = {**PASSWORD, "domain": "lab", "project": "demo", "project_domain": "shared"}
        self.answered(200, self.login(body))
        self.assertEqual("shared", self.sent["scope"]["project"]["domain"]["name"])

    def test_the_default_project(self):
        self.answered(200, self.login())
        self.assertNotIn("scope", self.sent)

    def test_an_application_credential(self):
        body = {"application_credential": "c1", "secret": "s1"}
        self.assertEqual("the-token", self.answered(200, self.login(body))["token"])
        identity = self.sent["identity"]
        self.assertEqual({"id": "c1", "secret": "s1"}, identity["application_credential"])

    def test_what_is_missing_of_the_other_way_does_not_matter(self):
        body = {**PASSWORD, "application_credential": "c1"}
        self.answered(200, self.login(body))
        self.assertEqual(["password"], self.sent["identity"]["methods"])

    def test_no_project(self):
        self.token = tokens.V3Token(user_id="a1", user_name="alice")
        self.issue()
        [detail] = self.refused(403, "login.no_project", self.login())
        self.assertIn("name the project", detail)

    def test_what_is_wrong_is_not_told(self):
        said = set()
        for status in (400, 401, 403, 404):
            error = {"error": {"message": "no user alice", "code": status, "title": "no"}}
            self.mocked.post(TOKENS, status_code=status, json=error)
            said |= set(self.refused(401, "login.refused", self.login()))
        self.assertEqual(1, len(said))
        self.assertNotIn("alice", said.pop())

    def test_keystone_is_down(self):
        self.mocked.post(TOKENS, exc=requests.ConnectionError)
        self.refused(503, "service.unavailable", self.login())
        self.mocked.post(TOKENS, status_code=500)
        self.refused(503, "service.unavailable", self.login())

    def test_bodies_that_are_no_login(self):
        for body in (
            {},
            {"user": "alice"},
            {"password": "pa55word"},
            {"user": "alice", "secret": "s1"},
            {"token": "unscoped"},
            {"token": "one\ntwo", "project_id": "d1"},
            {"token": "unscoped", "project_id": "d1", **PASSWORD},
            {**PASSWORD, "application_credential": "c1", "secret": "s1"},
            {**PASSWORD, "user": ""},
            {**PASSWORD, "user": 7},
            {**PASSWORD, "otp": "x"},
        ):
            self.refused(400, "request.invalid", self.login(body))
        self.assertFalse(self.mocked.called)

    def test_no_secrets_in_the_log(self):
        logged = self.useFixture(EverythingLogged())
        self.answered(200, self.login())
        self.answered(200, self.login({"application_credential": "c1", "secret": "s3cret-too"}))
        self.mocked.post(TOKENS, status_code=401, json={"error": {}})
        # Some type their password where the name belongs.
        self.refused(401, "login.refused", self.login({**PASSWORD, "user": "pa55word"}))
        self.refused(400, "request.invalid", self.login({"password": "pa55word"}))
        self.assertIn("User a1 logged in", logged.output)
        self.assertIn("Keystone refused a login", logged.output)
        for secret in ("pa55word", "s3cret-too", "the-token"):
            self.assertNotIn(secret, logged.output)


class TestThrottle(LoginCase):
    def spend(self, **rest):
        for number in range(4):
            self.answered(200, self.login({**PASSWORD, "user": f"user{number}"}, **rest))

    def test_of_an_address(self):
        self.spend(extras={"REMOTE_ADDR": "192.0.2.1"})
        answer = self.login(extras={"REMOTE_ADDR": "192.0.2.1"})
        self.refused(429, "login.too_often", answer)
        self.assertTrue(1 <= int(answer.headers["retry-after"]) <= 3600)
        self.answered(200, self.login(extras={"REMOTE_ADDR": "192.0.2.2"}))

    def guess(self, *written):
        """Guess with four names of one user where Keystone's database is MySQL."""
        self.mocked.post(TOKENS, status_code=401, json={"error": {}})
        names = written or ("alice", "ALICE  ", "a\u0142\u0131ce", "al\u00ed\u00ad\u0902ce")
        for number, name in enumerate(names):
            domain = "default" if number else "Default "
            address = {"extras": {"REMOTE_ADDR": f"192.0.2.{number}"}}
            body = {**PASSWORD, "user": name, "domain": domain}
            self.assertNotEqual(200, self.login(body, **address).status_code)
        self.issue()

    def test_of_a_user_at_new_addresses(self):
        self.guess()
        self.assertEqual(4, self.mocked.call_count)
        elsewhere = {"extras": {"REMOTE_ADDR": "192.0.2.9"}}
        self.refused(429, "login.too_often", self.login(**elsewhere))
        self.answered(200, self.login({**PASSWORD, "domain": "lab"}, **elsewhere))
        self.assertEqual(5, self.mocked.call_count)

    def test_the_sharp_s_is_one_s_or_two(self):
        self.guess("ros", "ro\u00df", "ROSS", "ro\u017f")
        elsewhere = {"extras": {"REMOTE_ADDR": "192.0.2.9"}}
        for name in ("ros", "ross"):
            answer = self.login({**PASSWORD, "user": name}, **elsewhere)
            self.refused(429, "login.too_often", answer)

    def test_guesses_of_others_lock_no_user_out_where_they_have_logged_in(self):
        home = {"extras": {"REMOTE_ADDR": "198.51.100.1"}}
        self.answered(200, self.login(**home))
        self.guess()
        self.answered(200, self.login(**home))
        # Others of the same address are as new as anybody.
        bob = {**PASSWORD, "user": "bob"}
        self.answered(200, self.login(bob, **home))
        self.answered(200, self.login(bob, **home))
        self.refused(429, "login.too_often", self.login(**home))

    def test_an_address_is_known_for_two_weeks_after_the_last_login_there(self):
        home = {"extras": {"REMOTE_ADDR": "198.51.100.1"}}
        began = time.time()
        for day, status in ((0, 200), (13, 200), (26, 200), (41, 429)):
            with mock.patch("time.time", lambda day=day: began + day * 86400):
                if day:
                    self.guess()
                self.assertEqual(status, self.login(**home).status_code, day)

    def test_a_refused_login_makes_no_address_known(self):
        home = {"extras": {"REMOTE_ADDR": "198.51.100.1"}}
        self.mocked.post(TOKENS, status_code=401, json={"error": {}})
        self.refused(401, "login.refused", self.login(**home))
        self.guess()
        self.refused(429, "login.too_often", self.login(**home))

    def test_addresses_that_are_the_same_place(self):
        for places in (
            ("2001:db8::1", "2001:db8::2", "2001:db8::f:3", "2001:0db8::4", "2001:db8::5"),
            ("::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1:4711", " 192.0.2.1", "192.0.2.1"),
            ('"[2001:db8:1::1]:80"', "2001:db8:1::2", "[2001:db8:1::3]", *2 * ["2001:db8:1::4"]),
            *(("unknown", "unknown", "unknown", "unknown", "unknown"), 5 * ("[",)),
            # What a client sends itself is before what the proxy adds.
            *(tuple(f"10.0.0.{each}, 203.0.113.1" for each in range(5)),),
        ):
            *first, last = ({"extras": {"REMOTE_ADDR": each}} for each in places)
            for number, address in enumerate(first):
                self.answered(
                    200, self.login({**PASSWORD, "user": f"{number} of {places}"}, **address)
                )
            self.refused(429, "login.too_often", self.login(**last))

    def test_addresses_that_are_not(self):
        for each in ("2001:db8:0:1::1", "2001:db8:0:2::1", "::ffff:192.0.2.1", "::ffff:192.0.2.2"):
            self.answered(200, self.login(extras={"REMOTE_ADDR": each}))
        self.answered(200, self.login({**PASSWORD, "user": "bob"}, extras={"REMOTE_ADDR": "x"}))


class TestBehindKeystone(LoginCase):
    def test_the_page_needs_no_token_but_what_it_shows_does(self):
        self.assertEqual(200, self.get("/board", None).status_code)
        self.assertEqual("keystone", self.get("/board/settings.json", None).json["auth_strategy"])
        for path in ("/v1/jobs", "/boardx", "/v1/board"):
            self.assertEqual(401, self.get(path, None).status_code, path)


class TestLoginsAreOff(KeystoneCase):
    def test_it_is_said(self):
        answer = self.ask("POST", "/v1/login", None, json=PASSWORD)
        self.refused(404, "login.off", answer)


class TestNoAddressOfKeystone(ApiCase):
    def test_it_is_said_at_the_start(self):
        path = self.directory / "wrong.conf"
        path.write_text(
            "[api]\nboard = true\n"
            f"[keystone_authtoken]\nauth_type = admin_token\nendpoint = {KEYSTONE}\ntoken = t\n"
        )
        conf = config.load(["--config-file", str(path)], "twotier-api")
        error = self.assertRaises(ConfigError, app.check, conf)
        self.assertIn("[keystone_authtoken] has no auth_url", str(error))


class TestMistake(ApiCase):
    def test_it_is_said_at_the_start(self):
        self.OPTIONS = "login_limit = often"
        error = self.assertRaises(ConfigError, self.make)
        self.assertIn("[api]login_limit is 'often': give such as 10/minute", str(error))
