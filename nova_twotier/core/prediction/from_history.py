"""Forward runs in which a job takes the median run time of the past jobs most similar to it."""

from collections.abc import Hashable

from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction import run_times
from nova_twotier.core.prediction.estimator import Forward
from nova_twotier.core.prediction.history import History
from nova_twotier.core.prediction.present import Past
from nova_twotier.core.prediction.work_left import within_request


class FromHistory(Forward):
    """CISNE measures the run time on a dedicated cluster instead."""

    def __init__(self) -> None:
        self._run_times = History(shares=True)

    def run_time(self, job: Job, user: Hashable, done: float) -> float:
        similar = run_times.of_similar(self._run_times, job, user, beyond=done)
        median = similar[len(similar) // 2] if similar else None
        return within_request(median, job, done)

    def learn(self, past: Past) -> None:
        self._run_times.add(past.job, past.user, past.work)
