"""Slots in use in both tiers over time: what to draw, nothing of how."""

from dataclasses import dataclass

import numpy
import pandas

from nova_twotier.sim.plots import palette, window, words
from nova_twotier.sim.plots.files import PlotError
from nova_twotier.sim.plots.timed import Timed

#: With more changes than this, the plot shows means over this many equal parts of the window.
PARTS = 600


@dataclass(frozen=True, slots=True)
class Curve:
    """Processes in a tier: `counts[i]` from `times[i]` to `times[i + 1]`; times in seconds."""

    name: str
    colour: str
    times: numpy.ndarray
    counts: numpy.ndarray
    mean: float

    @property
    def steps(self) -> numpy.ndarray:
        """The counts with the last one repeated: one for each of the times."""
        return numpy.append(self.counts, self.counts[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart(Timed):
    """Everything to draw; `part` is the seconds that a mean is taken over, 0 if exact."""

    slots: int
    curves: tuple[Curve, ...]
    part: float

    @property
    def top(self) -> float:
        """The most processes of a tier; with more than two tiers, more than there are slots."""
        return max(self.slots, *(curve.counts.max() for curve in self.curves))

    @property
    def note(self) -> str:
        if not self.part:
            return f"{self.slots} slots; every change is drawn"
        name, second = words.unit(self.part)
        return f"{self.slots} slots; means over {self.part / second:.2g} {name}"


def of(
    schedule: pandas.DataFrame,
    *,
    slots: int | None = None,
    begin: float | None = None,
    end: float | None = None,
    title: str = "Slots in use",
    dated: bool = False,
) -> Chart:
    """The chart of a recorded schedule.

    :param slots: of the machine; by default as many as the schedule uses.
    :param begin: start of the window (seconds); the first begin by default.
    :param end: end of the window (seconds); the last end by default.
    :param dated: whether times count from the epoch.
    :raises PlotError: if it is not a schedule, the window is empty, or more slots are in use.
    """
    begin, end = window.span(schedule, begin, end)
    tiers = {name: schedule[schedule["tier"] == name] for name in ("fg", "bg")}
    steps = {name: _steps(stays, begin, end) for name, stays in tiers.items()}
    used = int(steps["fg"][1].max())
    if slots is not None and slots < used:
        raise PlotError(f"the machine cannot have {slots} slots: {used} are in use at once")
    part = 0.0
    if max(len(times) for times, _counts in steps.values()) > PARTS:
        part = (end - begin) / PARTS
        steps = {name: _means(*curve, begin, end) for name, curve in steps.items()}
    return Chart(
        title=title,
        begin=begin,
        end=end,
        dated=dated,
        slots=slots or max(int(schedule["slot"].max()) + 1, used),
        curves=(
            _curve("foreground", palette.FOREGROUND, *steps["fg"]),
            _curve("background", palette.BACKGROUND, *steps["bg"]),
        ),
        part=part,
    )


def _steps(stays: pandas.DataFrame, begin: float, end: float) -> tuple[numpy.ndarray, ...]:
    """Times of change in the window, with both of its ends, and the counts between them."""
    changes = pandas.concat(
        [
            pandas.Series(1, index=stays["begin"].clip(begin, end)),
            pandas.Series(-1, index=stays["end"].clip(begin, end)),
            pandas.Series(0, index=[begin, end]),
        ]
    )
    counts = changes.groupby(level=0).sum().sort_index().cumsum()
    return counts.index.to_numpy(float), counts.to_numpy(float)[:-1]


def _means(
    times: numpy.ndarray, counts: numpy.ndarray, begin: float, end: float
) -> tuple[numpy.ndarray, ...]:
    edges = numpy.linspace(begin, end, PARTS + 1)
    area = numpy.concatenate([[0.0], numpy.cumsum(counts * numpy.diff(times))])
    return edges, numpy.diff(numpy.interp(edges, times, area)) / numpy.diff(edges)


def _curve(name: str, colour: str, times: numpy.ndarray, counts: numpy.ndarray) -> Curve:
    mean = float(numpy.average(counts, weights=numpy.diff(times)))
    return Curve(name, colour, times, counts, mean)
