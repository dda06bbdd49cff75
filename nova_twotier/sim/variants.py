"""Policies for comparisons, which only the simulator has.

Those as a paper prints them where ours differ, and rivals that no queue manager can run.
"""

from collections.abc import Iterable
from typing import ClassVar

from nova_twotier.core import policies
from nova_twotier.core.actions import BG, FG
from nova_twotier.core.cluster import Cluster, Run
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies import Policy
from nova_twotier.core.policies.bandwidth import GuaranteedPass, Guaranteeing
from nova_twotier.core.policies.bgmbf import Bgmbf
from nova_twotier.core.policies.bgmbf_sdf import BgmbfSdf
from nova_twotier.core.policies.cmcbf import Cmcbf
from nova_twotier.core.policies.consolidation import Consolidation
from nova_twotier.core.policies.preemption import NOBODY, Holders, Selection, select
from nova_twotier.core.queue import Queue
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.sim import learned
from nova_twotier.sim.easy_plus_plus import EasyPlusPlus


class _PrintedPass(GuaranteedPass):
    """Every job that is suspended has left its hosts, though it may come back to them at once."""

    def __init__(self, snapshot: Snapshot, backfilled: set[int]):
        super().__init__(snapshot)
        self._backfilled = backfilled

    def make_room(self, head: Job, passed: list[Run]) -> bool:
        made = super().make_room(head, passed)
        if made:
            self._backfilled.difference_update(run.job.number for run in passed)
        return made

    def backfill(self, job: Job) -> None:
        self._backfilled.add(job.number)
        super().backfill(job)

    def stays(self, before: Run, now: Run) -> bool:
        return False


class _AsPrinted(Guaranteeing):
    """Algorithm 2 to the letter: a backfilled job may be suspended until it ends (lines 8, 16).

    So a job may have to leave for one that arrived later.
    """

    remembers = True
    like: ClassVar[Guaranteeing]

    def __init__(self, factor: float = 1.0):
        super().__init__(factor)
        self._backfilled: set[int] = set()

    def candidates(self, queue: Queue) -> Iterable[Job]:
        return self.like.candidates(queue)

    def begin(self, snapshot: Snapshot) -> GuaranteedPass:
        return _PrintedPass(snapshot, self._backfilled)

    def passed(self, cluster: Cluster, head: Job) -> list[Run]:
        return [run for run in cluster.evictable() if run.job.number in self._backfilled]


class BgmbfAsPrinted(_AsPrinted):
    name = "bgmbf-as-printed"
    summary = "bgmbf as Symmetry 2018, Algorithm 2 prints it."
    like = Bgmbf()


class BgmbfSdfAsPrinted(_AsPrinted):
    name = "bgmbf-sdf-as-printed"
    summary = "bgmbf-sdf as Symmetry 2018, Algorithm 2 prints it."
    like = BgmbfSdf()


class AmcbfWaitingHead(Consolidation):
    """The other reading of "the head of the queue" in TPDS 2013.

    Ours is the earliest job that is not in the foreground, be it in the background or waiting.
    Here it is the earliest that waits, even if one in the background arrived before it; the others
    are promoted to idle slots only.
    """

    name = "amcbf-waiting-head"
    summary = "As AMCBF, but only the earliest job that waits may evict, none in the background."
    embeds = False  # it chooses by counts of slots
    only_head = True

    def _select(self, snapshot: Snapshot) -> Selection | None:
        queue, cluster = snapshot.queue.allowed(FG), snapshot.cluster
        head, idle = queue.head, cluster.idle[FG]
        jobs = list(queue)
        if cluster.uses(BG):
            runs = cluster.walk(BG)
            jobs += [job for job, _, _, pinned, _ in runs if not pinned and job.foreground]
        chosen: list[Job] = []
        evicted: dict[int, tuple[Job, Job]] = {}
        for job in sorted(jobs, key=lambda job: job.order):
            if not idle and (head is None or head.order < job.order):
                break
            if head is not None and job.number == head.number and idle < job.size:
                held = Holders(cluster.evictable(job.order))
                if job.size <= idle + held.later(job):
                    # What is left over is too little for any of them.
                    for victim in held.victims(job, idle):
                        idle += victim.size
                        evicted[victim.number] = victim, job
            if job.size <= idle:
                idle -= job.size
                chosen.append(job)
        return Selection(chosen, evicted) if chosen else None


class CmcbfWaitingFirst(Cmcbf):
    """Waiting jobs get the foreground first; jobs in the background are promoted to what is left.

    TPDS 2013 promises the foreground to any job, also one in the background, for which there are
    slots that are idle or held by later arrivals; here, later arrivals may pass those.
    """

    name = "cmcbf-waiting-first"
    summary = (
        "As CMCBF, but jobs in the background move up only to slots that no waiting job takes."
    )
    embeds = False  # it chooses by counts of slots

    def _select(self, snapshot: Snapshot) -> Selection | None:
        queue, cluster = snapshot.queue.allowed(FG), snapshot.cluster
        idle = cluster.idle[FG]
        chosen, evicted = select(queue, NOBODY, cluster.evictable, idle)
        idle += sum([victim.size for victim, _by in evicted.values()])
        idle -= sum([job.size for job in chosen])
        below = (run.job for run in cluster.walk(BG) if not run.pinned and run.job.foreground)
        for job in below:
            if job.size <= idle:
                chosen.append(job)
                idle -= job.size
        return Selection(chosen, evicted) if chosen else None


class CmcbfInPlace(Cmcbf):
    """Jobs in the background move up where they are: only if the foreground of all their hosts is
    idle, so that no process is moved.

    TPDS 2013 migrates those whose own hosts are not free; here, they stay below until they are.
    """

    name = "cmcbf-in-place"
    summary = "As CMCBF, but jobs in the background move up only on their own hosts."
    embeds = False  # it chooses by counts of slots

    def _select(self, snapshot: Snapshot) -> Selection | None:
        queue, cluster = snapshot.queue.allowed(FG), snapshot.cluster
        below = Queue()
        promised: dict[int, int] = {}
        for run in cluster.walk(BG):
            with_it = promised.copy()
            if not run.pinned and run.job.foreground and all(cluster.keep(FG, run.hosts, with_it)):
                below.add(run.job)
                promised = with_it
        idle = cluster.idle[FG]
        selection = select(queue, below, cluster.evictable, idle)
        return selection if selection.chosen else None


VARIANTS: dict[str, type[Policy]] = {
    policy.name: policy
    for policy in (
        AmcbfWaitingHead,
        BgmbfAsPrinted,
        BgmbfSdfAsPrinted,
        CmcbfInPlace,
        CmcbfWaitingFirst,
        EasyPlusPlus,
        *learned.POLICIES,
    )
}


def get(name: str, factor: float = 1.0) -> Policy:
    """A policy of core, or a new one that only the simulator has.

    :param factor: as of `Policy`.
    :raises policies.UnknownPolicy: if there is none of that name.
    """
    return VARIANTS[name](factor) if name in VARIANTS else policies.get(name, factor)
