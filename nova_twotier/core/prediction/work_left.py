"""The work that jobs still have to do, as forward runs ask for it."""

import math
from collections.abc import Callable, Hashable

from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction.present import Present

#: Seconds that a job is expected to run of which nothing is known at all.
UNKNOWN = 3600.0

#: Seconds of work on dedicated slots that a job still has to do.
Remaining = Callable[[Job], float]


def work_left(present: Present, run_time: Callable[[Job, Hashable, float], float]) -> Remaining:
    """What each job still has to do: as `present` knows it, or by its expected run time.

    :param run_time: as `estimator.Forward.run_time`; asked once for all jobs that are alike.
    """
    known: dict[tuple[object, ...], float] = {}
    told, users, work = present.left, present.users, present.done

    def remaining(job: Job) -> float:
        number = job.number
        if number in told:
            return told[number]
        # Users submit many equal jobs at once.
        user, done = users.get(number), work.get(number, 0.0)
        kind = user, job.size, job.estimate, job.walltime, done
        seconds = known.get(kind)
        if seconds is None:
            seconds = known[kind] = run_time(job, user, done) - done
        return seconds

    return remaining


def within_request(seconds: float | None, job: Job, done: float) -> float:
    """Cap an expected run time at the job's request; it never falls below what the job has run.

    :param seconds: None: use the request itself, since nothing else is known.
    """
    asked = job.expected
    if seconds is None:
        seconds = UNKNOWN if asked == math.inf else asked
    if seconds > asked:
        seconds = asked
    return seconds if seconds > done else done
