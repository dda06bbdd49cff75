"""The reservation of EASY backfilling: when the head of the queue can start, and what it leaves."""

import math

from nova_twotier.core.actions import FG
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.jobs import Job
from nova_twotier.core.queue import Queue


class Shadow:
    """The earliest instant at which `head` fits if every job ends by its estimate.

    A job that overran its estimate is expected to end at any moment, one without an estimate never;
    then other jobs may only use the slots that the head leaves over. Slots that do not become idle
    when a job ends are not counted: those on hosts that take no new VMs, and those held by servers
    that belong to no job. A head for which all others together are too few holds up nobody.
    """

    def __init__(self, cluster: Cluster, head: Job, now: float):
        self.now = now
        at, extra = math.inf, cluster.idle[FG] - head.size
        for until, _number, size in cluster.ends:
            if until > at:
                break
            extra += size
            if extra >= 0:
                # All that end at this instant count, and so do those that overran their estimates.
                at = max(until, now)
        known = at < math.inf
        if not known:
            extra += cluster.endless()
        never = extra < 0
        if never:
            extra = cluster.idle[FG]
        #: The instant in seconds; infinite if it depends on jobs without an estimate.
        self.at = at
        #: Slots that are free at that instant in addition to those of the head.
        self.extra = extra
        #: When others that need more than that have to end; if it is not known, none may start.
        self._end = at if known or never else -math.inf

    def next(self, queue: Queue, after: Job, slots: int) -> Job | None:
        """The earliest job after another that `admits` admits; the search is by indexes."""
        job = queue.next_beside(after.order, slots, self.extra, self.now, self._end)
        if job is not None:
            self._count(job)
        return job

    def admits(self, job: Job, slots: int) -> bool:
        """Whether a job fits the slots, and does not delay the head.

        If so it is to be started: it counts against what is left then.
        """
        if job.size > slots or (job.size > self.extra and self._outlasts(job)):
            return False
        self._count(job)
        return True

    def _count(self, job: Job) -> None:
        if self._outlasts(job):
            self.extra -= job.size

    def _outlasts(self, job: Job) -> bool:
        """Whether a job that starts now would still run when the head starts."""
        return self.now + job.expected > self._end
