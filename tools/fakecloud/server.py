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


def serve(fd: int, application, threads: int = 8) -> InheritedServer:
    """Serve the application from threads of its own."""
    server = InheritedServer(fd, application, threads)
    server.prepare()
    threading.Thread(target=server.serve, daemon=True, name="wsgi").start()
    return server
