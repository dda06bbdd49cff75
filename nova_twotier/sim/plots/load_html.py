"""A metric against the load as one HTML file that needs nothing else."""

import pathlib

from plotly import graph_objects

from nova_twotier.sim.plots import page, palette
from nova_twotier.sim.plots.load import Chart, Curve


def draw(chart: Chart, path: pathlib.Path) -> None:
    figure = graph_objects.Figure()
    for number, curve in enumerate(chart.curves):
        style = palette.style(number)
        if not chart.whiskers:
            figure.add_trace(_band(curve, style.colour))
        figure.add_trace(_line(curve, style, whiskers=chart.whiskers))
    page.style(figure, chart.title, chart.note, legend={"title": {"text": chart.legend}})
    figure.update_xaxes(title=chart.axis)
    figure.update_yaxes(
        title=chart.label,
        type="log" if chart.logarithmic else "linear",
        rangemode="normal" if chart.logarithmic else "tozero",
    )
    page.save(figure, path)


def _band(curve: Curve, colour: str):
    return graph_objects.Scatter(
        x=[*curve.loads, *reversed(curve.loads)],
        y=[*curve.high, *reversed(curve.low)],
        fill="toself",
        fillcolor=palette.translucent(colour, 0.15),
        line={"width": 0},
        hoverinfo="skip",
        legendgroup=curve.policy,
        showlegend=False,
    )


def _line(curve: Curve, style: palette.Style, *, whiskers: bool):
    _png, symbol = style.marker
    _png, dashes = style.dashes
    return graph_objects.Scatter(
        name=curve.policy,
        x=curve.loads,
        y=curve.means,
        mode="lines+markers",
        line={"color": style.colour, "dash": dashes},
        marker={"symbol": symbol, "size": 8},
        error_y={"array": curve.spreads, "visible": whiskers},
        customdata=curve.spreads,
        hovertemplate="load %{x}: %{y:.5g} ± %{customdata:.3g}",
        legendgroup=curve.policy,
    )
