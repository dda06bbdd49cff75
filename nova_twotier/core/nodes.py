"""Clusters of the papers' nodes, each with one slot: the same decisions, at a trace's speed.

They know neither hosts that take no VMs nor pinned runs. A node with nothing on it comes before one
whose process uses no CPU; to a `Cluster` they are equal.
"""

import random
from collections.abc import Mapping, Sequence

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.cluster import NOTHING, Cluster, Host, OutOfSlots, Run
from nova_twotier.core.ranking import THRESHOLD


class Nodes(Cluster):
    """Hosts of one slot, with room for one foreground and one background process.

    :param count: number of nodes.
    """

    def __init__(self, count: int, threshold: float = THRESHOLD, rng: random.Random | None = None):
        super().__init__([Host(f"node{index}", 1) for index in range(count)], threshold, rng)

    def _empty(self) -> None:
        #: Number of the job on each node, by tier, and the CPU utilisation of its process. That of
        #: a node without one is what was there last.
        self.jobs = {tier: [None] * len(self.hosts) for tier in Tier}
        self.cpu = {tier: [0.0] * len(self.hosts) for tier in Tier}
        #: Nodes that take a process of the tier now: those with nothing on them take either.
        self.free = {tier: set(range(len(self.hosts))) for tier in Tier}
        #: Nodes with a process in the background.
        self.below: set[int] = set()
        #: Nodes whose foreground process leaves no room for another; those who share one of them.
        self._closed: set[int] = set()
        self._overdue: set[int] = set()
        self._count_idle()

    def _copy_places(self, twin: "Nodes") -> None:
        twin.jobs = {tier: list(numbers) for tier, numbers in self.jobs.items()}
        twin.cpu = {tier: list(loads) for tier, loads in self.cpu.items()}
        twin.free = {tier: set(nodes) for tier, nodes in self.free.items()}
        twin.below = set(self.below)
        twin._closed, twin._overdue = set(self._closed), set(self._overdue)

    def _count_idle(self) -> None:
        free, idle = self.free, self.idle
        idle[FG] = len(free[FG])
        idle[BG] = len(free[BG])

    def room(self, tier: Tier, host: int) -> int:
        return int(host in self.free[tier])

    def open_background(self, host: int) -> int:
        return int(host not in self._closed)

    def overfull(self, host: int) -> int:
        return int(host in self._overdue)

    def overdue(self) -> list[int]:
        return sorted(self._overdue) if self._overdue else []

    def on(self, tier: Tier, host: int) -> list[Run]:
        number = self.jobs[tier][host]
        return [] if number is None else [self.runs[number]]

    def evictable(self) -> list[Run]:
        return self.running(FG)

    def takes(self, tier: Tier, hosts: Sequence[int]) -> bool:
        return len(self.free[tier].intersection(hosts)) == len(hosts)

    def rank(self, tier: Tier, count: int, promised: Mapping[int, int] = NOTHING) -> list[int]:
        free = self.free[tier]
        if promised:
            free = free.difference([host for host, places in promised.items() if places])
        vacant = free - self.below if tier is FG else free & self.free[FG]
        best = sorted(vacant)
        missing = count - len(best)
        if missing <= 0:
            del best[count:]
            return best
        if count > len(free):
            raise OutOfSlots(f"{count} {tier} places wanted, {len(free)} idle")
        shared = sorted(free - vacant if vacant else free)
        if self.rng:
            return best + self.rng.sample(shared, missing)
        shared.sort(key=self.cpu[BG if tier is FG else FG].__getitem__)
        return best + shared[:missing]

    def _occupy(self, run: Run) -> None:
        job, tier, hosts = run.job, run.tier, run.hosts
        number = job.number
        jobs, cpu = self.jobs[tier], self.cpu[tier]
        for host, value in zip(hosts, job.cpu, strict=True):
            jobs[host] = number
            cpu[host] = value
        self.free[tier].difference_update(hosts)
        if tier is BG:
            self.below.update(hosts)
        # Utilisations descend: what closes a slot comes first.
        elif job.cpu[0] >= self.threshold:
            hot = [host for host in hosts if cpu[host] >= self.threshold]
            self._closed.update(hot)
            self.free[BG].difference_update(hot)
            self._overdue.update(self.below.intersection(hot))
        self._count_idle()

    def _vacate(self, run: Run) -> None:
        job, tier, hosts = run.job, run.tier, run.hosts
        jobs = self.jobs[tier]
        for host in hosts:
            jobs[host] = None
        self.free[tier].update(hosts)
        if tier is BG:
            self.below.difference_update(hosts)
            if self._closed:
                self.free[BG] -= self._closed.intersection(hosts)
                self._overdue.difference_update(hosts)
        elif job.cpu[0] >= self.threshold:
            opened = self._closed.intersection(hosts)
            self._closed -= opened
            self._overdue -= opened
            self.free[BG] |= opened - self.below
        self._count_idle()


class Counted(Cluster):
    """Hosts of one slot in one tier, counted: none is better than another, so none is named."""

    def __init__(self, count: int):
        super().__init__([Host("", 1, tiers=1)] * count)

    def _empty(self) -> None:
        self.idle = {FG: len(self.hosts), BG: 0}

    def _copy_places(self, twin: "Counted") -> None:
        """There are none."""

    def overdue(self) -> list[int]:
        return []

    def evictable(self) -> list[Run]:
        return self.running(FG)

    def takes(self, tier: Tier, hosts: Sequence[int]) -> bool:
        return True

    def rank(self, tier: Tier, count: int, promised: Mapping[int, int] = NOTHING) -> list[int]:
        if count > self.idle[tier]:
            raise OutOfSlots(f"{count} {tier} places wanted, {self.idle[tier]} idle")
        return []

    def _occupy(self, run: Run) -> None:
        self.idle[FG] -= run.job.size

    def _vacate(self, run: Run) -> None:
        self.idle[FG] += run.job.size
