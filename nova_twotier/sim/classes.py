"""Classes of service in the simulator: which jobs are urgent or scavengers, and how they fared."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy
import pandas

from nova_twotier.core.qos import NORMAL, SCAVENGER, URGENT, Qos
from nova_twotier.sim.workloads.workload import Submission

#: Instead of shares: the classes that the trace gives its jobs.
TRACE = "trace"


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
                    f"urgent=0.05,scavenger=0.3, or be {TRACE}"
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


def check(text: str) -> None:
    """Require `trace`, or shares as `Classes.parse` reads them.

    :raises InvalidClasses: if it is neither.
    """
    if text != TRACE:
        Classes.parse(text)


def of(jobs: Sequence[Submission], text: str | None, seed: int) -> Iterable[Qos]:
    """The class of each job; the same whatever else is drawn.

    :param text: as `check` has it; None: all are normal.
    """
    if text is None:
        return itertools.repeat(NORMAL, len(jobs))
    if text == TRACE:
        return [job.qos or NORMAL for job in jobs]
    return Classes.parse(text).draw(len(jobs), numpy.random.default_rng((seed, 3)))


def names() -> list[str]:
    """The columns of `summarise`."""
    return [name for qos in Qos for name in _names(qos)]


def _names(qos: Qos) -> tuple[str, str]:
    return f"average_wait_of_{qos}_seconds", f"evictions_per_{qos}_job"


def summarise(jobs: pandas.DataFrame) -> dict[str, float]:
    """Average wait and evictions a job of each class; NaN for a class without jobs.

    :param jobs: as `metrics.per_job` gives them. Kills count as evictions.
    """
    row = {}
    for qos in Qos:
        alike = jobs[jobs["qos"] == qos]
        lost = alike["evictions"] + alike["kills"]
        wait, evictions = _names(qos)
        row[wait] = float(alike["wait"].mean())
        row[evictions] = float(lost.mean()) if len(alike) else math.nan
    return row
