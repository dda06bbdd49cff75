"""Slots in use in both tiers over time as a picture."""

import pathlib

from matplotlib.figure import Figure

from nova_twotier.sim.plots import picture
from nova_twotier.sim.plots.utilisation import Chart


def draw(chart: Chart, path: pathlib.Path) -> None:
    figure = Figure(figsize=(12, 5.6), layout="constrained")
    rows = figure.subplots(len(chart.curves), 1, sharex=True, sharey=True)
    second = picture.second(chart)
    for axes, curve in zip(rows, chart.curves, strict=True):
        times = curve.times / second
        axes.fill_between(
            times, curve.steps, step="post", color=curve.colour, alpha=0.35, linewidth=0
        )
        axes.step(times, curve.steps, where="post", color=curve.colour, linewidth=0.9)
        axes.axhline(curve.mean, color="#222222", linewidth=0.9, linestyle="--")
        axes.set_ylabel(f"{curve.name}\n(slots in use)")
        # Outside the curve, which may be anywhere.
        axes.annotate(
            f"mean\n{curve.mean:.1f}",
            (1, curve.mean),
            xytext=(6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
        picture.grid(axes)
    rows[0].set_ylim(0, chart.top * 1.03)
    rows[0].set_xlim(chart.begin / second, chart.end / second)
    picture.time_axis(rows[-1], chart)
    picture.title(rows[0], chart.heading, chart.note)
    picture.save(figure, path)
