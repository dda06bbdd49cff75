"""A window of a recorded schedule, for charts over time."""

from typing import NamedTuple

import pandas

from nova_twotier.sim.plots.files import PlotError

COLUMNS = ("job", "process", "slot", "tier", "begin", "end")


class Cut(NamedTuple):
    """The stays in a window, clipped to it, and what the window is."""

    stays: pandas.DataFrame
    begin: float
    end: float
    slots: range


def cut(
    schedule: pandas.DataFrame,
    *,
    begin: float | None = None,
    end: float | None = None,
    slots: tuple[int, int] | None = None,
) -> Cut:
    """The stays in a window, by default all of them.

    :param begin: start of the window (seconds); the first begin by default.
    :param end: end of the window (seconds); the last end by default.
    :param slots: first and last slot; all by default.
    :raises PlotError: if it is not a schedule, or nothing runs in the window.
    """
    begin, end = span(schedule, begin, end)
    first, last = slots or (int(schedule["slot"].min()), int(schedule["slot"].max()))
    shown = schedule[
        (schedule["begin"] < end)
        & (schedule["end"] > begin)
        & schedule["slot"].between(first, last)
        & (schedule["begin"] < schedule["end"])
    ]
    if shown.empty:
        raise PlotError(
            f"nothing runs on slots {first} to {last} from {begin:.15g} to {end:.15g} s"
        )
    shown = shown.assign(begin=shown["begin"].clip(lower=begin), end=shown["end"].clip(upper=end))
    return Cut(shown, begin, end, range(first, last + 1))


def span(schedule: pandas.DataFrame, begin: float | None, end: float | None) -> tuple[float, float]:
    """Begin and end of the window (seconds), by default those of the schedule.

    :raises PlotError: if it is not a schedule, or the window ends before it has begun.
    """
    check(schedule)
    begin = float(schedule["begin"].min()) if begin is None else begin
    end = float(schedule["end"].max()) if end is None else end
    if begin >= end:
        raise PlotError(f"the window from {begin:.15g} to {end:.15g} s is empty")
    return begin, end


def check(schedule: pandas.DataFrame) -> None:
    """:raises PlotError: if it is not a recorded schedule with at least one stay."""
    missing = [column for column in COLUMNS if column not in schedule]
    if missing:
        raise PlotError(f"the table has no column {missing[0]!r}; it is not a schedule")
    if schedule.empty:
        raise PlotError("the schedule is empty")
    for column in ("begin", "end"):
        if not pandas.api.types.is_numeric_dtype(schedule[column]):
            raise PlotError(f"column {column!r} of the schedule has values that are no numbers")
