"""How long it takes after a fault until the manager decides again."""

import threading
import time
from collections import defaultdict
from dataclasses import dataclass

from sqlalchemy import func, select

from nova_twotier.db.models import Action, Job
from nova_twotier.db.store import Store
from nova_twotier.tools.faults.trouble import Trouble

#: Seconds between two polls of the database.
INTERVAL = 0.1


@dataclass(frozen=True)
class _Fault:
    kind: str
    ended: float
    before: tuple


class Recovery(Trouble):
    """Measures from the end of each fault until the manager has recorded something new.

    That is an action, or a change of a job: a reason why it waits is enough. A fault after which
    all jobs are over, so that there is nothing to record, does not count.

    :ivar seconds: of each fault, by its kind.
    """

    def __init__(self, store: Store):
        super().__init__()
        self._store = store
        self._lock = threading.Lock()
        self._open: list[_Fault] = []
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def ended(self, kind: str) -> None:
        """A fault of this kind is over now; any thread may say so."""
        fault = _Fault(kind, time.monotonic(), self._records())
        with self._lock:
            self._open.append(fault)

    def make(self) -> None:
        while not self.over.wait(INTERVAL):
            with self._lock:
                waiting = list(self._open)
            if not waiting:
                continue
            records, now = self._records(), time.monotonic()
            for fault in waiting:
                if fault.before != records:
                    self.seconds[fault.kind].append(now - fault.ended)
                    with self._lock:
                        self._open.remove(fault)

    def _records(self) -> tuple:
        """A value that grows with everything that a manager records, and with nothing else."""
        with self._store.reading() as session:
            return (
                session.scalar(select(func.max(Action.id))),
                session.scalar(select(func.sum(Job.revision))),
            )
