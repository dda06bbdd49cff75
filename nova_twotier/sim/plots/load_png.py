"""A metric against the load as a picture."""

import pathlib

from matplotlib.figure import Figure

from nova_twotier.sim.plots import palette, picture
from nova_twotier.sim.plots.load import Chart

#: Up to so many loads are named at the axis.
TICKS = 12


def draw(chart: Chart, path: pathlib.Path) -> None:
    figure = Figure(figsize=(8.4, 4.8), layout="constrained")
    axes = figure.add_subplot()
    for number, curve in enumerate(chart.curves):
        colour, (marker, _), (dashes, _) = palette.style(number)
        axes.errorbar(
            curve.loads,
            curve.means,
            curve.spreads if chart.whiskers else None,
            capsize=4,
            color=colour,
            marker=marker,
            linestyle=dashes,
            label=curve.policy,
        )
        if not chart.whiskers:
            axes.fill_between(
                curve.loads, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0
            )
    loads = sorted({load for curve in chart.curves for load in curve.loads})
    if len(loads) <= TICKS:
        axes.set_xticks(loads, [f"{load:.4g}" for load in loads])
    axes.set_xlabel(chart.axis)
    axes.set_ylabel(chart.label)
    if chart.logarithmic:
        picture.logarithmic(axes)
    elif min(min(curve.low) for curve in chart.curves) >= 0:
        axes.set_ylim(bottom=0)
    # Beside the curves: inside it would cover one of them.
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, title=chart.legend)
    picture.title(axes, chart.title, chart.note)
    picture.grid(axes)
    picture.save(figure, path)
