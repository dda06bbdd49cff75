"""The threaded WSGI server of the fake cloud."""

import http.client
import socket

import testtools

from nova_twotier.tools.fakecloud.server import serve


def closing(environ, start_response):
    """An application that closes the body after it has read it, as Glance does."""
    body = environ["wsgi.input"].read()
    environ["wsgi.input"].close()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


class TestServer(testtools.TestCase):
    def test_a_connection_outlives_an_application_that_closes_its_body(self):
        with socket.create_server(("127.0.0.1", 0)) as listening:
            server = serve(listening.detach(), closing, threads=1)
        self.addCleanup(server.stop)
        connection = http.client.HTTPConnection(*server.bind_addr, timeout=30)
        self.addCleanup(connection.close)
        connection.connect()
        port = connection.sock.getsockname()
        for body in (b"an image", b"and the next"):
            connection.request("PUT", "/", body)
            self.assertEqual(body, connection.getresponse().read())
            self.assertEqual(port, connection.sock.getsockname())
