"""Running jobs on a cluster of `ManyHosts`; their rates are those of `shared.Shared`."""

import random

import numpy

from nova_twotier.core.actions import BG, FG
from nova_twotier.core.progress import Progress
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.many_hosts import ManyHosts
from nova_twotier.sim.many_neighbours import ManyNeighbours
from nova_twotier.sim.rates_at_once import RatesAtOnce, joined
from nova_twotier.sim.recorder import Recorder


class SharedManyHosts(RatesAtOnce):
    """Running jobs on very many hosts of several slots, which are kept in arrays."""

    def __init__(
        self,
        cost: float,
        hosts: ManyHosts,
        model: Progress,
        rng: random.Random,
        recorder: Recorder | None = None,
    ):
        super().__init__(cost, model, rng, recorder)
        self._neighbours = ManyNeighbours(hosts, model.floor)

    def _entered(self, job: Execution, now: float) -> None:
        # The cluster is as it will be when all have entered.
        super()._entered(job, now)
        own = None if job.cpu is job.job.cpu else numpy.array(job.cpu)
        self._neighbours.come(job.job.number, job.tier, own)

    def _leave(self, job: Execution, now: float) -> None:
        super()._leave(job, now)
        self._neighbours.leave(job.job.number, job.tier)

    def settle(self, now: float) -> None:
        neighbours = self._neighbours
        changed = [self.jobs[number] for number in neighbours.changed()]
        jobs = [job for job in changed if job.tier is FG]
        self._settle_foreground(jobs, self._shares(jobs), now)
        if jobs := [job for job in changed if job.tier is BG]:
            processes = joined(neighbours.processes, jobs)
            idle, cpu = neighbours.idle[processes], neighbours.own[processes]
            self._settle_background(jobs, self._shares(jobs), idle, cpu, now)

    def _shares(self, jobs: list[Execution]) -> list[bool]:
        return [self._neighbours.shares(job.job.number) for job in jobs]
