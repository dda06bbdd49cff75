"""The board of `openstack twotier board`, on a real socket; the API is in this process."""

import http.client
import json
import pathlib
import subprocess
import sys
import threading
import webbrowser
from unittest import mock
from urllib.parse import urlsplit

import fixtures
import requests
from keystoneauth1 import exceptions as ksa
from keystoneauth1 import fixture as tokens
from keystoneauth1.access import AccessInfoV3
from keystoneauth1.identity.base import BaseIdentityPlugin

from nova_twotier.client import board
from nova_twotier.client.rest import ApiError
from tests.unit.client.case import ClientCase, CommandCase

SETTINGS, SESSION = "/board/settings.json", "/board/session.json"


class BoardCase(ClientCase):
    def setUp(self):
        super().setUp()
        self.server = board.Server(self.api)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        serve = {"target": self.server.serve_forever, "kwargs": {"poll_interval": 0.05}}
        threading.Thread(**serve).start()
        self.wire.asked.clear()
        self.address = f"127.0.0.1:{self.server.server_port}"

    def raw(self, method, path, headers=None, secret=True, body=None):
        """A request whose path and Host are sent as they are."""
        connection = http.client.HTTPConnection(self.address, timeout=30)
        self.addCleanup(connection.close)
        given = {"X-Auth-Token": self.server.secret} if secret else {}
        connection.request(method, path, body, {**given, **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def refused_as(self, status, answer):
        code, headers, body = answer
        self.assertEqual((status, "application/json"), (code, headers["Content-Type"]), body)
        [error] = json.loads(body)["errors"]
        return error["detail"]


class TestFiles(BoardCase):
    def test_the_page_and_what_it_needs(self):
        for path, kind in (
            ("/board", "text/html; charset=utf-8"),
            ("/board/app.js", "text/javascript; charset=utf-8"),
            ("/board/vendor/preact.js", "text/javascript; charset=utf-8"),
        ):
            status, headers, _body = self.raw("GET", path, secret=False)
            self.assertEqual((200, kind), (status, headers["Content-Type"]))
            self.assertIn("script-src 'self'", headers["Content-Security-Policy"])
            self.assertEqual("no-referrer", headers["Referrer-Policy"])
            self.assertEqual("twotier-board", headers["Server"].strip())
            tag = headers["ETag"]
            again, _headers, none = self.raw("GET", path, {"If-None-Match": tag}, secret=False)
            self.assertEqual((304, b""), (again, none))
        settings = json.loads(self.raw("GET", SETTINGS, secret=False)[2])
        self.assertEqual({"auth_strategy": "session", "websso": []}, settings)

    def test_nothing_else_is_there(self):
        for path in (
            *("/", "/board/", "/board/../app.py", "/board/vendor/README.md", "/metrics"),
            *("/v1/login", "/v1/login/projects", "/v1x", "/healthcheck", "http://127.0.0.1/v1"),
            *("/v1/../metrics", "/v1/%2e%2e/metrics", "/v1//metrics", "/v1/.", "//elsewhere/v1"),
            *("/v1/jobs/", "/v1@elsewhere/"),
        ):
            self.refused_as(404, self.raw("GET", path))
        self.refused_as(404, self.raw("POST", "/board"))
        self.assertEqual([], self.wire.asked)


class TestForwarding(BoardCase):
    def test_requests_have_the_sessions_token(self):
        body = json.dumps({"size": 2, "name": "ocean"})
        headers = {"Content-Type": "application/json"}
        status, _headers, created = self.raw("POST", "/v1/jobs", headers, body=body)
        job = json.loads(created)
        self.assertEqual((201, "demo", "alice"), (status, job["project_id"], job["user_id"]))
        status, _headers, _body = self.raw("DELETE", f"/v1/jobs/{job['number']}")
        self.assertEqual(202, status)
        self.assertEqual("cancel", self.store.find(job["uuid"]).requested_action)
        status, _headers, listed = self.raw("GET", "/v1/jobs?name=ocean&limit=1")
        self.assertEqual([job["uuid"]], [each["uuid"] for each in json.loads(listed)["jobs"]])
        self.assertEqual("GET /v1/jobs?name=ocean&limit=1", self.wire.asked[-1])

    def test_what_has_not_changed_is_not_sent_again(self):
        version = {"OpenStack-API-Version": "twotier 1.1"}
        status, headers, _body = self.raw("GET", "/v1/jobs", version)
        self.assertEqual((200, "twotier 1.1"), (status, headers["OpenStack-API-Version"]))
        tag = {**version, "If-None-Match": headers["ETag"]}
        status, headers, body = self.raw("GET", "/v1/jobs", tag)
        self.assertEqual((304, b"", tag["If-None-Match"]), (status, body, headers["ETag"]))

    def test_refusals_are_passed_on(self):
        self.assertIn("no such job", self.refused_as(404, self.raw("GET", "/v1/jobs/4711")))
        self.refused_as(403, self.raw("GET", "/v1/topology"))

    def test_a_connection_stays(self):
        with requests.Session() as session:
            session.headers["X-Auth-Token"] = self.server.secret
            for _each in range(3):
                answer = session.get(f"http://{self.address}/v1/jobs", timeout=30)
                self.assertEqual(200, answer.status_code)
                self.assertNotEqual("close", answer.headers.get("Connection"))


class TestSecret(BoardCase):
    def test_without_it_nothing_is_asked_of_the_api(self):
        for path in ("/v1/jobs", "/v1", SESSION):
            for headers in (
                {},
                {"X-Auth-Token": ""},
                {"X-Auth-Token": self.server.secret[:-1]},
                {"X-Auth-Token": "alice:demo"},
                {"Authorization": self.server.secret, "Cookie": self.server.secret},
            ):
                detail = self.refused_as(401, self.raw("GET", path, headers, secret=False))
                self.assertIn("printed", detail)
        self.assertEqual([], self.wire.asked)

    def test_each_run_has_its_own(self):
        with board.Server(self.api) as other:
            self.assertNotEqual(self.server.secret, other.secret)
            self.assertGreater(len(other.secret), 40)

    def test_it_is_in_the_fragment_of_the_address_only(self):
        address = urlsplit(self.server.url)
        self.assertEqual(
            (self.address, "/board", ""), (address.netloc, address.path, address.query)
        )
        self.assertEqual(f"secret={self.server.secret}", address.fragment)
        for path in ("/board", "/board/app.js", SETTINGS, SESSION, "/v1/jobs"):
            _status, headers, body = self.raw("GET", path)
            self.assertNotIn(self.server.secret, str(headers) + body.decode())

    def test_it_listens_on_the_loopback_address_only(self):
        self.assertEqual("127.0.0.1", self.server.server_address[0])

    def test_other_names_of_this_machine(self):
        for host in ("rebound.example.org", f"rebound.example.org:{self.server.server_port}", ""):
            for path in ("/board", SETTINGS, "/v1/jobs"):
                self.refused_as(421, self.raw("GET", path, {"Host": host}))
        # A tunnel has another port.
        self.assertEqual(200, self.raw("GET", "/v1/jobs", {"Host": "localhost:8080"})[0])

    def test_other_origins_get_no_leave(self):
        headers = {
            "Origin": "https://attacker.test",
            "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "x-auth-token",
        }
        _status, answered, _body = self.raw("OPTIONS", "/v1/jobs", headers)
        self.assertNotIn("Access-Control-Allow-Origin", answered)


class TestBodies(BoardCase):
    def test_their_length_must_be_known(self):
        for name, value, status in (
            ("Content-Length", "-1", 411),
            ("Content-Length", "many", 411),
            ("Transfer-Encoding", "chunked", 411),
            ("Content-Length", str(2**20 + 1), 413),
        ):
            self.refused_as(status, self.raw("POST", "/v1/jobs", {name: value}))
        self.assertEqual([], self.wire.asked)


class TestTrouble(BoardCase):
    def forward(self, result):
        self.useFixture(
            fixtures.MockPatchObject(self.api, "forward", mock.Mock(side_effect=result))
        )
        return self.raw("GET", "/v1/jobs")

    def test_the_api_does_not_answer(self):
        self.useFixture(
            fixtures.MockPatchObject(
                self.wire, "send", side_effect=requests.ConnectionError("gone")
            )
        )
        self.assertIn("is the twotier API up", self.refused_as(502, self.raw("GET", "/v1/jobs")))

    def test_the_api_does_not_answer_in_time(self):
        """The page then tells a late API from a lost connection."""
        late = requests.ReadTimeout("late")
        self.useFixture(fixtures.MockPatchObject(self.wire, "send", side_effect=late))
        self.assertIn("timed out", self.refused_as(504, self.raw("GET", "/v1/jobs")))

    def test_keystone_does_not_answer(self):
        self.refused_as(502, self.forward(ksa.ConnectFailure("Keystone is gone")))

    def test_the_login_has_ended(self):
        self.assertIn("no longer", self.refused_as(401, self.forward(ksa.Unauthorized())))

    def test_the_token_follows_no_redirection(self):
        def application(_environ, start):
            start("302 Found", [("Location", "http://elsewhere.test/v1/jobs")])
            return []

        self.application = application
        self.refused_as(502, self.raw("GET", "/v1/jobs"))
        self.assertEqual(["GET /v1/jobs"], self.wire.asked)


class TestIdentity(ClientCase):
    def test_of_a_token_that_keystone_did_not_issue(self):
        self.assertEqual(
            {"user": None, "project": {"id": "demo", "name": "demo"}}, self.api.identity()
        )

    def test_of_a_login_at_keystone(self):
        token = tokens.V3Token(user_id="a1", user_name="alice")
        token.set_project_scope(id="d1", name="demo")
        access = AccessInfoV3(token, auth_token="t")

        class Login(BaseIdentityPlugin):
            def get_auth_ref(self, _session, **_options):
                return access

            def get_cache_id_elements(self):
                return {}

        self.api._adapter.auth = Login()
        self.assertEqual(
            {"user": {"id": "a1", "name": "alice"}, "project": {"id": "d1", "name": "demo"}},
            self.api.identity(),
        )


class TestCommand(CommandCase):
    def setUp(self):
        super().setUp()
        self.opened = []
        self.useFixture(fixtures.MockPatchObject(webbrowser, "open", self.open))
        interrupted = mock.Mock(side_effect=KeyboardInterrupt)
        self.useFixture(fixtures.MockPatchObject(board.Server, "serve_forever", interrupted))

    def open(self, url):
        page = pathlib.Path(urlsplit(url).path)
        self.assertEqual(0o700, page.parent.stat().st_mode & 0o777)
        self.opened.append((page, page.read_text()))

    def test_it_prints_the_address_and_ends_with_one_line(self):
        out = self.succeed("board")
        self.assertRegex(out, r"^http://127\.0\.0\.1:\d+/board#secret=[\w-]+\n$")
        *_, last = self.stderr.getvalue().splitlines()
        self.assertEqual("The board has ended.", last)
        self.assertEqual([], self.opened)

    def test_the_browser_is_given_no_secret_that_others_see(self):
        out = self.succeed("board", "--open")
        [(page, text)] = self.opened
        self.assertIn(out.strip(), text)
        self.assertFalse(page.exists())

    def test_a_port_that_is_taken(self):
        with board.Server(self.api) as taken:
            port = str(taken.server_port)
            self.assertEqual(
                f"port {port}: Address already in use", self.refused("board", "--port", port)
            )

    def test_no_port(self):
        for port in ("65536", "-1", "http"):
            code, _out, error = self.openstack("board", f"--port={port}")
            self.assertEqual(2, code)
            self.assertIn("is not a port", error)

    def test_the_api_does_not_answer(self):
        gone = requests.ConnectionError("gone")
        self.useFixture(fixtures.MockPatchObject(self.wire, "send", side_effect=gone))
        self.assertIn("is the twotier API up", self.refused("board"))

    def test_it_is_another_program(self):
        def application(_environ, start):
            start("200 OK", [("Content-Type", "text/html")])
            return [b"<html>"]

        self.application = application
        self.assertIn("not as the twotier API does", self.refused("board"))
        self.assertRaises(ApiError, self.api.version)


class TestInstallation(ClientCase):
    def test_it_needs_none_of_the_libraries_of_the_api(self):
        script = (
            "import sys\n"
            "import nova_twotier.client.board, nova_twotier.client.commands.board\n"
            "heavy = {'falcon', 'keystonemiddleware', 'limits', 'oslo_policy', 'sqlalchemy'}\n"
            "print(sorted(heavy & set(sys.modules)))\n"
        )
        ran = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
        )
        self.assertEqual(("[]\n", ""), (ran.stdout, ran.stderr))
