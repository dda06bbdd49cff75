"""Clusters of thousands of nodes: decide as `Nodes`, without sorting all nodes at each start."""

import random
from collections.abc import Mapping

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.cluster import NOTHING, OutOfSlots, Run
from nova_twotier.core.coolest import Coolest
from nova_twotier.core.nodes import Nodes
from nova_twotier.core.slots import THRESHOLD

#: So many nodes make up for the upkeep: with fewer, sorting those that are free costs less.
MANY = 4096


class ManyNodes(Nodes):
    """Like `Nodes`, with the vacant nodes and the coolest ones at hand."""

    def __init__(self, count: int, threshold: float = THRESHOLD, rng: random.Random | None = None):
        super().__init__(count, threshold, rng)
        #: 1 for each node with nothing on it, else 0.
        self._vacant = bytearray(b"\1") * count
        self._coolest = Coolest(self.cpu[FG], self.jobs[FG], self.free[BG])

    def copy(self) -> "ManyNodes":
        twin = ManyNodes(0)
        self._copy_nodes(twin)
        twin._vacant = self._vacant[:]
        twin._coolest = Coolest(twin.cpu[FG], twin.jobs[FG], twin.free[BG])
        return twin

    def rank(self, tier: Tier, count: int, promised: Mapping[int, int] = NOTHING) -> list[int]:
        free = self.free[tier]
        idle = len(free)
        if promised:
            idle -= sum([1 for host, places in promised.items() if places and host in free])
        if count > idle:
            raise OutOfSlots(f"{count} {tier} places wanted, {idle} idle")
        best = self._first_vacant(count, promised)
        missing = count - len(best)
        if not missing:
            return best
        if tier is BG and not self.rng:
            return best + self._coolest.first(missing, promised)
        beside = self.below & free if tier is FG else free - self.free[FG]
        shared = sorted([host for host in beside if not promised.get(host)])
        if self.rng:
            return best + self.rng.sample(shared, missing)
        shared.sort(key=self.cpu[BG].__getitem__)
        return best + shared[:missing]

    def _first_vacant(self, count: int, promised: Mapping[int, int]) -> list[int]:
        """The first `count` nodes with nothing on them; all if there are fewer."""
        vacant, enough = self._vacant, count + len(promised)
        found: list[int] = []
        begin = vacant.find(1)
        while begin >= 0 and len(found) < count:
            end = vacant.find(0, begin)
            if end < 0:
                end = len(vacant)
            hosts = range(begin, min(end, begin + enough))
            found += [host for host in hosts if not promised.get(host)] if promised else hosts
            begin = vacant.find(1, end)
        return found[:count]

    def _occupy(self, run: Run) -> None:
        super()._occupy(run)
        vacant = self._vacant
        for host in run.hosts:
            vacant[host] = 0
        self._coolest.change(run.hosts)

    def _vacate(self, run: Run) -> None:
        super()._vacate(run)
        beside, vacant = self.jobs[run.tier.other], self._vacant
        for host in run.hosts:
            if beside[host] is None:
                vacant[host] = 1
        self._coolest.change(run.hosts)
