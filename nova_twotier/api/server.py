"""The WSGI server of `twotier-api`: slow, endless and greedy clients take nothing from others.

It is waitress, whose one loop receives whole requests and sends the answers, so that a slow client
takes no thread. What waitress does not have is added here: a limit on the whole time that a client
takes, and room for new connections at the expense of the slowest.
"""

import contextlib
import json
import socket
import time
import uuid

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask

from nova_twotier.api import errors

#: What the server calls itself: nothing of the machine, nor of versions.
NAME = "twotier-api"


class Server(TcpWSGIServer):
    """Listens at once; `run` serves until SystemExit is raised in it.

    Requests that are being answered then have five seconds.

    :param options: those of group `[api]`.
    :param max_body: bytes of a request's body.
    :raises OSError: if the address cannot be listened on.
    """

    def __init__(self, options, max_body: int, application):
        self._most = options.max_connections
        self.request_timeout = options.request_timeout
        # The first address of a name, as clients would take it.
        family, kind, protocol, _name, address = socket.getaddrinfo(
            options.listen, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        super().__init__(
            application,
            _sock=socket.create_server(address[:2], family=family),
            bind_socket=False,
            sockinfo=(family, kind, protocol, address),
            adj=Adjustments(
                threads=options.threads,
                ident=NAME,
                server_name=NAME,
                max_request_header_size=options.max_request_header_size,
                # waitress refuses what is as large as its limit.
                max_request_body_size=max_body + 1,
                # Beside the connections, waitress counts its own two sockets.
                connection_limit=2 * self._most + 2,
                # Seconds between looks for clients that are late.
                cleanup_interval=1,
                # select() cannot watch descriptors above 1023.
                asyncore_use_poll=True,
                # Clients that break off are no news.
                log_socket_errors=False,
                # oslo.middleware decides about the headers of proxies.
                clear_untrusted_proxy_headers=False,
            ),
        )

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        return self.effective_host, int(self.effective_port)

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
    """A connection that knows for how long its client has kept it waiting."""

    def __init__(self, *args, **kwargs):
        #: Since when the client is to take the last answer or, from the first byte of it, to send
        #: the next request; None: the request is being answered.
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

    def cut(self):
        """End the connection, whatever is left to be received or sent."""
        self.will_close = True
        # So that the loop hears of it although the client takes nothing.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


class Refusal(ErrorTask):
    """The answer to what is no request, or too large, in the format of all our refusals."""

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
