"""What is posted to webhooks, how it is signed, and to which it is posted at all."""

import json
import pathlib
import types

import fixtures
import testtools
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from nova_twotier.cloud.webhooks import DeliveryError, Webhooks, allowed, check_key
from tests.unit.cloud.receiver import Receiver

#: Of the specification's examples.
KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
CONTENT = {"type": "job.started", "data": {"job": {"name": "Löser"}}}


class TestPosting(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.receiver = self.useFixture(Receiver())
        self.options = types.SimpleNamespace(
            allowed_webhooks=[self.receiver.url], timeout=5.0, cafile=None
        )
        self.webhooks = Webhooks(self.options)

    def post(self, path="/hook?token=1"):
        self.webhooks.post(f"{self.receiver.url}{path}", KEY, "uuid.7", CONTENT)

    def refused(self):
        return str(self.assertRaises(DeliveryError, self.post))

    def test_the_specification_s_own_library_accepts_it(self):
        self.post()
        [(path, headers, body)] = self.receiver.received
        self.assertEqual(CONTENT, Webhook(KEY).verify(body, headers))
        self.assertEqual(("/hook?token=1", "uuid.7"), (path, headers["webhook-id"]))
        self.assertEqual("application/json", headers["Content-Type"])
        self.assertEqual(CONTENT, json.loads(body))
        other = Webhook("whsec_" + "A" * 32)
        self.assertRaises(WebhookVerificationError, other.verify, body, headers)
        self.assertRaises(WebhookVerificationError, Webhook(KEY).verify, body + b" ", headers)

    def test_other_answers(self):
        for status in (199, 300, 404, 500):
            self.receiver.status = status
            self.assertIn(f"HTTP status {status}", self.refused())

    def test_redirects_are_not_followed(self):
        for status in (301, 302, 307, 308):
            self.receiver.status = status
            self.refused()
        self.assertEqual(
            {"/hook?token=1"}, {path for path, _headers, _body in self.receiver.received}
        )

    def test_no_answer(self):
        self.receiver.gate.clear()
        self.options.timeout = 0.2
        self.assertIn("did not answer in time", self.refused())

    def test_nobody_there(self):
        self.options.allowed_webhooks = ["http://127.0.0.1:1/"]
        hook = "http://127.0.0.1:1/secret"
        error = self.assertRaises(DeliveryError, self.webhooks.post, hook, KEY, "id", CONTENT)
        self.assertIn("cannot be reached", str(error))
        self.assertNotIn("secret", str(error))

    def test_not_allowed_any_more(self):
        self.options.allowed_webhooks = ["https://hooks.example.org/"]
        self.assertIn("does not allow", self.refused())
        self.assertEqual([], self.receiver.received)

    def test_credentials_of_the_manager_s_user_are_not_sent(self):
        home = self.useFixture(fixtures.TempDir()).path
        netrc = pathlib.Path(home, "netrc")
        netrc.write_text("machine 127.0.0.1 login me password secret\n")
        self.useFixture(fixtures.EnvironmentVariable("NETRC", str(netrc)))
        self.post()
        [(_path, headers, _body)] = self.receiver.received
        self.assertNotIn("Authorization", headers)


class TestAllowed(testtools.TestCase):
    BEGINNINGS = ("https://hooks.example.org/", "http://Chat.example.org:8080/services/T1")

    def test_these(self):
        for url in (
            "https://hooks.example.org",
            "https://hooks.example.org/a/b?c=d",
            "https://HOOKS.example.org:443/a..b",
            "http://chat.example.org:8080/services/T1",
            "http://chat.example.org:8080/services/T1/B2",
        ):
            self.assertTrue(allowed(url, self.BEGINNINGS), url)

    def test_not_those(self):
        for url in (
            "",
            "hooks.example.org/",
            "http://hooks.example.org/",
            "https://hooks.example.org:8443/",
            "https://hooks.example.org.evil.test/",
            "https://evil.test/https://hooks.example.org/",
            "https://hooks.example.org@evil.test/",
            "https://me:secret@hooks.example.org/",
            "https://evil.test\\@hooks.example.org/",
            "https://hooks.example.org\t.evil.test/",
            "https://hooks.example.org/a b",
            "https://hooks.example.org/a\r\nHost: evil.test",
            "https://hooks.example.org/#a",
            "https://hooks.example.org:port/",
            "https://[::1/",
            "file:///etc/passwd",
            "gopher://hooks.example.org/",
            "http://chat.example.org:8080/services/T12",
            "http://chat.example.org:8080/services/T1/../T2",
            "http://chat.example.org:8080/services/T1/%2e%2E/T2",
            "http://chat.example.org:8080/services/T1/..%2fT2",
            "http://chat.example.org:8080/services/T1/..\\T2",
            "http://chat.example.org:8080/",
        ):
            self.assertFalse(allowed(url, self.BEGINNINGS), url)

    def test_none_by_default(self):
        self.assertFalse(allowed("https://hooks.example.org/", []))

    def test_a_beginning_that_is_no_url_allows_nothing(self):
        self.assertFalse(allowed("https://hooks.example.org/", ["hooks.example.org", "", "*"]))


class TestKey(testtools.TestCase):
    def test_keys(self):
        check_key(KEY)
        check_key(KEY.removeprefix("whsec_"))
        for wrong in ("", "whsec_", "whsec_short", "A" * 28, "A" * 92, "!" * 32, "ä" * 32):
            self.assertIn("openssl", str(self.assertRaises(ValueError, check_key, wrong)), wrong)
