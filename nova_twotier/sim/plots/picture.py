"""What the pictures have in common."""

import pathlib

from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from nova_twotier.sim.plots import palette
from nova_twotier.sim.plots.timed import Timed

DPI = 120


def title(axes: Axes, text: str, note: str = "") -> None:
    """A title at the left, and a note in grey below it."""
    axes.set_title(text, loc="left", fontsize=12, pad=22 if note else 8)
    if note:
        axes.annotate(
            note,
            (0, 1),
            xytext=(0, 7),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=9,
            color="#555555",
        )


def grid(axes: Axes, axis: str = "both") -> None:
    """A pale grid behind the data, and no box around it."""
    axes.grid(axis=axis, color=palette.GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def second(chart: Timed) -> float:
    """The seconds in the unit of the time axis: matplotlib counts dates in days."""
    return 86400.0 if chart.dated else chart.unit[1]


def time_axis(axes: Axes, chart: Timed) -> None:
    """The title of the time axis and, for dates, its ticks."""
    if chart.dated:
        locator = AutoDateLocator(minticks=5, maxticks=12)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    axes.set_xlabel(chart.axis)


def save(figure: Figure, path: pathlib.Path) -> None:
    """Write a figure; one that was made without pyplot is drawn by Agg, without a display."""
    figure.savefig(path, dpi=DPI)


def logarithmic(axes: Axes) -> None:
    """A logarithmic scale upwards, with plain numbers at 1, 2 and 5 of each decade."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
