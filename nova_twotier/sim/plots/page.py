"""What the HTML files have in common."""

import pathlib
from collections.abc import Iterable
from datetime import UTC, datetime

from nova_twotier.sim.plots import palette
from nova_twotier.sim.plots.timed import Timed


def style(figure, title: str, note: str = "", **layout) -> None:
    """Title with a note in grey below it, and the looks of every page."""
    small = f"<br><span style='font-size:12px;color:#555555'>{note}</span>" if note else ""
    figure.update_layout(
        title={"text": title + small, "x": 0.01},
        template="plotly_white",
        **layout,
    )
    figure.update_xaxes(gridcolor=palette.GRID, zeroline=False)
    figure.update_yaxes(gridcolor=palette.GRID, zeroline=False)


def times(chart: Timed, moments: Iterable[float]) -> list[str] | list[float]:
    """Times as plotly takes them: dates as text, since it shows numbers in local time."""
    if not chart.dated:
        return [moment / chart.unit[1] for moment in moments]
    return [
        datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S.%f") for moment in moments
    ]


def length(chart: Timed, seconds: float) -> float:
    """A length of time as plotly takes it: between dates, in milliseconds."""
    return seconds * 1000 if chart.dated else seconds / chart.unit[1]


def time_axis(figure, chart: Timed, **place: int) -> None:
    """The title and the kind of the time axis.

    :param place: row and col of a figure of several.
    """
    figure.update_xaxes(title=chart.axis, **place)
    if chart.dated:
        figure.update_xaxes(type="date")


def save(figure, path: pathlib.Path) -> None:
    """Write a figure with plotly inside, once: the file needs no network."""
    figure.write_html(path, include_plotlyjs=True, config={"displaylogo": False})
