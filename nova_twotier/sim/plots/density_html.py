"""How full each slot was over time, in both tiers, as one HTML file that needs nothing else."""

import pathlib

import numpy
from plotly import graph_objects
from plotly.subplots import make_subplots

from nova_twotier.sim.plots import page, palette
from nova_twotier.sim.plots.density import Chart, Tier

#: Parts of the height: the curves, and a tier's cells.
HEIGHTS = (1, 2)


def draw(chart: Chart, path: pathlib.Path) -> None:
    curves, cells = HEIGHTS
    rows = 1 + len(chart.tiers)
    figure = make_subplots(
        rows=rows,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.05,
        row_heights=[curves, *[cells] * len(chart.tiers)],
    )
    for row, tier in enumerate(chart.tiers, start=2):
        figure.add_trace(_curve(chart, tier), row=1, col=1)
        figure.add_trace(_heatmap(chart, tier), row=row, col=1)
        place = figure.get_subplot(row, 1).yaxis.domain
        figure.data[-1].colorbar.update(
            y=sum(place) / 2, len=place[1] - place[0], title={"text": chart.scale(tier)}
        )
        # From top to bottom, as in the chart of bars.
        figure.update_yaxes(row=row, col=1, title=chart.row, autorange="reversed")
    page.style(
        figure,
        chart.heading,
        chart.note,
        height=260 + 330 * len(chart.tiers),
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 1, "xanchor": "right"},
        margin={"l": 90, "r": 20, "t": 90},
    )
    figure.update_yaxes(
        row=1, col=1, title="processes" if chart.hosts else "slots in use", rangemode="tozero"
    )
    page.time_axis(figure, chart, row=rows, col=1)
    figure.update_xaxes(range=page.times(chart, (chart.begin, chart.end)))
    page.save(figure, path)


def _curve(chart: Chart, tier: Tier):
    counts = chart.in_use(tier)
    return graph_objects.Scatter(
        name=tier.name,
        x=page.times(chart, chart.edges.tolist()),
        y=numpy.append(counts, counts[-1]).round(2),
        line={"shape": "hv", "color": tier.colour, "width": 1},
        hovertemplate="%{y:.1f} in use",
    )


def _heatmap(chart: Chart, tier: Tier):
    (first,) = page.times(chart, [chart.begin + chart.part / 2])
    top = chart.top(tier)
    # Bytes: eight times smaller than the numbers, and finer than an eye sees.
    steps = numpy.round(tier.cells / top * 100).astype("uint8")
    ticks = [0, 25, 50, 75, 100]
    whole = top == 1 and not chart.hosts
    return graph_objects.Heatmap(
        z=steps,
        zmin=0,
        zmax=100,
        x0=first,
        dx=page.length(chart, chart.part),
        y=[chart.label(row) for row in range(len(steps))],
        colorscale=[[0, "#ffffff"], [0.5, tier.colour], [1, palette.shade(tier.colour, -0.55)]],
        colorbar={
            "tickvals": ticks,
            "ticktext": [f"{tick} %" if whole else f"{tick * top / 100:g}" for tick in ticks],
            "title": {"side": "right"},
        },
        hovertemplate=_hover(chart, tier, top),
        name=tier.name,
    )


def _hover(chart: Chart, tier: Tier, top: int) -> str:
    if top == 1 and not chart.hosts:
        value = f"in use in the {tier.name} %{{z}} % of the time"
    else:
        value = f"%{{z}} % of {top} in the {tier.name}"
    return f"{chart.row} %{{y}}: {value}<extra></extra>"
