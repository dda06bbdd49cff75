"""Clusters of the papers' nodes, each with one slot: the same decisions, at a trace's speed.

All of them take VMs. A node with nothing on it comes before one whose process uses no CPU; to
`hosts.Hosts` they are equal.
"""

import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.cluster import NOTHING, Cluster, Host, OutOfSlots, Run
from nova_twotier.core.slots import THRESHOLD

#: One of so many nodes is in a sample.
_STEP = 16


class Nodes(Cluster):
    """Hosts of one slot, with room for one foreground and one background process.

    :param count: number of nodes.
    """

    def __init__(self, count: int, threshold: float = THRESHOLD, rng: random.Random | None = None):
        super().__init__([Host(f"node{index}", 1) for index in range(count)], threshold, rng)
        #: Number of the job on each node, by tier, and the CPU utilisation of its process. A node
        #: without a process keeps the last values.
        self.jobs: dict[Tier, list[int | None]] = {tier: [None] * len(self.hosts) for tier in Tier}
        self.cpu = {tier: [0.0] * len(self.hosts) for tier in Tier}
        #: Nodes that take a process of the tier now: those with nothing on them take either.
        self.free = {tier: set(range(len(self.hosts))) for tier in Tier}
        #: Whether nothing is on each node: 1 or 0, so that a search in bytes finds the next one.
        self._vacant = bytearray(b"\x01" * len(self.hosts))
        #: Nodes whose foreground process leaves no room for another; those who share one of them.
        self._closed: set[int] = set()
        self._overdue: set[int] = set()
        self.idle = {tier: len(self.hosts) for tier in Tier}

    def copy(self) -> "Nodes":
        twin = Nodes(0)
        self._copy_nodes(twin)
        return twin

    def _copy_nodes(self, twin: "Nodes") -> None:
        self._copy_runs(twin)
        twin.jobs = {tier: list(numbers) for tier, numbers in self.jobs.items()}
        twin.cpu = {tier: list(loads) for tier, loads in self.cpu.items()}
        twin.free = {tier: set(nodes) for tier, nodes in self.free.items()}
        twin._vacant = bytearray(self._vacant)
        twin._closed, twin._overdue = set(self._closed), set(self._overdue)

    def room(self, tier: Tier, host: int) -> int:
        return int(host in self.free[tier])

    def overfull(self, host: int) -> int:
        return int(host in self._overdue)

    def overdue(self) -> list[int]:
        return sorted(self._overdue) if self._overdue else []

    def on(self, tier: Tier, hosts: Collection[int]) -> dict[int, list[Run]]:
        jobs, runs = self.jobs[tier], self.runs
        numbers = {host: jobs[host] for host in hosts}
        return {host: [] if each is None else [runs[each]] for host, each in numbers.items()}

    def frees_background(self, run: Run) -> bool:
        return self._overdue.isdisjoint(run.hosts)

    def takes(self, tier: Tier, hosts: Sequence[int]) -> bool:
        return self.free[tier].issuperset(hosts) and len(set(hosts)) == len(hosts)

    def keep(self, tier: Tier, hosts: Sequence[int], promised: dict[int, int]) -> list[bool]:
        free, staying = self.free[tier], []
        for host in hosts:
            stays = host in free and not promised.get(host)
            staying.append(stays)
            if stays:
                promised[host] = 1
        return staying

    def rank(self, tier: Tier, count: int, promised: Mapping[int, int] = NOTHING) -> list[int]:
        kept = {host for host, places in promised.items() if places} if promised else ()
        best = self._first_vacant(count, kept)
        missing = count - len(best)
        if not missing:
            return best
        shared = self.free[tier]
        if best or kept:
            shared = shared.difference(best, kept)
        if missing > len(shared):
            raise OutOfSlots(f"{count} {tier} places wanted, {len(best) + len(shared)} idle")
        if self.rng:
            return best + self.rng.sample(sorted(shared), missing)
        return best + _coolest(shared, self.cpu[FG if tier is BG else BG], missing)

    def _first_vacant(self, count: int, kept: Collection[int]) -> list[int]:
        """The first `count` nodes with nothing on them, but those kept; all if there are fewer."""
        found: list[int] = []
        # Most often there are few: to look at each node would take longer.
        host = self._vacant.find(1)
        while host >= 0 and len(found) < count:
            if host not in kept:
                found.append(host)
            host = self._vacant.find(1, host + 1)
        return found

    def _occupy(self, run: Run) -> None:
        job, tier, hosts, _pinned, _until = run
        number = job.number
        # Any: compiled, these would be unboxed and boxed again for each process.
        values: tuple[Any, ...] = job.cpu
        cpu: list[Any] = self.cpu[tier]
        jobs, free, vacant = self.jobs[tier], self.free[tier], self._vacant
        threshold = self.threshold
        for host, value in zip(hosts, values):  # noqa: B905  (a check costs as much as ten hosts)
            jobs[host] = number
            cpu[host] = value
            vacant[host] = 0
        free.difference_update(hosts)
        self.idle[tier] = len(free)
        if tier is FG and job.hottest >= threshold:
            hot = [host for host in hosts if cpu[host] >= threshold]
            self._closed.update(hot)
            open_below = self.free[BG]
            open_below.difference_update(hot)
            self.idle[BG] = len(open_below)
            below = self.jobs[BG]
            self._overdue.update([host for host in hot if below[host] is not None])

    def _vacate(self, run: Run) -> None:
        job, tier, hosts, _pinned, _until = run
        jobs, free, vacant = self.jobs[tier], self.free[tier], self._vacant
        others = self.jobs[FG if tier is BG else BG]  # `tier.other` would be a call
        for host in hosts:
            jobs[host] = None
            if others[host] is None:
                vacant[host] = 1
        free.update(hosts)
        if tier is BG:
            if not self._closed.isdisjoint(hosts):
                closed = self._closed.intersection(hosts)
                free -= closed
                self._overdue -= closed
        elif job.hottest >= self.threshold:
            opened = self._closed.intersection(hosts)
            self._closed -= opened
            self._overdue -= opened
            self.free[BG].update([host for host in opened if others[host] is None])
            self.idle[BG] = len(self.free[BG])
        self.idle[tier] = len(free)


def _coolest(nodes: Collection[int], cpu: list[float], count: int) -> list[int]:
    """The `count` nodes with the lowest CPU utilisation; the lower number breaks ties."""
    some = list(nodes)
    if len(some) > 4 * count:
        # Among twice as many, going by a sample, these are most often found.
        sample = sorted([cpu[host] for host in some[::_STEP]])
        most = sample[min(2 * count // _STEP + 2, len(sample) - 1)]
        cool = [host for host in some if cpu[host] <= most]
        if len(cool) >= count:
            some = cool
    some.sort()
    some.sort(key=cpu.__getitem__)
    return some[:count]


class Counted(Cluster):
    """Slots of one tier that are only counted, as if on one host: no run tells its places."""

    def __init__(self, count: int):
        super().__init__([Host("", count, tiers=1)])
        self.idle = {FG: count, BG: 0}

    def copy(self) -> "Counted":
        twin = Counted(0)
        self._copy_runs(twin)
        return twin

    def room(self, tier: Tier, host: int) -> int:
        return self.idle[tier]

    def rank(self, tier: Tier, count: int, promised: Mapping[int, int] = NOTHING) -> list[int]:
        if count > self.idle[tier]:
            raise OutOfSlots(f"{count} {tier} places wanted, {self.idle[tier]} idle")
        return []

    def _occupy(self, run: Run) -> None:
        self.idle[FG] -= run.job.size

    def _vacate(self, run: Run) -> None:
        self.idle[FG] += run.job.size
