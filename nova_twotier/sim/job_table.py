"""The table that a run results in: one row a job."""

from collections.abc import Iterable

import numpy
import pandas

from nova_twotier.sim.execution import Execution

#: Its columns; times in seconds, counts without unit.
COLUMNS = {
    "job": "int64",
    "arrival": "float64",
    "size": "int64",
    "runtime": "float64",
    "estimate": "float64",  # that the policy was told last; NaN: none
    "start": "float64",  # the first
    "finish": "float64",
    "how": "category",  # the first start came about
    "tier": "category",  # of the first start
    "background_time": "float64",
    "lost_time": "float64",  # work lost by kills
    "migrations": "int64",
    "evictions": "int64",
    "kills": "int64",
    "swaps": "int64",
    "qos": "category",
}


def row(done: Execution) -> tuple:
    """The row of a job that has ended."""
    job = done.job
    return (
        job.number,
        job.arrival,
        job.size,
        done.runtime,
        job.estimate,
        done.start,
        done.finish,
        done.how,
        done.first_tier,
        done.background,
        done.lost,
        done.migrations,
        done.evictions,
        done.kills,
        done.swaps,
        str(job.qos),
    )


def table(rows: Iterable[tuple]) -> pandas.DataFrame:
    """Make the table of a run from its rows, in the order of the job numbers."""
    columns = zip(*sorted(rows), strict=True)
    # A column at a time: pandas takes three times as long to find out what rows consist of.
    values = {name: _column(next(columns, ()), COLUMNS[name]) for name in COLUMNS}
    return pandas.DataFrame(values)


def _column(values: tuple, kind: str) -> object:
    if kind == "category":
        return pandas.Series(values, dtype=object).astype(kind)
    return numpy.array(values, kind)
