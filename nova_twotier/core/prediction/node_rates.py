"""The rates of jobs on hosts of one slot: the same as those of `pace`, at less cost."""

import math
from collections.abc import Iterable, Sequence
from operator import truediv

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

    What shares a host is known without arranging its processes, and the slowest process of a job is
    found by comparing all of them at once.

    :param cluster: one that it `serves`.
    """

    def __init__(self, progress: Progress, cluster: Cluster):
        self._floor = progress.floor
        self._single, self._parallel = progress.mean_single, progress.mean_parallel
        self._disturbed = 1 / progress.disturbed
        #: The number of the job in each tier of each host; None: there is none.
        self._above: list[int | None] = [None] * len(cluster.hosts)
        self._below: list[int | None] = [None] * len(cluster.hosts)
        #: What a background process finds of each CPU; infinite if it is alone there.
        self._idle = [math.inf] * len(cluster.hosts)
        #: The hosts with a process in the background, and the foreground jobs that this disturbs.
        self._shared: set[int] = set()
        self._sharing: set[int | None] = set()
        #: By job number, which is never None.
        self._runs: dict[int | None, Run] = {}
        #: What each job in the background needs of a CPU.
        self._needs: dict[int, Sequence[float]] = {}
        #: The foreground jobs below which a process came, and those below which one left.
        self._joined: set[int | None] = set()
        self._relieved: set[int | None] = set()
        #: The background jobs that came, and those above which a process came or left.
        self._changed: set[int | None] = set()

    def gone(self, number: int) -> None:
        _job, tier, hosts, _pinned, _until = self._runs.pop(number)
        if tier is FG:
            above, below, idle = self._above, self._below, self._idle
            for host in hosts:
                above[host] = None
                idle[host] = math.inf
            if number in self._sharing:
                self._sharing.remove(number)
                self._changed.update([below[host] for host in hosts])
        else:
            above, below = self._above, self._below
            for host in hosts:
                below[host] = None
            del self._needs[number]
            self._shared.difference_update(hosts)
            self._relieved.update([above[host] for host in hosts])

    def placed(self, runs: Iterable[Run]) -> list[tuple[int, float]]:
        known, sharing = self._runs, self._sharing
        front = [run for run in runs if self._place(run)]
        for number in self._joined - sharing:
            # It may have left, or lost the foreground, as well.
            run = known.get(number)
            if run is not None and run.tier is FG:
                sharing.add(number)
                front.append(run)
        for number in self._relieved & sharing:
            run = known[number]
            if self._shared.isdisjoint(run.hosts):
                sharing.remove(number)
                front.append(run)
        rates = []
        for run in front:
            slowdown = self._disturbed if run.job.number in sharing else 1.0
            rates.append((run.job.number, rate(run.job, slowdown)))
        for number in self._changed:
            run = known.get(number)
            if run is not None and run.tier is not FG:
                rates.append((run.job.number, rate(run.job, self._behind(run))))
        for noted in (self._joined, self._relieved, self._changed):
            noted.clear()
        return rates

    def _place(self, run: Run) -> bool:
        """Add a job; returns whether it is in the foreground."""
        job, tier, hosts, _pinned, _until = run
        number = job.number
        self._runs[number] = run
        if tier is FG:
            above, below, idle, floor = self._above, self._below, self._idle, self._floor
            for host, cpu in zip(hosts, job.cpu):  # noqa: B905  (a check costs as much as ten hosts)
                above[host] = number
                left = 1.0 - cpu
                idle[host] = left if left > floor else floor
            if not self._shared.isdisjoint(hosts):
                self._sharing.add(number)
                self._changed.update([below[host] for host in hosts])
            return True
        above, below = self._above, self._below
        for host in hosts:
            below[host] = number
        self._shared.update(hosts)
        self._needs[number] = job.cpu if min(job.cpu) else positive(job.cpu)
        self._changed.add(number)
        self._joined.update([above[host] for host in hosts])
        return False

    def _behind(self, run: Run) -> float:
        """The processing slowdown of a job in the background."""
        job, _tier, hosts, _pinned, _until = run
        # Of its slowest process: the part of what it needs that is idle.
        found = min(map(truediv, map(self._idle.__getitem__, hosts), self._needs[job.number]))
        if found == math.inf:
            return 1.0
        efficiency = self._single if job.size == 1 else self._parallel
        return 1 / (efficiency * (found if found < 1.0 else 1.0))


def rate(job: Job, processing: float) -> float:
    if not job.mbps:
        return 1 / processing
    computes = sum(job.cpu) / job.size
    # Nothing slows communication down: the links have no limit.
    return 1 / (computes * processing + (1 - computes))
