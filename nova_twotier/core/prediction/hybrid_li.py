"""Li's hybrid: a forward run with the run times of the nearest past jobs, weighted by distance.

Li, Groep and Wolters 2005 (instance-based learning), as CISNE (Lérida et al., section 3.1)
compares with it.
"""

import math
from collections import deque
from collections.abc import Hashable
from typing import NamedTuple

from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction.estimator import Forward
from nova_twotier.core.prediction.present import Past
from nova_twotier.core.prediction.work_left import within_request

#: Past jobs that are searched, the most recent ones.
DEPTH = 200
#: Nearest jobs that count.
NEAREST = 5
#: Distance between jobs of different users, in doublings of size or requested time.
OTHER_USER = 3.0


class _Instance(NamedTuple):
    user: Hashable
    size: float
    request: float
    seconds: float


def _doublings(job: Job) -> tuple[float, float]:
    """Logarithms of size and requested time; 0 if there is no request."""
    request = job.walltime if job.estimate is None else job.estimate
    return math.log2(job.size), math.log2(1 + (request or 0.0))


class HybridLi(Forward):
    name = "hybrid-li"
    summary = "A forward run, with the run times of the nearest past jobs."

    def __init__(self) -> None:
        self._past: deque[_Instance] = deque(maxlen=DEPTH)

    def run_time(self, job: Job, user: Hashable, done: float) -> float:
        size, request = _doublings(job)
        near = sorted(
            (
                abs(size - each.size)
                + abs(request - each.request)
                + (0.0 if user is not None and user == each.user else OTHER_USER),
                each.seconds,
            )
            for each in self._past
            if each.seconds > done
        )[:NEAREST]
        weights = [1 / (1 + distance) ** 2 for distance, _seconds in near]
        total = sum(
            weight * seconds for weight, (_distance, seconds) in zip(weights, near, strict=True)
        )
        return within_request(total / sum(weights) if near else None, job, done)

    def learn(self, past: Past) -> None:
        size, request = _doublings(past.job)
        self._past.append(_Instance(past.user, size, request, past.work))
