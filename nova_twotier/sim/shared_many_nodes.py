"""Running jobs on a cluster of `ManyNodes`; their rates are those of `shared.SharedNodes`."""

import random

import numpy

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.progress import Progress
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.many_nodes import Cpu, ManyNodes, Places
from nova_twotier.sim.rates_at_once import RatesAtOnce, begins, joined
from nova_twotier.sim.recorder import Recorder


class SharedManyNodes(RatesAtOnce):
    """Running jobs on very many nodes of one slot, which are kept in arrays."""

    def __init__(
        self,
        cost: float,
        nodes: ManyNodes,
        model: Progress,
        rng: random.Random,
        recorder: Recorder | None = None,
    ):
        super().__init__(cost, model, rng, recorder)
        self._nodes = nodes
        #: What the foreground leaves of each node's CPU, at least the model's floor.
        self._idle = numpy.ones(len(nodes.hosts))
        #: Nodes and utilisations of the processes of each running job, by its number.
        self._places: dict[int, Places] = {}
        self._cpu: dict[int, Cpu] = {}
        #: Numbers of the jobs of a tier that came, or whose neighbours did or left.
        self._changed: dict[Tier, set[int]] = {tier: set() for tier in Tier}

    def _entered(self, job: Execution, now: float) -> None:
        # The cluster is as it will be when all have entered.
        super()._entered(job, now)
        number, tier, nodes = job.job.number, job.tier, self._nodes
        places = self._places[number] = nodes.places[number]
        known = job.cpu is job.job.cpu
        cpu = self._cpu[number] = nodes.cpu[number] if known else numpy.array(job.cpu)
        if tier is FG:
            floor = self.model.floor
            self._idle[places] = numpy.where(cpu < 1 - floor, 1 - cpu, floor)
        self._changed[tier].add(number)
        self._note_neighbours(tier, places)

    def _leave(self, job: Execution, now: float) -> None:
        super()._leave(job, now)
        del self._cpu[job.job.number]
        places = self._places.pop(job.job.number)
        if job.tier is FG:
            self._idle[places] = 1.0
        self._note_neighbours(job.tier, places)

    def _note_neighbours(self, tier: Tier, places: Places) -> None:
        """Note the jobs of the other tier on these nodes; who comes later notes itself."""
        other = tier.other
        shared = places[self._nodes.used[other][places]]
        if len(shared):
            self._changed[other].update(self._nodes.jobs[other][shared].tolist())

    def settle(self, now: float) -> None:
        if jobs := self._take_changed(FG):
            self._settle_foreground(jobs, self._shares(jobs, BG), now)
        if jobs := self._take_changed(BG):
            idle = self._idle[joined(self._places, jobs)]
            cpu = joined(self._cpu, jobs)
            self._settle_background(jobs, self._shares(jobs, FG), idle, cpu, now)

    def _take_changed(self, tier: Tier) -> list[Execution]:
        running, numbers = self.jobs, self._changed[tier]
        if not numbers:
            return []
        there = [running[number] for number in numbers if number in running]
        numbers.clear()
        return [job for job in there if job.tier is tier]

    def _shares(self, jobs: list[Execution], other: Tier) -> list[bool]:
        """For each job, whether it shares at least one node with a job of the other tier."""
        used = self._nodes.used[other][joined(self._places, jobs)]
        shares: list[bool] = numpy.logical_or.reduceat(used, begins(jobs)).tolist()
        return shares
