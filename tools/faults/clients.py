"""Clients of the REST API that never finish their requests."""

import contextlib
import os
import socket
import threading
import time

from nova_twotier.tools.faults.mishaps import Mishap
from nova_twotier.tools.faults.site import Site

#: Number of clients that send a byte now and then, and seconds between two bytes.
DRIBBLERS, PAUSE = 40, 1.0
#: What a client with an endless header sends at a time.
ENDLESS = b"a" * 65536
#: Seconds that a well-behaved client waits, and MiB that the API may grow by.
PATIENCE, GROWTH = 5.0, 100.0


class SlowClients(Mishap):
    """Meanwhile a well-behaved client checks the API's health once a second.

    :param port: of the API.
    :param pid: of its process, for its memory.
    :ivar slowest: seconds that the well-behaved client waited for an answer.
    :ivar grown: MiB by which the process grew.
    """

    kind = "slow clients"

    def __init__(self, at: float, site: Site, port: int, pid, seconds: float):
        super().__init__(at, site)
        self._address = "127.0.0.1", port
        self._pid = pid
        self._seconds = seconds
        self.asked = self.unanswered = 0
        self.slowest = self.grown = 0.0

    def happen(self) -> None:
        before = resident(self._pid())
        end = time.monotonic() + self._seconds
        threads = [threading.Thread(target=self._dribble, args=(end,)) for _ in range(DRIBBLERS)]
        threads.append(threading.Thread(target=self._babble, args=(end,)))
        for thread in threads:
            thread.start()
        self.happened = True
        self.note("come")
        while time.monotonic() < end and not self.over.wait(PAUSE):
            self._ask()
            self.grown = max(self.grown, resident(self._pid()) - before)
        for thread in threads:
            thread.join()
        self.note("go", f"slowest answer {self.slowest:.1f} s, {self.grown:.0f} MiB more")

    def problems(self) -> list[str]:
        found = []
        if self.happened and not self.asked:
            found.append("the API was asked nothing beside slow clients")
        if self.unanswered:
            found.append(
                f"the API left {self.unanswered} of {self.asked} requests without an answer for "
                f"{PATIENCE:g} s beside slow clients"
            )
        if self.grown > GROWTH:
            found.append(f"the API grew by {self.grown:.0f} MiB beside slow clients")
        return found

    def _ask(self) -> None:
        began = time.monotonic()
        self.asked += 1
        try:
            with socket.create_connection(self._address, timeout=PATIENCE) as client:
                # Not a health check, which has threads of its own.
                client.sendall(b"GET /v1 HTTP/1.1\r\nHost: api\r\nConnection: close\r\n\r\n")
                if not client.recv(1):
                    self.unanswered += 1
        except OSError:
            self.unanswered += 1
        self.slowest = max(self.slowest, time.monotonic() - began)

    def _dribble(self, end: float) -> None:
        self._say(end, b"GET /healthcheck HTTP/1.1\r\nX-Slow: ", b"z", PAUSE)

    def _babble(self, end: float) -> None:
        self._say(end, b"GET /healthcheck HTTP/1.1\r\nX-Endless: ", ENDLESS, 0.01)

    def _say(self, end: float, beginning: bytes, more: bytes, pause: float) -> None:
        """Send again and again, also after the API has disconnected."""
        while time.monotonic() < end and not self.over.is_set():
            with (
                contextlib.suppress(OSError),
                socket.create_connection(self._address, timeout=PATIENCE) as client,
            ):
                client.sendall(beginning)
                while time.monotonic() < end and not self.over.wait(pause):
                    client.sendall(more)
            self.over.wait(pause)


def resident(pid: int) -> float:
    """Memory of a process, in MiB."""
    with open(f"/proc/{pid}/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
