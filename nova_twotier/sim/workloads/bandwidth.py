"""The bandwidth that jobs ask for, which no trace has (Symmetry 2018, section 5.2)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy

#: The standard deviation as a part of the mean; the least demand as a part of the greatest.
SPREAD = 0.2
LEAST = 0.1
#: Upper bound of a mean in Mbit/s, to catch typos.
MOST = 1e9

_FORMS = "by-size, by-size:MEAN or normal:MEAN, e.g. normal:250"


class InvalidBandwidth(ValueError):
    """A bandwidth that cannot be; the message says what it may be."""


@dataclass(frozen=True)
class Bandwidth:
    """Demands from normal(average, 0.2 * average), put at the bounds where they are beyond.

    :param by_size: whether the bounds are those of the job's size: MaxB, what a VM gets if the job
        has the links of the hosts it needs for itself, `link * ceil(N / L) / N`, and MinB, a tenth
        of it; the average is their middle. Otherwise the average is the `mean` for all, and the
        bounds are in the same proportion to it.
    :param mean: of all demands, in Mbit/s; by size, None: as the bounds say.
    :raises InvalidBandwidth: if the mean is not above 0, or more than `MOST`.
    """

    by_size: bool = True
    mean: float | None = None

    def __post_init__(self):
        if self.mean is None and self.by_size:
            return
        if self.mean is None or not 0 < self.mean <= MOST:
            raise InvalidBandwidth(
                f"mean bandwidth is {self.mean}; give Mbit/s above 0, up to {MOST:g}"
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        """From `by-size`, `by-size:MEAN` or `normal:MEAN`.

        :raises InvalidBandwidth: if it is none of them.
        """
        kind, colon, mean = text.partition(":")
        try:
            number = float(mean) if colon else None
        except ValueError:
            kind = ""
        if kind not in ("by-size", "normal") or (kind == "normal" and not colon):
            raise InvalidBandwidth(f"bandwidth is {text!r}; give {_FORMS}")
        return cls(kind == "by-size", number)

    def draw(
        self, sizes: Sequence[int], slots: int, link: float, rng: numpy.random.Generator
    ) -> Iterator[int]:
        """The demand of each VM of each job, in whole Mbit/s.

        A job's depends on its place and the seed; its share of a given mean on the other jobs too.

        :param sizes: of the jobs, N.
        :param slots: of a host, L.
        :param link: rate of a host's link in Mbit/s.
        """
        highest = [link * -(-size // slots) / size for size in sizes]
        if not self.by_size:
            highest = [2 * self.mean / (1 + LEAST)] * len(sizes)
        elif self.mean is not None and sizes:
            middle = (1 + LEAST) / 2 * sum(highest) / len(sizes)
            highest = [most * self.mean / middle for most in highest]
        for most, deviation in zip(highest, rng.standard_normal(len(sizes)).tolist(), strict=True):
            average = (1 + LEAST) / 2 * most
            yield math.floor(min(max(LEAST * most, average * (1 + SPREAD * deviation)), most))
