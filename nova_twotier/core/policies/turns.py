"""Selects who gets the foreground where only the earliest candidate may preempt: AMBF and AMCBF.

TPDS 2013, section 4.1.2: the head of the queue takes slots that are idle or held by later arrivals;
when there are too few for it, others backfill the idle ones. Works on counts, as `preemption`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from nova_twotier.core.actions import FG, Tier
from nova_twotier.core.cluster import NOTHING, Run
from nova_twotier.core.jobs import Job, Order
from nova_twotier.core.policies.preemption import Holders, Selection, by_places, spare, whole
from nova_twotier.core.queue import Queue
from nova_twotier.core.snapshot import NONE_AWAY

BackfillOrder: TypeAlias = Callable[[Job], Order | tuple[float, Order]]


def select_in_turn(
    queue: Queue,
    below: Queue,
    evictable: Callable[[Order], list[Run]],
    idle: int,
    straddling: Mapping[int, int] = NOTHING,
    away: Order = NONE_AWAY,
    shortest_first: bool = False,
    settling: Callable[[Order], int] | None = None,
) -> Selection:
    """Decide who holds the foreground. See `preemption.select` for the parameters not listed here.

    :param away: as of `Snapshot.away`.
    :param shortest_first: as of `backfill_order`.
    """
    turns = _Turns(queue, below)
    chosen: list[Job] = []
    evicted: dict[int, tuple[Job, Job]] = {}
    runs: list[Run] = []
    held: Holders | None = None
    while (job := turns.next()) is not None:
        if job.size > idle:
            if not job.order < away:
                break
            if held is None:
                runs = evictable(job.order)
                held = Holders(by_places(runs, straddling))
            reach = idle + held.later(job)
            if job.size > reach:
                if settling is not None and job.size <= reach + settling(job.order):
                    spare(evicted, idle)
                    idle = 0
                break
            victims = held.victims(job, idle)
            for victim in victims:
                held.remove(victim)
                idle += victim.size
                evicted[victim.number] = victim, job
            turns.add(victims)
        idle -= job.size
        _choose(job, chosen, evicted)
    if idle and (evicted or queue.has_fitting(idle) or below.has_fitting(idle)):
        taken = {job.number for job in chosen}
        idles = {FG: idle}
        losing = [victim for victim, _by in evicted.values()]
        for job in _fitting(queue, below, losing, idles, shortest_first):
            if job.size <= idles[FG] and job.number not in taken:
                idles[FG] -= job.size
                _choose(job, chosen, evicted)
    return Selection(chosen, whole(evicted, runs) if straddling else evicted)


def _choose(job: Job, chosen: list[Job], evicted: dict[int, tuple[Job, Job]]) -> None:
    # A victim that gets its slots back has never left them.
    if evicted.pop(job.number, None) is None:
        chosen.append(job)


class _Turns:
    """An iterator over the candidates by arrival, which also visits those evicted on the way."""

    def __init__(self, queue: Queue, below: Queue):
        self._queue = queue
        self._below = below
        #: How many of each had their turn.
        self._waiting = 0
        self._running = 0
        #: Those who lost the foreground meanwhile, the earliest last.
        self._losing: list[Job] = []

    def next(self) -> Job | None:
        """The next candidate; None if there is none left."""
        best = self._queue[self._waiting] if self._waiting < len(self._queue) else None
        other = self._below[self._running] if self._running < len(self._below) else None
        from_queue = other is None or (best is not None and best.order < other.order)
        if not from_queue:
            best = other
        losing = self._losing
        if losing and (best is None or losing[-1].order < best.order):
            return losing.pop()
        if best is not None:
            if from_queue:
                self._waiting += 1
            else:
                self._running += 1
        return best

    def add(self, victims: list[Job]) -> None:
        """Give victims a turn, too: they come after the candidate that evicted them."""
        if victims:
            self._losing = sorted([*self._losing, *victims], key=_arrival, reverse=True)


def _fitting(
    queue: Queue,
    below: Queue,
    losing: list[Job],
    idle: Mapping[Tier, int],
    shortest_first: bool,
) -> Iterator[Job]:
    """Yield the candidates that fit the idle foreground slots, in the order of backfilling.

    Jobs that no longer fit may be among them: the caller checks.
    """
    key = backfill_order(shortest_first)
    fitting: Iterator[Job] | None = iter(sorted(losing, key=key)) if losing else None
    for each in (queue, below):
        if each.has_fitting(idle[FG]):
            own = each.shortest_first(idle, FG) if shortest_first else each.fitting(idle, FG)
            fitting = own if fitting is None else _merged(fitting, own, key)
    return iter(()) if fitting is None else fitting


def _merged(one: Iterator[Job], other: Iterator[Job], key: BackfillOrder) -> Iterator[Job]:
    """Merge two sorted iterators, as the slower `heapq.merge` does: that is not compiled."""
    first, second = next(one, None), next(other, None)
    while first is not None and second is not None:
        if key(first) < key(second):
            yield first
            first = next(one, None)
        else:
            yield second
            second = next(other, None)
    while first is not None:
        yield first
        first = next(one, None)
    while second is not None:
        yield second
        second = next(other, None)


def backfill_order(shortest_first: bool) -> BackfillOrder:
    """The sort key of jobs that backfill.

    :param shortest_first: by relative deadline, the shortest first, and not by arrival.
    """
    return _relative_deadline if shortest_first else _arrival


def _arrival(job: Job) -> Order:
    return job.order


def _relative_deadline(job: Job) -> tuple[float, Order]:
    return job.relative_deadline, job.order
