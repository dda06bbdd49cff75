"""The running jobs over time, on slots that they do not share: when each job ends."""

import math
from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from nova_twotier.core.actions import BG, Action, Kill, Move, Start
from nova_twotier.core.jobs import Number
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.recorder import Recorder


class RunningJobs:
    """Each job advances at full speed.

    :param cost: seconds that a job loses when it is restored or any of its processes migrates.
    """

    def __init__(self, cost: float, recorder: Recorder | None = None):
        self.jobs: dict[int, Execution] = {}
        self._cost = cost
        self._recorder = recorder
        #: Ends as they were expected at some time; outdated ones are skipped.
        self._ends: list[tuple[float, Number, Execution]] = []

    def next_end(self) -> float:
        """When the next job ends; infinite if none does."""
        ends = self._ends
        while ends:
            finish, _number, job = ends[0]
            if job.finish == finish and job.rate is not None:
                return finish
            heappop(ends)
        return math.inf

    def take_ended(self, now: float) -> list[Execution]:
        """Remove, and return, the jobs that have ended by `now`."""
        ended = []
        ends = self._ends
        while ends and ends[0][0] <= now:
            finish, number, job = heappop(ends)
            if job.finish == finish and job.rate is not None:
                del self.jobs[number]
                self._leave(job, now)
                ended.append(job)
        return ended

    def carry_out(
        self, actions: Sequence[Action], waiting: dict[int, Execution], now: float
    ) -> None:
        """Carry out a policy's decision in order: jobs that lose a place leave before others come.

        Jobs come from `waiting` and return there.
        """
        running = self.jobs
        for action in actions:
            if isinstance(action, Start):
                started, tier, hosts, how = action
                number = started.number
                job = running[number] = waiting.pop(number)
                job.since = now
                if job.start is None:
                    job.start, job.how, job.first_tier = now, how, tier
                elif job.saved:
                    job.saved = False
                    job.migrations += 1
                    job.since += self._cost
                job.tier, job.hosts, job.placed = tier, hosts, now
                self._entered(job, now)
            elif isinstance(action, Move):
                self._move(running[action.job.number], action, now)
            else:
                number = action.job.number
                job = waiting[number] = running.pop(number)
                self._leave(job, now)
                if isinstance(action, Kill):
                    job.kills += 1
                    job.restart()
                else:
                    job.evictions += 1
                    job.saved = True
        if len(self._ends) > 1000 + 8 * len(running):
            # Most are outdated.
            self._ends = [(job.finish, number, job) for number, job in running.items()]
            heapify(self._ends)

    def _move(self, job: Execution, move: Move, now: float) -> None:
        self._leave(job, now)
        if move.after != move.before:
            job.migrations += 1
            job.since = now + self._cost
        else:
            job.swaps += 1
        job.tier, job.hosts, job.placed = move.tier, move.after, now
        self._entered(job, now)

    def settle(self, now: float) -> None:
        """Update the rates of jobs whose neighbours have changed."""

    def _entered(self, job: Execution, now: float) -> None:
        """Note that a job has come to its slots, or its tier."""
        self._set(job, 1.0, job.demand, now)

    def _leave(self, job: Execution, now: float) -> None:
        job.advance(now)
        if job.tier is BG:
            job.background += now - job.placed
        job.rate = None
        if self._recorder:
            self._recorder.left(job, now)

    def _set(self, job: Execution, rate: float | list[float], burn: float, now: float) -> None:
        """Let a job advance at `rate` from now on and use `burn` CPU seconds per second."""
        if rate != job.rate or burn != job.burn:
            heappush(self._ends, (job.change(rate, burn, now), job.job.number, job))
