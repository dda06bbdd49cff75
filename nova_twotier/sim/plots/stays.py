"""The stays of processes on slots that a Gantt chart shows, and what ended each of them.

A suspension is a gap between two stays. What is a swap, a move or an eviction is told from the
stays alone, by the rule of the board's stays.js.
"""

from collections.abc import Container, Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from nova_twotier.core import slot_numbers
from nova_twotier.core.actions import FG

#: Seconds between the stays of a process that is swapped or moved; a longer gap is a suspension.
AT_ONCE = 1.0


class End(StrEnum):
    """What ended a stay."""

    SWAP = "swap"
    MOVE = "move"
    EVICTION = "eviction"


class Stay(NamedTuple):
    """A process in a tier of a host, from `begin` until `end` (seconds)."""

    job: int
    process: int
    host: str
    tier: str
    begin: float
    end: float
    #: The number of its slot among those of the tier.
    number: int = 0
    #: None: its job ended, or nothing is known.
    ended_by: End | None = None
    #: Whether it follows an eviction.
    resumed: bool = False

    @property
    def front(self) -> bool:
        """Whether it is in the foreground."""
        return self.tier == FG

    def cut(self, begin: float, end: float) -> "Stay":
        """The part of it in a span."""
        return self._replace(
            begin=max(begin, self.begin),
            end=min(end, self.end),
            ended_by=self.ended_by if self.end <= end else None,
            resumed=self.resumed and self.begin >= begin,
        )


def explained(stays: Sequence[Stay], waiting: Container[int] = ()) -> list[Stay]:
    """The stays, in the same order, each with what ended it.

    :param waiting: jobs that wait.
    """
    found = list(stays)
    order = sorted(range(len(stays)), key=lambda index: (*stays[index][:2], stays[index].begin))
    for index, after in pairwise([*order, None]):
        stay, following = stays[index], None if after is None else stays[after]
        if following is None or following[:2] != stay[:2]:
            end = End.EVICTION if stay.job in waiting else None
        elif following.begin - stay.end > AT_ONCE:
            end = End.EVICTION
            found[after] = found[after]._replace(resumed=True)
        elif following.host == stay.host and following.tier != stay.tier:
            end = End.SWAP
        else:
            end = End.MOVE
        found[index] = found[index]._replace(ended_by=end)
    return found


def numbered(stays: Iterable[Stay], slots: dict[str, int] | None = None) -> list[Stay]:
    """The stays by begin, each with a number that is free in its tier of the host.

    :param slots: of each host, if they are known.
    """
    ordered = sorted(stays, key=attrgetter("begin", "job", "process"))
    held = [
        slot_numbers.Stay(stay.begin, stay.end, slot_numbers.Place(stay[:2], stay.host, stay.tier))
        for stay in ordered
    ]
    numbers = slot_numbers.of_history(held, slots)
    return [stay._replace(number=number) for stay, number in zip(ordered, numbers, strict=True)]
