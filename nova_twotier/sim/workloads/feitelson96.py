"""A surrogate for the model of Feitelson 1996 (the papers' FWorkload), whose source is lost to us.

What is published: sizes follow n^-1.5, tailored by hand in favour of small ones and powers of two;
run times are hyper-exponential and weakly grow with the size; jobs are run repeatedly. Recalled
but not checked: the constants of run times and repetitions. Chosen here: the tailoring, so that
fewer than 18 % of the jobs have one process (JSS 2015), the unit of time, and that a repetition
has the size of the first run and a run time of its own. Take results with it as qualitative.
"""

from dataclasses import dataclass

import numpy
from scipy import special

from nova_twotier.sim.workloads.workload import Workload


@dataclass(frozen=True)
class Feitelson96:
    """The surrogate's parameters.

    :param order: of the harmonic distribution of sizes.
    :param power_of_two: how much more frequent a power of two above 1 is than that says.
    :param largest: no job has more processes; TPDS 2013 has 1 to 256.
    :param unit: seconds of the run times' unit. With the default a job runs 2500 s on average:
        TPDS 2013 says that 600 s are 24 % of it.
    :param short, long: mean run time of the two branches, in units.
    :param short_serial, short_decline: the short branch has probability
        short_serial - short_decline * size / largest.
    :param repeats: a job runs r times with a probability proportional to r^-repeats.
    :param load: offered load on the nodes that arrivals are drawn for. What a run gives is some
        way off, since work per job varies much; `Workload.scaled` is exact.
    """

    order: float = 1.5
    power_of_two: float = 6.9
    largest: int = 256
    unit: float = 1871.5
    short: float = 1.0
    long: float = 7.0
    short_serial: float = 0.95
    short_decline: float = 0.20
    repeats: float = 2.5
    load: float = 0.7

    def generate(self, jobs: int, seed: int, nodes: int = 320) -> Workload:
        """Jobs for `nodes` slots, no larger than these; estimates are exact.

        First runs arrive at random (Poisson). A repetition arrives when the run before it would
        end if it did not wait, as a trace cannot know waits.
        """
        rng = numpy.random.default_rng(seed)
        sizes, weights = self._sizes(nodes)
        means = self._mean_runtime(sizes)
        runs = special.zeta(self.repeats - 1) / special.zeta(self.repeats)
        work = float(weights @ (sizes * means)) * runs
        # As many first runs as jobs are enough: each has one run at least. No tail is longer.
        first = numpy.cumsum(rng.exponential(work / (nodes * self.load), jobs))
        times = numpy.minimum(rng.zipf(self.repeats, jobs), jobs)
        size = numpy.repeat(rng.choice(sizes, jobs, p=weights), times)
        short = rng.random(len(size)) < self._short(size)
        runtime = rng.standard_exponential(len(size)) * numpy.where(short, self.short, self.long)
        runtime *= self.unit
        before = numpy.cumsum(runtime) - runtime
        starts = numpy.cumsum(times) - times
        arrival = numpy.repeat(first - before[starts], times) + before
        order = numpy.argsort(arrival, kind="stable")[:jobs]
        return Workload.of(
            f"feitelson:{jobs}",
            nodes,
            arrival[order].tolist(),
            size[order].tolist(),
            runtime[order].tolist(),
        )

    def _sizes(self, nodes: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        """All sizes, and their probabilities."""
        sizes = numpy.arange(1, min(self.largest, nodes) + 1)
        weights = sizes**-self.order
        weights[(sizes > 1) & (sizes & (sizes - 1) == 0)] *= self.power_of_two
        return sizes, weights / weights.sum()

    def _short(self, sizes: numpy.ndarray) -> numpy.ndarray:
        return self.short_serial - self.short_decline * sizes / self.largest

    def _mean_runtime(self, sizes: numpy.ndarray) -> numpy.ndarray:
        short = self._short(sizes)
        return self.unit * (short * self.short + (1 - short) * self.long)
