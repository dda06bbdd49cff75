"""Kills the manager at random instants, including those just before and just after a request."""

import random
import threading
from enum import StrEnum

from nova_twotier.tools.faults.journal import Journal
from nova_twotier.tools.faults.proxy import Fault, Request
from nova_twotier.tools.faults.recovery import Recovery
from nova_twotier.tools.faults.trouble import Trouble
from nova_twotier.tools.replay.supervisor import Supervisor

KIND = "manager killed"
#: Most polls of the manager before a kill, and most seconds from the first of them. Its start does
#: not count: on a slow machine it would never get further.
LOOKS = 12
WORK = 8.0
#: Seconds for which a request is waited for.
PATIENCE = 5.0


class Aim(StrEnum):
    """The instant of a kill. `BEFORE`: recorded, not requested; `AFTER`: done, answer not seen."""

    AT_ONCE = "at once"
    BEFORE = "before"
    AFTER = "after"


class Killer(Trouble):
    """Also an interposer of the proxies, before all others."""

    def __init__(
        self,
        chance: random.Random,
        kills: int,
        supervisor: Supervisor,
        journal: Journal,
        recovery: Recovery,
    ):
        super().__init__()
        self._chance = chance
        self._kills = kills
        self._supervisor = supervisor
        self._journal = journal
        self._recovery = recovery
        self._lock = threading.Lock()
        self._aim: Aim | None = None
        #: Polls that are left, that there was one, and that there are none left.
        self._looks = 0
        self._at_work = threading.Event()
        self._due = threading.Event()
        self._hit = threading.Event()

    def make(self) -> None:
        while self._supervisor.kills < self._kills and not self.over.is_set():
            # The last bit of time is not to follow the requests.
            aim, rest = self._chance.choice(list(Aim)), self._chance.random()
            self._aim_at(None, looks=self._chance.randint(0, LOOKS))
            while not self._at_work.wait(0.1):
                if self.over.is_set():
                    return
            self._due.wait(WORK)
            self.over.wait(rest)
            self._hit.clear()
            self._aim_at(aim)
            if aim is not Aim.AT_ONCE:
                self._hit.wait(PATIENCE)
            self._strike(aim, "")

    def _aim_at(self, aim: Aim | None, looks: int = 0) -> None:
        with self._lock:
            self._aim, self._looks = aim, looks
            if aim is None:
                self._at_work.clear()
                self._due.clear()

    def _count(self, request: Request) -> None:
        with self._lock:
            self._looks -= request.looks
            if self._looks <= 0:
                self._due.set()
            if self._looks <= 0 or request.looks:
                self._at_work.set()

    def before(self, request: Request) -> Fault | None:
        self._count(request)
        if request.writes and self._strike(Aim.BEFORE, str(request)):
            return Fault.DROPPED
        return None

    def after(self, request: Request) -> None:
        if request.writes:
            self._strike(Aim.AFTER, str(request))

    def _strike(self, aim: Aim, where: str) -> bool:
        """Kill the manager, if this is the instant aimed at; returns whether it is dead now."""
        with self._lock:
            if self._aim is not aim:
                return False
            self._aim = None
            if self._supervisor.kill():
                self._journal.write(KIND, f"{aim if where else Aim.AT_ONCE} {where}")
                self._recovery.ended(KIND)
        self._hit.set()
        return True
