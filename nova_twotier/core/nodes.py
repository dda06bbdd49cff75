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
        #: Number of the job on each node, by tier, and the CPU utilisation of its process.
        self.jobs = {tier: [None] * len(self.hosts) for tier in Tier}
        self.cpu = {tier: [0.0] * len(self.hosts) for tier in Tier}
        #: Nodes with a process in the tier.
        self.busy: dict[Tier, set[int]] = {tier: set() for tier in Tier}
        #: Nodes with nothing on them; nodes that take a process beside one of the other tier.
        self._vacant = set(range(len(self.hosts)))
        self._beside: dict[Tier, set[int]] = {tier: set() for tier in Tier}
        self._overdue: set[int] = set()
        self._count_idle()

    def _copy_places(self, twin: "Nodes") -> None:
        twin.jobs = {tier: list(numbers) for tier, numbers in self.jobs.items()}
        twin.cpu = {tier: list(loads) for tier, loads in self.cpu.items()}
        twin.busy = {tier: set(nodes) for tier, nodes in self.busy.items()}
        twin._vacant, twin._overdue = set(self._vacant), set(self._overdue)
        twin._beside = {tier: set(nodes) for tier, nodes in self._beside.items()}

    def _count_idle(self) -> None:
        vacant, beside, idle = len(self._vacant), self._beside, self.idle
        idle[FG] = vacant + len(beside[FG])
        idle[BG] = vacant + len(beside[BG])

    def room(self, tier: Tier, host: int) -> int:
        return int(host in self._vacant or host in self._beside[tier])

    def open_background(self, host: int) -> int:
        return int(self.jobs[FG][host] is None or self.cpu[FG][host] < self.threshold)

    def overfull(self, host: int) -> int:
        return int(host in self._overdue)

    def overdue(self) -> list[int]:
        return sorted(self._overdue)

    def on(self, tier: Tier, host: int) -> list[Run]:
        number = self.jobs[tier][host]
        return [] if number is None else [self.runs[number]]

    def evictable(self) -> list[Run]:
        return self.running(FG)

    def takes(self, tier: Tier, hosts: Sequence[int]) -> bool:
        nodes = set(hosts)
        free = len(nodes & self._vacant) + len(nodes & self._beside[tier])
        return free == len(hosts)

    def rank(self, tier: Tier, count: int, promised: Mapping[int, int] = NOTHING) -> list[int]:
        vacant, beside = self._vacant, self._beside[tier]
        if promised:
            kept = [host for host, places in promised.items() if places]
            vacant, beside = vacant.difference(kept), beside.difference(kept)
        best = sorted(vacant)
        missing = count - len(best)
        if missing <= 0:
            del best[count:]
            return best
        if missing > len(beside):
            raise OutOfSlots(f"{count} {tier} places wanted, {len(best) + len(beside)} idle")
        shared = sorted(beside)
        if self.rng:
            return best + self.rng.sample(shared, missing)
        shared.sort(key=self.cpu[tier.other].__getitem__)
        return best + shared[:missing]

    def _occupy(self, run: Run) -> None:
        job, tier, hosts, *_ = run
        number = job.number
        jobs, cpu = self.jobs[tier], self.cpu[tier]
        for host, value in zip(hosts, job.cpu, strict=True):
            jobs[host] = number
            cpu[host] = value
        self.busy[tier].update(hosts)
        self._beside[tier].difference_update(hosts)
        vacant = self._vacant.intersection(hosts)
        self._vacant -= vacant
        if tier is BG:
            self._beside[FG] |= vacant
        # Utilisations descend: what closes a slot comes first.
        elif job.cpu[0] < self.threshold:
            self._beside[BG] |= vacant
        else:
            for host, value in zip(hosts, job.cpu, strict=True):
                if value < self.threshold:
                    if host in vacant:
                        self._beside[BG].add(host)
                elif host not in vacant:
                    self._overdue.add(host)
        self._count_idle()

    def _vacate(self, run: Run) -> None:
        _job, tier, hosts, *_ = run
        jobs, cpu = self.jobs[tier], self.cpu[tier]
        for host in hosts:
            jobs[host] = None
            cpu[host] = 0.0
        self.busy[tier].difference_update(hosts)
        other = tier.other
        shared = self.busy[other].intersection(hosts)
        self._overdue.difference_update(hosts)
        self._beside[other].difference_update(hosts)
        self._vacant.update(hosts)
        if shared:
            self._vacant -= shared
            if tier is BG:
                front = self.cpu[FG]
                shared = {host for host in shared if front[host] < self.threshold}
            self._beside[tier] |= shared
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
