"""The loop of the two-tier policies with tentative runs (JSS 2015, Algorithms 1-3).

Nothing migrates: a job that has to leave its slots, in either tier, is killed and loses its work,
unless it can change its tier in place.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import ClassVar

from nova_twotier.core.actions import BG, FG, Action, Tier
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.policy import Policy
from nova_twotier.core.policies.preemption import (
    Holders,
    Selection,
    by_places,
    lacks,
    lacks_background,
    spared,
)
from nova_twotier.core.policies.tentative_embedding import TentativeEmbeddingPass
from nova_twotier.core.policies.two_tier_pass import TwoTierPass, reclaims
from nova_twotier.core.reasons import Reason
from nova_twotier.core.snapshot import BACKGROUND, Event, Snapshot


class TentativePass(TwoTierPass):
    """What starts out of turn starts on trial."""

    kills = True

    def fill_tentatively(self, tier: Tier) -> None:
        """Start waiting jobs that fit the idle slots of a tier, the smallest first, on trial."""
        idle, queue = self.cluster.idle, self.queue.allowed(tier)
        while queue.has_fitting(idle[tier]):
            job = queue.smallest_within(idle[tier])
            self.start(job, tier)
            self._tentative.add(job.number)


class Tentative(Policy):
    """FCFS in the foreground, smallest job first on trial wherever slots are left.

    A subclass says whether trials also take place in the foreground, which they may lose again.
    """

    tiers = 2
    kills = True
    embeds = True
    aggressive: ClassVar[bool]

    def schedule(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        queue, idle = snapshot.queue, snapshot.cluster.idle
        if snapshot.cluster.embeds:
            return self._embed(snapshot, event)
        selection, surplus, tries = None, 0, False
        if event is not BACKGROUND:
            selection, surplus, left_over = self._select(snapshot)
            tries = self.aggressive and left_over
        fills = queue.allowed(BG).has_fitting(idle[BG])
        scavenged = snapshot.cluster.has_scavengers
        may_try = tries and queue.allowed(FG).has_fitting(idle[FG])
        if not (selection or may_try or fills or (scavenged and reclaims(snapshot))):
            return []
        step = TentativePass(snapshot)
        if selection:
            self._rearrange(step, selection, surplus)
        if tries:
            step.fill_tentatively(FG)
        if scavenged:
            step.reclaim()
        step.fill_tentatively(BG)
        return step.actions()

    def _embed(self, snapshot: Snapshot, event: Event) -> list[Action]:
        """Decide on a cluster that embeds jobs with bandwidth, in the steps of `schedule`."""
        step = TentativeEmbeddingPass(snapshot)
        if event is not BACKGROUND and step.take_turns(self.aggressive) and self.aggressive:
            step.fill_tentatively(FG)
        step.free_links()
        if snapshot.cluster.has_scavengers:
            step.reclaim()
        step.fill_tentatively(BG)
        return step.actions()

    def _select(self, snapshot: Snapshot) -> tuple[Selection | None, int, bool]:
        """FCFS over the waiting jobs and those in the background (SelectJobs[_Refined]).

        Also tells how many foreground slots are left over, and whether others may have them.
        """
        cluster, settling, left_over = snapshot.cluster, snapshot.settling_slots, True
        idle = cluster.idle[FG]
        held = None
        chosen: list[Job] = []
        evicted: dict[int, tuple[Job, Job]] = {}
        for job in _by_arrival(snapshot):
            if job.size > idle and self.aggressive:
                if held is None:
                    runs = cluster.evictable(job.order)
                    held = Holders(by_places(runs, cluster.straddling(FG)))
                if job.size <= idle + held.later(job):
                    for victim in held.collect(job, idle):
                        held.remove(victim)
                        evicted[victim.number] = victim, job
                        idle += victim.size
            if job.size > idle:
                if held is not None and settling is not None:
                    left_over = job.size > idle + held.later(job) + settling(job.order)
                break
            idle -= job.size
            chosen.append(job)
        return (Selection(chosen, evicted) if chosen else None), idle, left_over

    def _rearrange(self, step: TentativePass, selection: Selection, surplus: int) -> None:
        """Give the foreground to those whose turn it is."""
        running = step.cluster.runs
        chosen = [job for job in selection.chosen if job.number not in running]
        promoted = [job for job in selection.chosen if job.number in running]
        if selection.evicted:
            self._evict(step, selection.evicted, surplus)
        self._deploy(step, chosen, promoted)

    def _evict(
        self, step: TentativePass, evicted: Mapping[int, tuple[Job, Job]], surplus: int
    ) -> None:
        """Spare the small ones, demote others in place, kill the rest (RefineEvictedJobs).

        :param surplus: foreground slots that would be left over.
        """
        losing = spared([victim for victim, _by in evicted.values()], surplus)
        runs = [step.remove(victim, evicted[victim.number][1]) for victim in losing]
        for run in step.demote(runs):
            step.kill(run.job)

    def _deploy(self, step: TentativePass, chosen: list[Job], promoted: list[Job]) -> None:
        """Start the chosen jobs; those from the background in place or from the beginning
        (DeploySelectedJobs)."""
        moving = []
        for job in promoted:
            hosts = step.cluster.runs[job.number].hosts
            if step.cluster.takes(FG, hosts):
                step.remove(job)
                step.put(job, FG, hosts)
            else:
                moving.append(job)
        for job in moving:
            step.remove(job, by=job)
            step.kill(job)
        for job in sorted([*chosen, *moving], key=lambda job: job.order):
            step.start(job, FG)

    def reasons(self, snapshot: Snapshot) -> Callable[[Job], Reason]:
        cluster = snapshot.cluster
        held = Holders(by_places(cluster.evictable(), cluster.straddling(FG)))
        # Whose turn it is may run in the background.
        return partial(self._reason, snapshot, held, next(_by_arrival(snapshot), None))

    def _reason(self, snapshot: Snapshot, held: Holders, first: Job | None, job: Job) -> Reason:
        idle, tier = snapshot.cluster.idle, FG if job.foreground else BG
        turn = None if first is None or job.number == first.number else first.number
        tried = tier is BG or self.aggressive or turn is None
        if job.mbps and job.size <= idle[tier] and tried:
            return snapshot.cluster.need(job, tier)
        if tier is BG:
            return lacks_background(job.size, idle[BG])
        later = held.later(job) if self.aggressive else 0
        return lacks(job.size, idle[FG], later, idle[BG] if job.background else None, turn)


def _by_arrival(snapshot: Snapshot) -> Iterator[Job]:
    """The waiting jobs and those that run in the background, as far as they may run in the
    foreground; none of them changes meanwhile."""
    queue = snapshot.queue.allowed(FG)
    following, count = 0, len(queue)
    # No generator expression: compiled by mypyc, it would make a list of all of them first.
    for run in snapshot.cluster.walk(BG):
        below = run.job
        if run.pinned or not below.foreground:
            continue
        while following < count and queue[following].order < below.order:
            yield queue[following]
            following += 1
        yield below
    for index in range(following, count):
        yield queue[index]
