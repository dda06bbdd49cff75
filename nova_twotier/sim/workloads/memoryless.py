"""Random jobs without memory: Poisson arrivals, geometric sizes, exponential run times.

For studies that want a workload of a given average size. (Symmetry 2018, figure 4, does not say
what its "random parallel workloads" are; Oktopus draws exponential sizes.)
"""

from dataclasses import dataclass

import numpy

from nova_twotier.core.jobs import MAX_SIZE
from nova_twotier.sim.workloads.workload import Workload


@dataclass(frozen=True)
class Memoryless:
    """
    :param size: average number of processes, at least 1.
    :param runtime: average, in seconds.
    :raises ValueError: if the size is below 1, or above that of the largest job there may be.
    """

    size: float = 8.0
    runtime: float = 3600.0

    def __post_init__(self):
        if not 1 <= self.size <= MAX_SIZE:
            raise ValueError(f"average size is {self.size:g}; it must be 1 to {MAX_SIZE}")

    def generate(self, jobs: int, seed: int, nodes: int = 320) -> Workload:
        """Jobs for `nodes` slots, no larger than these, at a load of about 1; estimates are exact.

        The order of what is drawn does not depend on the parameters: jobs of other averages are the
        same ones, stretched.
        """
        rng = numpy.random.default_rng(seed)
        gaps, times = rng.standard_exponential(jobs), rng.standard_exponential(jobs)
        # Geometric by inversion: 1, 2... with the probability of "no further one" 1 / size.
        further = 1 - 1 / self.size
        draws = 1 - rng.random(jobs)  # above 0
        sizes = numpy.ones(jobs)
        if further:
            sizes += numpy.floor(numpy.log(draws) / numpy.log(further))
        return Workload.of(
            f"memoryless:{jobs}",
            nodes,
            (numpy.cumsum(gaps) * self.runtime * self.size / nodes).tolist(),
            numpy.minimum(sizes, nodes).astype(int).tolist(),
            (times * self.runtime).tolist(),
        )
