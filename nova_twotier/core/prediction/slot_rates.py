"""Progress rates of jobs on hosts of several slots: those of `pace`, but updated incrementally."""

from collections.abc import Iterable, Sequence
from operator import truediv

from nova_twotier.core.actions import FG
from nova_twotier.core.cluster import Cluster, Run
from nova_twotier.core.jobs import Job
from nova_twotier.core.neighbours import Neighbours, Occupant
from nova_twotier.core.prediction.node_rates import rate
from nova_twotier.core.progress import Progress, positive


class SlotRates:
    """The rates that `sdpn.Slowdowns` computes for full nodes, to the digit."""

    def __init__(self, progress: Progress, cluster: Cluster):
        self._single, self._parallel = progress.mean_single, progress.mean_parallel
        self._disturbed = 1 / progress.disturbed
        self._neighbours = Neighbours(cluster, progress.floor)
        #: Each job, and what its processes need of a CPU.
        self._jobs: dict[int, tuple[Job, Sequence[float]]] = {}

    def gone(self, number: int) -> None:
        self._neighbours.leave(number)
        del self._jobs[number]

    def placed(self, runs: Iterable[Run]) -> list[tuple[int, float]]:
        for job, tier, hosts, _pinned, _until in runs:
            needs = job.cpu if tier is FG else positive(job.cpu)
            self._jobs[job.number] = job, needs
            self._neighbours.come(job.number, tier, hosts, job.cpu, needs)
        return [(each.number, self._rate(each)) for each in self._neighbours.changed()]

    def _rate(self, occupant: Occupant) -> float:
        job, needs = self._jobs[occupant.number]
        if not occupant.sharing:
            slowdown = 1.0
        elif occupant.tier is FG:
            slowdown = self._disturbed
        else:
            # Of its slowest process: the part of what it needs that is idle.
            found = min(map(truediv, occupant.idle, needs))
            efficiency = self._single if job.size == 1 else self._parallel
            slowdown = 1 / (efficiency * (found if found < 1.0 else 1.0))
        return rate(job, slowdown)
