"""The hyper-Erlang distribution of common order: one of two Erlang branches of as many stages.

Jann et al. 1997 fit it to inter-arrival and service times by their first three moments.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy

#: More stages than this describe next to no variation; the match gives up there.
MAX_ORDER = 50


@dataclass(frozen=True)
class HyperErlang:
    """With `probability` the sum of `order` exponentials of `rate1`, else of `rate2` (1/seconds).

    :raises ValueError: if a parameter is out of its range.
    """

    order: int
    rate1: float
    rate2: float
    probability: float

    def __post_init__(self):
        if self.order < 1 or not self.rate1 > 0 < self.rate2 or not 0 <= self.probability <= 1:
            raise ValueError(f"{self} needs order >= 1, rates > 0, probability 0 to 1")

    @classmethod
    def matching(cls, values) -> Self:
        """The distribution of least order that has the values' first three moments.

        Where there is none (too few values, or such that hardly vary) it is the one branch with
        their mean and about their coefficient of variation.

        :raises ValueError: if there are no values or all are 0.
        """
        values = numpy.asarray(values, dtype=float)
        if not values.any():
            raise ValueError("there is no time above 0 to fit")
        moments = [float(numpy.mean(values**k)) for k in (1, 2, 3)]
        for order in range(1, MAX_ORDER + 1):
            found = _branches(order, *moments)
            if found:
                short, long, probability = found
                return cls(order, 1 / short, 1 / long, probability)
        mean, square, _ = moments
        # The square of an Erlang distribution's coefficient of variation is 1 / order.
        order = min(MAX_ORDER, max(1, round(mean**2 / max(square - mean**2, mean**2 / MAX_ORDER))))
        return cls(order, order / mean, order / mean, 1.0)

    @property
    def mean(self) -> float:
        """In seconds."""
        return self._moment(1)

    def sample(self, count: int, rng: numpy.random.Generator) -> numpy.ndarray:
        """Independent values, in seconds."""
        stage = numpy.where(rng.random(count) < self.probability, 1 / self.rate1, 1 / self.rate2)
        # A sum of exponentials of one rate is a gamma variable.
        return rng.standard_gamma(self.order, count) * stage

    def _moment(self, k: int) -> float:
        share1, share2 = self.probability, 1 - self.probability
        return _rising(self.order, k) * (share1 / self.rate1**k + share2 / self.rate2**k)


def _rising(order: int, k: int) -> int:
    """order * (order + 1) * ... of k factors: the k-th moment of `order` exponentials of rate 1."""
    return math.prod(range(order, order + k))


def _branches(order: int, *moments: float) -> tuple[float, float, float] | None:
    """Mean of a stage in the short and the long branch, and the short one's probability.

    With m_k the k-th moment / rising(order, k), the stage means are the roots of x^2 - s x + q.
    """
    m1, m2, m3 = (moment / _rising(order, k) for k, moment in enumerate(moments, 1))
    variance = m2 - m1**2
    if variance <= 0:
        return None
    s = (m3 - m1 * m2) / variance
    q = (m1 * m3 - m2**2) / variance
    discriminant = s**2 - 4 * q
    if q <= 0 or discriminant <= 0:
        return None
    root = math.sqrt(discriminant)
    short, long = (s - root) / 2, (s + root) / 2
    probability = (long - m1) / root
    # The short one's rate is 1 / short.
    return (short, long, probability) if short > 0 and 0 <= probability <= 1 else None
