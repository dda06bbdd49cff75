"""`twotier-api` beside clients that are slow, endless or greedy."""

import contextlib
import pathlib
import re
import socket
import threading
import time

import requests

from tests.unit.cmd.server_case import ServerCase

#: A header and a body that are never finished.
HEADER = b"GET / HTTP/1.1\r\nHost: test\r\nX-Slow: "
BODY = b"POST /v1/jobs HTTP/1.1\r\nHost: test\r\nContent-Length: 100000\r\n\r\n"
#: Seconds for what takes much less, unless it never comes.
LONG = 60


class SlowClientsCase(ServerCase):
    def client(self, first=b""):
        """A connection, on which this has been sent."""
        connection = socket.create_connection(self.address, timeout=LONG)
        self.addCleanup(connection.close)
        connection.sendall(first)
        return connection

    def drip(self, *connections):
        """Send a byte on each again and again, so that none of them is ever idle."""
        stop = threading.Event()

        def send():
            while not stop.wait(0.1):
                for connection in connections:
                    with contextlib.suppress(OSError):
                        connection.send(b"x")

        thread = threading.Thread(target=send)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)

    def assert_healthy(self):
        answer = requests.get(f"{self.url}/v1", timeout=LONG)
        self.assertEqual(200, answer.status_code)

    def read(self, connection):
        """What comes until the server ends the connection; fails if it does not."""
        got = b""
        with contextlib.suppress(ConnectionError):
            while data := connection.recv(65536):
                got += data
        return got

    def connections(self):
        """Those that the server has open."""
        descriptors = pathlib.Path(f"/proc/{self.server.pid}/fd")
        own = {str(each.readlink()) for each in descriptors.iterdir() if each.is_symlink()}
        inodes = {name[8:-1] for name in own if name.startswith("socket:")}
        port = f":{self.address[1]:04X}"
        table = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()]
        # 01: established, 08: the client has closed it.
        return sum(
            row[1].endswith(port) and row[3] in ("01", "08") and row[9] in inodes for row in table
        )

    def wait_until(self, condition, patience=LONG):
        deadline = time.monotonic() + patience
        while not condition():
            self.assertLess(time.monotonic(), deadline, "it does not happen")
            time.sleep(0.05)

    def memory(self):
        """Most memory that the server ever had, in MiB."""
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


class TestStarvation(SlowClientsCase):
    def test_slow_clients_take_no_thread(self):
        self.start("threads = 2\nrequest_timeout = 600")
        self.drip(*(self.client(first) for first in [HEADER, BODY] * 10))
        self.assert_healthy()

    def test_slow_clients_take_no_connection_from_others(self):
        self.start("threads = 2\nrequest_timeout = 600\nmax_connections = 20")
        slow = [self.client(first) for first in [HEADER, BODY] * 20]
        self.drip(*slow)
        self.assert_healthy()
        # The oldest had to go.
        self.assertEqual(b"", self.read(slow[0]))

    def test_a_client_that_takes_no_answer_takes_no_thread(self):
        self.start("threads = 2\nrequest_timeout = 600")
        # As many as the server reads at once, of answers of more than MOST_UNTAKEN together.
        ask = b"GET /v1/openapi.json HTTP/1.1\r\nHost:localhost\r\n\r\n"
        greedy = [self.client(ask * 160) for _each in range(2)]
        self.assert_healthy()
        self.wait_until(lambda: self.connections() == 0, 3 * LONG)
        for client in greedy:
            self.assertGreater(160, self.read(client).count(b"HTTP/1.1 200"))


class TestTotalTime(SlowClientsCase):
    """Whoever drips is cut, since it is the whole request that must come in time."""

    def setUp(self):
        super().setUp()
        self.start("request_timeout = 1")

    def test_header(self):
        slow = self.client(HEADER)
        self.drip(slow)
        self.assertEqual(b"", self.read(slow))

    def test_body(self):
        slow = self.client(BODY)
        self.drip(slow)
        self.assertEqual(b"", self.read(slow))

    def test_blank_lines(self):
        slow = self.client()
        deadline = time.monotonic() + LONG
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < deadline:
                slow.sendall(b"\r\n\r\n")
                time.sleep(0.05)
            self.fail("blank lines keep the connection open")

    def test_an_answer_that_is_not_taken(self):
        ask = b"GET /v1/openapi.json HTTP/1.1\r\nHost: test\r\n\r\n"
        slow = self.client(ask * 300)
        # More answers than the system's buffers hold.
        self.wait_until(lambda: self.connections() == 0)
        self.assertGreater(300, self.read(slow).count(b"HTTP/1.1 200"))

    def test_a_connection_that_asks_nothing(self):
        self.assertEqual(b"", self.read(self.client()))


class TestWork(SlowClientsCase):
    def test_one_that_works_goes_on(self):
        """Also for longer than a request may take."""
        self.start("request_timeout = 4")
        with requests.Session() as session:
            until = time.monotonic() + 6
            while time.monotonic() < until:
                self.assertEqual(200, session.get(self.url, timeout=LONG).status_code)
                time.sleep(0.1)


class TestSize(SlowClientsCase):
    """What is too large is refused before it is kept."""

    def setUp(self):
        super().setUp()
        self.start()

    def refused(self, status, connection):
        head, _blank, body = self.read(connection).partition(b"\r\n\r\n")
        self.assertIn(f"HTTP/1.1 {status} ".encode(), head.replace(b"HTTP/1.0", b"HTTP/1.1"))
        self.assertIn(b"Content-Type: application/json", head)
        self.assertIn(f'"status": {status}'.encode(), body)
        self.assertIn(b'"request_id": "req-', body)

    def send_endlessly(self, connection, most=128):
        """At most so many MiB, as long as somebody takes them."""
        with contextlib.suppress(OSError):
            for _each in range(most):
                connection.sendall(b"x" * 2**20)

    def test_an_endless_header(self):
        before = self.memory()
        self.send_endlessly(self.client(HEADER))
        self.assert_healthy()
        self.assertLess(self.memory() - before, 32)

    def test_a_large_header(self):
        connection = self.client(HEADER + b"x" * 40000 + b"\r\n\r\n")
        self.refused(431, connection)

    def test_a_large_body(self):
        self.refused(413, self.client(BODY.replace(b"100000", b"10000000000")))

    def test_an_endless_body(self):
        before = self.memory()
        chunked = BODY.replace(b"Content-Length: 100000", b"Transfer-Encoding: chunked")
        self.send_endlessly(self.client(chunked + b"7fffffff\r\n"))
        self.assert_healthy()
        self.assertLess(self.memory() - before, 32)

    def test_a_large_chunk(self):
        chunked = BODY.replace(b"Content-Length: 100000", b"Transfer-Encoding: chunked")
        self.refused(413, self.client(chunked + b"1ffff\r\n" + b"x" * 0x1FFFF + b"\r\n0\r\n\r\n"))

    def test_nonsense(self):
        self.refused(400, self.client(b"nonsense\r\n\r\n"))
