"""Loss and efficiency against the foreground's utilisation, beside the papers' figures."""

import pathlib
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nova_twotier.calibration.layouts import LAYOUTS
from nova_twotier.calibration.points import Point
from nova_twotier.core.progress import MODELS
from nova_twotier.core.slots import THRESHOLD
from nova_twotier.sim.plots import palette, picture

#: The figures of TPDS 2013, section 3.
_PAPER = MODELS["tpds"]


def draw(points: Sequence[Point], kind: str, path: pathlib.Path) -> None:
    """Write the picture: a column for each layout; points without a verdict are hollow.

    :param kind: what the jobs consisted of.
    """
    layouts = list(dict.fromkeys(point.layout for point in points))
    names = list(dict.fromkeys(point.mechanism for point in points))
    figure = Figure(figsize=(1.5 + 4.2 * len(layouts), 7.2), layout="constrained")
    grid = figure.subplots(2, len(layouts), sharex=True, sharey="row", squeeze=False)
    for column, layout in enumerate(layouts):
        losses, efficiencies = grid[0][column], grid[1][column]
        _paper(losses, 100 * _PAPER.loss[0], 100 * _PAPER.loss[1])
        if LAYOUTS[layout].parallel:
            mean, deviation, *_ = _PAPER.eff_parallel
            _paper(efficiencies, mean - deviation, mean + deviation)
            efficiencies.axhline(mean, color="#999999", linewidth=0.8)
        else:
            _paper(efficiencies, *_PAPER.eff_single)
        for number, name in enumerate(names):
            own = [each for each in points if (each.layout, each.mechanism) == (layout, name)]
            _curve(losses, own, "loss", 100, number)
            _curve(efficiencies, own, "efficiency", 1, number)
        picture.title(losses, layout, LAYOUTS[layout].summary)
        efficiencies.set_xlabel("CPU utilisation of the foreground alone")
    # What lies outside says only that it is far from the papers' figures.
    grid[0][0].set_ylim(-10, 60)
    grid[0][0].set_ylabel("foreground loss, %")
    grid[1][0].set_ylim(0, 1.3)
    grid[1][0].set_ylabel("background efficiency")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle(f"Measured with {kind}")
    picture.save(figure, path)


def _paper(axes: Axes, low: float, high: float) -> None:
    axes.axhspan(low, high, color="#e4e4e8", label="TPDS 2013", zorder=0)
    axes.axvline(THRESHOLD, color="#999999", linestyle=":", label="96 %")
    picture.grid(axes)


def _curve(axes: Axes, points: Sequence[Point], field: str, factor: float, number: int) -> None:
    """One mechanism; neighbours stand a little apart, so that all intervals can be seen."""
    colour = palette.LINES[number % len(palette.LINES)]
    marker, _plotly = palette.MARKERS[number % len(palette.MARKERS)]
    ordered = sorted(points, key=lambda point: point.utilisation)
    places = [point.utilisation + 0.004 * number for point in ordered]
    values = [getattr(point, field) for point in ordered]
    axes.plot(
        places,
        [factor * value.median for value in values],
        color=colour,
        linewidth=0.8,
        label=ordered[0].mechanism if ordered else None,
        marker=marker,
        markersize=5,
        fillstyle="none",
    )
    for place, value, point in zip(places, values, ordered, strict=True):
        axes.vlines(place, factor * value.low, factor * value.high, color=colour, linewidth=1.2)
        if point.valid:
            axes.plot(place, factor * value.median, color=colour, marker=marker, markersize=5)
