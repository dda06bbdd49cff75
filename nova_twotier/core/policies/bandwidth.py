"""The loop of the policies that backfill virtual clusters (Symmetry 2018, Algorithm 2).

"It fits" is what the cluster says: that the embedding finds a place, if bandwidth is guaranteed.
"""

from collections.abc import Callable, Iterable
from functools import partial

from nova_twotier.core.actions import FG, Action
from nova_twotier.core.cluster import Cluster, Run
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.policy import Policy
from nova_twotier.core.policies.preemption import lacks
from nova_twotier.core.policies.scheduling_pass import Pass
from nova_twotier.core.queue import Queue
from nova_twotier.core.reasons import Reason
from nova_twotier.core.snapshot import Event, Snapshot


class GuaranteedPass(Pass):
    """A pass in which the head of the queue may suspend the jobs that passed it."""

    def make_room(self, head: Job, passed: list[Run]) -> bool:
        """Suspend all jobs that passed the head, if it fits then."""
        room = self.cluster.idle[FG] + sum(run.job.size for run in passed)
        if not passed or head.size > room:
            return False
        trial = self.cluster.copy()
        for run in passed:
            trial.remove(run.job)
        if not trial.fits(head, FG):
            return False
        for run in passed:
            self.remove(run.job, by=head)
            self.wait(run.job)
        return True

    def backfill(self, job: Job) -> None:
        """Start a job past the head."""
        self.start(job)

    def start(self, job: Job) -> None:
        """Start a waiting job; one that was suspended stays as it was if it comes to its hosts."""
        self.queue.remove(job)
        before = self._before.setdefault(job.number, None)
        now = self.cluster.start(job, FG)
        if before is not None and self.stays(before, now):
            self.cluster.remove(job)
            self.cluster.adopt(before)

    def stays(self, before: Run, now: Run) -> bool:
        return sorted(before.hosts) == sorted(now.hosts)


class Guaranteeing(Policy):
    """The head of the queue starts as soon as it would fit without the jobs that passed it.

    All of those are suspended then, and tried again with the rest of the queue.
    """

    bandwidth = True
    embeds = True

    def candidates(self, queue: Queue) -> Iterable[Job]:
        """The waiting jobs in the order in which they are tried behind a head that does not fit."""
        raise NotImplementedError

    def passed(self, cluster: Cluster, head: Job) -> list[Run]:
        """The runs that the head may suspend: those of jobs that arrived later, as in AMBF.

        The paper keeps a list of all jobs that were backfilled when they started. Some of them have
        seen all earlier arrivals start since, and its aim is that later ones do not delay them.
        """
        return cluster.evictable(head.order)

    def begin(self, snapshot: Snapshot) -> GuaranteedPass:
        return GuaranteedPass(snapshot)

    def schedule(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        cluster = snapshot.cluster
        step = self.begin(snapshot)
        # 1. Heads start, on idle slots or on those of the jobs that passed them (lines 3-23).
        while (queue := snapshot.queue.allowed(FG)) and (head := queue[0]):
            if not (cluster.fits(head, FG) or step.make_room(head, self.passed(cluster, head))):
                break
            step.start(head)
        # 2. The others take the remaining slots (lines 3-9 with i > 1).
        if len(queue) > 1 and queue.has_fitting(cluster.idle[FG]):
            keeps = self._awaits(snapshot, head)
            for job in list(self.candidates(queue)):
                if job.number == head.number or (keeps and not step.ran(job)):
                    continue
                if cluster.fits(job, FG):
                    step.backfill(job)
        return step.actions()

    def _awaits(self, snapshot: Snapshot, head: Job) -> bool:
        """Whether the head fits as soon as it may evict the later jobs in `Snapshot.settling`."""
        cleared = snapshot.cluster.cleared(snapshot.settling, head)
        return cleared is not None and cleared.fits(head, FG)

    def reasons(self, snapshot: Snapshot) -> Callable[[Job], Reason]:
        head = snapshot.queue.allowed(FG).head
        keeps = head is not None and self._awaits(snapshot, head)
        return partial(self._reason, snapshot.cluster, head, keeps)

    def _reason(self, cluster: Cluster, head: Job | None, keeps: bool, job: Job) -> Reason:
        if not job.foreground:
            return self.background_only()
        if keeps and head is not None and job.number != head.number and cluster.fits(job, FG):
            return lacks(job.size, cluster.idle[FG], 0, first=head.number)
        need = cluster.need(job)
        if head is None or job.number != head.number:
            return need
        passed = len(self.passed(cluster, head))
        return need.plus(passed=passed) if passed else need
