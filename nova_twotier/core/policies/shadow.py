"""The reservation of EASY backfilling: when the head of the queue can start, and what it leaves."""

import math

from nova_twotier.core.actions import FG
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.jobs import Job


class Shadow:
    """The earliest instant at which `head` fits if every job ends when it is estimated to.

    A job that overran its estimate is expected to end any moment; one without an estimate never,
    so what may run beside the head then is only what it leaves of all slots.
    """

    def __init__(self, cluster: Cluster, head: Job, now: float):
        self.now = now
        #: The instant in seconds; infinite if it depends on jobs without an estimate.
        self.at = math.inf
        #: Slots that are free at that instant besides those of the head.
        self.extra = cluster.idle[FG] - head.size
        for until, _number, size in cluster.ends:
            if self.extra >= 0 and until > self.at:
                return
            self.extra += size
            if self.extra >= 0:
                # All that end at this instant count, and so do those that overran their estimates.
                self.at = max(until, now)
        if self.extra < 0:
            unknown = sum(run.job.size for run in cluster.running(FG) if run.until == math.inf)
            self.extra = max(0, self.extra + unknown)

    def could_admit(self, size: int, estimate: float) -> bool:
        """Whether the head would not be delayed by such a job."""
        return size <= self.extra or self.now + estimate <= self.at < math.inf

    def admits(self, job: Job) -> bool:
        """Whether the head is not delayed by `job`, which counts against what is left then."""
        if self.now + job.expected <= self.at < math.inf:
            return True
        if job.size <= self.extra:
            self.extra -= job.size
            return True
        return False
