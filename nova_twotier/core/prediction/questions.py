"""All that is asked about a queue at once, and the answer: values that can go between processes."""

import time
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from nova_twotier.core.prediction.estimator import Estimator
from nova_twotier.core.prediction.present import Forecast, Past, Present
from nova_twotier.core.prediction.unblocking import largest_startable


class Question(NamedTuple):
    """
    :ivar ended: jobs that have ended since the last question.
    :ivar near: of so many waiting jobs, from the head of the queue, it is asked with which smaller
        size they would start now.
    :ivar patience: seconds of CPU time that may be spent on that.
    """

    ended: Sequence[Past]
    present: Present
    near: int = 0
    patience: float = 1.0


class Answer(NamedTuple):
    """
    :ivar forecasts: of each waiting and running job, by number.
    :ivar rates: of the running jobs, in seconds of work per second.
    :ivar smaller: the largest size with which a waiting job would start now, by number; absent: it
        would with none, or was not asked for.
    """

    forecasts: Mapping[int, Forecast]
    rates: Mapping[int, float]
    smaller: Mapping[int, int]


def answer(estimator: Estimator, question: Question) -> Answer:
    """Let the estimator learn from what has ended, then predict all jobs."""
    for past in question.ended:
        estimator.learn(past)
    present = question.present
    forecasts, rates = estimator.predict(present), estimator.rates(present)
    smaller = {}
    end = time.process_time() + question.patience
    for job in islice(present.snapshot.queue, question.near):
        if time.process_time() > end:
            break
        if size := largest_startable(present, job):
            smaller[job.number] = size
    return Answer(forecasts, rates, smaller)
