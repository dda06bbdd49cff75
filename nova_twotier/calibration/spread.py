"""Medians with intervals that assume nothing about how measurements are distributed."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

#: An interval holds the true median with this probability at least. Five measurements cannot give
#: more: their range holds it unless all five are on the same side of it.
CONFIDENCE = 0.93


@dataclass(frozen=True)
class Spread:
    """A median, and the interval that holds the true one."""

    median: float
    low: float
    high: float

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def spread(values: Sequence[float]) -> Spread:
    """The median of measurements, and its interval by order statistics (the sign test).

    The interval is the range of fewer than 9 measurements; of more, it leaves out as many of the
    lowest and of the highest as `CONFIDENCE` allows.
    """
    ordered = sorted(values)
    count = len(ordered)
    outside = 0
    while _miss(count, outside + 1) <= 1 - CONFIDENCE:
        outside += 1
    return Spread(
        statistics.median(ordered), ordered[max(0, outside - 1)], ordered[count - max(1, outside)]
    )


def _miss(count: int, outside: int) -> float:
    """The probability that the interval from the `outside`-th lowest to the `outside`-th highest
    of so many values does not hold the median."""
    return 2 * sum(math.comb(count, below) for below in range(outside)) / 2**count
