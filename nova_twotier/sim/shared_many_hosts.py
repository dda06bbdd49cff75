"""Running jobs on a cluster of `ManyHosts`; their rates are those of `shared.Shared`."""

import random

import numpy

from nova_twotier.core.actions import BG, FG
from nova_twotier.core.progress import Progress
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.many_hosts import ManyHosts
from nova_twotier.sim.many_neighbours import ManyNeighbours
from nova_twotier.sim.rates_at_once import RatesAtOnce, any_of, joined
from nova_twotier.sim.recorder import Recorder


class SharedManyHosts(RatesAtOnce):
    """As `shared.Shared`, of so many hosts that arrays pay."""

    def __init__(
        self,
        cost: float,
        hosts: ManyHosts,
        model: Progress,
        rng: random.Random,
        recorder: Recorder | None = None,
    ):
        super().__init__(cost, model, rng, recorder)
        self._hosts = hosts
        self._neighbours = ManyNeighbours(hosts, model.floor)

    def _entered(self, job: Execution, now: float) -> None:
        # The cluster is as it will be when all have entered.
        super()._entered(job, now)
        number, hosts = job.job.number, self._hosts
        known = hosts.cpu[number]
        own = known if job.cpu is job.job.cpu else numpy.array(job.cpu)
        self._neighbours.come(number, job.tier, hosts.places[number], known, own)

    def _leave(self, job: Execution, now: float) -> None:
        super()._leave(job, now)
        self._neighbours.leave(job.job.number)

    def settle(self, now: float) -> None:
        running, neighbours = self.jobs, self._neighbours
        changed = [running[number] for number in neighbours.changed()]
        if jobs := [job for job in changed if job.tier is FG]:
            idle = neighbours.idle[joined(neighbours.processes, jobs)]
            self._settle_foreground(jobs, any_of(jobs, idle < numpy.inf), now)
        if jobs := [job for job in changed if job.tier is BG]:
            processes = joined(neighbours.processes, jobs)
            idle, cpu = neighbours.idle[processes], neighbours.own[processes]
            self._settle_background(jobs, any_of(jobs, idle < numpy.inf), idle, cpu, now)
