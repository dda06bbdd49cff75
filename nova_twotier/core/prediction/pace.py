"""How fast running jobs advance while a queue is run forward."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Protocol

from nova_twotier.core.actions import FG
from nova_twotier.core.cluster import Cluster, Host, Run
from nova_twotier.core.jobs import Job, Number
from nova_twotier.core.slots import Slot, arrange

#: A process: the number of its job, and its index among the job's processes.
Process = tuple[int, int]


class Rates(Protocol):
    """The rates of the jobs on a cluster, in seconds of work per second, kept up to date."""

    def gone(self, number: Number) -> None:
        """Note that a job has left its slots."""

    def placed(self, runs: Iterable[Run]) -> Iterable[tuple[Number, float]]:
        """The number and rate of each of these jobs, which came to their slots, and of those that
        they, or the jobs that are gone, may have slowed down or sped up."""


class Pace(Protocol):
    """A model of progress."""

    def on(self, cluster: Cluster) -> Rates:
        """The rates of jobs on this cluster, with none of them placed yet."""


class Dedicated:
    """Every job advances at full speed, as on slots that it does not share."""

    def on(self, cluster: Cluster) -> "Dedicated":
        return self

    def gone(self, number: Number) -> None:
        """Nothing to do: no other job changes its rate."""

    def placed(self, runs: Iterable[Run]) -> Iterable[tuple[Number, float]]:
        return [(run.job.number, 1.0) for run in runs]


DEDICATED = Dedicated()


class Seats:
    """The processes on one host, in each tier, with the job of each."""

    __slots__ = ("bg", "fg", "host", "index", "threshold")

    def __init__(self, index: int, host: Host, threshold: float):
        self.index = index
        self.host = host
        #: The foreground utilisation from which on a slot is closed.
        self.threshold = threshold
        self.fg: dict[Process, Job] = {}
        self.bg: dict[Process, Job] = {}

    def slots(self) -> list[Slot]:
        """Which processes share a slot, as the papers' rule has it."""
        if self.host.slots == 1 and len(self.fg) <= 1 and len(self.bg) <= 1:
            return [Slot(next(iter(self.fg), None), tuple(self.bg))]
        fg, bg = _utilisations(self.fg), _utilisations(self.bg)
        return arrange(max(self.host.slots, len(fg)), fg, bg, self.threshold)


def _utilisations(jobs: Mapping[Process, Job]) -> dict[Hashable, float]:
    # In the order of `core.neighbours`: equal ones share the slots by it.
    return {process: jobs[process].cpu[process[1]] for process in sorted(jobs)}


class Slowdowns(Protocol):
    """How much processes are slowed down on the slots and links of a host; 1 is full speed."""

    def processing(self, seats: Seats) -> Iterable[tuple[Process, float]]:
        """The processing slowdown SP_i of each process on a host."""

    def link(self, seats: Seats) -> float:
        """The communication slowdown on the link of a host."""


class Seated:
    """A job advances as its slowest process computes and its most saturated link carries it.

    T = Tp * SP + Tc * SC (CISNE, equation 1), SP and SC being the maxima over its processes. Both
    parts alternate, so a job does Tp and Tc in the same proportion all the time. Tp is the share of
    time in which its processes use a CPU; without a bandwidth, nothing is known of Tc, and it is 0.
    """

    def __init__(self, slowdowns: Slowdowns):
        self._slowdowns = slowdowns

    def on(self, cluster: Cluster) -> "SeatedRates":
        return SeatedRates(self._slowdowns, cluster)


class SeatedRates:
    """Looks only at hosts where something has changed."""

    def __init__(self, slowdowns: Slowdowns, cluster: Cluster):
        self._slowdowns = slowdowns
        threshold = cluster.threshold
        self._seats = [Seats(index, host, threshold) for index, host in enumerate(cluster.hosts)]
        self._runs: dict[int, Run] = {}
        #: The processing slowdown of each process, by job.
        self._slowed: dict[int, list[float]] = {}
        self._changed: set[int] = set()

    def gone(self, number: Number) -> None:
        run = self._runs.pop(number)
        del self._slowed[number]
        for index, host in enumerate(run.hosts):
            seats = self._seats[host]
            del (seats.fg if run.tier is FG else seats.bg)[number, index]
        self._changed.update(run.hosts)

    def placed(self, runs: Iterable[Run]) -> Iterator[tuple[int, float]]:
        affected = set()
        for run in runs:
            number, job = run.job.number, run.job
            self._runs[number] = run
            self._slowed[number] = [1.0] * job.size
            affected.add(number)
            for index, host in enumerate(run.hosts):
                seats = self._seats[host]
                (seats.fg if run.tier is FG else seats.bg)[number, index] = job
            self._changed.update(run.hosts)
        for host in self._changed:
            for (number, index), slowdown in self._slowdowns.processing(self._seats[host]):
                self._slowed[number][index] = slowdown
                affected.add(number)
        self._changed.clear()
        for number in affected:
            yield number, 1 / self._slowdown(number)

    def _slowdown(self, number: int) -> float:
        processing = max(self._slowed[number])
        job, _tier, hosts, _pinned, _until = self._runs[number]
        if not job.mbps:
            return processing
        computes = sum(job.cpu) / job.size
        communication = max([self._slowdowns.link(self._seats[host]) for host in hosts])
        return computes * processing + (1 - computes) * communication
