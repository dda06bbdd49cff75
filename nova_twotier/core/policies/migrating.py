"""The loop of the one-tier policies with preemption (TPDS 2013, section 4.1, Algorithm 1)."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from nova_twotier.core.actions import FG, Action, Evict, Start, make_start
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.policy import Policy, in_turn
from nova_twotier.core.policies.preemption import (
    NOBODY,
    Holders,
    by_places,
    kept_for,
    lacks,
    select,
)
from nova_twotier.core.policies.turns import select_in_turn
from nova_twotier.core.reasons import Reason
from nova_twotier.core.snapshot import ARRIVAL, Event, Snapshot


class Migrating(Policy):
    """Jobs pass earlier ones that do not fit, and are evicted when those do.

    A subclass says whether only the head of the queue may evict.
    """

    only_head: ClassVar[bool]

    def schedule(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        cluster, queue = snapshot.cluster, snapshot.queue.allowed(FG)
        if not queue:
            return []
        settling = snapshot.settling_slots
        if event is ARRIVAL and settling is None:
            # New arrivals cannot evict anyone, and jobs that waited for slots still wait for them.
            return [self._start(job, snapshot) for job in queue.fitting(cluster.idle, FG)]
        evictable, idle, straddling = cluster.evictable, cluster.idle[FG], cluster.straddling(FG)
        if self.only_head:
            away = snapshot.away
            selection = select_in_turn(
                queue, NOBODY, evictable, idle, straddling, away, settling=settling
            )
        else:
            selection = select(queue, NOBODY, evictable, idle, straddling, settling)
        evictions = []
        for victim, preemptor in selection.evicted.values():
            cluster.remove(victim)
            snapshot.queue.add(victim)
            evictions.append(Evict(victim, FG, preemptor))
        return [*evictions, *(self._start(job, snapshot) for job in selection.chosen)]

    def _start(self, job: Job, snapshot: Snapshot) -> Start:
        snapshot.queue.remove(job)
        run = snapshot.cluster.start(job, FG)
        return make_start((job, FG, run.hosts, in_turn(snapshot.queue, job)))

    def reasons(self, snapshot: Snapshot) -> Callable[[Job], Reason]:
        cluster = snapshot.cluster
        held = Holders(by_places(cluster.evictable(), cluster.straddling(FG)))
        return partial(self._reason, snapshot, held, kept_for(snapshot, held, self.only_head))

    def _reason(self, snapshot: Snapshot, held: Holders, keeper: Job | None, job: Job) -> Reason:
        if not job.foreground:
            return self.background_only()
        idle, first = snapshot.cluster.idle[FG], None
        if keeper is not None and keeper.order < job.order and job.size <= idle:
            first = keeper.number
        return lacks(job.size, idle, held.later(job), first=first)
