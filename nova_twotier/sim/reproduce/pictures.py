"""The pictures of a report, as PNG."""

import io
import math
import textwrap
from collections.abc import Iterator, Sequence

import numpy
from matplotlib.figure import Figure

from nova_twotier.sim.plots import load, load_png, palette, picture
from nova_twotier.sim.reproduce.experiment import Plot
from nova_twotier.sim.reproduce.numbers import Number
from nova_twotier.sim.reproduce.results import Results

#: Of a group of bars, as a part of the distance between two groups.
WIDTH = 0.8


def against_load(results: Results, plot: Plot, axis: str) -> bytes:
    """A metric against the load, or what else the axis says."""
    runs = results.shown[results.shown["place"] == plot.place]
    rows = runs[["place", "series", "load", "seed", plot.metric]].rename(
        columns={"place": "workload", "series": "policy"}
    )
    chart = load.of(
        rows,
        plot.metric,
        list(rows["policy"].unique()),
        logarithmic=plot.logarithmic and bool((rows[plot.metric] > 0).any()),
        axis=axis,
    )
    return curves(chart)


def curves(chart: load.Chart) -> bytes:
    stream = io.BytesIO()
    load_png.draw(chart, stream)
    return stream.getvalue()


def bars(numbers: Sequence[Number], *, logarithmic: bool) -> bytes:
    """The numbers of one group: ours beside the paper's, if any is printed.

    A panel a row of the table.
    """
    rows = list(dict.fromkeys(number.row for number in numbers))
    figure = Figure(figsize=(3.4 * len(rows), 3.7), layout="constrained")
    panels = figure.subplots(1, len(rows), sharey=True, squeeze=False)[0]
    for axes, row in zip(panels, rows, strict=True):
        own = [number for number in numbers if number.row == row]
        _panel(axes, own, beside=not all(math.isnan(number.paper) for number in numbers))
        picture.title(axes, row)
        picture.grid(axes, "y")
    # A line may be as long as the panels are high.
    panels[0].set_ylabel(textwrap.fill(numbers[0].group, 30))
    lowest = min((value for value in _values(numbers) if value > 0), default=0)
    if logarithmic and lowest:
        picture.logarithmic(panels[0])
        panels[0].set_ylim(bottom=10 ** math.floor(math.log10(lowest)))
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    stream = io.BytesIO()
    picture.save(figure, stream)
    return stream.getvalue()


def _panel(axes, numbers: Sequence[Number], *, beside: bool) -> None:
    """:param beside: whether to draw the paper's numbers, too."""
    places = numpy.arange(len(numbers))
    below = [number.ours - number.low for number in numbers]
    above = [number.high - number.ours for number in numbers]
    drawn = any(below) or any(above)
    name = "ours" if beside else "measured"
    if beside:
        # Hatched as well, so that they differ in grey print.
        axes.bar(
            places - WIDTH / 4,
            [number.paper for number in numbers],
            WIDTH / 2,
            color=palette.ORANGE,
            hatch="///",
            edgecolor="white",
            linewidth=0,
            label="paper",
        )
    axes.bar(
        places + WIDTH / 4 if beside else places,
        [number.ours for number in numbers],
        WIDTH / 2,
        color=palette.BLUE,
        yerr=[below, above] if drawn else None,
        error_kw={"capsize": 2, "elinewidth": 1},
        label=f"{name} (mean; whiskers: least and greatest of the seeds)" if drawn else name,
    )
    axes.set_xticks(places, [number.column for number in numbers], rotation=40, ha="right")


def _values(numbers: Sequence[Number]) -> Iterator[float]:
    for number in numbers:
        yield from (number.paper, number.low)
