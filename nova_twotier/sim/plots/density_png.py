"""How full each slot was over time, in both tiers, as a picture."""

import pathlib

from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from nova_twotier.sim.plots import palette, picture
from nova_twotier.sim.plots.density import Chart, Tier

WIDTH = 18.0
#: Inches of the curves, and of a tier's cells.
CURVES, CELLS = 2.2, 4.4


def draw(chart: Chart, path: pathlib.Path) -> None:
    heights = [CURVES, *(CELLS for _tier in chart.tiers)]
    figure = Figure(figsize=(WIDTH, sum(heights) + 1), layout="constrained")
    curves, *rasters = figure.subplots(
        len(heights), 1, sharex=True, gridspec_kw={"height_ratios": heights}
    )
    _curves(curves, chart)
    for axes, tier in zip(rasters, chart.tiers, strict=True):
        _raster(figure, axes, chart, tier)
    second = picture.second(chart)
    curves.set_xlim(chart.begin / second, chart.end / second)
    picture.time_axis(rasters[-1], chart)
    picture.title(curves, chart.heading, chart.note)
    picture.save(figure, path)


def _curves(axes, chart: Chart) -> None:
    """Slots in use in each tier."""
    edges = chart.edges / picture.second(chart)
    for tier in chart.tiers:
        counts = chart.in_use(tier)
        axes.stairs(counts, edges, color=tier.colour, linewidth=1.0, label=tier.name)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("processes" if chart.hosts else "slots in use")
    axes.legend(
        loc="lower right", bbox_to_anchor=(1, 1), ncols=len(chart.tiers), frameon=False, fontsize=9
    )
    picture.grid(axes)


def _raster(figure, axes, chart: Chart, tier: Tier) -> None:
    second = picture.second(chart)
    rows = len(tier.cells)
    top = chart.top(tier)
    image = axes.imshow(
        tier.cells,
        cmap=LinearSegmentedColormap.from_list(
            tier.name, ["#ffffff", tier.colour, palette.shade(tier.colour, -0.55)]
        ),
        vmin=0,
        vmax=top,
        aspect="auto",
        interpolation="nearest",
        extent=(chart.begin / second, chart.end / second, rows, 0),
    )
    ticks = [
        int(row) for row in MaxNLocator(12, integer=True).tick_values(0, rows) if 0 <= row < rows
    ]
    axes.set_yticks([row + 0.5 for row in ticks], map(chart.label, ticks))
    axes.tick_params(axis="y", labelsize=8)
    axes.set_ylabel(chart.row)
    bar = figure.colorbar(image, ax=axes, pad=0.01, fraction=0.03)
    bar.set_label(chart.scale(tier), fontsize=9)
    if top == 1 and not chart.hosts:
        bar.ax.yaxis.set_major_formatter(PercentFormatter(1))
