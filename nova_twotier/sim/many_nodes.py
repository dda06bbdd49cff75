"""Clusters of many thousands of nodes, kept in arrays; they decide as `core.nodes.Nodes` does.

What concerns hundreds of nodes at once, as each start of a large job does, is one array operation.
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

#: So many nodes make up for what a step costs: with fewer, and small jobs, sets cost less.
MANY = 16_384
#: Nodes among which vacant ones are looked for at once, at least.
_WINDOW = 1024
#: One of so many nodes is in a sample.
_STEP = 16
_HOTTEST = numpy.finfo(numpy.float64).max

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
        self.idle = dict.fromkeys(Tier, count)
        #: Whether nothing is on a node; no such node comes before `_first`.
        self._vacant = numpy.ones(count, bool)
        self._first = 0
        #: CPU utilisation by the other tier, where it leaves room for a process of a tier.
        self._heat = {tier: numpy.full(count, numpy.inf) for tier in Tier}

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
        twin._heat = {tier: heat.copy() for tier, heat in self._heat.items()}
        return twin

    def room(self, tier: Tier, host: int) -> int:
        return 0 if self._taken[tier][host] else 1

    def overfull(self, host: int) -> int:
        return int(host in self._overdue)

    def overdue(self) -> list[int]:
        return sorted(self._overdue) if self._overdue else []

    def on(self, tier: Tier, hosts: Collection[int]) -> dict[int, list[Run]]:
        runs, jobs, used = self.runs, self.jobs[tier], self.used[tier]
        return {host: [runs[int(jobs[host])]] if used[host] else [] for host in hosts}

    def frees_background(self, run: Run) -> bool:
        return self._overdue.isdisjoint(run.hosts)

    def takes(self, tier: Tier, hosts: Sequence[int]) -> bool:
        return not self._taken[tier][places_of(hosts)].any() and len(set(hosts)) == len(hosts)

    def keep(self, tier: Tier, hosts: Sequence[int], promised: dict[int, int]) -> list[bool]:
        staying = (~self._taken[tier][places_of(hosts)]).tolist()
        if promised:
            staying = [
                stays and not promised.get(host) for host, stays in zip(hosts, staying, strict=True)
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
        heat = self._heat[tier]
        if self.rng:
            others = numpy.flatnonzero(heat < numpy.inf).tolist()
            return best + self.rng.sample(_besides(kept, others), missing)
        return best + _besides(kept, coolest(heat, missing + len(kept)))[:missing]

    def _first_vacant(self, count: int) -> list[int]:
        """The first `count` nodes with nothing on them; all if there are fewer."""
        found: list[int] = []
        begin, width = self._first, max(_WINDOW, 4 * count)
        while begin < len(self._vacant) and len(found) < count:
            there = numpy.flatnonzero(self._vacant[begin : begin + width])[: count - len(found)]
            found += (there + begin).tolist()
            begin, width = begin + width, 2 * width
        self._first = found[0] if found else begin
        return found

    def _occupy(self, run: Run) -> None:
        job, tier, hosts, _pinned, _until = run
        places = self.places[job.number] = places_of(hosts)
        cpu = self.cpu[job.number] = numpy.array(job.cpu)
        self.used[tier][places] = True
        self.jobs[tier][places] = job.number
        self._cpu[tier][places] = cpu
        if tier is FG and job.hottest >= self.threshold:
            hot = places[cpu >= self.threshold]
            self._closed[hot] = True
            self._overdue.update(hot[self.used[BG][hot]].tolist())
        self._count(tier, places)
        self._vacant[places] = False
        self._heat[tier][places] = numpy.inf
        self._heat[tier.other][places] = numpy.where(
            self._taken[tier.other][places], numpy.inf, cpu
        )

    def _vacate(self, run: Run) -> None:
        job, tier, hosts, _pinned, _until = run
        places = self.places.pop(job.number)
        del self.cpu[job.number]
        self._overdue.difference_update(hosts if self._overdue else ())
        self.used[tier][places] = False
        if tier is FG:
            self._closed[places] = False
        self._count(tier, places)
        used = self.used[tier.other][places]
        self._vacant[places] = ~used
        self._first = min(self._first, min(hosts))
        self._heat[tier.other][places] = numpy.inf
        self._heat[tier][places] = numpy.where(
            used & ~self._taken[tier][places], self._cpu[tier.other][places], numpy.inf
        )

    def _count(self, tier: Tier, places: Places) -> None:
        """Update the idle counts of both tiers after processes of `tier` came or left `places`."""
        before = int(numpy.count_nonzero(self._taken[BG][places]))
        taken = self.used[BG][places] | self._closed[places]
        self._taken[BG][places] = taken
        self.idle[BG] += before - int(numpy.count_nonzero(taken))
        if tier is FG:
            self.idle[FG] += -len(places) if self.used[FG][places[0]] else len(places)


def places_of(hosts: Sequence[int]) -> Places:
    return numpy.fromiter(hosts, numpy.int64, len(hosts))


def coolest(heat: Cpu, count: int) -> list[int]:
    """The `count` nodes of least heat, equal ones by number; all of finite heat if fewer."""
    # Among twice as many, going by a sample, these are most often found.
    nodes = _up_to(heat, heat[::_STEP], 2 * count // _STEP + _STEP)
    if len(nodes) < count:
        nodes = _up_to(heat, heat, count)
    coolest: list[int] = nodes[numpy.argsort(heat[nodes], kind="stable")[:count]].tolist()
    return coolest


def _up_to(heat: Cpu, sample: Cpu, count: int) -> Places:
    """The nodes of no more heat than the first `count` of a sample, if that is finite."""
    most = numpy.partition(sample, count - 1)[count - 1] if count <= len(sample) else numpy.inf
    return numpy.flatnonzero(heat <= min(most, _HOTTEST))


def _besides(kept: Collection[int], nodes: list[int]) -> list[int]:
    return [node for node in nodes if node not in kept] if kept else nodes
