"""Smith's hybrid: a forward run with the run times of categories of past jobs.

Smith, Foster and Taylor 1998, as CISNE (Lérida et al., section 3.1) compares with it: of all
categories that a job belongs to, the one whose mean is known best decides.
"""

import math
from collections.abc import Hashable, Sequence

from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction.estimator import Forward
from nova_twotier.core.prediction.history import History
from nova_twotier.core.prediction.present import Past
from nova_twotier.core.prediction.work_left import within_request


class HybridSmith(Forward):
    name = "hybrid-smith"
    summary = "A forward run, with the mean run times of categories of past jobs."

    def __init__(self) -> None:
        self._run_times = History()

    def run_time(self, job: Job, user: Hashable, done: float) -> float:
        best, closest = None, math.inf
        for known in self._run_times.of_each_kind(job, user, beyond=done):
            if len(known) > 1:
                mean, error = _mean(known)
                if error < closest:
                    best, closest = mean, error
        return within_request(best, job, done)

    def learn(self, past: Past) -> None:
        self._run_times.add(past.job, past.user, past.work)


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """The mean and its standard error; `statistics` takes fifty times longer.

    :param values: at least two.
    """
    count = len(values)
    mean = sum(values) / count
    squares = sum([(value - mean) ** 2 for value in values])
    return mean, math.sqrt(squares / (count - 1) / count)
