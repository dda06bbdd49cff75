"""Numbers the slots that processes hold: Placement and the decisions count slots only.

Numbers are from 0 in each tier of a host; with more than two tiers the background has several for
each slot, tier by tier. The recorded schedule, and with it the board and all Gantt charts, has each
process at such a number.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

from nova_twotier.core.actions import FG

Taken = defaultdict[tuple[Hashable, str], set[int]]


class Place(NamedTuple):
    """What a process holds in a tier of a host."""

    process: Hashable
    host: Hashable
    tier: str


class Stay(NamedTuple):
    """A place, and from when until before when (seconds) it is held."""

    begin: float
    end: float
    place: Place


def take(
    begun: Collection[Place],
    before: Mapping[tuple[Any, Any], int],
    taken: Taken,
    slots: Mapping | None = None,
) -> list[int]:
    """Choose a slot number for each new place that is free in its tier of the host.

    A process whose tier was swapped keeps its number if it can; others get the lowest.

    :param before: numbers of the processes on the hosts, which they have just left.
    :param taken: numbers in use, by host and tier; the new ones are added.
    :param slots: of each host: the foreground gets no higher number by a swap. None: any.
    """
    found: dict[int, int] = {}
    left = []
    for index, (process, host, tier) in enumerate(begun):
        its, same = taken[host, tier], before.get((process, host))
        limit = slots.get(host, 0) if slots is not None and tier == FG else math.inf
        if same is None or same in its or same >= limit:
            left.append((index, its))
            continue
        found[index] = same
        its.add(same)
    for index, its in left:
        found[index] = next(number for number in itertools.count() if number not in its)
        its.add(found[index])
    return [found[index] for index in range(len(found))]


def of_history(stays: Sequence[Stay], slots: Mapping | None = None) -> list[int]:
    """The number of each stay, as if the stays were numbered when they began.

    :param slots: as for `take`.
    """
    numbers = [0] * len(stays)
    taken: Taken = defaultdict(set)
    running: list[tuple[float, int]] = []
    order = sorted(range(len(stays)), key=lambda index: stays[index].begin)
    for begin, group in itertools.groupby(order, key=lambda index: stays[index].begin):
        before = {}
        while running and running[0][0] <= begin:
            end, index = heappop(running)
            process, host, tier = stays[index].place
            taken[host, tier].discard(numbers[index])
            if end == begin:
                before[process, host] = numbers[index]
        batch: Iterable[int] = list(group)
        places = [stays[index].place for index in batch]
        for index, number in zip(batch, take(places, before, taken, slots), strict=True):
            numbers[index] = number
            heappush(running, (stays[index].end, index))
    return numbers
