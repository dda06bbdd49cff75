"""Points: loss, efficiency and gain of a mechanism at a utilisation, and the verdict."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from nova_twotier.calibration.experiment import BACKGROUND, FOREGROUND, Rate, Turn
from nova_twotier.calibration.spread import Spread, spread
from nova_twotier.core.progress import Progress

#: With fewer repetitions there is no verdict.
LEAST_REPETITIONS = 5
#: The least share of the CPU that counts as idle, as in the simulator (TPDS 2013, section 5.1).
FLOOR = Progress.floor


class Verdict(StrEnum):
    """Whether a background VM is worth it at a point."""

    WORTH = "worth it"
    NOT_WORTH = "not worth it"
    UNDECIDED = "undecided"  # the interval of the gain holds the bound
    DRIFT = "no verdict: drift"  # too few repetitions had references that held
    FOREIGN = "no verdict: foreign load"  # too few had the CPUs to themselves

    @property
    def valid(self) -> bool:
        """Whether it is a verdict."""
        return self not in (Verdict.DRIFT, Verdict.FOREIGN)


@dataclass(frozen=True)
class Bounds:
    """When a repetition counts, and what the points are judged by.

    :param drift: it does not count if the references before and after it differ by more;
    :param waited: or if in these references processes wait longer for a CPU, as a share of their
        time: they are alone, so others have it.
    :param gain: a background VM is worth it if it gains more.
    """

    drift: float
    waited: float
    gain: float


@dataclass(frozen=True)
class Trial:
    """One repetition of a point, compared with the references before and after it.

    :param utilisation: of the foreground alone, as measured.
    :param loss: the part of its speed that the foreground loses.
    :param progress: the background's speed, as a part of its speed alone.
    :param efficiency: what `core.progress.Progress` calls `eff`: the progress, as a part of what
        the idle CPU time would allow.
    :param gain: work that the background does less what the foreground loses, in CPUs for each
        background process.
    :param drift: the relative difference between the references before and after; of all jobs', the
        largest.
    :param waited: the share of their time that processes waited for a CPU in these references.
    :param foreign: the share of the CPUs' time that others used while both jobs ran, the hypervisor
        included.
    """

    utilisation: float
    loss: float
    progress: float
    efficiency: float
    gain: float
    drift: float
    waited: float
    foreign: float


@dataclass(frozen=True)
class Point:
    """A mechanism at a utilisation of the foreground, over all repetitions that count.

    :param trials: their number; if it is 0, the numbers are those of the others.
    :param dropped: the number of the others.
    """

    layout: str
    mechanism: str
    nominal: float
    utilisation: float
    trials: int
    dropped: int
    loss: Spread
    efficiency: Spread
    gain: Spread
    drift: float
    waited: float
    foreign: float
    verdict: Verdict

    @property
    def valid(self) -> bool:
        return self.verdict.valid


def points(turns: Iterable[Turn], bounds: Bounds) -> list[Point]:
    """The points of an experiment, in the order in which they were first measured."""
    found: dict[tuple[str, str, float], list[Trial]] = {}
    for (layout, nominal), group in itertools.groupby(
        turns, key=lambda turn: (turn.layout, turn.utilisation)
    ):
        for mechanism, trial in _trials(list(group)):
            found.setdefault((layout, mechanism, nominal), []).append(trial)
    return [_point(*key, trials, bounds) for key, trials in found.items()]


def _trials(turns: Sequence[Turn]) -> Iterable[tuple[str, Trial]]:
    """The mechanism and the numbers of each turn that two jobs shared."""
    alone = {
        who: {turn.number: turn for turn in turns if turn.who == who}
        for who in (FOREGROUND, BACKGROUND)
    }
    for turn in turns:
        if turn.who not in alone:
            yield turn.who, _trial(turn, alone[FOREGROUND], alone[BACKGROUND])


def _trial(turn: Turn, fronts: Mapping[int, Turn], backs: Mapping[int, Turn]) -> Trial:
    before, after = turn.number, turn.number + 1
    pairs = list(zip(fronts[before].front, fronts[after].front, strict=True))
    front = [_mean(*pair) for pair in pairs]
    [first], [last], [together] = backs[before].back, backs[after].back, turn.back
    back = _mean(first, last)
    utilisation = fmean(rate.cpu for rate in front)
    loss = 1 - fmean(
        shared.steps / alone.steps for shared, alone in zip(turn.front, front, strict=True)
    )
    progress = together.steps / back.steps
    above = sum(rate.processes for rate in turn.front) / together.processes
    room = min(1.0, max(1 - utilisation, FLOOR) / back.cpu)
    return Trial(
        utilisation=utilisation,
        loss=loss,
        progress=progress,
        efficiency=progress / room,
        gain=progress * back.cpu - loss * utilisation * above,
        drift=max(_difference(*pair) for pair in (*pairs, (first, last))),
        waited=max(turns[number].waited for turns in (fronts, backs) for number in (before, after)),
        foreign=turn.foreign + turn.steal,
    )


def _mean(first: Rate, last: Rate) -> Rate:
    """The mean of two references, with zeros replaced, so that it can be divided by."""
    steps, cpu = (first.steps + last.steps) / 2, (first.cpu + last.cpu) / 2
    return Rate(steps or 1e-9, cpu or 1e-9, first.processes)


def _difference(first: Rate, last: Rate) -> float:
    """The relative difference of two references; 2, the largest, if one of them is 0."""
    if not first.steps or not last.steps:
        return 2.0
    return abs(last.steps - first.steps) / _mean(first, last).steps


def _point(
    layout: str,
    mechanism: str,
    nominal: float,
    trials: Sequence[Trial],
    bounds: Bounds,
) -> Point:
    held = [trial for trial in trials if trial.drift <= bounds.drift]
    good = [trial for trial in held if trial.waited <= bounds.waited]
    counted = good or trials
    gain = spread([trial.gain for trial in counted])
    if len(held) < LEAST_REPETITIONS:
        verdict = Verdict.DRIFT
    elif len(good) < LEAST_REPETITIONS:
        verdict = Verdict.FOREIGN
    elif gain.low > bounds.gain:
        verdict = Verdict.WORTH
    elif gain.high <= bounds.gain:
        verdict = Verdict.NOT_WORTH
    else:
        verdict = Verdict.UNDECIDED
    return Point(
        layout=layout,
        mechanism=mechanism,
        nominal=nominal,
        utilisation=fmean(trial.utilisation for trial in counted),
        trials=len(good),
        dropped=len(trials) - len(good),
        loss=spread([trial.loss for trial in counted]),
        efficiency=spread([trial.efficiency for trial in counted]),
        gain=gain,
        drift=max(trial.drift for trial in trials),
        waited=max(trial.waited for trial in trials),
        foreign=fmean(trial.foreign for trial in trials),
        verdict=verdict,
    )
