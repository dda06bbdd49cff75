"""The rates of jobs on hosts of one slot: the same as those of `pace`, at less cost."""

import math
from collections.abc import Iterable
from typing import Any

from nova_twotier.core.actions import FG
from nova_twotier.core.cluster import Cluster, Run
from nova_twotier.core.jobs import Job
from nova_twotier.core.progress import Progress, positive


def serves(cluster: Cluster) -> bool:
    """Whether `NodeRates` has the rates of a cluster: there is at most one process in each tier of
    each host, now and later."""
    if any(host.slots != 1 or host.tiers > 2 for host in cluster.hosts):
        return False
    places = [(run.tier, host) for run in cluster.runs.values() for host in run.hosts]
    return len(set(places)) == len(places)


class NodeRates:
    """The rates that `sdpn.Slowdowns` computes, to the digit.

    What shares a host is known without arranging its processes. A job in the background is as slow
    as its slowest process, which is looked for again only if its host has changed, or another has
    become slower.

    :param cluster: one that it `serves`.
    """

    def __init__(self, progress: Progress, cluster: Cluster):
        self._floor = progress.floor
        self._single, self._parallel = progress.mean_single, progress.mean_parallel
        self._disturbed = 1 / progress.disturbed
        #: The number of the job in each tier of each host; None: there is none.
        self._above: list[int | None] = [None] * len(cluster.hosts)
        self._below: list[int | None] = [None] * len(cluster.hosts)
        #: What a background process finds of each CPU; infinite if it is alone there. And the part
        #: of what it needs that this is, where there is one.
        self._idle = [math.inf] * len(cluster.hosts)
        self._found = [math.inf] * len(cluster.hosts)
        #: The foreground jobs that share a host with a process in the background.
        self._sharing: set[int | None] = set()
        #: By job number, which is never None.
        self._runs: dict[int | None, Run] = {}
        #: What the background process on each host needs of its CPU.
        self._needs = [1.0] * len(cluster.hosts)
        #: The part that the slowest process of each job in the background finds.
        self._least: dict[int | None, float] = {None: -math.inf}
        #: The foreground jobs below which a process came, and those below which one left.
        self._joined: set[int | None] = set()
        self._relieved: set[int | None] = set()
        #: The background jobs that came, and those of which another process may be the slowest now.
        self._changed: set[int | None] = set()

    def gone(self, number: int) -> None:
        _job, tier, hosts, _pinned, _until = self._runs.pop(number)
        if tier is FG:
            above, idle = self._above, self._idle
            if number not in self._sharing:
                for host in hosts:
                    above[host] = None
                    idle[host] = math.inf
                return
            self._sharing.remove(number)
            below, found, least = self._below, self._found, self._least
            for host in hosts:
                above[host] = None
                if found[host] <= least[below[host]]:
                    self._changed.add(below[host])
                idle[host] = found[host] = math.inf
        else:
            above, below = self._above, self._below
            for host in hosts:
                below[host] = None
            del self._least[number]
            self._relieved.update(map(above.__getitem__, hosts))

    def placed(self, runs: Iterable[Run]) -> list[tuple[int, float]]:
        known, sharing, below = self._runs, self._sharing, self._below
        front = [run for run in runs if self._place(run)]
        self._joined.discard(None)
        for number in self._joined - sharing:
            sharing.add(number)
            front.append(known[number])
        # Most often another job has come to where one left.
        for number in (self._relieved & sharing) - self._joined:
            run = known[number]
            if all(below[host] is None for host in run.hosts):
                sharing.remove(number)
                front.append(run)
        rates = []
        for job, _tier, _hosts, _pinned, _until in front:
            slowdown = self._disturbed if job.number in sharing else 1.0
            rates.append((job.number, rate(job, slowdown) if job.mbps else 1 / slowdown))
        for number in self._changed:
            behind = known.get(number)
            if behind is not None and behind.tier is not FG:
                rates.append((behind.job.number, self._behind(behind)))
        self._joined.clear()
        self._relieved.clear()
        self._changed.clear()
        return rates

    def _place(self, run: Run) -> bool:
        """Add a job; returns whether it is in the foreground."""
        job, tier, hosts, _pinned, _until = run
        # Any: compiled, these would be unboxed and boxed again for each process.
        number: Any = job.number
        floor = self._floor
        above, below, idle = self._above, self._below, self._idle
        needs, found, least = self._needs, self._found, self._least
        self._runs[number] = run
        if tier is FG:
            disturbed = False
            for host, cpu in zip(hosts, job.cpu):  # noqa: B905  (a check costs as much as ten hosts)
                above[host] = number
                left = 1.0 - cpu
                idle[host] = left if left > floor else floor
                if below[host] is not None:
                    disturbed = True
                    found[host] = part = idle[host] / needs[host]
                    if part < least[below[host]]:
                        self._changed.add(below[host])
            if disturbed:
                self._sharing.add(number)
            return True
        wanted: tuple[Any, ...] = positive(job.cpu)
        for host, cpu in zip(hosts, wanted):  # noqa: B905
            below[host] = number
            needs[host] = cpu
            found[host] = idle[host] / cpu
        least[number] = math.inf
        self._changed.add(number)
        self._joined.update(map(above.__getitem__, hosts))
        return False

    def _behind(self, run: Run) -> float:
        """The rate of a job in the background."""
        job, _tier, hosts, _pinned, _until = run
        found, parts = math.inf, self._found
        for host in hosts:
            part = parts[host]
            if part < found:
                found = part
        self._least[job.number] = found
        if found == math.inf:
            slowdown = 1.0
        else:
            efficiency = self._single if job.size == 1 else self._parallel
            slowdown = 1 / (efficiency * (found if found < 1.0 else 1.0))
        return rate(job, slowdown) if job.mbps else 1 / slowdown


def rate(job: Job, processing: float) -> float:
    if not job.mbps:
        return 1 / processing
    computes = sum(job.cpu) / job.size
    # Nothing slows communication down: the links have no limit.
    return 1 / (computes * processing + (1 - computes))
