"""A leader is paused in mid-work, another takes over, and the first one continues."""

import os
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from nova_twotier.db import terms
from nova_twotier.db.models import DEFAULT_POOL
from nova_twotier.tools.faults.databases import Database
from nova_twotier.tools.faults.gate import Gate
from nova_twotier.tools.faults.mishaps import LOOK, Mishap
from nova_twotier.tools.faults.proxy import Proxy, Request
from nova_twotier.tools.faults.site import Site
from nova_twotier.tools.replay.supervisor import Supervisor

#: Seconds for which the leader's next look at the ledger is waited for, and another one's lead.
AIM, ELECTION = 20.0, 60.0
#: How often: the second time it is the one that took over.
ROUNDS = 2
#: In the path of such a look, and of none that a poll begins with.
CONSUMER = "/allocations/"


@dataclass(frozen=True)
class Manager:
    """A queue manager: its process, its door to the database, and what it asks of the ledger."""

    supervisor: Supervisor
    gate: Gate | None
    ledger: "LedgerWatch"
    proxies: Mapping[str, Proxy]

    def leads(self, store) -> bool:
        return terms.leader_of(store, DEFAULT_POOL).endswith(f":{self.supervisor.pid}")


class LedgerWatch:
    """An interposer before Placement, for one manager.

    The dangerous instant is between the read of a consumer's claims and the write that follows:
    there the manager is paused.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._stop: int | None = None
        self._deposed = False
        self.stopped = threading.Event()
        #: Writes since it was deposed.
        self.writes: list[str] = []

    def stop_at_next_look(self, pid: int | None) -> None:
        with self._lock:
            self._stop = pid

    def depose(self, deposed: bool) -> None:
        with self._lock:
            self._deposed = deposed

    def before(self, request: Request) -> None:
        with self._lock:
            if self._deposed and request.writes:
                self.writes.append(f"{request.method} {request.path}")

    def after(self, request: Request) -> None:
        with self._lock:
            if self._stop is not None and not request.writes and CONSUMER in request.path:
                os.kill(self._stop, signal.SIGSTOP)
                self._stop = None
                self.stopped.set()


class SplitBrain(Mishap):
    """The leader is stopped, its connections to the database end, and another one leads.

    Then it goes on where it was, with the database there for it: it must not write to the ledger.

    :param seconds: for which the new leader is alone.
    """

    kind = "leader"

    def __init__(
        self, at: float, site: Site, managers: list[Manager], database: Database, seconds: float
    ):
        super().__init__(at, site)
        self._managers = managers
        self._database = database
        self._seconds = seconds

    def happen(self) -> None:
        for _ in range(ROUNDS):
            if leader := self._leader():
                self._replace(leader)

    def _replace(self, leader: Manager) -> None:
        pid, watch = leader.supervisor.pid, leader.ledger
        watch.stopped.clear()
        watch.stop_at_next_look(pid)
        if not watch.stopped.wait(AIM):
            watch.stop_at_next_look(None)
            os.kill(pid, signal.SIGSTOP)
        try:
            self.note("stopped", str(pid))
            self.site.recovery.ended(f"{self.kind} stopped")
            self._database.cut(leader.gate.server_side())
            if self._another(leader):
                self.happened = True
                self.over.wait(self._seconds)
                watch.depose(True)
        finally:
            os.kill(pid, signal.SIGCONT)
        self.note("goes on", str(pid))
        # It notices, and stands by; its writes until then are noted.
        self.over.wait(self._seconds)
        watch.depose(False)

    def _leader(self) -> Manager | None:
        while not self.over.wait(LOOK):
            for manager in self._managers:
                if manager.leads(self.site.store):
                    return manager
        return None

    def _another(self, leader: Manager) -> bool:
        """Whether one of the others leads before the patience is over."""
        for _ in range(round(ELECTION / LOOK)):
            if any(m.leads(self.site.store) for m in self._managers if m is not leader):
                return True
            if self.over.wait(LOOK):
                return False
        return False

    def problems(self) -> list[str]:
        """What a deposed leader still did."""
        return [
            f"a deposed leader wrote to the ledger: {write}"
            for manager in self._managers
            for write in manager.ledger.writes
        ]
