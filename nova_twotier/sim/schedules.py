"""Schedules in files: the simulator's, with the run that they are of, and the queue manager's."""

import pathlib
import re
from dataclasses import dataclass

import numpy
import pandas

from nova_twotier.sim import tables
from nova_twotier.sim.simulation import Result

#: The run that a schedule is of, in each row.
ABOUT = ("policy", "workload", "load")
#: Columns that only the table of `twotier-manage schedule` has, and their names here.
RECORDED = {"host": "slot", "from": "begin", "to": "end"}
#: Recorded since a later release: the number of the slot on the host. A row here is a host.
LANE = {"slot": "lane"}


@dataclass(frozen=True)
class Schedule:
    """Stays of processes: a table with job, process, slot, tier, begin and end.

    :param stays: times in seconds. If slots stand for hosts, `lane` is the number of the slot on
        the host, in its tier; an earlier release did not record it.
    :param title: which run it is of.
    :param hosts: the host of each slot number; empty: slots are numbers only.
    :param dated: whether times count from the epoch (1970, UTC), not from the start of a trace.
    """

    stays: pandas.DataFrame
    title: str = ""
    hosts: tuple[str, ...] = ()
    dated: bool = False


def table(result: Result, load: float) -> pandas.DataFrame:
    """The recorded schedule of a run as it is written to a file.

    :param load: the load that was offered.
    """
    run = (result.scenario.policy, result.workload, load)
    rows = numpy.zeros(len(result.schedule), dtype="int8")
    # Categories: the words are kept once, not in millions of rows.
    columns = {
        name: pandas.Categorical.from_codes(rows, [value])
        for name, value in zip(ABOUT, run, strict=True)
        if value == value  # the load of jobs that arrive at once is NaN
    }
    return result.schedule.assign(**columns)


def read(path: str | pathlib.Path) -> Schedule:
    """Read what `twotier-sim run --schedule-out` or `twotier-manage schedule` wrote.

    A place that was still held ends when the file was written.

    :raises tables.TableError: if it is no table, or holds the schedules of several runs.
    :raises OSError: if the file cannot be read.
    """
    stays = tables.read(path)
    if set(RECORDED) <= set(stays):
        return _recorded(stays, pathlib.Path(path).stat().st_mtime)
    return Schedule(stays, _title(stays, path))


def _recorded(places: pandas.DataFrame, written: float) -> Schedule:
    """The schedule of a queue manager."""
    hosts = sorted(map(str, places["host"].unique()), key=_natural)
    numbers = {host: number for number, host in enumerate(hosts)}
    # As seconds first: a table in which all places are held has an empty column.
    begin, end = (pandas.to_numeric(places[name]) for name in ("from", "to"))
    stays = places.assign(
        host=places["host"].astype(str).map(numbers), to=end.fillna(max(written, 0))
    ).rename(columns=RECORDED | LANE)
    # The clock of the file's disk may be behind that of the manager.
    stays["end"] = stays["end"].clip(lower=begin)
    return Schedule(stays, "Queue manager", tuple(hosts), dated=True)


def _title(stays: pandas.DataFrame, path: str | pathlib.Path) -> str:
    """Policy, workload and load, as far as the table has them."""
    found = {}
    for name in ABOUT:
        values = stays[name].dropna().unique() if name in stays else ()
        if len(values) > 1:
            words = ", ".join(map(str, values))
            raise tables.TableError(
                f"{path}: holds the schedules of several runs ({name} {words}); plot one of them"
            )
        if len(values):
            found[name] = values[0]
    if not {"policy", "workload"} <= set(found):
        return ""
    title = f"{found['policy']} on {found['workload']}"
    return f"{title}, load {float(found['load']):.3g}" if "load" in found else title


def _natural(name: str) -> list:
    """Sorts host2 before host10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]
