"""The Gantt chart of both tiers as one HTML file that needs nothing else."""

import pathlib

from plotly import graph_objects
from plotly.subplots import make_subplots

from nova_twotier.core.actions import Tier
from nova_twotier.sim.plots import palette
from nova_twotier.tools.replay.chart import Chart, colour
from nova_twotier.tools.replay.recorder import Interval

BAR = {Tier.FG: 0.94, Tier.BG: 0.72}
#: Pixels a line.
LINE = 15


def draw(chart: Chart, path: pathlib.Path) -> None:
    heights = chart.heights()
    lines = max(heights.values()) + 1
    total = lines * LINE + 290
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=20 / total,
        row_heights=[1 - 110 / total, 110 / total],
    )
    for tier in Tier:
        figure.add_trace(_bars(chart, heights, tier), row=1, col=1)
    for trace in _marks(chart):
        figure.add_trace(trace, row=1, col=1)
    figure.add_trace(_waiting(chart), row=2, col=1)
    _frame(figure, chart, heights, total)
    figure.write_html(path, include_plotlyjs=True, config={"displaylogo": False})


def _bars(chart: Chart, heights, tier: Tier):
    shown = [(interval, lane) for interval, lane in chart.bars if lane.tier is tier]
    fills = [colour(interval.job) for interval, _lane in shown]
    front = tier is Tier.FG
    return graph_objects.Bar(
        name="foreground" if front else "background",
        orientation="h",
        base=[interval.begin for interval, _lane in shown],
        x=[_end(interval, chart) - interval.begin for interval, _lane in shown],
        y=[heights[lane] for _interval, lane in shown],
        width=BAR[tier],
        marker=palette.lane(fills, front),
        text=[str(interval.job) for interval, _lane in shown],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        constraintext="none",
        textfont={
            "color": [palette.ink(fill) for fill in fills] if front else "#000000",
            "size": 10,
        },
        hovertext=[_hover(interval, chart) for interval, _lane in shown],
        hoverinfo="text",
    )


def _end(interval: Interval, chart: Chart) -> float:
    return interval.end if interval.end is not None else chart.end


def _hover(interval: Interval, chart: Chart) -> str:
    label = chart.labels[interval.job]
    end = _end(interval, chart)
    left = f", then {interval.left}" if interval.left else ""
    return (
        f"<b>{label.name}</b> (job {interval.job}, {label.size} processes)<br>"
        f"process {interval.process + 1}, CPU {label.cpu[interval.process]:.2f}<br>"
        f"{interval.host}, {interval.tier}<br>"
        f"{interval.begin:.0f} to {end:.0f} s (came by {interval.came}{left})<br>"
        f"trace {interval.begin * chart.speedup / 3600:.2f} to "
        f"{end * chart.speedup / 3600:.2f} h"
    )


def _marks(chart: Chart):
    for mark, places in chart.marks().items():
        yield graph_objects.Scatter(
            name=mark.name,
            mode="markers",
            x=[at for at, _y, _interval in places],
            y=[y for _at, y, _interval in places],
            marker={
                "symbol": mark.plotly,
                "size": 10,
                "color": mark.colour,
                "line": {"color": "white", "width": 1},
            },
            hovertext=[f"{mark.name}<br>{_hover(interval, chart)}" for _at, _y, interval in places],
            hoverinfo="text",
        )


def _waiting(chart: Chart):
    return graph_objects.Scatter(
        name="jobs waiting",
        x=[length.at for length in chart.waiting],
        y=[length.jobs for length in chart.waiting],
        mode="lines",
        fill="tozeroy",
        line={"shape": "hv", "color": "#b0562f", "width": 1},
        showlegend=False,
        hovertemplate="%{y} jobs wait at %{x:.0f} s<extra></extra>",
    )


def _frame(figure, chart: Chart, heights, total: float) -> None:
    figure.update_layout(
        title={"text": chart.title, "x": 0.01, "y": 1 - 22 / total},
        barmode="overlay",
        height=total,
        template="plotly_white",
        hovermode="closest",
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 1, "xanchor": "right"},
        margin={"l": 110, "r": 20, "t": 90, "b": 50},
    )
    figure.update_yaxes(
        row=1,
        col=1,
        range=[max(heights.values()) + 0.8, -0.8],
        showgrid=False,
        zeroline=False,
        tickvals=list(heights.values()),
        ticktext=[f"{lane.slot + 1} {lane.tier}" for lane in heights],
        tickfont={"size": 9},
    )
    figure.update_xaxes(range=[0, chart.end], gridcolor="#dddddd")
    figure.update_xaxes(
        row=2,
        col=1,
        title="wall time (s); numbers in the bars are job numbers; trace time when you point",
    )
    figure.update_yaxes(row=2, col=1, title="jobs waiting", rangemode="tozero", tickformat="d")
    for lane, y in heights.items():
        if lane.tier is Tier.BG:
            figure.add_hrect(
                y0=y - 0.5,
                y1=y + 0.5,
                fillcolor="#f1f1f4",
                line_width=0,
                layer="below",
                row=1,
                col=1,
            )
    for number, (host, (first, last)) in enumerate(chart.hosts().items()):
        figure.add_annotation(
            text=f"<b>{host}</b>",
            x=0,
            xref="paper",
            xshift=-65,
            y=(first + last) / 2,
            yref="y",
            showarrow=False,
            textangle=-90,
        )
        if number:
            figure.add_hline(y=first - 0.95, line={"color": "#333333", "width": 1}, row=1, col=1)
