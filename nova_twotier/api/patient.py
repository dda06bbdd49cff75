"""Answers the requests of boards in a process of its own.

Such a request is patient: its Cache-Control takes an answer that is some seconds old.

Python computes in one thread of a process at a time, and a page of a board takes several times as
long as an ordinary request, which would have to share that time with it.
"""

import contextlib
import io
import socket
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, Listener

from oslo_log import log as logging

LOG = logging.getLogger(__name__)

#: Seconds in which the other process must have answered, and for which it is not asked if it has
#: not. Placement and Keystone, for which it may have to wait, have less time.
PATIENCE = 60.0
#: Threads that do not wait for the other process, however many readers are patient.
OTHERS = 2


def is_patient(environ) -> bool:
    """Whether a request takes an answer that is some seconds old."""
    return "max-stale" in environ.get("HTTP_CACHE_CONTROL", "")


def listener(threads: int) -> Listener:
    """Where the other process is asked: a Unix socket in a directory of this user alone.

    :param threads: of the process that asks.
    """
    return Listener(family="AF_UNIX", backlog=threads)


class Elsewhere:
    """WSGI middleware that passes patient requests on to another process.

    It answers them itself if the other one fails or has too much to do, and for a while after that
    was late.

    :param address: of the `listener` of the other process, which runs `serve`.
    :param threads: of this process.
    :param clock: seconds since any origin; cannot be set.
    """

    def __init__(
        self,
        application,
        address: str,
        threads: int,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._application, self._clock = application, clock
        self._address = address
        self._not_before = float("-inf")
        self._free = threading.BoundedSemaphore(max(1, threads - OTHERS))
        #: Each thread keeps a connection.
        self._own = threading.local()

    def __call__(self, environ, start_response):
        if environ["REQUEST_METHOD"] == "GET" and is_patient(environ):
            answer = self._ask({k: v for k, v in environ.items() if isinstance(v, str)})
            if answer is not None:
                status, headers, body = answer
                start_response(status, headers)
                return [body]
        return self._application(environ, start_response)

    def _ask(self, environ: dict[str, str]) -> tuple[str, list, bytes] | None:
        if self._clock() < self._not_before or not self._free.acquire(blocking=False):
            return None
        try:
            connection = self._connection()
            connection.send(environ)
            if connection.poll(PATIENCE):
                return connection.recv()
            self._not_before = self._clock() + PATIENCE
            raise TimeoutError(f"no answer in {PATIENCE:g} s")
        except (OSError, EOFError) as error:
            LOG.warning("The process that answers boards has failed: %r", error)
            self._disconnect()
            return None
        finally:
            self._free.release()

    def _connection(self) -> Connection:
        if getattr(self._own, "connection", None) is None:
            self._own.connection = _connected(self._address)
        return self._own.connection

    def _disconnect(self) -> None:
        if (connection := getattr(self._own, "connection", None)) is not None:
            connection.close()
            self._own.connection = None


def _connected(address: str) -> Connection:
    """:raises OSError: also if too many wait to be connected, which `Client` would wait for."""
    with socket.socket(socket.AF_UNIX) as connecting:
        connecting.setblocking(False)
        connecting.connect(address)
        connecting.setblocking(True)
        return Connection(connecting.detach())


def serve(listening: Listener, application) -> None:
    """Answer what `Elsewhere` passes on, without end.

    :param application: WSGI application. It gets the same environment, but for the files.
    """
    while True:
        connection = listening.accept()
        threading.Thread(target=_answer, args=[connection, application], daemon=True).start()


def _answer(connection: Connection, application) -> None:
    """Answer one request after the other, until the connection is closed."""
    with connection, contextlib.suppress(EOFError, ConnectionError):
        while True:
            connection.send(_called(application, connection.recv()))


def _called(application, environ: dict) -> tuple[str, list, bytes]:
    begun: list = []
    files = {"wsgi.input": io.BytesIO(), "wsgi.errors": sys.stderr}
    threads = {"wsgi.multithread": True, "wsgi.multiprocess": True, "wsgi.run_once": False}
    started = {"wsgi.version": (1, 0), **environ, **files, **threads}
    body = application(started, lambda *status_and_headers: begun.append(status_and_headers))
    try:
        content = b"".join(body)
    finally:
        if hasattr(body, "close"):
            body.close()
    status, headers = begun[-1][:2]
    return status, headers, content
