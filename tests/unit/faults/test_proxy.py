"""The proxy passes on what nobody spoils, and spoils the rest as it is told."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock

import requests
import testtools

from nova_twotier.tools.faults.proxy import Fault, Proxy

#: Seconds for which the proxy is to hold a request back.
HOLD = 7.5
#: Seconds after which a client gives up, if it is to, and if it should not have to.
IMPATIENCE, PATIENCE = 0.2, 60


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.seen.append((self.path, body, self.headers["X-Auth-Token"]))
        answer = b"<" + body + b">"
        self.send_response(202)
        self.send_header("X-Said", "yes")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def do_DELETE(self):
        self.server.seen.append((self.path, b"", None))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        """Quiet."""


class Once:
    """Spoils the next request."""

    def __init__(self, fault):
        self.fault = fault
        self.asked = []
        self.carried_out = []
        self.noted = threading.Event()

    def before(self, request):
        self.asked.append(str(request))
        fault, self.fault = self.fault, None
        return fault

    def after(self, request):
        self.carried_out.append(str(request))
        self.noted.set()


class TestProxy(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.service = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.service.daemon_threads = True
        self.service.block_on_close = False
        self.service.seen = []
        thread = threading.Thread(target=self.service.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.service.server_close)
        self.addCleanup(self.service.shutdown)
        self.client = requests.Session()
        self.addCleanup(self.client.close)

    def proxy(self, fault=None):
        """The URL of a proxy, whose time of holding back is over when the client has given up."""
        self.once, self.held, self.given_up = Once(fault), [], threading.Event()
        target = f"http://127.0.0.1:{self.service.server_port}/v2.1"
        proxy = Proxy("nova", target, [self.once], HOLD).__enter__()
        self.addCleanup(proxy.__exit__)
        self.addCleanup(self.given_up.set)
        proxy.closing = mock.Mock(wait=self.hold)
        return proxy.url

    def hold(self, seconds):
        self.held.append(seconds)
        self.given_up.wait(PATIENCE)

    def post(self, url, timeout=PATIENCE):
        return self.client.post(
            f"{url}/servers", data=b"x" * 10, headers={"X-Auth-Token": "t"}, timeout=timeout
        )

    def test_passes_on(self):
        url = self.proxy()
        self.assertTrue(url.endswith("/v2.1"))
        for _ in range(2):
            answer = self.post(url)
            self.assertEqual((202, "yes"), (answer.status_code, answer.headers["X-Said"]))
            self.assertEqual(b"<xxxxxxxxxx>", answer.content)
        self.assertEqual([("/v2.1/servers", b"x" * 10, "t")] * 2, self.service.seen)
        self.assertEqual(["nova POST /v2.1/servers"] * 2, self.once.carried_out)
        self.assertEqual(204, self.client.delete(f"{url}/servers/1").status_code)
        self.assertEqual(202, self.post(url).status_code)

    def test_not_carried_out(self):
        for fault, error, timeout, held in (
            (Fault.DROPPED, requests.ConnectionError, PATIENCE, []),
            (Fault.SILENT, requests.Timeout, IMPATIENCE, [HOLD]),
        ):
            url = self.proxy(fault)
            self.assertRaises(error, self.post, url, timeout)
            self.given_up.set()
            self.assertEqual(([], held), (self.once.carried_out, self.held))
            self.assertEqual(202, self.post(url).status_code)
        self.assertEqual(2, len(self.service.seen))

    def test_carried_out_without_an_answer(self):
        for fault in (Fault.LOST, Fault.CUT):
            url = self.proxy(fault)
            self.assertRaises(requests.RequestException, self.post, url)
            self.assertEqual(1, len(self.once.carried_out), fault)
        self.assertEqual(2, len(self.service.seen))

    def test_carried_out_after_the_client_gave_up(self):
        url = self.proxy(Fault.LATE)
        self.assertRaises(requests.Timeout, self.post, url, IMPATIENCE)
        self.assertEqual([], self.service.seen)
        self.given_up.set()
        self.assertTrue(self.once.noted.wait(PATIENCE))
        self.assertEqual(([HOLD], 1), (self.held, len(self.once.carried_out)))
        self.assertEqual(1, len(self.service.seen))

    def test_errors(self):
        for fault, status in ((Fault.ERROR, 500), (Fault.CONFLICT, 409)):
            url = self.proxy(fault)
            self.assertEqual(status, self.post(url).status_code)
            self.assertEqual(202, self.post(url).status_code)
        self.assertEqual(2, len(self.service.seen))

    def test_a_service_that_is_not_there(self):
        url = self.proxy()
        self.service.socket.close()
        self.assertRaises(requests.RequestException, self.post, url)
