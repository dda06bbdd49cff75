"""Sets the rates of many running jobs at once, from arrays of what their processes find."""

from collections.abc import Iterable

import numpy
from numpy.typing import NDArray

from nova_twotier.sim.execution import Execution
from nova_twotier.sim.many_nodes import Cpu, Places
from nova_twotier.sim.shared import Modelled


class RatesAtOnce(Modelled):
    """The jobs whose neighbours changed get their new rates all at once."""

    def _settle_foreground(self, jobs: list[Execution], shares: list[bool], now: float) -> None:
        """Set the rates of foreground jobs.

        :param shares: for each, whether it shares at least one slot.
        """
        disturbed = self.model.disturbed
        for job, shared in zip(jobs, shares, strict=True):
            # Often, nothing has changed.
            if job.rate != (disturbed if shared else 1.0):
                self._adjust(job, shared, (), now)

    def _settle_background(
        self, jobs: list[Execution], shares: list[bool], idle: Cpu, cpu: Cpu, now: float
    ) -> None:
        """Set the rates of background jobs.

        :param shares: as for the foreground.
        :param idle: the CPU share that each process finds idle, job by job.
        :param cpu: the CPU utilisation that each has on a dedicated slot.
        """
        starts = begins(jobs)
        if not self.model.by_least:
            for job, shared, own in zip(jobs, shares, numpy.split(idle, starts[1:]), strict=True):
                self._adjust(job, shared, own.tolist(), now)
            return
        found = numpy.minimum(idle, cpu)
        least = numpy.minimum.reduceat(found / cpu, starts).tolist()
        burnt = numpy.add.reduceat(found, starts).tolist()
        for job, shared, share, burn in zip(jobs, shares, least, burnt, strict=True):
            if shared:
                self._set(job, job.eff * share, burn, now)
            else:
                self._set(job, 1.0, job.demand, now)


def joined(arrays: dict[int, NDArray], jobs: Iterable[Execution]) -> NDArray:
    """What is known of each process of these jobs, one job after the other."""
    return numpy.concatenate([arrays[job.job.number] for job in jobs])


def begins(jobs: list[Execution]) -> Places:
    """The index of each job's first process, in arrays that join the processes of these jobs."""
    sizes = [job.job.size for job in jobs]
    return numpy.cumsum([0, *sizes[:-1]])
