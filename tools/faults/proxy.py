"""An HTTP proxy before one service, which spoils requests on demand."""

import contextlib
import http.client
import socket
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol
from urllib.parse import urlsplit

ADDRESS = "127.0.0.1"


class Fault(StrEnum):
    """What becomes of a request."""

    DROPPED = "connection dropped"
    LOST = "carried out, connection dropped"
    CUT = "carried out, half an answer"
    SILENT = "no answer"
    LATE = "carried out after the client gave up"
    ERROR = "answered 500"
    CONFLICT = "answered 409"


_STATUS = {Fault.ERROR: 500, Fault.CONFLICT: 409}
_WAITING = (Fault.SILENT, Fault.LATE)
_UNANSWERED = (Fault.LOST, Fault.LATE)
#: Headers that belong to one connection, or that are rewritten.
_OWN = {"connection", "keep-alive", "transfer-encoding", "content-length", "host", "server", "date"}


@dataclass(frozen=True, slots=True)
class Request:
    service: str
    method: str
    path: str

    @property
    def writes(self) -> bool:
        """Whether it changes something."""
        return self.method != "GET"

    @property
    def looks(self) -> bool:
        """Whether it lists the servers of jobs, which the manager does once a poll."""
        return "/servers/detail?" in self.path and "marker=" not in self.path

    def __str__(self) -> str:
        return f"{self.service} {self.method} {self.path}"


class Interposer(Protocol):
    """Sees each request, from the thread that handles it, and may keep it waiting."""

    def before(self, request: Request) -> Fault | None:
        """What is to become of it; None leaves that to the next one."""

    def after(self, request: Request) -> None:
        """The service has carried it out; its answer goes back when this returns."""


class Proxy:
    """Listens on a loopback port of its own while it is entered.

    :param target: URL of the service; requests have paths from its root.
    :param interposers: asked in this order.
    :param hold: seconds until the client of an unanswered request has surely given up.
    """

    def __init__(self, service: str, target: str, interposers: Sequence[Interposer], hold: float):
        self.service = service
        self.address = urlsplit(target)
        self.interposers = interposers
        self.hold = hold
        self.closing = threading.Event()
        self._server = _Server((ADDRESS, 0), _Handler)
        self._server.proxy = self
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """What to put in the place of the target."""
        return f"http://{ADDRESS}:{self._server.server_port}{self.address.path}"

    def before(self, request: Request) -> Fault | None:
        for interposer in self.interposers:
            if fault := interposer.before(request):
                return fault
        return None

    def after(self, request: Request) -> None:
        for interposer in self.interposers:
            interposer.after(request)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A connection that is still open does not keep us from ending.
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request, client_address):
        # Clients that are killed leave their connections so.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        address = self.server.proxy.address
        self._service = http.client.HTTPConnection(address.hostname, address.port)

    def finish(self):
        self._service.close()
        super().finish()

    def _handle(self):
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(proxy.service, self.command, self.path)
        fault = proxy.before(request)
        if fault in _STATUS:
            self._answer(_STATUS[fault], [], b"")
            return
        if fault in _WAITING:
            proxy.closing.wait(proxy.hold)
        if fault in (Fault.DROPPED, Fault.SILENT) or not (answer := self._forward(body)):
            self._hang_up()
            return
        proxy.after(request)
        if fault in _UNANSWERED:
            self._hang_up()
            return
        self._answer(*answer, cut=fault is Fault.CUT)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _handle

    def _forward(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes] | None:
        """The service's answer; None if it has none."""
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN}
        try:
            self._service.request(self.command, self.path, body or None, headers)
            answer = self._service.getresponse()
            kept = [(name, value) for name, value in answer.getheaders() if _passes(name)]
            return answer.status, kept, answer.read()
        except (OSError, http.client.HTTPException):
            self._service.close()
            return None

    def _answer(self, status: int, headers, body: bytes, cut: bool = False) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if cut:
            self.wfile.write(body[: len(body) // 2])
            self._hang_up()
        else:
            self.wfile.write(body)

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_):
        """The journal has what matters."""


def _passes(name: str) -> bool:
    return name.lower() not in _OWN
