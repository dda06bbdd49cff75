"""The rates of jobs on hosts of one slot: the same as those of `pace`, at less cost."""

import math
from collections.abc import Iterable

from nova_twotier.core.actions import BG, FG
from nova_twotier.core.cluster import Cluster, Run
from nova_twotier.core.jobs import Job, Number
from nova_twotier.core.nodes import Nodes
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

    :param cluster: one that it `serves`. When `placed` is called, its runs have to be those that
        `gone` and `placed` have told.
    """

    def __init__(self, progress: Progress, cluster: Cluster):
        self._floor = progress.floor
        self._single, self._parallel = progress.mean_single, progress.mean_parallel
        self._disturbed = 1 / progress.disturbed
        #: Who is on each host: the cluster itself, or a copy of its runs if it is of another kind.
        self._copied = not isinstance(cluster, Nodes)
        self._nodes = cluster if isinstance(cluster, Nodes) else Nodes(len(cluster.hosts))
        #: By job number, which is never None.
        self._runs: dict[int | None, Run] = {}
        #: The foreground jobs that share no host with a process in the background.
        self._alone: set[int | None] = set()
        #: What part of the CPU that it needs the background process on each host finds; infinite if
        #: nothing is above it.
        self._found = [math.inf] * len(cluster.hosts)
        #: The part that the slowest process of each job in the background finds.
        self._least: dict[int | None, float] = {None: -math.inf}
        #: The jobs that have left since the last rates, but for those that were `_alone`.
        self._left: list[Run] = []
        #: The background jobs that came, and those of which another process may be the slowest now.
        self._changed: set[int | None] = set()

    def gone(self, number: Number) -> None:
        run = self._runs.pop(number)
        if self._copied:
            self._nodes.remove(run.job)
        if run.tier is not FG:
            del self._least[number]
        elif number in self._alone:
            self._alone.remove(number)
            return
        self._left.append(run)

    def placed(self, runs: Iterable[Run]) -> list[tuple[Number, float]]:
        known, alone, jobs = self._runs, self._alone, self._nodes.jobs
        above, below = jobs[FG], jobs[BG]
        front: list[Run] = []
        behind: list[Run] = []
        for run in runs:
            known[run.job.number] = run
            if self._copied:
                self._nodes.adopt(run)
            (front if run.tier is FG else behind).append(run)
        #: The foreground jobs that are alone no longer; those below which a process left.
        joined: set[int | None] = set()
        relieved: set[int | None] = set()
        for run in behind:
            self._come_below(run)
            if alone:
                joined |= alone.intersection(map(above.__getitem__, run.hosts))
        for run in self._left:
            if run.tier is FG:
                self._leave_above(run)
            else:
                relieved.update([above[host] for host in run.hosts if below[host] is None])
        for run in front:
            if not self._come_above(run):
                alone.add(run.job.number)
        for number in joined:
            alone.remove(number)
            front.append(known[number])
        relieved.discard(None)
        for number in relieved - alone:
            run = known[number]
            if all(below[host] is None for host in run.hosts):
                alone.add(number)
                front.append(run)
        rates = []
        for job, _tier, _hosts, _pinned, _until in front:
            slowdown = 1.0 if job.number in alone else self._disturbed
            rates.append((job.number, rate(job, slowdown) if job.mbps else 1 / slowdown))
        for number in self._changed:
            if number in self._least:
                run = known[number]
                rates.append((run.job.number, self._behind(run)))
        self._left.clear()
        self._changed.clear()
        return rates

    def _come_below(self, run: Run) -> None:
        """Store the CPU share that each process of a background job finds idle on its host."""
        job, _tier, hosts, _pinned, _until = run
        floor, found = self._floor, self._found
        above, front = self._nodes.jobs[FG], self._nodes.cpu[FG]
        for host, need in zip(hosts, positive(job.cpu)):  # noqa: B905  (a check costs as much as ten hosts)
            if above[host] is None:
                found[host] = math.inf
            else:
                idle = 1.0 - front[host]
                found[host] = (idle if idle > floor else floor) / need
        self._least[job.number] = math.inf
        self._changed.add(job.number)

    def _come_above(self, run: Run) -> bool:
        """Note what CPU a foreground job leaves to those below it; returns whether any are."""
        job, _tier, hosts, _pinned, _until = run
        floor, found, least = self._floor, self._found, self._least
        below, needs = self._nodes.jobs[BG], self._nodes.cpu[BG]
        disturbs = False
        for host, cpu in zip(hosts, job.cpu):  # noqa: B905
            other = below[host]
            if other is not None:
                disturbs = True
                idle = 1.0 - cpu
                found[host] = part = (idle if idle > floor else floor) / (needs[host] or 1e-9)
                if part < least[other]:
                    self._changed.add(other)
        return disturbs

    def _leave_above(self, run: Run) -> None:
        """Note that a foreground job leaves all CPU to the processes below it."""
        found, least, below = self._found, self._least, self._nodes.jobs[BG]
        for host in run.hosts:
            if found[host] <= least[below[host]]:
                self._changed.add(below[host])
            found[host] = math.inf

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
