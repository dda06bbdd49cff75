"""How far the predictions of a queue have been off, and the intervals that follow from it."""

import math
import statistics
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

#: Recent predictions that count.
KEEP = 200
#: With fewer errors than this, no interval is given.
LEAST = 10
#: The share of the outcomes that an interval may miss at each end.
TAIL = 0.1
#: Seconds added to both times of which a ratio is taken: of a few minutes, the difference counts.
OFFSET = 600.0


class Interval(NamedTuple):
    """Times in seconds."""

    low: float
    high: float

    def holds(self, at: float) -> bool:
        return self.low <= at <= self.high


class Calibration:
    """The recent errors of the predictions of one queue, all of starts or all of ends.

    An error is the logarithm of (actual + OFFSET) / (expected + OFFSET), both in seconds from when
    the prediction was made: those who wait for hours are told hours, those who wait for minutes are
    told minutes. The middle 80 % of the recent errors make the interval (a split conformal
    prediction), so it holds as often as it says while the queue errs as it did.

    :param errors, held: what `state` gave: errors, the oldest first, and whether the interval of
        each prediction that had one held.
    """

    def __init__(self, errors: Iterable[float] = (), held: Iterable[bool] = ()):
        self._errors = deque(errors, maxlen=KEEP)
        self._held = deque(held, maxlen=KEEP)

    def state(self) -> tuple[tuple[float, ...], tuple[bool, ...]]:
        """All that it knows, to make an equal one later."""
        return tuple(self._errors), tuple(self._held)

    def learn(self, made: float, expected: float, actual: float, interval: Interval | None) -> None:
        """Take note of how a prediction came out.

        :param made: when the prediction was made.
        :param expected, actual: the predicted and the real time; a prediction of "never" tells
            nothing.
        :param interval: what was given with it, if any.
        """
        if interval is not None:
            self._held.append(interval.holds(actual))
        if expected < math.inf:
            self._errors.append(_stretched(actual - made) - _stretched(expected - made))

    def interval(self, made: float, expected: float) -> Interval | None:
        """When it will really happen, with a probability of 80 %; None if too little is known.

        :param made: when the prediction is made, in the same seconds as
        :param expected: the predicted time; the interval holds it.
        """
        errors = sorted(self._errors)
        if len(errors) < LEAST or expected == math.inf:
            return None
        # Of n + 1 equally likely ranks of the next error, the outer tenths are left out.
        beyond = max(0, math.floor(TAIL * (len(errors) + 1)) - 1)
        low, high = errors[beyond], errors[-1 - beyond]
        return Interval(
            min(expected, _shifted(made, expected, low)),
            max(expected, _shifted(made, expected, high)),
        )

    def corrected(self, made: float, expected: float) -> float:
        """The predicted time, shifted by the median of the recent errors."""
        if not self._errors or expected == math.inf:
            return expected
        return _shifted(made, expected, statistics.median(self._errors))

    @property
    def coverage(self) -> float:
        """The share of the recent intervals that have held; NaN before any has."""
        return sum(self._held) / len(self._held) if self._held else math.nan


def _stretched(seconds: float) -> float:
    return math.log(max(0.0, seconds) + OFFSET)


def _shifted(made: float, expected: float, error: float) -> float:
    """The time that is off by so much, and not before the prediction was made."""
    ahead = (max(0.0, expected - made) + OFFSET) * math.exp(error) - OFFSET
    return made + max(0.0, ahead)
