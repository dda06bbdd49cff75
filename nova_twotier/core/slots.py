"""Rules for a host's slots: when one is closed, which VMs share one, which place is taken first.

High CPU utilisation goes where the other tier's load is low (TPDS 2013, section 4.2: "the process
matches the background VM that is likely to incur high node utilization to the foreground VM that is
likely to incur low node utilization"), for both tiers. The Nova weigher and the simulated cluster
rank by the same function, so both place alike. `arrange` says who shares a slot; `core.neighbours`
follows it while jobs come and go.
"""

import math
from bisect import bisect_left, insort
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: A slot whose foreground VM uses at least this much takes no background VM (TPDS 2013, section 3).
THRESHOLD = 0.96
#: The other tier's load, host, and the host's number of such places.
Group = tuple[float, int, int]


def is_hot(cpu: float, threshold: float = THRESHOLD) -> bool:
    """Whether a foreground process of this CPU utilisation closes its slot."""
    return cpu >= threshold


def cpu_points(cpu: float) -> int:
    """CPU utilisation 0..1 in percent points, rounded down so that only hot processes are hot."""
    return math.floor(round(100 * cpu, 6))


def background_places(slots: int, tiers: int, closed: int = 0) -> int:
    """Background places of a host: K-1 on each slot that is not closed.

    The ledger has them as units of the background's provider; those of closed slots are `reserved`.

    :param slots: L of the host.
    :param tiers: K.
    :param closed: slots that are closed to the background.
    """
    return max(0, slots - closed) * (tiers - 1)


def tiers_of(slots: int, places: int) -> int:
    """K of a host with so many background places if no slot is closed; 1 without slots."""
    return 1 + (places // slots if slots else 0)


def closed_slots(slots: int, tiers: int, open_places: int) -> int:
    """How many slots are closed if the host offers so many background places.

    A slot of which only some places are offered counts as closed.
    """
    return max(0, slots - open_places // (tiers - 1)) if tiers > 1 else 0


def offered(total: int, reserved: int) -> int:
    """Units of an inventory that may be in use; 0 if more are reserved than exist."""
    return max(0, total - reserved)


def next_slot_load(slots: int, own: int, other: int, other_cpu: float) -> float:
    """The load of the other tier on the slot that a host's next process of this tier gets.

    A host arranges its VMs so that idle slots are used first; only then does a new process share a
    slot, with the average load of those that are there. Needs only what Placement knows of a host.

    :param slots: slots of the host that take a process of this tier (L, less the closed ones).
    :param own: slots that already have a process of this tier.
    :param other: slots of those that have a process of the other tier.
    :param other_cpu: the sum of their CPU utilisations.
    :returns: load, 0..1 (above 1 if several background VMs share a slot).
    """
    if own + other < slots or not other:
        return 0.0
    # Rounded, so that sums that differ only by the order of their terms are equal.
    return round(other_cpu / other, 9)


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot: the key of its foreground process or None, and of those in the background."""

    fg: Any  # of whatever the caller names processes by
    bg: tuple[Any, ...]


def arrange(
    slots: int,
    fg: Mapping[Hashable, float],
    bg: Mapping[Hashable, float],
    threshold: float = THRESHOLD,
) -> list[Slot]:
    """Share a host's slots out among its processes.

    The hottest foreground process sits beside the least background demand, so a background process
    finds an idle slot while there is one. Stable: equal utilisations keep the order of their keys.

    :param slots: L of the host.
    :param fg: CPU utilisation by process key, at most L processes.
    :param bg: the same for the background.
    :returns: L slots, in ascending order of foreground utilisation. Background processes that find
        only closed slots share those: they are overdue for eviction, but still run.
    :raises ValueError: if there are more foreground processes than slots.
    """
    if len(fg) > slots:
        raise ValueError(f"{len(fg)} foreground processes for {slots} slots")
    cool_first = sorted(fg, key=fg.__getitem__)
    fronts: list[Hashable | None] = [None] * (slots - len(fg)) + cool_first
    backs: list[list[Hashable]] = [[] for _ in fronts]
    open_slots = sum(1 for key in fronts if key is None or not is_hot(fg[key], threshold)) or slots
    for position, key in enumerate(sorted(bg, key=bg.__getitem__, reverse=True)):
        backs[position % open_slots].append(key)
    return [Slot(front, tuple(back)) for front, back in zip(fronts, backs, strict=True)]


class Ranking:
    """Free places in order of load, updated incrementally: few hosts change between two starts.

    :param groups: the free places of each host, in the order of the hosts.
    """

    def __init__(self, groups: Iterable[Sequence[Group]]):
        self._of_host = list(groups)
        #: All of them, in order.
        self.groups = sorted(group for groups in self._of_host for group in groups)

    def replace(self, host: int, groups: Sequence[Group]) -> None:
        """Replace the free places of a host."""
        if groups == self._of_host[host]:
            return
        for group in self._of_host[host]:
            del self.groups[bisect_left(self.groups, group)]
        for group in groups:
            insort(self.groups, group)
        self._of_host[host] = groups

    def best(self, count: int) -> list[int]:
        """Hosts of the first `count` places, or of all if there are fewer."""
        return first(self.groups, count)


def first(groups: Iterable[Group], count: int) -> list[int]:
    """Hosts of the first `count` places of groups that are in order."""
    hosts: list[int] = []
    for _load, host, places in groups:
        if len(hosts) >= count:
            break
        hosts += [host] * min(places, count - len(hosts))
    return hosts
