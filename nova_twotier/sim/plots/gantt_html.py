"""The Gantt chart of both tiers as one HTML file that needs nothing else."""

import pathlib

from plotly import graph_objects

from nova_twotier.sim.plots import page, palette
from nova_twotier.sim.plots.gantt import BACKGROUND, FOREGROUND, Bar, Chart

#: Pixels a slot and lane, around all of them, and of all at most: browsers cut taller pages off.
SLOT = 26
AROUND = 160
HEIGHT = 12_000
TICKS = 130


def draw(chart: Chart, path: pathlib.Path) -> None:
    figure = graph_objects.Figure()
    figure.add_trace(_bars(chart, [bar for bar in chart.bars if bar.front], "foreground"))
    figure.add_trace(_bars(chart, [bar for bar in chart.bars if not bar.front], "background"))
    page.style(
        figure,
        chart.heading,
        f"{chart.note}; point at a bar for its process",
        barmode="overlay",
        height=min(len(chart.slots) * max(chart.fronts, chart.backs) * SLOT, HEIGHT) + AROUND,
        hovermode="closest",
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 1, "xanchor": "right"},
        margin={"l": 70, "r": 20, "t": 90, "b": 60},
        shapes=[_stripe(number) for number in range(len(chart.slots))],
    )
    page.time_axis(figure, chart)
    figure.update_xaxes(range=page.times(chart, (chart.begin, chart.end)))
    step = -(-len(chart.slots) // TICKS)
    figure.update_yaxes(
        title=chart.row,
        range=[len(chart.slots), -0.1],
        showgrid=False,
        tickvals=[number + FOREGROUND / 2 for number in range(0, len(chart.slots), step)],
        ticktext=[chart.label(slot) for slot in chart.slots[::step]],
    )
    page.save(figure, path)


def _bars(chart: Chart, bars: list[Bar], name: str):
    boxes = [chart.box(bar) for bar in bars]
    fills = [bar.colour for bar in bars]
    front = name == "foreground"
    return graph_objects.Bar(
        name=name,
        orientation="h",
        base=page.times(chart, [bar.begin for bar in bars]),
        x=[page.length(chart, bar.end - bar.begin) for bar in bars],
        y=[top + height / 2 for top, height in boxes],
        width=[height for _top, height in boxes],
        marker=palette.lane(fills, front),
        text=[str(bar.job) for bar in bars],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={"color": [palette.ink(fill) for fill in fills] if front else palette.BLACK},
        hovertext=[_hover(bar, chart, name) for bar in bars],
        hoverinfo="text",
    )


def _hover(bar: Bar, chart: Chart, tier: str) -> str:
    return (
        f"<b>job {bar.job}</b>, process {bar.process}<br>"
        f"{chart.row} {chart.label(bar.slot)}, {tier}<br>"
        f"{chart.moment(bar.begin)} to {chart.moment(bar.end)} ({bar.end - bar.begin:.0f} s)"
    )


def _stripe(number: int) -> dict:
    return {
        "type": "rect",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": number + FOREGROUND,
        "y1": number + FOREGROUND + BACKGROUND,
        "fillcolor": palette.STRIPE,
        "line": {"width": 0},
        "layer": "below",
    }
