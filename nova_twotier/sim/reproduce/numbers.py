"""A number of ours beside the one that a paper prints."""

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Number:
    """One cell of a table.

    :param group: what is measured, with its unit.
    :param row, column: where the paper prints it.
    :param paper: NaN if it prints nothing.
    :param ours: the mean of our runs, NaN if they have none; `low` and `high` are the least and
        the greatest of them.
    """

    group: str
    row: str
    column: str
    paper: float
    ours: float
    low: float
    high: float

    @classmethod
    def of(cls, group: str, row: str, column: str, paper: float, runs: Iterable[float]) -> Self:
        """From our runs, one or more."""
        runs = list(runs)
        return cls(group, row, column, paper, statistics.fmean(runs), min(runs), max(runs))

    @property
    def name(self) -> str:
        return f"{f'{self.row} {self.column}'.strip()}: {self.group}"

    @property
    def percent(self) -> float:
        """How far ours is from the paper's, in per cent of the paper's; NaN if that is 0 or NaN."""
        return 100 * (self.ours - self.paper) / self.paper if self.paper else math.nan

    @property
    def points(self) -> float:
        """The difference: for what is a percentage already."""
        return self.ours - self.paper


def grouped(numbers: Iterable[Number]) -> dict[str, list[Number]]:
    """The numbers of each group, in order."""
    groups = {}
    for number in numbers:
        groups.setdefault(number.group, []).append(number)
    return groups
