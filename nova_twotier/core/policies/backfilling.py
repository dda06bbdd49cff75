"""The loop of the one-tier policies without preemption.

A policy is an order of the queue, whose first job starts when it fits, and a depth of reservations
that later jobs must respect to pass a first job that does not: 0 (nothing passes it), 1 (EASY) or
all of them (conservative).
"""

import math
from typing import ClassVar

from nova_twotier.core.actions import FG, Action, How, Start
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.policy import Policy, in_turn
from nova_twotier.core.policies.profile import Profile
from nova_twotier.core.policies.shadow import Shadow
from nova_twotier.core.queue import Queue
from nova_twotier.core.snapshot import Event, Snapshot


class Backfilling(Policy):
    #: Waiting jobs that have a reservation.
    depth: ClassVar[float] = 0

    def first(self, queue: Queue) -> Job:
        """The waiting job whose turn it is: by default the earliest arrival."""
        return queue[0]

    def play(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        cluster, queue = snapshot.cluster, snapshot.queue
        idle = cluster.idle
        actions = []
        if not queue:
            return actions

        def start(job: Job) -> None:
            queue.remove(job)
            run = cluster.start(job, FG, until=now + job.expected)
            how = in_turn(queue, job)
            if self.depth and how is How.IMMEDIATE and job.arrival < now:
                how = How.RESERVED
            actions.append(Start(job, FG, run.hosts, how))

        while queue and (job := self.first(queue)).size <= idle[FG]:
            start(job)
        if self.depth and queue and idle[FG]:
            backfill = self._beside_head if self.depth == 1 else self._beside_all
            backfill(snapshot, now, start)
        return actions

    def _beside_head(self, snapshot, now, start) -> None:
        idle, queue = snapshot.cluster.idle, snapshot.queue
        if queue.smallest_job.size > idle[FG]:
            return
        shadow = Shadow(snapshot.cluster, queue[0], now)
        for job in queue.fitting(idle, FG, shadow.could_admit):
            if shadow.admits(job):
                start(job)

    def _beside_all(self, snapshot, now, start) -> None:
        profile = Profile(snapshot.cluster, now)
        for job in snapshot.queue:
            begin = profile.earliest(job.size, job.expected)
            if begin == now and snapshot.cluster.fits(job, FG):
                start(job)
            if begin < math.inf:
                profile.take(begin, job.expected, job.size)
            if not snapshot.cluster.idle[FG]:
                break

    def reason(self, snapshot: Snapshot, job: Job) -> str:
        idle = snapshot.cluster.idle[FG]
        first = self.first(snapshot.queue)
        if job.number == first.number or (self.depth and job.size > idle):
            return f"needs {job.size} foreground slots, {idle} idle"
        if not self.depth:
            return f"waits behind {first.label}"
        return (
            f"would fit the {idle} idle foreground slots, but could delay an earlier arrival "
            f"({first.label} is the first)"
        )
