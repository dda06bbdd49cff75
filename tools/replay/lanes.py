"""Gives each interval a line of the Gantt chart: a slot of its host, foreground above background.

Placement counts slots and does not name them. The chart therefore shows one possible sharing: a VM
keeps its slot while it stays on its host, and changes only the tier when it swaps, if it can.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nova_twotier.core.actions import Tier
from nova_twotier.ledger.tree import Shape
from nova_twotier.tools.replay.recorder import Interval


@dataclass(frozen=True, slots=True)
class Lane:
    """One line: place `layer` of a tier of a slot; the foreground has one, the background K-1."""

    host: str
    slot: int
    tier: Tier
    layer: int = 0


def lanes(shapes: Mapping[str, Shape]) -> list[Lane]:
    """All lines from top to bottom."""
    return [
        lane
        for host, shape in shapes.items()
        for slot in range(shape.slots)
        for lane in _of_slot(host, slot, shape)
    ]


def _of_slot(host: str, slot: int, shape: Shape) -> list[Lane]:
    background = [Lane(host, slot, Tier.BG, layer) for layer in range(shape.tiers - 1)]
    return [Lane(host, slot, Tier.FG), *background]


def assign(
    intervals: Iterable[Interval], shapes: Mapping[str, Shape]
) -> list[tuple[Interval, Lane]]:
    """A lane for each interval; its host must be among `shapes`."""
    free_at = dict.fromkeys(lanes(shapes), float("-inf"))
    slot_of = {}
    result = []
    # Those that come by a swap choose first: they have a slot to keep.
    for interval in sorted(intervals, key=lambda i: (i.begin, i.came != "swap", i.job, i.process)):
        vm = interval.job, interval.process
        own = [lane for lane in free_at if (lane.host, lane.tier) == (interval.host, interval.tier)]
        kept = slot_of.get(vm)

        def preference(lane, interval=interval, kept=kept):
            busy = free_at[lane] > interval.begin
            # A lane that is not free is taken only when the samples show more VMs than places.
            return busy, free_at[lane] if busy else 0, (lane.host, lane.slot) != kept, lane.slot

        lane = min(own, key=preference)
        free_at[lane] = interval.end if interval.end is not None else float("inf")
        slot_of[vm] = lane.host, lane.slot
        result.append((interval, lane))
    return result
