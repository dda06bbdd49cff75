"""The loop of the two-tier policies with tentative runs (JSS 2015, Algorithms 1-3).

Nothing migrates: a job that has to leave its slots, in either tier, is killed and loses its work,
unless it can change its tier in place.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar, NamedTuple

from nova_twotier.core.actions import BG, FG, Action
from nova_twotier.core.cluster import Run
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.play import Play, reclaims
from nova_twotier.core.policies.policy import Policy
from nova_twotier.core.policies.preemption import (
    Holders,
    by_places,
    lacks,
    lacks_background,
    spared,
)
from nova_twotier.core.reasons import Reason
from nova_twotier.core.snapshot import BACKGROUND, Event, Snapshot


class Selection(NamedTuple):
    """Jobs whose turn it is in the foreground, and those that lose it, with the winner.

    :ivar idle: foreground slots that are left over.
    """

    chosen: list[Job]
    evicted: list[tuple[Job, Job]]
    idle: int


class Tentative(Policy):
    """FCFS in the foreground, smallest job first on trial wherever slots are left.

    A subclass says whether trials also take place in the foreground, which they may lose again.
    """

    tiers = 2
    kills = True
    aggressive: ClassVar[bool]

    def play(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        queue, idle = snapshot.queue, snapshot.cluster.idle
        selection, tries = None, False
        if event is not BACKGROUND:
            selection = self._select(snapshot)
            tries = self.aggressive and queue.allowed(FG).has_fitting(idle[FG])
        fills = queue.allowed(BG).has_fitting(idle[BG])
        scavenged = snapshot.cluster.has_scavengers
        if not (selection or tries or fills or (scavenged and reclaims(snapshot))):
            return []
        play = Play(snapshot, kills=True)
        if selection:
            self._rearrange(play, selection)
        if self.aggressive and event is not BACKGROUND:
            play.fill_tentatively(FG)
        if scavenged:
            play.reclaim()
        play.fill_tentatively(BG)
        return play.actions()

    def _select(self, snapshot: Snapshot) -> Selection | None:
        """FCFS over the waiting jobs and those in the background (SelectJobs[_Refined])."""
        cluster = snapshot.cluster
        idle = cluster.idle[FG]
        holders = None
        chosen, evicted = [], []
        for job in _by_arrival(snapshot):
            if job.size > idle and self.aggressive:
                if holders is None:
                    holders = by_places(cluster.evictable(job.order), cluster.straddling(FG))
                for victim in _collect(job, holders, idle):
                    evicted.append((victim, job))
                    idle += victim.size
            if job.size > idle:
                break
            idle -= job.size
            chosen.append(job)
        return Selection(chosen, evicted, idle) if chosen else None

    def _rearrange(self, play: Play, selection: Selection) -> None:
        """Give the foreground to those whose turn it is."""
        running = play.cluster.runs
        chosen = [job for job in selection.chosen if job.number not in running]
        rising = [job for job in selection.chosen if job.number in running]
        if selection.evicted:
            self._evict(play, selection.evicted, selection.idle)
        self._deploy(play, chosen, rising)

    def _evict(self, play: Play, evicted: list[tuple[Job, Job]], surplus: int) -> None:
        """Spare the small ones, let others fall in place, kill the rest (RefineEvictedJobs)."""
        preemptors = {victim.number: by for victim, by in evicted}
        losing = spared([victim for victim, _by in evicted], surplus)
        runs = [play.remove(victim, preemptors[victim.number]) for victim in losing]
        for run in play.swap_down(runs):
            play.kill(run.job)

    def _deploy(self, play: Play, chosen: list[Job], rising: list[Job]) -> None:
        """Start the chosen jobs; those from the background in place or from the beginning
        (DeploySelectedJobs)."""
        moving = []
        for job in rising:
            hosts = play.cluster.runs[job.number].hosts
            if play.cluster.takes(FG, hosts):
                play.remove(job)
                play.put(job, FG, hosts)
            else:
                moving.append(job)
        for job in moving:
            play.remove(job, by=job)
            play.kill(job)
        for job in sorted([*chosen, *moving], key=lambda job: job.order):
            play.start(job, FG)

    def reason(self, snapshot: Snapshot, job: Job) -> Reason:
        return self.reasons(snapshot)(job)

    def reasons(self, snapshot: Snapshot) -> Callable[[Job], Reason]:
        cluster = snapshot.cluster
        held = Holders(by_places(cluster.evictable(), cluster.straddling(FG)))
        return partial(self._reason, snapshot, held)

    def _reason(self, snapshot: Snapshot, held: Holders, job: Job) -> Reason:
        idle = snapshot.cluster.idle
        if not job.foreground:
            return lacks_background(job.size, idle[BG])
        head = snapshot.queue.allowed(FG)[0]
        return lacks(
            job.size,
            idle[FG],
            held.later(job) if self.aggressive else 0,
            idle[BG] if job.background else None,
            None if job.number == head.number else head.number,
        )


def _collect(job: Job, holders: list[Run], idle: int) -> list[Job]:
    """The latest arrivals whose slots `job` needs besides the idle ones, taken off the holders.

    None if all that arrived later do not have enough.
    """
    collected = []
    for run in reversed(holders):
        if idle >= job.size or run.job.order < job.order:
            break
        collected.append(run.job)
        idle += run.job.size
    if idle < job.size:
        return []
    del holders[len(holders) - len(collected) :]
    return collected


def _by_arrival(snapshot: Snapshot) -> Iterator[Job]:
    """The waiting jobs and those that run in the background, as far as they may run in the
    foreground; none of them changes meanwhile."""
    queue = snapshot.queue.allowed(FG)
    background = (
        run.job for run in snapshot.cluster.walk(BG) if not run.pinned and run.job.foreground
    )
    rising = next(background, None)
    for index in range(len(queue)):
        waiting = queue[index]
        while rising is not None and rising.order < waiting.order:
            yield rising
            rising = next(background, None)
        yield waiting
    while rising is not None:
        yield rising
        rising = next(background, None)
