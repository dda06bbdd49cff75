"""How fast a process advances in its tier (TPDS 2013, section 5.1; JSS 2015, section 4.1)."""

import contextlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import lru_cache
from statistics import NormalDist, fmean
from typing import Any


class InvalidModel(ValueError):
    """A progress model that cannot be used; the message says which field and what it may be."""


class Processes(StrEnum):
    """How the progress of a background job follows from its processes: a reading of the papers."""

    SLOWEST = "slowest"  # at each instant, the job advances as its slowest process
    OWN = "own"  # each process has its own work to do; the job ends with the last
    MEAN = "mean"  # at each instant, the job advances as its average process


#: Shortcut for code that runs for every job: looking up an enum member takes five times longer.
SLOWEST = Processes.SLOWEST


class Draw(StrEnum):
    """How often the efficiency of a background job is drawn: a reading of the papers."""

    MEAN = "mean"  # in every slice of time: it is always at its mean
    JOB = "job"  # once for a job each time that it enters the background
    PROCESS = "process"  # once for each of its processes then
    SLICE = "slice"  # for each of its processes in every slice of time, of which the slowest counts


#: As `SLOWEST`.
SLICE = Draw.SLICE
#: Points at which the slowest process of a slice is integrated, and those of the table for it.
_POINTS, _STEPS = 24, 128


@dataclass(frozen=True)
class Progress:
    """The papers' model of progress, in seconds of work per second.

    A foreground job advances at 1, and at `1 - loss` while a background VM runs below it. A
    background job advances at 1 while all its foreground VMs are idle; else each of its processes
    at `eff * min(1, idle / cpu)`, `idle` being what the foreground leaves, at least `floor`.

    :param loss: bounds of the uniform loss; its mean counts.
    :param eff_single: bounds of the uniform efficiency of a single-process job.
    :param eff_parallel: mean, deviation, and bounds of the normal efficiency of the others; what
        is outside of them is drawn anew.
    :param floor: lower bound of the idle share (TPDS 2013, section 5.1).
    :raises InvalidModel: if bounds are in the wrong order, or do not hold their mean.
    """

    loss: tuple[float, float] = (0.0, 0.037)
    eff_single: tuple[float, float] = (0.8, 1.0)
    eff_parallel: tuple[float, float, float, float] = (0.428, 0.144, 0.2, 0.8)
    floor: float = 0.04
    processes: Processes = Processes.SLOWEST
    draw: Draw = Draw.MEAN

    def __post_init__(self):
        for name in ("loss", "eff_single", "eff_parallel"):
            *_, low, high = bounds = getattr(self, name)
            if low > high or (len(bounds) > 2 and not low <= bounds[0] <= high):
                raise InvalidModel(f"{name} is {bounds}; its bounds must hold what they bound")

    @property
    def disturbed(self) -> float:
        """The rate of a foreground job above a background VM."""
        return 1 - sum(self.loss) / 2

    @property
    def by_least(self) -> bool:
        """Whether a background job's rate follows from the process that finds the least share."""
        return self.processes is SLOWEST and self.draw in (Draw.MEAN, Draw.JOB)

    @property
    def mean_single(self) -> float:
        return sum(self.eff_single) / 2

    @property
    def mean_parallel(self) -> float:
        """The mean of the normal distribution within its bounds."""
        return _mean_within(self.eff_parallel)

    def efficiency(self, size: int, rng: random.Random) -> float | list[float]:
        """The efficiency of a job of `size` processes in the background: one, or one for each."""
        match self.draw:
            case Draw.MEAN | Draw.SLICE:
                return self.mean_single if size == 1 else self.mean_parallel
            case Draw.JOB:
                return self._efficiency(size, rng)
            case Draw.PROCESS:
                return [self._efficiency(size, rng) for _process in range(size)]

    def _efficiency(self, size: int, rng: random.Random) -> float:
        if size == 1:
            return rng.uniform(*self.eff_single)
        mean, deviation, low, high = self.eff_parallel
        if low == high:
            return mean
        while True:
            drawn = rng.gauss(mean, deviation)
            if low <= drawn <= high:
                return drawn

    def background(
        self, idle: Sequence[float], cpu: Sequence[float], eff: float | list[float]
    ) -> tuple[float | list[float], float]:
        """The progress of a background job beside at least one busy foreground VM.

        :param idle: the share of its CPU that each process finds idle, at least `floor`.
        :param cpu: the CPU utilisation that each has on a dedicated slot, above 0.
        :param eff: of the job, or of each process.
        :returns: the job's rate, or that of each process if these have their own work; and the CPU
            seconds that it uses per second.
        """
        least, burn = _least_share(idle, cpu)
        if self.processes is SLOWEST and isinstance(eff, float):
            if self.draw is SLICE and len(cpu) > 1:
                return self._slowest_in_a_slice(idle, cpu, least), burn
            return eff * least, burn
        effs = [eff] * len(cpu) if isinstance(eff, float) else eff
        rates = [
            own * min(1.0, left / wanted) for own, left, wanted in zip(effs, idle, cpu, strict=True)
        ]
        match self.processes:
            case Processes.SLOWEST:
                return min(rates), burn
            case Processes.MEAN:
                return fmean(rates), burn
        return rates, burn

    def _slowest_in_a_slice(
        self, idle: Sequence[float], cpu: Sequence[float], least: float
    ) -> float:
        """The expected progress of the slowest process if each draws its efficiency anew.

        A slice is short beside a job, so that the mean counts: the integral of the probability
        that all processes are faster than some speed.

        :param least: as `_least_share` has it.
        """
        _mean, _deviation, low, high = self.eff_parallel
        above = _shares_above(self.eff_parallel)
        if not above or not least:
            return self.mean_parallel * least
        # An efficiency of y makes the most hindered process as fast as y * ratio makes another. A
        # process that is faster than that with any efficiency does not matter.
        ratios = [
            ratio
            for left, wanted in zip(idle, cpu, strict=True)
            if (ratio := least if left >= wanted else least * wanted / left) * high > low
        ]
        scale = _STEPS / (high - low)
        total = 0.0
        for point in range(_POINTS):
            # Closer to each other where the slowest of many is.
            part = (point + 0.5) / _POINTS
            y = low + (high - low) * part * part
            all_faster = 1.0
            for ratio in ratios:
                at = (y * ratio - low) * scale
                if at > 0:
                    step = int(at)
                    one = above[step]
                    all_faster *= one + (at - step) * (above[step + 1] - one)
            if all_faster < 1e-9:
                break
            total += 2 * part * all_faster
        return least * (low + (high - low) * total / _POINTS)


#: Mean, deviation, and bounds of a normal distribution.
_Normal = tuple[float, float, float, float]


# A cached property would be computed each time: compiled by mypyc, it is a plain one.
@lru_cache
def _mean_within(bounded: _Normal) -> float:
    mean, deviation, low, high = bounded
    if not deviation or low == high:
        return mean
    normal = NormalDist(mean, deviation)
    dense = normal.pdf(low) - normal.pdf(high)
    return mean + deviation**2 * dense / (normal.cdf(high) - normal.cdf(low))


@lru_cache
def _shares_above(bounded: _Normal) -> list[float]:
    """The probabilities that a value is above each step of the range.

    Empty if it is always the same.
    """
    mean, deviation, low, high = bounded
    if not deviation or low == high:
        return []
    normal = NormalDist(mean, deviation)
    last = normal.cdf(high)
    inside = last - normal.cdf(low)
    steps = [low + (high - low) * step / _STEPS for step in range(_STEPS + 1)]
    # One more, so that the upper end has a neighbour.
    return [(last - normal.cdf(step)) / inside for step in steps] + [0.0]


def _least_share(idle: Sequence[float], cpu: Sequence[float]) -> tuple[float, float]:
    """The least share of what it needs that any process finds idle, and what all of them use."""
    least, burn = 1.0, 0.0
    # One pass for both: jobs have many processes, and this is done most often of all.
    for left, wanted in zip(idle, cpu):  # noqa: B905  (a check costs as much as ten processes)
        if left < wanted:
            burn += left
            share = left / wanted
            if share < least:
                least = share
        else:
            burn += wanted
    return least, burn


#: The fields of a model that are words.
_WORDS: dict[str, type[StrEnum]] = {"processes": Processes, "draw": Draw}

#: The models of the papers, by name.
MODELS = {
    "tpds": Progress(),
    "jss": Progress(loss=(0.005, 0.04), eff_parallel=(0.43, 0.14, 0.2, 0.8)),
}


def load(values: Mapping[str, Any], name: str, base: Progress | None = None) -> Progress:
    """A model with some fields changed, such as those of a calibration.

    :param values: fields of `Progress`; numbers, lists of numbers, or words.
    :param name: stands for the values in errors.
    :param base: the model that provides the other fields; by default that of TPDS 2013.
    :raises InvalidModel: if a field is unknown or out of its range.
    """
    base = base or MODELS["tpds"]
    known = [field.name for field in fields(Progress)]
    if not isinstance(values, Mapping):
        raise InvalidModel(f"{name}: is not an object with the fields {', '.join(known)}")
    for field in values:
        if field not in known:
            raise InvalidModel(f"{name}: {field!r} is unknown; there are {', '.join(known)}")
    checked: dict[str, Any] = {field: _checked(field, values[field], name) for field in values}
    try:
        return replace(base, **checked)
    except InvalidModel as invalid:
        raise InvalidModel(f"{name}: {invalid}") from None


def _checked(field: str, value: object, name: str) -> object:
    """The checked value of a field, in the type that the model has."""
    if words := _WORDS.get(field):
        if value not in list(words):
            raise InvalidModel(f"{name}: {field} is {value!r}; choose one of: {', '.join(words)}")
        return words(str(value))
    # Of an object: compiled, the class has descriptors instead of the defaults.
    count = 0 if field == "floor" else len(getattr(MODELS["tpds"], field))
    numbers = value if isinstance(value, list | tuple) else [value]
    if len(numbers) == (count or 1) and isinstance(value, list | tuple) is bool(count):
        with contextlib.suppress(TypeError, ValueError):
            numbers = tuple(map(float, numbers))
            if all(0 <= number <= 1 for number in numbers):
                return numbers if count else numbers[0]
    form = f"{count} numbers" if count else "a number"
    raise InvalidModel(f"{name}: {field} is {value!r}; give {form} from 0 to 1")


def positive(cpu: tuple[float, ...]) -> tuple[float, ...]:
    """Utilisations with zeros replaced, so that they can be divided by."""
    return cpu if all(cpu) else tuple([value or 1e-9 for value in cpu])
