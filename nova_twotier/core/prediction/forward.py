"""Runs a queue forward from the present under its own policy, with expected run times.

Algorithm 1 of CISNE (Lérida et al.), for any policy: the next job to end leaves its slots, the
others advance at the pace that their slots allow, and the policy decides who starts, moves or is
preempted. All predictions of a queue come from one such run.
"""

import math
from collections.abc import Sequence
from heapq import heappop, heappush

from nova_twotier.core.actions import Action, Evict, Move, Start
from nova_twotier.core.cluster import Run
from nova_twotier.core.jobs import Job, Number
from nova_twotier.core.prediction.pace import Pace
from nova_twotier.core.prediction.present import Forecast, Present, make_forecast
from nova_twotier.core.prediction.work_left import Remaining
from nova_twotier.core.snapshot import ENDED, EVENTS


def run(
    present: Present, remaining: Remaining, pace: Pace, target: int | None = None
) -> dict[int, Forecast]:
    """The forecast of each waiting and running job, by number.

    No job arrives meanwhile.

    :param target: stop as soon as this job has ended; only jobs that have ended by then are
        answered.
    """
    return _Forward(present, remaining, pace).answers(target)


class _Course:
    """A job on its way: the work that is left at a time, and how fast it advances from then on."""

    __slots__ = ("finish", "job", "left", "rate", "saved", "since", "start", "total")

    def __init__(self, job: Job, left: float, done: float):
        self.job = job
        self.left = left
        self.total = left + done
        #: Whether it was preempted with its state saved.
        self.saved = done > 0
        self.rate = 0.0
        self.since = 0.0
        self.finish = math.inf
        self.start = math.inf

    def go(self, rate: float, now: float) -> float:
        """Advance at `rate` from `now` on, or from when it has come to its slots; returns the
        finish."""
        if now > self.since:
            left = self.left - self.rate * (now - self.since)
            self.left = left if left > 0.0 else 0.0
            self.since = now
        self.rate = rate
        self.finish = finish = self.since + self.left / rate if rate > 0 else math.inf
        return finish


class _Forward:
    def __init__(self, present: Present, remaining: Remaining, pace: Pace):
        self._present = present
        self._remaining = remaining
        self._now = now = present.now
        self._started = present.started
        self._snapshot = present.snapshot.copy()
        #: The jobs that were preempted, or run.
        self._waiting: dict[int, _Course] = {}
        self._running: dict[int, _Course] = {}
        #: Ends as they were expected at some time; outdated ones are skipped.
        self._ends: list[tuple[float, Number]] = []
        cluster = self._snapshot.cluster
        for run in list(cluster.runs.values()):
            if run.job.number in present.staying:
                continue
            course = self._course(run.job)
            course.start = course.since = now
            self._running[run.job.number] = course
            if run.pinned:
                # It will have come to its slots when the policy decides next.
                cluster.remove(run.job)
                cluster.adopt(run._replace(pinned=False))
        self._rates = pace.on(cluster)
        self._settle(list(cluster.runs.values()))

    def answers(self, target: int | None) -> dict[int, Forecast]:
        ended: dict[int, Forecast] = {}
        snapshot, policy, ends = self._snapshot, self._present.policy, self._ends
        if self._present.pending is not None:
            self._carry_out(policy.schedule(snapshot, self._present.pending, self._now))
        while target not in ended and (now := self._next_end()) < math.inf:
            self._now = now
            bits = 0
            while True:
                number = heappop(ends)[1]
                course = self._running.pop(number)
                ended[number] = make_forecast((course.start, now))
                run = snapshot.cluster.remove(course.job)
                self._rates.gone(number)
                bits |= ENDED[run.tier]
                if not ends or ends[0][0] > now or self._next_end() > now:
                    break
            self._carry_out(policy.schedule(snapshot, EVENTS[bits], now))
        if target not in ended:
            # Nothing ends any more.
            for job in self._snapshot.queue:
                ended[job.number] = Forecast(math.inf, math.inf)
            for course in (*self._running.values(), *self._waiting.values()):
                ended[course.job.number] = Forecast(course.start, math.inf)
        return ended

    def _course(self, job: Job) -> _Course:
        return _Course(job, self._remaining(job), self._present.done_by(job))

    def _next_end(self) -> float:
        ends, running = self._ends, self._running
        while ends:
            finish, number = ends[0]
            course = running.get(number)
            if course is not None and course.finish == finish:
                return finish
            heappop(ends)
        return math.inf

    def _carry_out(self, actions: Sequence[Action]) -> None:
        runs, now, cost = self._snapshot.cluster.runs, self._now, self._present.cost
        entered = []
        for action in actions:
            number = action.job.number
            if isinstance(action, Start):
                # How long a job runs is asked when it starts: it may not be needed.
                course = self._waiting.pop(number, None) or self._course(action.job)
                self._running[number] = course
                course.since = now + cost if course.saved else now
                course.saved = False
                if course.start == math.inf:
                    course.start = now
                    if self._started:
                        self._started(action)
                entered.append(runs[number])
                continue
            course = self._running[number]
            course.go(0.0, now)
            self._rates.gone(number)
            if isinstance(action, Move):
                if action.after != action.before:
                    course.since = now + cost
                entered.append(runs[number])
            else:
                self._waiting[number] = self._running.pop(number)
                course.saved = isinstance(action, Evict)
                if not course.saved:
                    course.left = course.total
        self._settle(entered)

    def _settle(self, entered: Sequence[Run]) -> None:
        """Set the rates of the jobs that came to slots, and of their neighbours."""
        now, running, ends = self._now, self._running, self._ends
        for number, rate in self._rates.placed(entered):
            course = running.get(number)
            if course is not None and rate != course.rate:
                heappush(ends, (course.go(rate, now), number))
