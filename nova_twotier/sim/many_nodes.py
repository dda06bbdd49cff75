"""Clusters of thousands of nodes: decide as `core.nodes.Nodes`, by arrays of all of them.

What concerns hundreds of nodes at once, as each start of a large job does, is one step for all.
"""

import random
from collections.abc import Collection, Mapping, Sequence
from itertools import compress
from typing import TypeAlias

import numpy
from numpy.typing import NDArray

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.cluster import NOTHING, Cluster, Host, OutOfSlots, Run
from nova_twotier.core.slots import THRESHOLD
from nova_twotier.sim.coolest import Coolest

#: So many nodes make up for what a step costs: with fewer, sets of nodes cost less.
MANY = 4096

#: One for each process of a job: its node, and its CPU utilisation.
Places: TypeAlias = NDArray[numpy.int64]
Cpu: TypeAlias = NDArray[numpy.float64]


class ManyNodes(Cluster):
    """Hosts of one slot, with room for one foreground and one background process.

    :param count: number of nodes.
    """

    def __init__(self, count: int, threshold: float = THRESHOLD, rng: random.Random | None = None):
        super().__init__([Host(f"node{index}", 1) for index in range(count)], threshold, rng)
        #: Whether a process is on each node, by tier.
        self.used = {tier: numpy.zeros(count, bool) for tier in Tier}
        #: The number of its job, and its CPU utilisation; where there is none, those of the last.
        self.jobs = {tier: numpy.zeros(count, numpy.int64) for tier in Tier}
        self._cpu = {tier: numpy.zeros(count) for tier in Tier}
        #: What each run has, by the number of its job.
        self.places: dict[int, Places] = {}
        self.cpu: dict[int, Cpu] = {}
        #: Whether the foreground process of each node leaves no room for another.
        self._closed = numpy.zeros(count, bool)
        #: Nodes with both, nevertheless.
        self._overdue: set[int] = set()
        #: Whether each node takes no process of a tier.
        self._taken = {FG: self.used[FG], BG: numpy.zeros(count, bool)}
        self.idle = {tier: count for tier in Tier}
        #: Whether nothing is on a node; no such node comes before `_first`.
        self._vacant = numpy.ones(count, bool)
        self._first = 0
        #: The other nodes that take a process of a tier, by the CPU that the other tier uses.
        self._coolest = {tier: Coolest(self._cpu[tier.other]) for tier in Tier}

    def copy(self) -> "ManyNodes":
        twin = ManyNodes(0)
        self._copy_runs(twin)
        twin.used = {tier: used.copy() for tier, used in self.used.items()}
        twin.jobs = {tier: jobs.copy() for tier, jobs in self.jobs.items()}
        twin._cpu = {tier: cpu.copy() for tier, cpu in self._cpu.items()}
        twin.places, twin.cpu = dict(self.places), dict(self.cpu)
        twin._closed, twin._overdue = self._closed.copy(), set(self._overdue)
        twin._taken = {FG: twin.used[FG], BG: self._taken[BG].copy()}
        twin._vacant, twin._first = self._vacant.copy(), self._first
        twin._coolest = {
            tier: coolest.copy(twin._cpu[tier.other]) for tier, coolest in self._coolest.items()
        }
        return twin

    def room(self, tier: Tier, host: int) -> int:
        return 0 if self._taken[tier][host] else 1

    def overfull(self, host: int) -> int:
        return int(host in self._overdue)

    def overdue(self) -> list[int]:
        return sorted(self._overdue) if self._overdue else []

    def on(self, tier: Tier, host: int) -> list[Run]:
        return [self.runs[int(self.jobs[tier][host])]] if self.used[tier][host] else []

    def frees_background(self, run: Run) -> bool:
        return self._overdue.isdisjoint(run.hosts)

    def takes(self, tier: Tier, hosts: Sequence[int]) -> bool:
        return not self._taken[tier][_places(hosts)].any() and len(set(hosts)) == len(hosts)

    def keep(self, tier: Tier, hosts: Sequence[int], promised: dict[int, int]) -> list[bool]:
        staying = (~self._taken[tier][_places(hosts)]).tolist()
        if promised:
            staying = [
                stays and not promised.get(host)
                for host, stays in zip(hosts, staying, strict=True)
            ]
        promised.update(dict.fromkeys(compress(hosts, staying), 1))
        return staying

    def rank(self, tier: Tier, count: int, promised: Mapping[int, int] = NOTHING) -> list[int]:
        kept = {host for host, places in promised.items() if places} if promised else ()
        idle = self.idle[tier]
        if kept:
            idle -= len(kept) - int(numpy.count_nonzero(self._taken[tier][list(kept)]))
        if count > idle:
            raise OutOfSlots(f"{count} {tier} places wanted, {idle} idle")
        best = _besides(kept, self._first_vacant(count + len(kept)))[:count]
        missing = count - len(best)
        if not missing:
            return best
        coolest = self._coolest[tier]
        if self.rng:
            return best + self.rng.sample(_besides(kept, coolest.all()), missing)
        return best + _besides(kept, coolest.first(missing + len(kept)))[:missing]

    def _first_vacant(self, count: int) -> list[int]:
        """The first `count` nodes with nothing on them; all if there are fewer."""
        found: list[int] = []
        begin, width = self._first, 4 * count
        while begin < len(self._vacant) and len(found) < count:
            found += (numpy.flatnonzero(self._vacant[begin : begin + width]) + begin).tolist()
            begin, width = begin + width, 2 * width
        self._first = found[0] if found else len(self._vacant)
        return found[:count]

    def _occupy(self, run: Run) -> None:
        job, tier, hosts, _pinned, _until = run
        places = self.places[job.number] = _places(hosts)
        cpu = self.cpu[job.number] = numpy.array(job.cpu)
        self.jobs[tier][places] = job.number
        self._cpu[tier][places] = cpu
        if tier is FG and job.hottest >= self.threshold:
            hot = places[cpu >= self.threshold]
            self._closed[hot] = True
            self._overdue.update(hot[self.used[BG][hot]].tolist())
        self._change(tier, places, used=True)

    def _vacate(self, run: Run) -> None:
        job, tier, hosts, _pinned, _until = run
        places = self.places.pop(job.number)
        del self.cpu[job.number]
        self._overdue.difference_update(hosts if self._overdue else ())
        if tier is FG:
            self._closed[places] = False
        self._first = min(self._first, min(hosts))
        self._change(tier, places, used=False)

    def _change(self, tier: Tier, places: Places, used: bool) -> None:
        """Record whether processes of a tier are on these nodes, and what follows from it."""
        self.used[tier][places] = used
        front, back = self.used[FG][places], self.used[BG][places]
        taken = back | self._closed[places]
        before = int(numpy.count_nonzero(self._taken[BG][places]))
        self._taken[BG][places] = taken
        self.idle[BG] += before - int(numpy.count_nonzero(taken))
        if tier is FG:
            self.idle[FG] += -len(places) if used else len(places)
        self._vacant[places] = ~(front | back)
        self._coolest[FG].change(places, back & ~front)
        self._coolest[BG].change(places, front & ~taken)


def _places(hosts: Sequence[int]) -> Places:
    return numpy.fromiter(hosts, numpy.int64, len(hosts))


def _besides(kept: Collection[int], nodes: list[int]) -> list[int]:
    return [node for node in nodes if node not in kept] if kept else nodes
