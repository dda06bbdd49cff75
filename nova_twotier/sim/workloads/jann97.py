"""The model of Jann et al. 1997 (the papers' JWorkload), with refitted constants.

Jobs come in ranges of sizes. Each range has arrivals of its own and run times of its own, both of
hyper-Erlang distribution; the ranges are merged. The published constants are not available: the
default ones are fitted, by the published method, to what the authors looked at, the first part of
the archive's CTC-SP2-1996-3.1-cln (26 June to 12 September 1996, jobs of up to 322 processors).
"""

import dataclasses
import functools
import json
import pathlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy

from nova_twotier.sim import whole_file
from nova_twotier.sim.workloads.hyper_erlang import HyperErlang
from nova_twotier.sim.workloads.workload import Submission, Workload

CTC = pathlib.Path(__file__).with_name("jann97_ctc.json")

#: How a job's size is drawn inside its range; the authors do not say.
SIZES = ("empirical", "uniform", "top")

#: A range needs as many jobs to have a time between two of them that varies.
FEWEST = 3


class InvalidModel(ValueError):
    """A model that cannot be read, fitted or used; the message says why."""


@dataclass(frozen=True)
class Range:
    """Jobs of `lowest` to `highest` processes; `sizes` are those seen, with their numbers."""

    lowest: int
    highest: int
    interarrival: HyperErlang
    runtime: HyperErlang
    sizes: Mapping[int, int] = dataclasses.field(hash=False)

    def __post_init__(self):
        inside = all(self.lowest <= size <= self.highest for size in self.sizes)
        if not 1 <= self.lowest <= self.highest or not self.sizes or not inside:
            raise InvalidModel(
                f"range {self.lowest} to {self.highest}: needs sizes of at least 1 within it"
            )

    def below(self, limit: int) -> Self | None:
        """The range without sizes above `limit`; None if nothing is left."""
        sizes = {size: count for size, count in self.sizes.items() if size <= limit}
        if not sizes:
            return None
        return dataclasses.replace(self, highest=min(self.highest, limit), sizes=sizes)

    def draw_sizes(self, how: str, count: int, rng: numpy.random.Generator) -> numpy.ndarray:
        """Sizes of `count` jobs, by one of `SIZES`."""
        if how == "top":
            return numpy.full(count, self.highest)
        if how == "uniform":
            return rng.integers(self.lowest, self.highest, count, endpoint=True)
        weights = numpy.array(list(self.sizes.values()), dtype=float)
        return rng.choice(list(self.sizes), count, p=weights / weights.sum())


@dataclass(frozen=True)
class Jann97:
    """Ranges of sizes, each with its times.

    :param ranges: None is the model of the CTC.
    :param sizes: one of `SIZES`.
    :param largest: no job has more processes; TPDS 2013 has 1 to 256.
    :raises InvalidModel: if `sizes` is none of them, or `largest` is no number from 1.
    """

    ranges: tuple[Range, ...] | None = None
    sizes: str = "empirical"
    largest: int = 256

    def __post_init__(self):
        if self.sizes not in SIZES:
            raise InvalidModel(f"sizes is {self.sizes!r}; it must be one of {', '.join(SIZES)}")
        if not isinstance(self.largest, int) or self.largest < 1:
            raise InvalidModel(f"largest is {self.largest!r}; it must be a whole number from 1")
        if self.ranges is None:
            object.__setattr__(self, "ranges", _ctc())

    def generate(self, jobs: int, seed: int, nodes: int = 320) -> Workload:
        """Jobs for `nodes` slots; estimates are exact.

        :raises InvalidModel: if no range has jobs that small.
        """
        rng = numpy.random.default_rng(seed)
        limit = min(self.largest, nodes)
        ranges = [left for left in (range_.below(limit) for range_ in self.ranges) if left]
        if not ranges:
            raise InvalidModel(f"no range has jobs of up to {limit} processes")
        # The first jobs of all are among the first ones of each range.
        arrivals = [numpy.cumsum(range_.interarrival.sample(jobs, rng)) for range_ in ranges]
        order = numpy.argsort(numpy.concatenate(arrivals), kind="stable")[:jobs]
        owner = order // jobs
        sizes, runtimes = numpy.empty(jobs, dtype=int), numpy.empty(jobs)
        for index, range_ in enumerate(ranges):
            mine = owner == index
            count = numpy.count_nonzero(mine)
            sizes[mine] = range_.draw_sizes(self.sizes, count, rng)
            runtimes[mine] = range_.runtime.sample(count, rng)
        times = numpy.concatenate(arrivals)[order]
        return Workload.of(f"jann:{jobs}", nodes, times.tolist(), sizes.tolist(), runtimes.tolist())

    def save(self, path: str | pathlib.Path) -> None:
        """Write the model as JSON.

        :raises OSError: if the file cannot be written.
        """
        model = dataclasses.asdict(self)
        with whole_file.replacing(path) as part:
            part.write_text(json.dumps(model, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | pathlib.Path, **options) -> Self:
        """A model that `save` wrote; `options` are fields that differ from the file's.

        A file of an older release has the ranges only: its largest job is that of the ranges.

        :raises InvalidModel: if the file does not hold one.
        :raises OSError: if the file cannot be read.
        """
        try:
            model = json.loads(pathlib.Path(path).read_text())
            ranges = tuple(_range(**values) for values in model.pop("ranges"))
            model.setdefault("largest", max(range_.highest for range_ in ranges))
            return cls(ranges, **model | options)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidModel(f"{path}: is not a model of Jann 1997 ({error})") from error


def fit(workload: Workload, ranges: Iterable[tuple[int, int]] | None = None) -> Jann97:
    """The model of a workload, by its first three moments in each range of sizes.

    :param ranges: (lowest, highest) size of each; without, 1, 2, 3-4, 5-8 and so on. A range of
        fewer than three jobs is left out.
    :raises InvalidModel: if no range is left, or all times of one are 0.
    """
    largest = max(job.size for job in workload.jobs)
    if ranges is None:
        ranges = _powers_of_two(largest)
    fitted = [_fitted(workload.jobs, lowest, highest) for lowest, highest in ranges]
    found = tuple(range_ for range_ in fitted if range_)
    if not found:
        raise InvalidModel(f"{workload.name}: no range of sizes has {FEWEST} jobs")
    return Jann97(found, largest=largest)


def _fitted(jobs: Iterable[Submission], lowest: int, highest: int) -> Range | None:
    mine = [job for job in jobs if lowest <= job.size <= highest]
    if len(mine) < FEWEST:
        return None
    try:
        return Range(
            lowest,
            highest,
            HyperErlang.matching(numpy.diff([job.arrival for job in mine])),
            HyperErlang.matching([job.runtime for job in mine]),
            dict(sorted(Counter(job.size for job in mine).items())),
        )
    except ValueError as error:
        raise InvalidModel(f"range {lowest} to {highest}: {error}") from error


def _powers_of_two(largest: int) -> list[tuple[int, int]]:
    ranges = [(1, 1)]
    while ranges[-1][1] < largest:
        highest = ranges[-1][1]
        ranges.append((highest + 1, min(2 * highest, largest)))
    return ranges


def _range(lowest: int, highest: int, interarrival: dict, runtime: dict, sizes: dict) -> Range:
    return Range(
        lowest,
        highest,
        HyperErlang(**interarrival),
        HyperErlang(**runtime),
        {int(size): count for size, count in sizes.items()},
    )


@functools.cache
def _ctc() -> tuple[Range, ...]:
    return Jann97.load(CTC).ranges
