"""Dependencies: what must have become of other jobs before a job is in the queue."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Condition(StrEnum):
    """What must have become of the other job; the values are also options of `job create`."""

    STARTED = "after"  # it has started, or is over without having started
    SUCCEEDED = "after-ok"  # it has finished
    OVER = "after-any"  # it is over, in whatever way


@dataclass(frozen=True, slots=True)
class Dependency:
    """
    :param job: the number of the other job, which exists already: so there are no cycles.
    :param array: it is all tasks of the array of that number.
    :param met_at: since when it is met, in seconds since the epoch; None: it is not yet.
    """

    job: int
    condition: Condition
    met_at: float | None = None
    array: bool = False


def dump(dependencies: Iterable[Dependency]) -> list[dict[str, Any]]:
    """As JSON has them."""
    return [
        {"job": each.job, "condition": str(each.condition), "met_at": each.met_at}
        | ({"array": True} if each.array else {})
        for each in dependencies
    ]


def load(data: Iterable[Mapping[str, Any]]) -> tuple[Dependency, ...]:
    """What `dump` made the data from."""
    return tuple(
        Dependency(
            each["job"], Condition(each["condition"]), each["met_at"], each.get("array", False)
        )
        for each in data
    )
