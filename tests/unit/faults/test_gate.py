"""A gate lets bytes through while it is open, and nobody while it is shut."""

import socket
import socketserver
import threading

import testtools

from nova_twotier.tools.faults.gate import Gate


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        self.server.ports.add(self.client_address[1])
        while data := self.request.recv(100):
            self.request.sendall(data)


class TestGate(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo)
        self.server.ports = set()
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.gate = Gate(*self.server.server_address).__enter__()
        self.addCleanup(self.gate.__exit__)

    def come(self):
        client = socket.create_connection(("127.0.0.1", self.gate.port), timeout=60)
        self.addCleanup(client.close)
        return client

    def echo(self, client):
        """What comes back; nothing from a connection that has ended."""
        try:
            client.sendall(b"hello")
            return client.recv(100)
        except ConnectionError:
            return b""

    def test_open_shut_and_open_again(self):
        client = self.come()
        self.assertEqual(b"hello", self.echo(client))
        self.assertEqual(self.server.ports, self.gate.server_side())
        self.gate.shut()
        self.assertEqual(b"", self.echo(client))
        self.assertEqual(b"", self.echo(self.come()))
        self.assertEqual(set(), self.gate.server_side())
        self.gate.open()
        self.assertEqual(b"hello", self.echo(self.come()))

    def test_a_client_that_leaves(self):
        client = self.come()
        self.echo(client)
        client.close()
        for _ in range(3000):
            if not self.gate.server_side():
                break
            threading.Event().wait(0.02)
        self.assertEqual(set(), self.gate.server_side())
