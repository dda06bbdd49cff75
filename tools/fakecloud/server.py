"""A threaded WSGI server on a socket that the launcher opened and listens on already."""

import socket
import threading

from cheroot import wsgi

# Clients keep their connections; closing one under them costs a failed request.
IDLE_SECONDS = 3600


class InheritedServer(wsgi.Server):
    def __init__(self, fd: int, application, threads: int):
        self._inherited = socket.socket(fileno=fd)
        super().__init__(
            self._inherited.getsockname(),
            application,
            numthreads=threads,
            timeout=IDLE_SECONDS,
            request_queue_size=128,
            server_name="fakecloud",
        )
        self.keep_alive_conn_limit = 1000

    def bind(self, family, type, proto=0):
        self.socket = self._inherited
        return self.socket

    def error_log(self, msg="", level=20, traceback=False):
        # A client that went away is no news; the services log their own errors.
        if level >= 40:
            super().error_log(msg, level, traceback)


class _Body:
    """A request's body that the application cannot close.

    cheroot's is the connection itself. Glance closes the body after an upload.
    """

    def __init__(self, body):
        self._body = body
        self.read, self.readline, self.readlines = body.read, body.readline, body.readlines

    def __iter__(self):
        return iter(self._body)

    def close(self):
        pass


def serve(fd: int, application, threads: int = 8) -> InheritedServer:
    """Serve the application from threads of its own."""

    def keep_connections(environ, start_response):
        environ["wsgi.input"] = _Body(environ["wsgi.input"])
        return application(environ, start_response)

    server = InheritedServer(fd, keep_connections, threads)
    server.prepare()
    threading.Thread(target=server.serve, daemon=True, name="wsgi").start()
    return server
