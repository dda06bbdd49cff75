"""The loop of the two-tier policies with tentative runs (JSS 2015, Algorithms 1-3).

Nothing migrates: a job that has to leave its slots, in either tier, is killed and loses its work,
unless it can change its tier in place.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

from nova_twotier.core.actions import BG, FG, Action
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.play import Play
from nova_twotier.core.policies.policy import Policy
from nova_twotier.core.policies.preemption import Holders, foreground_need, spared
from nova_twotier.core.snapshot import BACKGROUND, Event, Snapshot


class Tentative(Policy):
    """FCFS in the foreground, smallest job first on trial wherever slots are left.

    A subclass says whether trials take place in the foreground, too, and so lose it again.
    """

    tiers = 2
    kills = True
    aggressive: ClassVar[bool]

    def play(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        if not (snapshot.queue or snapshot.cluster.uses(BG)):
            return []
        play = Play(snapshot)
        if event is not BACKGROUND:
            self._foreground(play)
            if self.aggressive:
                play.fill_tentatively(FG)
        play.fill_tentatively(BG)
        return play.actions()

    def _foreground(self, play: Play) -> None:
        """FCFS over the waiting jobs and those in the background (SelectJobs[_Refined])."""
        cluster = play.cluster
        idle = cluster.idle[FG]
        holders = None
        chosen, rising, evicted = [], [], []
        for job in _by_arrival(play):
            if job.size > idle and self.aggressive:
                holders = holders or Holders(cluster.evictable())
                if job.size <= idle + holders.later(job):
                    for victim in holders.collect(job, idle):
                        holders.remove(victim)
                        evicted.append((victim, job))
                        idle += victim.size
            if job.size > idle:
                break
            idle -= job.size
            (chosen if job.number in play.queue else rising).append(job)
        if evicted:
            self._evict(play, evicted, idle)
        if chosen or rising:
            self._deploy(play, chosen, rising)

    def _evict(self, play: Play, evicted: list[tuple[Job, Job]], surplus: int) -> None:
        """Spare the small ones, let others fall in place, kill the rest (RefineEvictedJobs)."""
        preemptors = {victim.number: by for victim, by in evicted}
        losing = spared([victim for victim, _by in evicted], surplus)
        runs = [play.remove(victim, preemptors[victim.number]) for victim in losing]
        for run in play.swap_down(runs):
            play.kill(run.job)

    def _deploy(self, play: Play, chosen: list[Job], rising: list[Job]) -> None:
        """Start the chosen jobs, the rising ones in place or anew (DeploySelectedJobs)."""
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

    def reason(self, snapshot: Snapshot, job: Job) -> str:
        return self.reasons(snapshot)(job)

    def reasons(self, snapshot: Snapshot) -> Callable[[Job], str]:
        return partial(self._reason, snapshot, Holders(snapshot.cluster.evictable()))

    def _reason(self, snapshot: Snapshot, held: Holders, job: Job) -> str:
        idle = snapshot.cluster.idle
        head = snapshot.queue[0]
        if self.aggressive:
            need = foreground_need(snapshot, held, job)
        else:
            need = f"needs {job.size} foreground slots, {idle[FG]} idle"
        if job.number != head.number:
            need += f", in its turn after {head.label}"
        return f"{need}; or {job.size} background slots, {idle[BG]} open and idle"


def _by_arrival(play: Play) -> Iterator[Job]:
    """The waiting jobs and those that run in the background; neither changes meanwhile."""
    background = (run.job for run in play.cluster.walk(BG) if not run.pinned)
    rising = next(background, None)
    for index in range(len(play.queue)):
        waiting = play.queue[index]
        while rising is not None and rising.order < waiting.order:
            yield rising
            rising = next(background, None)
        yield waiting
    while rising is not None:
        yield rising
        rising = next(background, None)
