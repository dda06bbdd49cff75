"""The table that a run results in: one row a job."""

import math
from collections.abc import Callable, Iterable
from struct import Struct

import numpy
import pandas

from nova_twotier.core.actions import StartKind, Tier
from nova_twotier.core.qos import Qos
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
    "background_time": "float64",  # on slots there, also while it was on its way to them
    "lost_time": "float64",  # work lost by kills
    "migrations": "int64",
    "evictions": "int64",
    "kills": "int64",
    "swaps": "int64",
    "qos": "category",
}
#: The numbers of the words of each category. A job that has ended has each of them.
_HOW: dict[StartKind | None, int] = {how: code for code, how in enumerate(sorted(StartKind))}
_TIER: dict[Tier | None, int] = {tier: code for code, tier in enumerate(sorted(Tier))}
_QOS: dict[Qos, int] = {qos: code for code, qos in enumerate(sorted(Qos))}
_WORDS = {
    name: [str(word) for word in codes]
    for name, codes in (("how", _HOW), ("tier", _TIER), ("qos", _QOS))
}
#: How a row is kept in memory: by `struct`, and the same by numpy.
_PACKED = {"int64": ("q", "<i8"), "float64": ("d", "<f8"), "category": ("b", "<i1")}
_pack = Struct("<" + "".join(_PACKED[kind][0] for kind in COLUMNS.values())).pack
_ROW = numpy.dtype([(name, _PACKED[kind][1]) for name, kind in COLUMNS.items()])


class JobTable:
    """The table of the jobs that have ended, filled row by row as they end.

    A row is kept as bytes, of which numpy makes columns at once: a tuple would take four times the
    memory, and its values one by one several times as long.
    """

    def __init__(self) -> None:
        self._rows = bytearray()
        #: CPU seconds that the jobs used.
        self.busy = 0.0

    def fill(
        self, jobs: Iterable[Execution], ended: Callable[[Execution], None] | None = None
    ) -> None:
        """Add a row for each job of a run as it ends.

        :param ended: called with each job before its row is added.
        """
        rows = self._rows
        for done in jobs:
            if ended is not None:
                ended(done)
            job = done.job
            rows += _pack(
                job.number,
                job.arrival,
                job.size,
                done.runtime,
                math.nan if job.estimate is None else job.estimate,
                done.start,
                done.finish,
                _HOW[done.how],
                _TIER[done.first_tier],
                done.background,
                done.lost,
                done.migrations,
                done.evictions,
                done.kills,
                done.swaps,
                _QOS[job.qos],
            )
            self.busy += done.busy

    def frame(self) -> pandas.DataFrame:
        """The table, with `COLUMNS`, in the order of the job numbers."""
        rows = numpy.frombuffer(self._rows, _ROW)
        order = numpy.argsort(rows["job"])
        columns = {name: _column(name, rows[name][order]) for name in COLUMNS}
        return pandas.DataFrame(columns, copy=False)


def _column(name: str, values: numpy.ndarray) -> object:
    if name not in _WORDS:
        return values
    return pandas.Categorical.from_codes(values, _WORDS[name]).remove_unused_categories()
