"""The Gantt chart of both tiers as a picture."""

import pathlib

import matplotlib

matplotlib.use("Agg")  # no display

from matplotlib import pyplot
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from nova_twotier.core.actions import Tier
from nova_twotier.sim.plots import palette
from nova_twotier.tools.replay.chart import MARKS, Chart, colour

WIDTH = 22.0
#: Inches a line; the background's bars are lower than the foreground's.
LINE = 0.21
BAR = {Tier.FG: 0.94, Tier.BG: 0.72}
#: Inches between the chart and its legend, for the axis of trace time.
HEADROOM = 0.5
#: The label of a job needs this part of the chart's width.
LABEL_SHARE = 0.011


def draw(chart: Chart, path: pathlib.Path) -> None:
    heights = chart.heights()
    lines = max(heights.values()) + 1
    pyplot.rcParams["hatch.linewidth"] = 0.6
    figure, (gantt, queue) = pyplot.subplots(
        2,
        1,
        sharex=True,
        figsize=(WIDTH, lines * LINE + 3.0),
        gridspec_kw={"height_ratios": [lines * LINE, 1.2], "hspace": 0.03},
    )
    _bars(gantt, chart, heights)
    _marks(gantt, chart)
    _frame(gantt, chart, heights)
    _waiting(queue, chart)
    figure.savefig(path, dpi=110, bbox_inches="tight")
    pyplot.close(figure)


def _bars(axes, chart: Chart, heights) -> None:
    for interval, lane in chart.bars:
        fill = colour(interval.job)
        width = (interval.end if interval.end is not None else chart.end) - interval.begin
        front = lane.tier is Tier.FG
        axes.barh(
            heights[lane],
            width,
            left=interval.begin,
            height=BAR[lane.tier],
            color=fill if front else fill + "66",
            hatch=None if front else "////",
            edgecolor="#222222" if front else fill,
            linewidth=0.5,
            zorder=2,
        )
        if width > LABEL_SHARE * chart.end:
            axes.text(
                interval.begin + width / 2,
                heights[lane],
                str(interval.job),
                ha="center",
                va="center",
                fontsize=8,
                fontweight="bold" if front else "normal",
                zorder=4,
                color=palette.ink(fill) if front else "#000000",
                clip_on=True,
                bbox=None
                if front
                else {"facecolor": "white", "alpha": 0.75, "pad": 0.4, "edgecolor": "none"},
            )


def _marks(axes, chart: Chart) -> None:
    for mark, places in chart.marks().items():
        axes.scatter(
            [at for at, _y, _interval in places],
            [y for _at, y, _interval in places],
            marker=mark.matplotlib,
            color=mark.colour,
            s=60,
            zorder=5,
            edgecolors="white",
            linewidths=0.6,
        )


def _frame(axes, chart: Chart, heights) -> None:
    axes.set_title(chart.title, loc="left", fontsize=15, pad=58)
    axes.set_ylim(max(heights.values()) + 0.8, -0.8)
    axes.set_xlim(0, chart.end)
    axes.set_yticks(
        list(heights.values()),
        [f"{lane.slot + 1} {lane.tier}" for lane in heights],
        fontsize=7.5,
    )
    axes.tick_params(axis="y", length=0, pad=2)
    for label, lane in zip(axes.get_yticklabels(), heights, strict=True):
        label.set_color("#000000" if lane.tier is Tier.FG else "#888888")
    for lane, y in heights.items():
        if lane.tier is Tier.BG:
            axes.axhspan(y - 0.5, y + 0.5, color="#f1f1f4", zorder=0)
    for number, (host, (first, last)) in enumerate(chart.hosts().items()):
        axes.text(
            -0.034,
            (first + last) / 2,
            host,
            transform=axes.get_yaxis_transform(),
            ha="center",
            va="center",
            rotation=90,
            fontsize=12,
            fontweight="bold",
        )
        if number:
            axes.axhline(first - 0.95, color="#333333", linewidth=0.8, zorder=1)
    axes.grid(axis="x", color="#cccccc", linewidth=0.5, zorder=0)
    hours = axes.secondary_xaxis(
        "top",
        functions=(
            lambda wall: wall * chart.speedup / 3600,
            lambda trace: trace * 3600 / chart.speedup,
        ),
    )
    hours.set_xlabel("trace time (h)")
    room = HEADROOM / ((max(heights.values()) + 1) * LINE)
    axes.legend(
        handles=_legend(),
        loc="lower left",
        bbox_to_anchor=(0, 1 + room),
        borderpad=0,
        ncols=len(MARKS) + 2,
        frameon=False,
        fontsize=11,
        columnspacing=1.6,
    )


def _legend() -> list:
    return [
        Patch(facecolor="#7f9fd0", edgecolor="#222222", label="foreground"),
        Patch(facecolor="#7f9fd066", edgecolor="#7f9fd0", hatch="////", label="background"),
        *(
            Line2D(
                [],
                [],
                linestyle="",
                marker=mark.matplotlib,
                color=mark.colour,
                markeredgecolor="white",
                markersize=8,
                label=mark.name,
            )
            for mark in MARKS
        ),
    ]


def _waiting(axes, chart: Chart) -> None:
    axes.fill_between(
        [length.at for length in chart.waiting],
        [length.jobs for length in chart.waiting],
        step="post",
        color="#b0562f",
        alpha=0.75,
        linewidth=0,
    )
    axes.set_ylabel("jobs\nwaiting", rotation=0, ha="right", va="center", fontsize=9)
    axes.set_ylim(bottom=0)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("wall time (s); numbers in the bars are job numbers")
    axes.grid(color="#cccccc", linewidth=0.5)
