"""The Gantt chart of both tiers as a picture."""

import pathlib

from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nova_twotier.sim.plots import palette, picture
from nova_twotier.sim.plots.gantt import BACKGROUND, FOREGROUND, Bar, Chart

WIDTH = 18.0
#: Inches a slot and lane: between these, as many as make the chart this high.
SLOT = (0.23, 0.5)
HEIGHT = 10.0
#: Of a chart of very many slots, whose rows become lower.
HIGHEST = 60.0
#: Inches around the slots: title, legend, axis of time.
AROUND = 1.6
POINTS_AN_INCH = 72
#: A digit's width as a part of its height, with room to breathe.
DIGIT = 0.75
#: Points: smaller numbers cannot be read, larger ones are not needed.
TEXT = (4.5, 10.0)
#: More numbers than this many slots apart are left out.
TICKS = 130


def draw(chart: Chart, path: pathlib.Path) -> None:
    lanes = max(chart.fronts, chart.backs)
    slot = min(max(HEIGHT / len(chart.slots), SLOT[0] * lanes), SLOT[1] * lanes)
    slot = min(slot, HIGHEST / len(chart.slots))
    figure = Figure(figsize=(WIDTH, len(chart.slots) * slot + AROUND), layout="constrained")
    axes = figure.add_subplot()
    for number in range(len(chart.slots)):
        low = number + FOREGROUND
        axes.axhspan(low, low + BACKGROUND, color=palette.STRIPE, linewidth=0, zorder=0)
    _bars(axes, chart, [bar for bar in chart.bars if bar.front], None)
    _bars(axes, chart, [bar for bar in chart.bars if not bar.front], "////")
    for bar in chart.labelled():
        _label(axes, chart, bar, slot)
    _frame(axes, chart)
    picture.save(figure, path)


def _bars(axes, chart: Chart, bars: list[Bar], hatch: str | None) -> None:
    second = picture.second(chart)
    corners = []
    for bar in bars:
        top, height = chart.box(bar)
        begin, end = bar.begin / second, bar.end / second
        corners.append([(begin, top), (end, top), (end, top + height), (begin, top + height)])
    colours = [bar.colour for bar in bars]
    axes.add_collection(
        PolyCollection(
            corners,
            facecolors=colours if hatch is None else [f"{colour}55" for colour in colours],
            edgecolors="#222222" if hatch is None else colours,
            linewidths=0.4,
            hatch=hatch,
            hatch_linewidth=0.5,
            zorder=2,
        )
    )


def _label(axes, chart: Chart, bar: Bar, slot: float) -> None:
    """The job's number in its bar, if there is room."""
    second = picture.second(chart)
    top, height = chart.box(bar)
    size = min(0.8 * height * slot * POINTS_AN_INCH, TEXT[1])
    room = (bar.end - bar.begin) / (chart.end - chart.begin) * WIDTH * POINTS_AN_INCH
    if size < TEXT[0] or room < size * DIGIT * (len(str(bar.job)) + 1):
        return
    axes.text(
        (bar.begin + bar.end) / 2 / second,
        top + height / 2,
        str(bar.job),
        ha="center",
        va="center_baseline",
        fontsize=size,
        color=palette.ink(bar.colour) if bar.front else palette.BLACK,
        zorder=3,
        bbox=None
        if bar.front
        else {"facecolor": "white", "alpha": 0.8, "pad": 0.3, "edgecolor": "none"},
    )


def _frame(axes, chart: Chart) -> None:
    second = picture.second(chart)
    axes.set_xlim(chart.begin / second, chart.end / second)
    axes.set_ylim(len(chart.slots), -0.1)
    step = -(-len(chart.slots) // TICKS)
    shown = chart.slots[::step]
    axes.set_yticks(
        [slot - chart.slots[0] + FOREGROUND / 2 for slot in shown], map(chart.label, shown)
    )
    axes.tick_params(axis="y", length=0, labelsize=8)
    axes.set_ylabel(chart.row)
    picture.time_axis(axes, chart)
    axes.legend(
        handles=[
            Patch(facecolor="#9aa7b8", edgecolor="#222222", label="foreground"),
            Patch(facecolor="#9aa7b855", edgecolor="#9aa7b8", hatch="////", label="background"),
        ],
        loc="lower right",
        bbox_to_anchor=(1, 1),
        ncols=2,
        frameon=False,
    )
    picture.title(axes, chart.heading, chart.note)
    picture.grid(axes, "x")
