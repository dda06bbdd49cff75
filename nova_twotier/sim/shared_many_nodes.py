"""Running jobs on a cluster of `ManyNodes`; their rates are those of `shared.SharedNodes`."""

import random
from collections.abc import Iterable

import numpy
from numpy.typing import NDArray

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.progress import Draw, Processes, Progress
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.many_nodes import Cpu, ManyNodes, Places
from nova_twotier.sim.recorder import Recorder
from nova_twotier.sim.shared import Modelled


class SharedManyNodes(Modelled):
    """The jobs whose neighbours changed get their new rates all at once."""

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
        #: Whether a background job's rate follows from what its most hindered process finds.
        self._by_least = model.processes is Processes.SLOWEST and model.draw in (
            Draw.MEAN,
            Draw.JOB,
        )
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
            disturbed = self.model.disturbed
            for job, shared in zip(jobs, self._shares(jobs, BG), strict=True):
                # Often, nothing has changed.
                if job.rate != (disturbed if shared else 1.0):
                    self._adjust(job, shared, (), now)
        if jobs := self._take_changed(BG):
            self._settle_background(jobs, now)

    def _take_changed(self, tier: Tier) -> list[Execution]:
        running, numbers = self.jobs, self._changed[tier]
        if not numbers:
            return []
        there = [running[number] for number in numbers if number in running]
        numbers.clear()
        return [job for job in there if job.tier is tier]

    def _shares(self, jobs: list[Execution], other: Tier) -> list[bool]:
        """For each job, whether it shares at least one node with a job of the other tier."""
        used = self._nodes.used[other][self._joined(self._places, jobs)]
        shares: list[bool] = numpy.logical_or.reduceat(used, _begins(jobs)).tolist()
        return shares

    def _settle_background(self, jobs: list[Execution], now: float) -> None:
        shares, begins = self._shares(jobs, FG), _begins(jobs)
        idle = self._idle[self._joined(self._places, jobs)]
        if not self._by_least:
            for job, shared, own in zip(jobs, shares, numpy.split(idle, begins[1:]), strict=True):
                self._adjust(job, shared, own.tolist(), now)
            return
        cpu = self._joined(self._cpu, jobs)
        found = numpy.minimum(idle, cpu)
        least = numpy.minimum.reduceat(found / cpu, begins).tolist()
        burnt = numpy.add.reduceat(found, begins).tolist()
        for job, shared, share, burn in zip(jobs, shares, least, burnt, strict=True):
            if shared:
                self._set(job, job.eff * share, burn, now)
            else:
                self._set(job, 1.0, job.demand, now)

    @staticmethod
    def _joined(arrays: dict[int, NDArray], jobs: Iterable[Execution]) -> NDArray:
        """What is known of each process of these jobs, one job after the other."""
        return numpy.concatenate([arrays[job.job.number] for job in jobs])


def _begins(jobs: list[Execution]) -> Places:
    """Where each job begins among the processes of all."""
    sizes = [job.job.size for job in jobs]
    return numpy.cumsum([0, *sizes[:-1]])
