"""Running jobs that share slots: each advances as its tier and its neighbours let it."""

import random

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.neighbours import views
from nova_twotier.core.nodes import Nodes
from nova_twotier.core.progress import Processes, Progress
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.recorder import Recorder
from nova_twotier.sim.stage import Stage


class Shared(Stage):
    """Any hosts: the rates of all jobs are worked out anew when anything changes.

    :param cluster: the one that the policy leaves as it is after its actions.
    :param rng: for what the model draws.
    """

    def __init__(
        self,
        cost: float,
        cluster: Cluster,
        model: Progress,
        rng: random.Random,
        recorder: Recorder | None = None,
    ):
        super().__init__(cost, recorder)
        self.cluster = cluster
        self.model = model
        self._rng = rng
        self._divided = model.processes is Processes.OWN

    def settle(self, now: float) -> None:
        cpu = {number: job.cpu for number, job in self.running.items()}
        for run, shared, idle in views(self.cluster, self.model.floor, cpu):
            self._adjust(self.running[run.job.number], shared, idle, now)

    def _adjust(self, job: Execution, shared: bool, idle: list[float], now: float) -> None:
        """Set the rate of a job.

        :param shared: whether anything runs beside it.
        :param idle: the CPU share that each of its processes finds idle, if it is in background.
        """
        burn = job.demand
        if not shared:
            rate = 1.0
        elif job.tier is FG:
            rate = self.model.disturbed
        else:
            rate = self.model.background(idle, job.cpu, job.eff)
            pairs = zip(idle, job.cpu, strict=True)
            burn = sum([left if left < wanted else wanted for left, wanted in pairs])
        if self._divided and isinstance(rate, float):
            rate = [rate] * job.job.size
        self._set(job, rate, burn, now)

    def _enter(self, job: Execution, tier: Tier, hosts: tuple[int, ...], now: float) -> None:
        job.tier, job.hosts, job.placed = tier, hosts, now
        if tier is BG:
            job.eff = self.model.efficiency(job.job.size, self._rng)
        if self._divided:
            job.divide()


class SharedNodes(Shared):
    """Nodes of one slot: only the rates of jobs whose neighbours changed are worked out."""

    cluster: Nodes

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        #: What the foreground leaves of each node's CPU, at least the model's floor.
        self._idle = [1.0] * len(self.cluster.hosts)
        #: Jobs that are new where they are, and nodes whose process in a tier is another, or none.
        self._entered: list[Execution] = []
        self._changed: dict[Tier, set[int]] = {tier: set() for tier in Tier}

    def _enter(self, job: Execution, tier: Tier, hosts: tuple[int, ...], now: float) -> None:
        super()._enter(job, tier, hosts, now)
        self._entered.append(job)
        self._changed[tier].update(hosts)
        if tier is FG:
            idle, most = self._idle, 1 - self.model.floor
            for host, cpu in zip(hosts, job.cpu, strict=True):
                idle[host] = 1 - cpu if cpu < most else self.model.floor

    def _leave(self, job: Execution, now: float) -> None:
        super()._leave(job, now)
        self._changed[job.tier].update(job.hosts)
        if job.tier is FG:
            idle = self._idle
            for host in job.hosts:
                idle[host] = 1.0

    def settle(self, now: float) -> None:
        if not (self._entered or self._changed[FG] or self._changed[BG]):
            return
        affected = {job.job.number: job for job in self._entered}
        for tier, other in ((FG, BG), (BG, FG)):
            if nodes := self._changed[tier] & self.cluster.busy[other]:
                numbers = set(map(self.cluster.jobs[other].__getitem__, nodes))
                affected.update((number, self.running[number]) for number in numbers)
            self._changed[tier].clear()
        self._entered.clear()
        front, back = self.cluster.busy[FG], self.cluster.busy[BG]
        for job in affected.values():
            idle = ()
            if job.tier is FG:
                shared = not back.isdisjoint(job.hosts)
                if job.rate == (self.model.disturbed if shared else 1.0):
                    continue  # most often, one neighbour followed another
            elif shared := not front.isdisjoint(job.hosts):
                idle = list(map(self._idle.__getitem__, job.hosts))
            self._adjust(job, shared, idle, now)
