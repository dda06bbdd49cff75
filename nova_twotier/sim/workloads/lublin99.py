"""The model of Lublin and Feitelson (JPDC 2003), after the authors' generator of 1999."""

import dataclasses
import math
from dataclasses import dataclass

import numpy
from scipy import stats

from nova_twotier.sim.workloads.workload import Workload

#: Seconds of the buckets that a day's arrivals are weighted by, and their number.
BUCKET = 1800
BUCKETS = 48
#: The daily cycle is given from 5 in the morning: bucket 10.
MORNING = 10

#: Natural logarithms of seconds: the longest run time and time between arrivals are e to these.
LONGEST_RUNTIME = 12
LONGEST_GAP = 13

#: log2 of the machine that the authors' sizes are for.
MACHINE = 7


@dataclass(frozen=True)
class Stream:
    """Jobs of one kind.

    :param serial, power_of_two: share of jobs of one process, and of such with a power of two.
    :param low, medium, high, low_share: log2 of the other sizes is uniform on low..medium with
        probability `low_share`, else on medium..high.
    :param short, long: shape and scale of ln(run time) in its two branches (gamma).
    :param slope, intercept: the short branch has probability slope * size + intercept.
    :param gaps: shape and scale of ln(time between arrivals at the day's mean rate) (gamma).
    :param day: shape and scale of the day's cycle (gamma), in half hours.
    """

    serial: float
    power_of_two: float
    low: float
    medium: float
    high: float
    low_share: float
    short: tuple[float, float]
    long: tuple[float, float]
    slope: float
    intercept: float
    gaps: tuple[float, float]
    day: tuple[float, float]

    def fitted(self, largest: int) -> "Stream":
        """The stream for a machine of another size: the ends of its sizes' ranges move with it."""
        shift = math.log2(largest) - MACHINE
        high = max(self.low, self.high + shift)
        medium = min(max(self.low, self.medium + shift), high)
        return dataclasses.replace(self, medium=medium, high=high)

    def sizes(self, count: int, largest: int, rng: numpy.random.Generator) -> numpy.ndarray:
        """Numbers of processes."""
        kind = rng.random(count)
        low = rng.random(count) < self.low_share
        start = numpy.where(low, self.low, self.medium)
        exponent = start + (numpy.where(low, self.medium, self.high) - start) * rng.random(count)
        whole = kind <= self.serial + self.power_of_two
        exponent = numpy.where(whole, numpy.floor(exponent + 0.5), exponent)
        sizes = numpy.floor(2**exponent + 0.5).astype(int)
        # The next power of two may be beyond a machine that is none itself.
        return numpy.where(kind <= self.serial, 1, numpy.minimum(sizes, largest))

    def runtimes(self, sizes: numpy.ndarray, rng: numpy.random.Generator) -> numpy.ndarray:
        """Whole seconds for jobs of these sizes."""
        share = numpy.clip(self.slope * sizes + self.intercept, 0, 1)

        def draw(chosen):
            short = rng.random(len(chosen)) < share[chosen]
            shape = numpy.where(short, self.short[0], self.long[0])
            return rng.standard_gamma(shape) * numpy.where(short, self.short[1], self.long[1])

        return numpy.floor(numpy.exp(_redrawn(draw, len(sizes), LONGEST_RUNTIME)))

    def arrivals(self, count: int, rng: numpy.random.Generator) -> numpy.ndarray:
        """Whole seconds since the midnight before the first arrival.

        A time drawn for the day's mean rate is spent faster in a busy bucket than in a quiet one:
        half an hour of it takes 1 / weight buckets.
        """
        shape, scale = self.gaps
        gaps = _redrawn(lambda chosen: rng.gamma(shape, scale, len(chosen)), count, LONGEST_GAP)
        spent = numpy.cumsum(numpy.exp(gaps)) / BUCKET
        ends = numpy.concatenate(([0.0], numpy.cumsum(self._weights())))
        days, rest = numpy.divmod(spent, BUCKETS)
        return numpy.floor((days * BUCKETS + numpy.interp(rest, ends, range(BUCKETS + 1))) * BUCKET)

    def _weights(self) -> numpy.ndarray:
        """Arrivals in each half hour from midnight on; 1 is the mean."""
        hours = numpy.arange(MORNING + 1, MORNING + BUCKETS + 1)
        cycle = stats.gamma(self.day[0], scale=self.day[1])
        weights = numpy.empty(BUCKETS)
        weights[(hours - 1) % BUCKETS] = cycle.cdf(hours + 0.5) - cycle.cdf(hours - 0.5)
        return weights / weights.mean()


INTERACTIVE = Stream(
    serial=0.1541,
    power_of_two=0.625,
    low=1.0,
    medium=3.0,
    high=5.5,
    low_share=0.705,
    short=(3.8351, 0.6605),
    long=(7.073, 0.6856),
    slope=-0.0118,
    intercept=0.9156,
    gaps=(6.5510 * 0.9797, 0.6621),
    day=(8.9186, 3.6680),
)
BATCH = Stream(
    serial=0.2927,
    power_of_two=0.6686,
    low=1.2,
    medium=5.0,
    high=7.0,
    low_share=0.875,
    short=(6.57, 0.823),
    long=(639.1, 0.0156),
    slope=-0.003,
    intercept=0.6986,
    gaps=(6.0415 * 1.0519, 0.8531),
    day=(6.1271, 5.2740),
)
TYPELESS = Stream(
    serial=0.244,
    power_of_two=0.576,
    low=0.8,
    medium=4.5,
    high=7.0,
    low_share=0.86,
    short=(4.2, 0.94),
    long=(312.0, 0.03),
    slope=-0.0054,
    intercept=0.78,
    gaps=(10.2303 * 1.0225, 0.4871),
    day=(8.1737, 3.9631),
)

#: The two variants: one kind of jobs, or interactive and batch jobs.
TYPES = {"type0": (TYPELESS,), "type1": (INTERACTIVE, BATCH)}


@dataclass(frozen=True)
class Lublin99:
    """Streams that are merged; of two jobs at once, that of the first stream comes first.

    :param streams: one of `TYPES`, or streams of your own, for a machine of 128.
    :param largest: no job has more processes; TPDS 2013 has 1 to 256.
    """

    streams: tuple[Stream, ...] = TYPES["type0"]
    largest: int = 256

    def generate(self, jobs: int, seed: int, nodes: int = 320) -> Workload:
        """Jobs for `nodes` slots, no larger than these; estimates are exact."""
        rng = numpy.random.default_rng(seed)
        largest = min(self.largest, nodes)
        streams = [stream.fitted(largest) for stream in self.streams]
        # The first jobs of all are among the first ones of each stream.
        arrivals = numpy.concatenate([stream.arrivals(jobs, rng) for stream in streams])
        order = numpy.argsort(arrivals, kind="stable")[:jobs]
        sizes, runtimes = numpy.empty(jobs, dtype=int), numpy.empty(jobs)
        for index, stream in enumerate(streams):
            mine = order // jobs == index
            sizes[mine] = stream.sizes(numpy.count_nonzero(mine), largest, rng)
            runtimes[mine] = stream.runtimes(sizes[mine], rng)
        return Workload.of(
            f"lublin:{jobs}", nodes, arrivals[order].tolist(), sizes.tolist(), runtimes.tolist()
        )


def _redrawn(draw, count: int, limit: float) -> numpy.ndarray:
    """`draw(indices)` for all of `count`, again where the value is above `limit`."""
    values = numpy.empty(count)
    left = numpy.arange(count)
    while len(left):
        values[left] = draw(left)
        left = left[values[left] > limit]
    return values
