"""The loop of the one-tier policies without preemption.

A policy is an order of the queue, whose first job starts when it fits, and a depth of reservations
that later jobs must respect to pass a first job that does not: 0 (nothing passes it), 1 (EASY) or
all of them (conservative).
"""

import math
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from nova_twotier.core.actions import FG, Action, Start, make_start
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.policy import IMMEDIATE, RESERVED, Policy, in_turn
from nova_twotier.core.policies.profile import Profile
from nova_twotier.core.policies.shadow import Shadow
from nova_twotier.core.queue import Queue
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.core.snapshot import Event, Snapshot


class Backfilling(Policy):
    embeds = True
    #: Waiting jobs that have a reservation.
    depth: ClassVar[float] = 0

    def first(self, queue: Queue) -> Job:
        """The waiting job whose turn it is: by default the earliest arrival."""
        return queue[0]

    def schedule(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        queue, cluster = snapshot.queue.allowed(FG), snapshot.cluster
        actions: list[Action] = []
        while queue.has_fitting(cluster.idle[FG]):
            job = self.first(queue)
            if not cluster.fits(job, FG):
                if self.depth:
                    backfill = self._beside_head if self.depth == 1 else self._beside_all
                    backfill(snapshot, now, actions)
                break
            actions.append(self._start(job, snapshot, now))
        return actions

    def _start(self, job: Job, snapshot: Snapshot, now: float) -> Start:
        snapshot.queue.remove(job)
        run = snapshot.cluster.start(job, FG, until=now + job.expected)
        how = in_turn(snapshot.queue, job)
        if self.depth and how is IMMEDIATE:
            decided = now if snapshot.since is None else snapshot.since
            how = RESERVED if job.arrival < decided else IMMEDIATE
        return make_start((job, FG, run.hosts, how))

    def _beside_head(self, snapshot: Snapshot, now: float, actions: list[Action]) -> None:
        """Backfill whatever does not delay the head."""
        queue, idle = snapshot.queue.allowed(FG), snapshot.cluster.idle
        shadow = Shadow(snapshot.cluster, queue[0], now)
        job: Job | None = queue[0]
        while job and queue.has_fitting(idle[FG]) and (job := shadow.next(queue, job, idle[FG])):
            actions.append(self._start(job, snapshot, now))

    def _beside_all(self, snapshot: Snapshot, now: float, actions: list[Action]) -> None:
        """Backfill whatever does not delay any earlier arrival."""
        profile = Profile(snapshot.cluster, now)
        for job in snapshot.queue.allowed(FG):
            begin = profile.earliest(job.size, job.expected)
            if begin == now and snapshot.cluster.fits(job, FG):
                actions.append(self._start(job, snapshot, now))
            if begin < math.inf:
                profile.take(begin, job.expected, job.size)
            else:
                profile.hold(job.size)
            if not snapshot.cluster.idle[FG]:
                break

    def reasons(self, snapshot: Snapshot) -> Callable[[Job], Reason]:
        queue = snapshot.queue.allowed(FG)
        return partial(self._reason, snapshot, self.first(queue) if queue else None)

    def _reason(self, snapshot: Snapshot, first: Job | None, job: Job) -> Reason:
        if not job.foreground:
            return self.background_only()
        idle = snapshot.cluster.idle[FG]
        if first is None or job.number == first.number or (self.depth and job.size > idle):
            return snapshot.cluster.need(job)
        if not self.depth:
            return waits.TURN(first.number)
        return waits.DELAY(first.number, idle=idle)
