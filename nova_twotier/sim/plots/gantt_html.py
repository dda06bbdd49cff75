"""The Gantt chart of both tiers as one HTML file that needs nothing else."""

import pathlib

from plotly import graph_objects
from plotly.subplots import make_subplots

from nova_twotier.sim.plots import job_colours, page, palette
from nova_twotier.sim.plots.gantt import Chart, Mark, colour
from nova_twotier.sim.plots.stays import Stay

#: Pixels of a unit of height, above and below the slots, of the curve of waiting jobs, and of all
#: slots at most: browsers cut taller pages off.
UNIT = 1.4
ABOVE, BELOW = 90, 60
WAITING = 110
HEIGHT = 12_000
TICKS = 130


def draw(chart: Chart, path: pathlib.Path) -> None:
    height = min(chart.layout.tops[-1] * UNIT, HEIGHT)
    parts = [height, *([WAITING] if chart.waiting else [])]
    figure = make_subplots(
        rows=len(parts),
        cols=1,
        shared_xaxes=True,
        vertical_spacing=20 / sum(parts) if chart.waiting else 0,
        row_heights=parts,
    )
    fronts = [stay for stay in chart.stays if stay.front]
    backs = [stay for stay in chart.stays if not stay.front]
    for name, bars in (("foreground", fronts), ("background", backs)):
        figure.add_trace(_bars(chart, bars, name), row=1, col=1)
    for mark, places in chart.marks():
        figure.add_trace(_marks(chart, mark, places), row=1, col=1)
    page.style(
        figure,
        chart.heading,
        f"{chart.note}; point at a bar for its process",
        barmode="overlay",
        height=sum(parts) + ABOVE + BELOW,
        hovermode="closest",
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 1, "xanchor": "right"},
        margin={"l": 70, "r": 20, "t": ABOVE, "b": BELOW},
        shapes=[_band(*edges) for edges in chart.bands()],
    )
    heights, names = zip(*chart.labels(TICKS), strict=True)
    figure.update_yaxes(
        row=1,
        col=1,
        title=chart.row,
        range=[chart.layout.tops[-1], 0],
        showgrid=False,
        tickvals=heights,
        ticktext=names,
    )
    if chart.waiting:
        figure.add_trace(_waiting(chart), row=2, col=1)
        figure.update_yaxes(row=2, col=1, title="jobs waiting", rangemode="tozero", tickformat="d")
    page.time_axis(figure, chart, row=len(parts), col=1)
    figure.update_xaxes(range=page.times(chart, (chart.begin, chart.end)))
    page.save(figure, path)


def _bars(chart: Chart, stays: list[Stay], name: str):
    fills = [colour(stay) for stay in stays]
    front = name == "foreground"
    return graph_objects.Bar(
        name=name,
        orientation="h",
        base=page.times(chart, [stay.begin for stay in stays]),
        x=[page.length(chart, stay.end - stay.begin) for stay in stays],
        y=[chart.top(stay) + chart.bar / 2 for stay in stays],
        width=chart.bar,
        marker={
            "color": fills,
            "line": {"color": "#222222" if front else fills, "width": 0.5},
            "opacity": 1 if front else 0.75,
            "pattern": {
                "shape": "" if front else "/",
                "size": 5,
                "solidity": 0.35,
                "fillmode": "overlay",
                "fgcolor": palette.WHITE,
            },
        },
        text=[str(stay.job) for stay in stays],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={"color": [job_colours.ink(fill) for fill in fills] if front else palette.BLACK},
        hovertext=[_hover(chart, stay) for stay in stays],
        hoverinfo="text",
    )


def _hover(chart: Chart, stay: Stay) -> str:
    first, *others = chart.text(stay)
    return "<br>".join([f"<b>{first}</b>", *others])


def _marks(chart: Chart, mark: Mark, places: list[tuple[float, float, Stay]]):
    return graph_objects.Scatter(
        name=mark.name,
        mode="markers",
        x=page.times(chart, [at for at, _height, _stay in places]),
        y=[height for _at, height, _stay in places],
        marker={
            "symbol": mark.plotly,
            "size": 7 * mark.size,
            "color": mark.colour,
            "line": {"color": palette.WHITE, "width": 1},
        },
        hovertext=[f"{mark.name}<br>{_hover(chart, stay)}" for _at, _height, stay in places],
        hoverinfo="text",
    )


def _waiting(chart: Chart):
    return graph_objects.Scatter(
        name="jobs waiting",
        x=page.times(chart, [at for at, _jobs in chart.waiting]),
        y=[jobs for _at, jobs in chart.waiting],
        fill="tozeroy",
        line={"shape": "hv", "color": palette.VERMILION, "width": 1},
        showlegend=False,
        hovertemplate="%{y} jobs wait<extra></extra>",
    )


def _band(top: float, bottom: float) -> dict:
    return {
        "type": "rect",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": top,
        "y1": bottom,
        "fillcolor": palette.STRIPE,
        "line": {"width": 0},
        "layer": "below",
    }
