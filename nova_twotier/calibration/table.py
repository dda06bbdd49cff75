"""The points as a table for people."""

from collections.abc import Iterable

from prettytable import PrettyTable

from nova_twotier.calibration.points import Point
from nova_twotier.calibration.spread import Spread

COLUMNS = (
    "layout",
    "mechanism",
    "utilisation",
    "loss %",
    "efficiency",
    "gain",
    "drift %",
    "waited %",
    "foreign %",
    "repetitions",
    "verdict",
)


def render(points: Iterable[Point], kind: str) -> str:
    """One row a point; medians with the lowest and highest that the repetitions support.

    :param kind: what the jobs consisted of.
    """
    table = PrettyTable(COLUMNS, align="r", title=f"Measured with {kind}")
    for name in ("layout", "mechanism", "verdict"):
        table.align[name] = "l"
    for point in points:
        dropped = f" (-{point.dropped})" if point.dropped else ""
        table.add_row(
            [
                point.layout,
                point.mechanism,
                f"{point.utilisation:.3f}",
                _spread(point.loss, 100, 1),
                _spread(point.efficiency, 1, 2),
                _spread(point.gain, 1, 3),
                f"{100 * point.drift:.1f}",
                f"{100 * point.waited:.1f}",
                f"{100 * point.foreign:.1f}",
                f"{point.trials}{dropped}",
                point.verdict,
            ]
        )
    return table.get_string()


def _spread(spread: Spread, factor: float, digits: int) -> str:
    median, low, high = (
        f"{factor * value:.{digits}f}" for value in (spread.median, spread.low, spread.high)
    )
    return f"{median} [{low} .. {high}]"
