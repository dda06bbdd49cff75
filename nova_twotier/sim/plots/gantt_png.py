"""The Gantt chart of both tiers as a picture."""

import pathlib

from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nova_twotier.sim.plots import job_colours, palette, picture
from nova_twotier.sim.plots.gantt import Chart, colour
from nova_twotier.sim.plots.stays import Stay

WIDTH = 18.0
#: Inches a lane: between these, as many as make the chart this high.
LANE = (0.105, 0.22)
HEIGHT = 10.0
#: Of a chart of very many slots, whose lanes become lower.
HIGHEST = 60.0
#: Inches around the slots: title, legend, axis of time; and of the curve of waiting jobs.
AROUND = 1.6
WAITING = 1.1
#: Below the curve, as a part of its height: room for one axis before the other.
SECOND_AXIS = -0.55
POINTS_AN_INCH = 72
#: A digit's width as a part of its height, with room to breathe.
DIGIT = 0.75
#: Points: smaller numbers cannot be read, larger ones are not needed; and of marks.
TEXT = (4.5, 10.0)
MARK = 7.5
#: More numbers than this many slots apart are left out.
TICKS = 130


def draw(chart: Chart, path: pathlib.Path) -> None:
    height, lane = chart.layout.tops[-1], chart.layout.sizes.lane
    scale = min(max(HEIGHT / height, LANE[0] / lane), LANE[1] / lane, HIGHEST / height)
    heights = [height * scale, *([WAITING] if chart.waiting else [])]
    figure = Figure(figsize=(WIDTH, sum(heights) + AROUND), layout="constrained")
    axes, *below = figure.subplots(
        len(heights), 1, sharex=True, squeeze=False, height_ratios=heights
    )[:, 0]
    _bands(axes, chart)
    _bars(axes, chart, [stay for stay in chart.stays if stay.front], None)
    _bars(axes, chart, [stay for stay in chart.stays if not stay.front], "////")
    points = lane * scale * POINTS_AN_INCH
    _marks(axes, chart, min(0.48 * points, MARK))
    for stay in chart.labelled():
        _label(axes, chart, stay, min(0.84 * points, TEXT[1]))
    _frame(axes, chart)
    for curve in below:
        _waiting(curve, chart)
    picture.time_axis([axes, *below][-1], chart)
    picture.save(figure, path)


def _rectangle(chart: Chart, begin: float, end: float, top: float, bottom: float) -> list:
    left, right = begin / picture.second(chart), end / picture.second(chart)
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _bands(axes, chart: Chart) -> None:
    window = chart.begin, chart.end
    corners = [_rectangle(chart, *window, *edges) for edges in chart.bands()]
    axes.add_collection(PolyCollection(corners, facecolors=palette.STRIPE, zorder=0))


def _bars(axes, chart: Chart, stays: list[Stay], hatch: str | None) -> None:
    corners = []
    for stay in stays:
        top = chart.top(stay)
        corners.append(_rectangle(chart, stay.begin, stay.end, top, top + chart.bar))
    colours = [colour(stay) for stay in stays]
    axes.add_collection(
        PolyCollection(
            corners,
            facecolors=colours if hatch is None else [f"{each}55" for each in colours],
            edgecolors="#222222" if hatch is None else colours,
            linewidths=0.4,
            hatch=hatch,
            hatch_linewidth=0.5,
            zorder=2,
        )
    )


def _marks(axes, chart: Chart, size: float) -> None:
    second = picture.second(chart)
    for mark, places in chart.marks():
        axes.plot(
            [at / second for at, _height, _stay in places],
            [height for _at, height, _stay in places],
            linestyle="",
            marker=mark.matplotlib,
            color=mark.colour,
            markeredgecolor="white",
            markeredgewidth=0.1 * size,
            markersize=size * mark.size,
            label=mark.name,
            zorder=4,
        )


def _label(axes, chart: Chart, stay: Stay, size: float) -> None:
    """The job's number in its bar, if there is room."""
    second = picture.second(chart)
    room = (stay.end - stay.begin) / (chart.end - chart.begin) * WIDTH * POINTS_AN_INCH
    if size < TEXT[0] or room < size * DIGIT * (len(str(stay.job)) + 1):
        return
    axes.text(
        (stay.begin + stay.end) / 2 / second,
        chart.top(stay) + chart.bar / 2,
        str(stay.job),
        ha="center",
        va="center_baseline",
        fontsize=size,
        color=job_colours.ink(colour(stay)) if stay.front else palette.BLACK,
        zorder=3,
        bbox=None
        if stay.front
        else {"facecolor": "white", "alpha": 0.8, "pad": 0.3, "edgecolor": "none"},
    )


def _frame(axes, chart: Chart) -> None:
    second = picture.second(chart)
    axes.set_xlim(chart.begin / second, chart.end / second)
    axes.set_ylim(chart.layout.tops[-1], 0)
    heights, names = zip(*chart.labels(TICKS), strict=True)
    axes.set_yticks(heights, names)
    axes.tick_params(axis="y", length=0, labelsize=8)
    axes.set_ylabel(chart.row)
    tiers = [
        Patch(facecolor="#9aa7b8", edgecolor="#222222", label="foreground"),
        Patch(facecolor="#9aa7b855", edgecolor="#9aa7b8", hatch="////", label="background"),
    ]
    marks, _names = axes.get_legend_handles_labels()
    axes.legend(
        handles=[*tiers, *marks],
        loc="lower right",
        bbox_to_anchor=(1, 1),
        ncols=len(tiers) + len(marks),
        frameon=False,
    )
    picture.title(axes, chart.heading, chart.note)
    picture.grid(axes, "x")


def _waiting(axes, chart: Chart) -> None:
    second = picture.second(chart)
    axes.fill_between(
        [at / second for at, _jobs in chart.waiting],
        [jobs for _at, jobs in chart.waiting],
        step="post",
        color=palette.VERMILION,
        alpha=0.6,
        linewidth=0,
    )
    axes.set_ylabel("jobs\nwaiting")
    axes.set_ylim(bottom=0)
    axes.yaxis.get_major_locator().set_params(integer=True)
    picture.grid(axes)
    if chart.speedup:
        hours = chart.speedup * second / 3600
        axes.secondary_xaxis(
            SECOND_AXIS, functions=(lambda wall: wall * hours, lambda trace: trace / hours)
        ).set_xlabel("trace time (h)")
