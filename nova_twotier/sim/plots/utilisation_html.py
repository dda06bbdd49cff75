"""Slots in use in both tiers over time as one HTML file that needs nothing else."""

import pathlib

from plotly import graph_objects
from plotly.subplots import make_subplots

from nova_twotier.sim.plots import page, palette
from nova_twotier.sim.plots.utilisation import Chart


def draw(chart: Chart, path: pathlib.Path) -> None:
    count = len(chart.curves)
    figure = make_subplots(rows=count, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    moment = "%{x}" if chart.dated else f"%{{x:.2f}} {chart.unit[0]}"
    for row, curve in enumerate(chart.curves, start=1):
        figure.add_trace(
            graph_objects.Scatter(
                name=curve.name,
                x=page.times(chart, curve.times.tolist()),
                y=curve.steps,
                fill="tozeroy",
                fillcolor=palette.translucent(curve.colour, 0.35),
                line={"shape": "hv", "color": curve.colour, "width": 1},
                hovertemplate=f"%{{y:.1f}} slots at {moment}",
            ),
            row=row,
            col=1,
        )
        figure.add_hline(
            y=curve.mean,
            row=row,
            col=1,
            line={"color": "#222222", "width": 1, "dash": "dash"},
            annotation={"text": f"mean {curve.mean:.1f}", "xanchor": "left", "x": 1.005},
        )
    page.style(
        figure,
        chart.heading,
        chart.note,
        height=640,
        showlegend=False,
        margin={"r": 90, "t": 80},
    )
    for row, curve in enumerate(chart.curves, start=1):
        figure.update_yaxes(
            row=row, col=1, title=f"{curve.name} (slots in use)", range=[0, chart.top * 1.03]
        )
    page.time_axis(figure, chart, row=count, col=1)
    page.save(figure, path)
