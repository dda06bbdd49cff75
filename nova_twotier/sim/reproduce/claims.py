"""What a paper says of its results in words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from nova_twotier.sim.reproduce.results import Results


class Finding(NamedTuple):
    """A number or a word of ours, and whether the claim holds; None where the runs cannot tell."""

    ours: float | str | None
    holds: bool | None


UNTESTED = Finding(None, None)

Measure = Callable[[Results], Finding]


@dataclass(frozen=True)
class Claim:
    """A statement of a paper.

    :param source: where it stands.
    :param paper: the printed number, or the statement in a word.
    :param criterion: when we say that it holds.
    :param measure: what our runs say of it.
    :param unit: of the numbers among them.
    """

    text: str
    source: str
    paper: float | str
    criterion: str
    measure: Measure
    unit: str = ""
