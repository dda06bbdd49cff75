"""Records the utilisation and the queue length of a pool, once a minute."""

from collections.abc import Callable

from nova_twotier.core.actions import BG, FG
from nova_twotier.db import utilisation
from nova_twotier.db.heartbeats import LONGEST_POLL
from nova_twotier.db.states import JobState
from nova_twotier.db.store import Store
from nova_twotier.db.utilisation import MINUTE, Sample
from nova_twotier.manager.gauges import Gauges
from nova_twotier.manager.pool_metrics import PoolMetrics


class Utilisation:
    """Writes the gauges of a pool's metrics to the database, during one term of its leader.

    :param fence: `fence(session)` raises `Deposed` if another manager leads the pool by now.
    """

    def __init__(self, store: Store, pool: str, fence: Callable[..., None], metrics: PoolMetrics):
        self._store, self._pool = store, pool
        self._fence, self._metrics = fence, metrics
        #: The begin of the minute of the last sample; None: there is none in this term.
        self._minute: int | None = None
        #: Slot-seconds whose work had been lost until then.
        self._lost = metrics.lost_seconds

    def poll(self, now: float) -> None:
        """Record a sample between two polls, unless there is one of this minute.

        Its minutes are those since the last sample, as long as one poll may have taken: longer
        gaps are shown as such.

        :param now: in seconds since the epoch.
        """
        minute = int(now) // MINUTE * MINUTE
        if minute == self._minute or (gauges := self._metrics.refresh()) is None:
            return
        lost = self._metrics.lost_seconds
        sample = _sample(gauges, lost - self._lost)
        nothing_lost = _sample(gauges, 0.0)
        with self._store.transaction() as session:
            # Not locked, which would tell all readers that jobs have changed: a leader that is
            # replaced at this moment only adds a sample to those of its successor.
            self._fence(session)
            for skipped in self._skipped(minute):
                utilisation.add(session, self._pool, skipped, nothing_lost)
            utilisation.add(session, self._pool, minute, sample)
            utilisation.expire(session, now)
        self._minute, self._lost = minute, lost

    def _skipped(self, minute: int) -> range:
        """The minutes between two samples that a single long poll explains: no gap."""
        last = self._minute
        if last is None or not last < minute <= last + LONGEST_POLL + MINUTE:
            return range(0)
        return range(last + MINUTE, minute, MINUTE)


def _sample(gauges: Gauges, lost: float) -> Sample:
    jobs, processes = map(sum, zip(*gauges.jobs.values(), strict=True))
    waiting_jobs, waiting_processes = gauges.jobs[JobState.QUEUED]
    return Sample(
        fg_slots=gauges.slots[FG],
        fg_used=gauges.used[FG],
        fg_free=gauges.free[FG],
        bg_slots=gauges.slots[BG],
        bg_used=gauges.used[BG],
        bg_free=gauges.free[BG],
        waiting_jobs=waiting_jobs,
        running_jobs=jobs - waiting_jobs,
        waiting_processes=waiting_processes,
        running_processes=processes - waiting_processes,
        lost=lost,
    )
