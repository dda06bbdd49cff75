"""Run times of similar past jobs, corrected when a job outruns its own."""

import math
from collections.abc import Hashable
from typing import NamedTuple

from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction.history import History

MEDIAN = 0.5
#: Below any run time.
_ANY = -1.0

_MINUTE, _HOUR = 60.0, 3600.0
#: What is added to a prediction each time that the job outruns it, in seconds (Tsafrir, Etsion and
#: Feitelson, TPDS 2007, section 4.2).
_STEPS = (
    *(_MINUTE, 5 * _MINUTE, 15 * _MINUTE, 30 * _MINUTE),
    *(_HOUR, 2 * _HOUR, 5 * _HOUR, 10 * _HOUR, 20 * _HOUR, 50 * _HOUR, 100 * _HOUR),
)


class RunTime(NamedTuple):
    """A predicted run time.

    :ivar jobs: how many similar past jobs say so.
    """

    seconds: float
    jobs: int


def of_similar(history: History, job: Job, user: Hashable, beyond: float = _ANY) -> list[float]:
    """The run times of the past jobs most similar to a job, ascending; empty if there are none.

    Also empty while the history is short and the job has an estimate of its own: one or two past
    jobs say less than its user.

    :param history: of run times, in seconds.
    :param beyond: only longer ones, as of `History.similar`.
    """
    if job.estimate is not None and history.tells_little:
        return []
    return history.similar(job, user, beyond)


def similar(history: History, job: Job, user: Hashable, quantile: float = MEDIAN) -> RunTime | None:
    """The run time of a job that has not begun, from those of the past jobs most similar to it.

    :param history: of run times, in seconds.
    :param quantile: 0..1: the part of the similar jobs that took no longer.
    :returns: at most what the job itself asked for; None if too little is known, see `of_similar`.
    """
    times = of_similar(history, job, user)
    if not times:
        return None
    at = min(len(times) - 1, math.floor(quantile * len(times)))
    return RunTime(min(times[at], job.expected), len(times))


def corrected(predicted: float, began: float, now: float, most: float = math.inf) -> float:
    """The run time that is expected now of a job that may have outrun what was predicted first.

    :param began: when it began; if it was interrupted, later by the time that it did not run.
    :param most: what it asked for: no more is expected.
    :returns: seconds since it began, beyond `now` unless it has outrun `most`; infinite after the
        last step of a job that asked for nothing.
    """
    expected = predicted
    for step in _STEPS:
        if began + expected > now or expected >= most:
            break
        expected += step
    else:
        if began + expected <= now:
            expected = math.inf
    return min(expected, most)
