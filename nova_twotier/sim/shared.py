"""Running jobs that share slots: the rate of each depends on its tier and its neighbours."""

import random
from collections.abc import Sequence

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.neighbours import Neighbours
from nova_twotier.core.nodes import Nodes
from nova_twotier.core.progress import Processes, Progress
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.recorder import Recorder
from nova_twotier.sim.running_jobs import RunningJobs


class Modelled(RunningJobs):
    """Jobs advance as a model of progress says.

    :param rng: for what the model draws.
    """

    def __init__(
        self,
        cost: float,
        model: Progress,
        rng: random.Random,
        recorder: Recorder | None = None,
    ):
        super().__init__(cost, recorder)
        self.model = model
        self._rng = rng
        self._divided = model.processes is Processes.OWN

    def _adjust(self, job: Execution, shared: bool, idle: Sequence[float], now: float) -> None:
        """Set the rate of a job.

        :param shared: whether anything runs beside it.
        :param idle: the CPU share that each of its processes finds idle, if it is in background.
        """
        rate: float | list[float]
        if not shared:
            rate, burn = 1.0, job.demand
        elif job.tier is FG:
            rate, burn = self.model.disturbed, job.demand
        else:
            rate, burn = self.model.background(idle, job.cpu, job.eff)
        if self._divided and isinstance(rate, float):
            rate = [rate] * job.job.size
        self._set(job, rate, burn, now)

    def _entered(self, job: Execution, now: float) -> None:
        if job.tier is BG:
            job.eff = self.model.efficiency(job.job.size, self._rng)
        if self._divided:
            job.divide()


class Shared(Modelled):
    """Any hosts: only the rates of jobs whose neighbours changed are recomputed.

    :param cluster: the one that the policy leaves as it is after its actions.
    """

    def __init__(
        self,
        cost: float,
        cluster: Cluster,
        model: Progress,
        rng: random.Random,
        recorder: Recorder | None = None,
    ):
        super().__init__(cost, model, rng, recorder)
        self._neighbours = Neighbours(cluster, model.floor)

    def _entered(self, job: Execution, now: float) -> None:
        super()._entered(job, now)
        self._neighbours.come(job.job.number, job.tier, job.hosts, job.job.cpu, job.cpu)

    def _leave(self, job: Execution, now: float) -> None:
        super()._leave(job, now)
        self._neighbours.leave(job.job.number)

    def settle(self, now: float) -> None:
        running = self.jobs
        for each in self._neighbours.changed():
            self._adjust(running[each.number], each.sharing > 0, each.idle, now)


class SharedNodes(Modelled):
    """As `Shared`, on nodes of one slot: what shares them is known without arranging it."""

    def __init__(
        self,
        cost: float,
        nodes: Nodes,
        model: Progress,
        rng: random.Random,
        recorder: Recorder | None = None,
    ):
        super().__init__(cost, model, rng, recorder)
        self._nodes = nodes
        self._disturbed = self.model.disturbed
        #: What the foreground leaves of each node's CPU, at least the model's floor.
        self._idle = [1.0] * len(self._nodes.hosts)
        #: Numbers of the foreground jobs below which a process came or left.
        self._above: set[int | None] = set()
        #: Numbers of the background jobs that came, or above which a process came or left.
        self._below: set[int | None] = set()

    def _entered(self, job: Execution, now: float) -> None:
        # The cluster is as it will be when all have entered.
        nodes, hosts = self._nodes, job.hosts
        if job.tier is BG or self._divided:
            Modelled._entered(self, job, now)
        if job.tier is BG:
            self._below.add(job.job.number)
            if not nodes.free[FG].issuperset(hosts):
                self._note(self._above, FG, hosts)
            return
        idle, floor = self._idle, self.model.floor
        most = 1 - floor
        for host, cpu in zip(hosts, job.cpu):  # noqa: B905  (a check costs as much as ten hosts)
            idle[host] = 1 - cpu if cpu < most else floor
        shared = self._shares(hosts)
        if shared:
            self._note(self._below, BG, hosts)
        self._adjust_front(job, shared, now)

    def _leave(self, job: Execution, now: float) -> None:
        RunningJobs._leave(self, job, now)
        # A neighbour that is not there yet enters later: so the order of the changes does not
        # matter.
        nodes, hosts = self._nodes, job.hosts
        if job.tier is BG:
            if not nodes.free[FG].issuperset(hosts):
                self._note(self._above, FG, hosts)
            return
        idle = self._idle
        for host in hosts:
            idle[host] = 1.0
        if self._shares(hosts):
            self._note(self._below, BG, hosts)

    def _adjust_front(self, job: Execution, shared: bool, now: float) -> None:
        """As `_adjust`, of a job in the foreground; often, nothing has changed."""
        rate = self._disturbed if shared else 1.0
        if self._divided:
            self._set(job, [rate] * job.job.size, job.demand, now)
        elif rate != job.rate:
            self._set(job, rate, job.demand, now)

    def _note(self, numbers: set[int | None], tier: Tier, hosts: tuple[int, ...]) -> None:
        """Add those who are on the hosts in a tier."""
        there = self._nodes.jobs[tier]
        numbers.update([there[host] for host in hosts])

    def _shares(self, hosts: tuple[int, ...]) -> bool:
        """Whether a process in the background is on one of these hosts."""
        there = self._nodes.jobs[BG]
        return any(there[host] is not None for host in hosts)

    def settle(self, now: float) -> None:
        running = self.jobs
        if self._above:
            for number in self._above:
                job = None if number is None else running.get(number)
                if job is None or job.tier is BG:  # it has left or fallen as well
                    continue
                self._adjust_front(job, self._shares(job.hosts), now)
            self._above.clear()
        if self._below:
            free, idle = self._nodes.free[FG], self._idle
            for number in self._below:
                job = None if number is None else running.get(number)
                if job is None or job.tier is FG:  # it has left or risen as well
                    continue
                if free.issuperset(job.hosts):
                    self._adjust(job, False, (), now)
                else:
                    self._adjust(job, True, [idle[host] for host in job.hosts], now)
            self._below.clear()
