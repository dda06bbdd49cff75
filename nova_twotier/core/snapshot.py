"""The input of a policy: the cluster, the queue, and the events since its last decision."""

import enum
import math
from collections.abc import Callable, Iterable

from nova_twotier.core.actions import BG, FG
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.jobs import Job, Order
from nova_twotier.core.queue import Queue


class Event(enum.Flag):
    """What happened; several events of one instant are joined with `|`."""

    ARRIVAL = enum.auto()  # jobs joined the queue: by arrival they are the last
    BACKGROUND = enum.auto()  # background slots became free
    FOREGROUND = enum.auto()  # foreground slots became free, or hosts changed


#: Shortcuts for code that runs for every event: looking up an enum member takes five times longer.
ARRIVAL, BACKGROUND = Event.ARRIVAL, Event.BACKGROUND
#: Events by the sum of their bits: joining flags would take longer than most decisions. And the
#: bits of what becomes free when a job of a tier ends.
EVENTS = tuple(map(Event, range(8)))
ENDED = {FG: Event.FOREGROUND.value, BG: Event.BACKGROUND.value}
#: All combinations with `FOREGROUND`: testing a flag would take longer than most decisions.
FOREGROUND_CHANGED = tuple(event for event in EVENTS if Event.FOREGROUND in event)


#: A position behind that of any job.
NONE_AWAY: Order = (math.inf, 0)


class Snapshot:
    """State at one instant.

    :param queue: the waiting jobs; those whose state was saved are among them.
    :param since: time of the last decision; None if each arrival is decided at once.
    :param settling: numbers of the foreground jobs that cannot be evicted yet, for no other reason
        than that they have just started or changed tier. See `settling_slots`.
    :param away: the position of the earliest job that wants the foreground and is on its way, to
        the queue or the background. Where only the earliest may evict, none behind it may.
    """

    __slots__ = ("away", "cluster", "queue", "settling", "since")

    def __init__(
        self,
        cluster: Cluster,
        queue: Queue | Iterable[Job] = (),
        since: float | None = None,
        away: Order = NONE_AWAY,
        settling: frozenset[int] = frozenset(),
    ):
        self.cluster = cluster
        self.queue = queue if isinstance(queue, Queue) else Queue(queue)
        self.since = since
        self.away = away
        self.settling = settling

    def __reduce__(self) -> tuple[type["Snapshot"], tuple[object, ...]]:
        # Pickled by its values: see `Job.__reduce__`.
        return Snapshot, (self.cluster, self.queue, self.since, self.away, self.settling)

    @property
    def settling_slots(self) -> Callable[[Order], int] | None:
        """Counts the slots that a job at a given position could take besides, were none `settling`.

        None if nothing is settling.

        A job for which these are enough keeps the idle slots until it may have them: otherwise each
        job that took them out of turn would be settling in its place, and it might never start.
        """
        return self._settling_slots if self.settling else None

    def _settling_slots(self, after: Order) -> int:
        places = self.cluster.straddling(FG)
        runs = self.cluster.settling(self.settling, after)
        return sum([places.get(run.job.number, run.job.size) for run in runs])

    def copy(self) -> "Snapshot":
        return self.on(self.cluster.copy(), self.queue.copy())

    def on(self, cluster: Cluster, queue: Queue) -> "Snapshot":
        """The same with another cluster and queue."""
        return Snapshot(cluster, queue, self.since, self.away, self.settling)
