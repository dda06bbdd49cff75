"""CPU utilisation of processes: what they use, and what the scheduler is told of it."""

import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy

from nova_twotier.core.slots import THRESHOLD

#: Values drawn at once.
CHUNK = 1 << 16
#: A drawn value is a whole number of so many bits, times 2 ** -BITS. The other bits of a word of 64
#: are left for the number of its job.
BITS = 53

#: Of a single-process job (TPDS 2013, section 5.2; JSS 2015, section 4.1).
WHOLE = (1.0,)

Cpu = tuple[float, ...]


class InvalidUtilisation(ValueError):
    """A utilisation that cannot be; the message says which field and what it may be."""


@dataclass(frozen=True)
class Utilisation:
    """The utilisation 0..1 of a process on a slot of its own; the papers' percent / 100.

    A process of a parallel job uses uniform(lowest, highest), each its own; the process of a job
    that has one only uses all of its slot.

    :param error: r of the scheduler's estimate, which is the true value times uniform(1-r, 1+r),
        at most 1; a single-process job is known to use its whole slot. None: the scheduler knows
        nothing and is told `middle` for every process.
    :param closing: with an error of None: a process that keeps its slot busy (see `draw`) is told
        as 1, since an agent would see it at run time and close the slot.
    :raises InvalidUtilisation: if a field is out of its range.
    """

    lowest: float = 0.4
    highest: float = 1.0
    error: float | None = 0.0
    closing: bool = True

    def __post_init__(self):
        if not 0 <= self.lowest <= self.highest <= 1:
            raise InvalidUtilisation(
                f"utilisation is {self.lowest} to {self.highest}; give a range within 0 to 1"
            )
        if self.error is not None and not 0 <= self.error <= 1:
            raise InvalidUtilisation(
                f"error is {self.error}; give 0 to 1, or None if nothing is known"
            )

    @classmethod
    def averaging(cls, mean: float, **options) -> Self:
        """The papers' "average CPU usage of 60 % (20-100 %)": from 2 * mean - 1 to 1.

        :raises InvalidUtilisation: if `mean` is below 0.5 or above 1.
        """
        if not 0.5 <= mean <= 1:
            raise InvalidUtilisation(f"average utilisation is {mean}; give 0.5 to 1")
        return cls(lowest=2 * mean - 1, highest=1.0, **options)

    @property
    def middle(self) -> float:
        """The mean of the range, which stands for unknown utilisations."""
        return (self.lowest + self.highest) / 2

    def draw(
        self,
        sizes: Iterable[int],
        rng: random.Random | numpy.random.Generator,
        threshold: float = THRESHOLD,
    ) -> Iterator[tuple[Cpu, Cpu]]:
        """The known and the true utilisation of each job's processes.

        The known ones descend; `true[i]` is of the same process as `known[i]`. They are the same
        object where everything is known. The true values of a job depend on its place and the
        seed only, not on the error and not on later jobs, so that runs can be compared.

        :param threshold: of the cluster: what uses as much keeps its slot busy.
        """
        if isinstance(rng, random.Random):
            rng = numpy.random.default_rng(rng.getrandbits(128))
        truth, errors = rng.spawn(2)
        for batch in _batches(sizes):
            shares = truth.random(sum([size for size in batch if size > 1]))
            if self.error == 0:
                yield from self._exact(shares, batch)
            else:
                yield from self._told(shares, batch, errors, threshold)

    def _exact(self, shares, batch) -> Iterator[tuple[Cpu, Cpu]]:
        # Ascending shares count down from the highest.
        ascending = _sorted_by_job(shares, [size for size in batch if size > 1])
        cpu = tuple(self._within(ascending).tolist())
        start = 0
        for size in batch:
            job: Cpu = WHOLE
            if size > 1:
                job = cpu[start : start + size]
                start += size
            yield job, job

    def _told(self, shares, batch, errors, threshold) -> Iterator[tuple[Cpu, Cpu]]:
        true = self._within(shares)
        known = self._known(true, errors, threshold)
        order = numpy.arange(len(true))
        start = 0
        for size in batch:
            if size > 1:
                # Stable, so that the order of equal values carries no information.
                descending = numpy.argsort(-known[start : start + size], kind="stable")
                order[start : start + size] = start + descending
                start += size
        known = tuple(known[order].tolist())
        true = tuple(true[order].tolist())
        single: Cpu = WHOLE if self.error is not None or self.closing else (self.middle,)
        start = 0
        for size in batch:
            if size > 1:
                end = start + size
                yield known[start:end], true[start:end]
                start = end
            else:
                yield single, WHOLE

    def _within(self, shares):
        cpu = self.highest - (self.highest - self.lowest) * shares
        return numpy.clip(cpu, self.lowest, self.highest)

    def _known(self, true, errors, threshold):
        if self.error is not None:
            factors = 1 + self.error * (2 * errors.random(len(true)) - 1)
            return numpy.minimum(true * factors, 1.0)
        # A process without a reading does not count as busy.
        guess = min(self.middle, math.nextafter(threshold, 0)) if self.closing else self.middle
        known = numpy.full(len(true), guess)
        if self.closing:
            known[true >= threshold] = 1.0
        return known


def _sorted_by_job(shares, sizes):
    """Sort the drawn values of each job in ascending order.

    For most jobs, a call of their own would cost more than the sorting. So many jobs are sorted at
    once, as words with the number of the job above the value.
    """
    at_once = 1 << (64 - BITS)
    values, start = numpy.empty_like(shares), 0
    for first in range(0, len(sizes), at_once):
        these = sizes[first : first + at_once]
        end = start + sum(these)
        jobs = numpy.repeat(numpy.arange(len(these), dtype=numpy.uint64) << BITS, these)
        words = jobs | (shares[start:end] * 2.0**BITS).astype(numpy.uint64)
        words.sort()
        values[start:end] = (words & ((1 << BITS) - 1)) * 2.0**-BITS
        start = end
    return values


def _batches(sizes: Iterable[int]) -> Iterator[list[int]]:
    batch, total = [], 0
    for size in sizes:
        batch.append(size)
        total += size
        if total >= CHUNK:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
