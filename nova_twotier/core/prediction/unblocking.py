"""What a waiting job waits for: the end of another job, or fewer processes of its own."""

from collections.abc import Mapping
from dataclasses import replace

from nova_twotier.core.actions import Start
from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction.present import Forecast, Present
from nova_twotier.core.snapshot import EVENTS

#: Everything may have happened: the policy is to look at all that it can do.
_ANYTHING = EVENTS[-1]


def enders(forecasts: Mapping[int, Forecast]) -> dict[float, int]:
    """For each instant at which a job is expected to end, the number of that job.

    In a forward run, jobs start only at such instants: a waiting job starts when the one leaves
    that ends at its start. Of several that end together, the one that is listed first counts.
    """
    found: dict[float, int] = {}
    for number, forecast in forecasts.items():
        found.setdefault(forecast.finish, number)
    return found


def largest_startable(present: Present, job: Job) -> int | None:
    """The largest size, below that of a waiting job, with which the policy would start it now.

    Found by bisection, as if a job that starts would also start with fewer processes; the policy
    itself has said that the size which is returned starts.

    :returns: None if it would not start with a single process either.
    """
    starts, waits = 0, job.size
    # Most often there is no room for one process either, which one question tells.
    size = 1
    while waits - starts > 1:
        if _starts(present, job, size):
            starts = size
        elif size == 1:
            return None
        else:
            waits = size
        size = (starts + waits) // 2
    return starts or None


def _starts(present: Present, job: Job, size: int) -> bool:
    """Whether the policy would start a waiting job now, if it had only so many processes."""
    after = present.snapshot.copy()
    after.queue.remove(job)
    after.queue.add(replace(job, size=size, cpu=job.cpu[:size]))
    decision = present.policy.schedule(after, _ANYTHING, present.now)
    return any(isinstance(each, Start) and each.job.number == job.number for each in decision)
