"""Which VMs of a host share a slot: one pure function for simulator, manager and agent.

The hottest foreground process sits beside the least background demand, so a background process
finds an idle slot while there is one. Stable: equal utilisations keep the order of their keys.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from nova_twotier.core.ranking import THRESHOLD, is_hot


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
