"""What a paper says of its results in words."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from nova_twotier.sim.reproduce.results import Results


class Finding(NamedTuple):
    """A number or a word of ours, and whether the claim holds; None where the runs cannot tell.

    `against` are the points that speak against it, of claims about single points: loads, or places.
    """

    ours: float | str | None
    holds: bool | None
    against: tuple[str, ...] = ()


UNTESTED = Finding(None, None)
#: In the place of the paper's word, of a claim that the paper does not make.
OURS = "ours, beside it"

Measure = Callable[[Results], Finding]


@dataclass(frozen=True)
class Claim:
    """A statement of a paper.

    :param source: where it stands.
    :param paper: the printed number, or the statement in a word; `OURS` for a claim that
        stands beside the paper's, is narrower or by another measure, and does not count.
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


def verdicts(findings: Iterable[tuple[Claim, Finding]]) -> list[bool | None]:
    """Whether each claim of the paper holds, without those that are `OURS`."""
    return [finding.holds for claim, finding in findings if claim.paper != OURS]
