"""Without passwords, the API answers those only who ask for the loopback address."""

import testtools

from nova_twotier.api.loopback import is_loopback
from tests.unit.api.case import KEYSTONE_OPTIONS, ApiCase

OURS = ("localhost", "LOCALHOST:8782", "127.0.0.1", "127.0.0.1:1", "127.1.2.3:80", "[::1]:8782")
#: The first is an attacker's name that has come to resolve to 127.0.0.1.
OTHERS = (
    *("rebound.example.org:8782", "localhost.example.org", "127.0.0.1.example.org", "192.0.2.1"),
    *("0.0.0.0:80", "[::]", "2130706433", "localhost.", "", "[", "127.0.0.1:8782@example.org"),
)


class TestNames(testtools.TestCase):
    def test_names_that_may_be_anything(self):
        for name in ("cloud.test", "example.localhost", "0.0.0.0", "", "::", "0x7f.1"):  # noqa: S104
            self.assertFalse(is_loopback(name), name)


class TestNoAuth(ApiCase):
    OPTIONS = "board = true\n[oslo_middleware]\nenable_proxy_headers_parsing = true"

    def test_who_asks_for_this_machine_is_answered(self):
        for host in OURS:
            self.answered(200, self.get("/v1/jobs", host=host))

    def test_who_asks_for_another_name_is_not(self):
        for path in ("/v1/jobs", "/v1", "/board", "/board/settings.json", "/healthcheck"):
            for host in OTHERS:
                # Any page can send these to its own origin.
                headers = {"Host": host, "X-Forwarded-Host": "localhost", "Forwarded": "host=::1"}
                answer = self.get(path, headers=headers)
                [detail] = self.refused(421, "request.misdirected_request", answer)
                self.assertIn("ask for 127.0.0.1 or localhost", detail)

    def test_nothing_is_done_for_them(self):
        answer = self.ask("POST", "/v1/jobs", json={"size": 1}, host=OTHERS[0])
        self.assertEqual(421, answer.status_code)
        self.assertEqual([], self.store.jobs())


class TestBehindKeystone(ApiCase):
    AUTH = "auth_strategy = keystone"
    OPTIONS = KEYSTONE_OPTIONS

    def test_it_has_any_name(self):
        self.answered(200, self.get("/v1", None, host="cloud.test"))
