"""The geometry of a Gantt chart, as in the board's lanes.js: for each host its slots, one below the
other, and for each slot a lane of the foreground above those of the background."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple


class Sizes(NamedTuple):
    """Heights of a lane, of the room below the lanes of a slot, and of that above a host."""

    lane: float = 12.0
    slot: float = 5.0
    host: float = 9.0


#: The board's.
SIZES = Sizes()


class Host(NamedTuple):
    """A host with slots and, of each, one lane for each tier."""

    name: str
    slots: int
    tiers: int


class Row(NamedTuple):
    """A slot of a host, and its upper edge."""

    host: Host
    slot: int
    top: float


@dataclass(frozen=True)
class Layout:
    """The heights of all lanes, from 0 downwards."""

    hosts: Sequence[Host]
    sizes: Sizes = SIZES

    def height(self, host: Host) -> float:
        """The height of each slot of a host."""
        return host.tiers * self.sizes.lane + self.sizes.slot

    @cached_property
    def tops(self) -> list[float]:
        """The upper edge of each host, and the lower one of the last."""
        tops = [0.0]
        for host in self.hosts:
            tops.append(tops[-1] + self.sizes.host + host.slots * self.height(host))
        return tops

    @property
    def rows(self) -> Iterator[Row]:
        """All slots from top to bottom."""
        for host, top in zip(self.hosts, self.tops, strict=False):
            for slot in range(host.slots):
                yield Row(host, slot, top + self.sizes.host + slot * self.height(host))

    def top(self, host: str, tier: str, number: int) -> float:
        """The upper edge of a lane: of the foreground of the slot of that number, or of the
        background, whose numbers continue tier by tier."""
        index, found = self._indexes[host], self.hosts[self._indexes[host]]
        layer, slot = divmod(number, found.slots) if tier == "bg" else (-1, number)
        begin = self.tops[index] + self.sizes.host + slot * self.height(found)
        return begin + (layer + 1) * self.sizes.lane

    @cached_property
    def _indexes(self) -> dict[str, int]:
        return {host.name: index for index, host in enumerate(self.hosts)}
