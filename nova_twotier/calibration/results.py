"""The results file: every turn as it was measured, and the points."""

import dataclasses
import json
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nova_twotier.calibration.experiment import Turn
from nova_twotier.calibration.points import Point, Verdict

#: What is compared between two runs.
_COMPARED = ("loss", "efficiency")
#: What a point with a verdict has in the file.
_VALID = {str(each) for each in Verdict if each.valid}


class NotResults(ValueError):
    """A file that is not the results of a calibration."""


def write(
    path: pathlib.Path,
    conditions: Mapping[str, Any],
    turns: Iterable[Turn],
    points: Iterable[Point],
) -> None:
    content = {
        "conditions": conditions,
        "points": [dataclasses.asdict(point) for point in points],
        "turns": [dataclasses.asdict(turn) for turn in turns],
    }
    path.write_text(json.dumps(content, indent=1) + "\n")


def read_points(path: pathlib.Path) -> list[dict[str, Any]]:
    """The points of a results file.

    :raises NotResults: if it is none.
    :raises OSError: if it cannot be read.
    """
    try:
        return list(json.loads(path.read_text())["points"])
    except (ValueError, KeyError, TypeError) as error:
        raise NotResults(f"{path} is not the results.json of a calibration") from error


def compare(points: Sequence[Point], earlier: Sequence[Mapping[str, Any]]) -> str:
    """In how many points an earlier run agrees: its medians lie within this run's intervals.

    Only points with a verdict in both runs count: the others were measured under disturbances.
    """
    before = {_key(each): each for each in earlier if each["verdict"] in _VALID}
    pairs = [
        (point, other)
        for point in points
        if point.valid and (other := before.get(_key(dataclasses.asdict(point))))
    ]
    if not pairs:
        return "No point has a verdict in this run and in the earlier one: they cannot be compared"
    agreeing = {
        name: sum(getattr(point, name).holds(other[name]["median"]) for point, other in pairs)
        for name in _COMPARED
    }
    parts = [f"{name} at {number}" for name, number in agreeing.items()]
    return (
        "The earlier run's medians lie within this run's intervals, of the points with a verdict "
        f"in both runs ({len(pairs)}): {', '.join(parts)}"
    )


def _key(point: Mapping[str, Any]) -> tuple[Any, ...]:
    return point["layout"], point["mechanism"], point["nominal"]
