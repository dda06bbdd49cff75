"""EASY++ (Tsafrir, Etsion and Feitelson, TPDS 2007): EASY by predicted run times, shortest first.

A job is predicted to run as long as the last two finished jobs of its user did on average, at most
as long as estimated. One that runs longer is predicted anew, step by step.
"""

from collections.abc import Mapping
from dataclasses import replace

from nova_twotier.core.actions import Action, Start
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.easy_sjf import EasySjf
from nova_twotier.core.prediction.run_times import corrected
from nova_twotier.core.snapshot import Event, Snapshot


class EasyPlusPlus(EasySjf):
    """It remembers how long jobs ran."""

    name = "easy++"
    summary = "EASY by the mean of the user's last two run times, shortest first (Tsafrir 2007)."
    remembers = True

    def __init__(self, factor: float = 1.0):
        super().__init__(factor)
        #: The user of each job, by number; absent where that is not known.
        self.users: Mapping[int, int] = {}
        #: Run times of the last two finished jobs of each user.
        self._last: dict[int, list[float]] = {}
        self._estimates: dict[int, float] = {}
        #: When each running job started.
        self._started: dict[int, float] = {}

    def admit(self, job: Job) -> Job:
        self._estimates[job.number] = job.expected
        user = self.users.get(job.number)
        last = [] if user is None else self._last.get(user, [])
        if len(last) < 2:
            return job
        return replace(job, estimate=min(sum(last) / 2, job.expected))

    def schedule(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        self._learn(snapshot, now)
        self._correct(snapshot, now)
        actions = super().schedule(snapshot, event, now)
        for action in actions:
            if isinstance(action, Start):
                self._started[action.job.number] = now
        return actions

    def _learn(self, snapshot: Snapshot, now: float) -> None:
        """Note how long the jobs ran that have ended: nobody is preempted."""
        runs = snapshot.cluster.runs
        for number in [number for number in self._started if number not in runs]:
            runtime = now - self._started.pop(number)
            del self._estimates[number]
            user = self.users.get(number)
            if user is not None:
                self._last[user] = [*self._last.get(user, []), runtime][-2:]

    def _correct(self, snapshot: Snapshot, now: float) -> None:
        """Predict the jobs anew that should have ended before now."""
        cluster = snapshot.cluster
        late = [number for until, number, _size in cluster.ends if until <= now]
        for number in late:
            job, began = cluster.runs[number].job, self._started[number]
            expected = corrected(job.expected, began, now, self._estimates[number])
            cluster.show_anew(job, began + expected)
