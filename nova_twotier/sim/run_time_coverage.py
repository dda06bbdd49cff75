"""How often a job's run time lies between the quantiles of those of the most similar past jobs."""

import math
from collections.abc import Hashable, Iterator, Mapping

import pandas

from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction import run_times
from nova_twotier.core.prediction.history import History

#: The quantiles between which four of five run times should lie.
LOW, HIGH = 0.1, 0.9
#: Metrics, as columns of a run's row.
BELOW, WITHIN, ABOVE = (
    f"run_times_{where}_the_interval_percent" for where in ("below", "within", "above")
)


def coverage(jobs: pandas.DataFrame, users: Mapping[int, Hashable]) -> dict[str, float]:
    """The shares of the jobs below, within and above the interval, in per cent.

    Each job is asked about when it arrives, of the jobs that had ended by then; those of which too
    little is known do not count. Quantiles are as users are shown them: at most the request.

    :param jobs: of a run, as of `Result`.
    :param users: the owner of each job, by number; absent: not known.
    """
    counts = {BELOW: 0, WITHIN: 0, ABOVE: 0}
    for low, high, runtime in _asked(jobs, users):
        # Of equal values, neither is outside.
        where = BELOW if runtime < low else ABOVE if runtime > high else WITHIN
        counts[where] += 1
    total = sum(counts.values())
    return {name: 100 * count / total if total else math.nan for name, count in counts.items()}


def _asked(
    jobs: pandas.DataFrame, users: Mapping[int, Hashable]
) -> Iterator[tuple[float, float, float]]:
    """Both quantiles, and the run time, of each job that arrives; in seconds."""
    history = History()
    known: dict[int, Job] = {}
    rows = {row.job: row for row in jobs.itertuples()}
    # At one instant, jobs end before others arrive; but none before its own arrival.
    events = [(row.finish, 0 if row.finish > row.arrival else 2, row.job) for row in rows.values()]
    events += [(row.arrival, 1, row.job) for row in rows.values()]
    for _at, arrives, number in sorted(events):
        row, user = rows[number], users.get(number)
        if arrives != 1:
            history.add(known.pop(number), user, row.runtime)
            continue
        estimate = None if math.isnan(row.estimate) else row.estimate
        job = known[number] = Job(number, row.size, row.arrival, (1.0,) * row.size, estimate)
        low, high = (run_times.similar(history, job, user, share) for share in (LOW, HIGH))
        if low is not None and high is not None:
            yield low.seconds, high.seconds, row.runtime
