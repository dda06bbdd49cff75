"""Classes of service in the simulator: which jobs are urgent or scavengers, and how they fared."""

import math
from dataclasses import dataclass
from typing import Self

import numpy
import pandas

from nova_twotier.core.qos import NORMAL, SCAVENGER, URGENT, Qos


class InvalidClasses(ValueError):
    """Shares of classes that cannot be; the message says what they may be."""


@dataclass(frozen=True)
class Classes:
    """The shares of the jobs, 0 to 1 each and together, that are drawn for classes; the rest are
    normal.

    :raises InvalidClasses: if they are out of range.
    """

    urgent: float = 0.0
    scavenger: float = 0.0

    def __post_init__(self) -> None:
        both = self.urgent + self.scavenger
        if not (self.urgent >= 0 and self.scavenger >= 0 and both <= 1):
            raise InvalidClasses(
                f"the shares of urgent and scavenger are {self.urgent:g} and {self.scavenger:g}; "
                "give 0 to 1, and together no more than 1"
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `urgent=0.05,scavenger=0.3`, one of them or both.

        :raises InvalidClasses: if it says something else.
        """
        shares: dict[str, float] = {}
        for word in text.split(","):
            name, _equals, value = word.partition("=")
            try:
                if name not in (URGENT, SCAVENGER) or name in shares:
                    raise ValueError
                shares[name] = float(value)
            except ValueError:
                raise InvalidClasses(
                    f"{text!r} must give shares of urgent and scavenger, such as "
                    "urgent=0.05,scavenger=0.3"
                ) from None
        return cls(**shares)

    def draw(self, count: int, rng: numpy.random.Generator) -> list[Qos]:
        """The classes of so many jobs."""
        draws = rng.random(count).tolist()
        last = 1 - self.scavenger
        return [
            URGENT if draw < self.urgent else SCAVENGER if draw >= last else NORMAL
            for draw in draws
        ]


def summarise(jobs: pandas.DataFrame) -> dict[str, float]:
    """Average wait and evictions a job of each class; NaN for a class without jobs.

    :param jobs: as `metrics.per_job` gives them. Kills count as evictions.
    """
    row = {}
    for qos in Qos:
        alike = jobs[jobs["qos"] == qos]
        lost = alike["evictions"] + alike["kills"]
        row[f"average_wait_of_{qos}_seconds"] = float(alike["wait"].mean())
        row[f"evictions_per_{qos}_job"] = float(lost.mean()) if len(alike) else math.nan
    return row
