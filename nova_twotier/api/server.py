"""The WSGI server of `twotier-api`, which slow or greedy clients cannot block.

It is waitress: a single loop receives whole requests and sends the answers, so that a slow client
occupies no thread. Added here are a limit on the total time that a client takes, dropping the
slowest connections to make room for new ones, and threads for health checks alone.
"""

import contextlib
import json
import socket
import time
import uuid

from waitress.adjustments import Adjustments
from waitress.channel import ClientDisconnected, HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, ThreadedTaskDispatcher

from nova_twotier.api import errors, health

#: The Server header: without the machine and without versions.
NAME = "twotier-api"
#: Bytes of answers that a client may leave untaken when it makes another request; several times the
#: largest answer.
MOST_UNTAKEN = 2**22
#: Threads for health checks: several load balancers may ask at once.
CHECKS = 4


def listen(options) -> socket.socket:
    """The socket that listens on the address in the group `[api]`.

    :raises OSError: if it cannot listen there.
    """
    # The first address of a name, as clients would take it.
    family, _type, _protocol, _name, address = socket.getaddrinfo(
        options.listen, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    return socket.create_server(address[:2], family=family)


class Server(TcpWSGIServer):
    """A WSGI server on an open socket: `run` serves until SystemExit is raised in it.

    Requests in progress then have five seconds.

    :param options: group `[api]`.
    :param max_body: largest body of a request, bytes.
    :param listening: the socket, which other processes may have, too.
    """

    def __init__(self, options, max_body: int, application, listening: socket.socket):
        self._most = options.max_connections
        self.request_timeout = options.request_timeout
        # Health checks are answered also while all other threads wait for the database.
        self._checks = ThreadedTaskDispatcher()
        self._checks.set_thread_count(CHECKS)
        super().__init__(
            application,
            _sock=listening,
            bind_socket=False,
            sockinfo=(
                listening.family,
                listening.type,
                listening.proto,
                listening.getsockname(),
            ),
            adj=Adjustments(
                threads=options.threads,
                ident=NAME,
                server_name=NAME,
                max_request_header_size=options.max_request_header_size,
                # waitress refuses bodies that reach its limit.
                max_request_body_size=max_body + 1,
                # waitress also counts two sockets of its own.
                connection_limit=2 * self._most + 2,
                # Seconds between checks for late clients.
                cleanup_interval=1,
                outbuf_high_watermark=MOST_UNTAKEN,
                # select() cannot watch descriptors above 1023.
                asyncore_use_poll=True,
                # Aborted connections are not worth logging.
                log_socket_errors=False,
                # oslo.middleware decides about the headers of proxies.
                clear_untrusted_proxy_headers=False,
            ),
        )

    def run(self):
        super().run()
        self._checks.shutdown()

    def add_task(self, task):
        request = task.requests[0]
        if not request.error and health.is_check(request.path):
            self._checks.add_task(task)
        else:
            super().add_task(task)

    def handle_accept(self):
        super().handle_accept()
        if len(self.active_channels) > self._most:
            channels = self.active_channels.values()
            waiting = [each for each in channels if each.waits_since is not None]
            # Without any, all are being answered, and twice as many are the limit.
            if waiting:
                min(waiting, key=lambda each: each.waits_since).cut()

    def maintenance(self, _now):
        late = time.monotonic() - self.request_timeout
        for channel in self.active_channels.values():
            if channel.waits_since is not None and channel.waits_since < late:
                channel.cut()


class Channel(HTTPChannel):
    """A connection that measures how long its client has kept it waiting."""

    def __init__(self, *args, **kwargs):
        #: Since when the server has waited for the client to take the last answer or to complete
        #: the next request; None while the request is being answered.
        self._since: float | None = time.monotonic()
        self._receiving = False
        super().__init__(*args, **kwargs)

    @property
    def waits_since(self) -> float | None:
        """Since when the client has kept the connection waiting; None if it does not."""
        return None if self.requests or self.will_close else self._since

    def received(self, data):
        if not self._receiving:
            self._receiving, self._since = True, time.monotonic()
        return super().received(data)

    def service(self):
        self._since = None
        try:
            super().service()
        finally:
            self._receiving, self._since = False, time.monotonic()

    def _flush_outbufs_below_high_watermark(self):
        # waitress would let the thread wait here until the client takes its answers.
        if self.total_outbufs_len > self.adj.outbuf_high_watermark:
            self.cut()
            raise ClientDisconnected

    def cut(self):
        """Close the connection at once, without completing the transfer."""
        self.will_close = True
        # So that the loop notices although the client reads nothing.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


class Refusal(ErrorTask):
    """The answer to an invalid or too large request, in our error format."""

    def execute(self):
        error = self.request.error
        refused = errors.plain(error.code, _DETAILS.get(error.code, error.body))
        document = errors.document(f"req-{uuid.uuid4()}", refused)
        body = json.dumps(document).encode()
        self.status = f"{refused.status} {document['errors'][0]['title']}"
        self.response_headers.append(("Content-Type", "application/json"))
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


_DETAILS = {
    413: "the body is too large",
    431: "the header is too large",
}

Channel.error_task_class = Refusal
Server.channel_class = Channel
