"""The order of measurements: every mechanism right between references of both jobs alone.

The jobs of a layout and a utilisation live as long as these are measured, and take turns: the
foreground alone, the background alone, both under a mechanism, and again from the beginning with
the next one; in another order in every repetition. Who has no turn is stopped by SIGSTOP.
"""

import contextlib
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nova_twotier.calibration import host, mechanisms
from nova_twotier.calibration.cgroups import Groups
from nova_twotier.calibration.layouts import Cpus, Layout
from nova_twotier.calibration.loads import Job, Kind, Load, Sample
from nova_twotier.calibration.mechanisms import Mechanism

#: Turns in which one side is alone.
FOREGROUND, BACKGROUND = "foreground alone", "background alone"
#: Seconds of a step of the parallel jobs, and of the background's single process, undisturbed.
CYCLE, SHORT = 0.02, 0.001
#: Steps of foreground jobs that are not one job last so much longer from one to the next, so that
#: their phases meet in all ways.
_STRETCH = 0.13
#: Seconds after the change of turns that do not count.
SETTLE = 0.1
#: With fewer steps, the time between the first and the last is itself a matter of chance.
_FEW = 10


@dataclass(frozen=True)
class Plan:
    """What is measured.

    :param utilisations: CPU utilisations of the foreground, 0..1.
    :param repetitions: of each point.
    :param seconds: of each turn.
    :param background: CPU utilisation of a parallel background job.
    """

    cpus: tuple[int, ...]
    utilisations: tuple[float, ...]
    layouts: tuple[Layout, ...]
    mechanisms: tuple[Mechanism, ...]
    repetitions: int
    seconds: float
    background: float

    @property
    def turns(self) -> int:
        points = len(self.utilisations) * len(self.layouts)
        return points * (self.repetitions * 3 * len(self.mechanisms) + 2)

    @property
    def duration(self) -> float:
        """Seconds that all turns take."""
        return self.turns * (self.seconds + SETTLE)


@dataclass(frozen=True)
class Rate:
    """What a job achieved in a turn: steps per second, and its processes' mean CPU utilisation."""

    steps: float
    cpu: float
    processes: int = 1


@dataclass(frozen=True)
class Turn:
    """One measurement.

    :param utilisation: that the foreground was meant to have.
    :param who: a mechanism's name, or who was alone.
    :param number: from 0, of a pair of references and of the turn after it; so the next pair has
        the number after that.
    :param front: of each foreground job; empty if they were stopped.
    :param back: of the background job; empty if it was stopped.
    :param waited: the share of their time that the jobs' processes waited for a CPU.
    :param foreign: the share of the CPUs' time that other processes used.
    :param steal: the share that the hypervisor kept from this host.
    """

    utilisation: float
    layout: str
    who: str
    number: int
    front: tuple[Rate, ...]
    back: tuple[Rate, ...]
    waited: float
    foreign: float
    steal: float


class Experiment:
    """Carries out a plan with one kind of loads."""

    def __init__(self, plan: Plan, groups: Groups, kind: Kind):
        self._plan = plan
        self._groups = groups
        self._kind = kind
        self._order = random.Random(0)  # noqa: S311

    def run(self) -> Iterator[Turn]:
        """Measure everything, a turn at a time.

        :raises LoadFailed: if a load ends by itself.
        :raises OSError: if a load cannot be made, or a mechanism is refused.
        """
        for layout in self._plan.layouts:
            for utilisation in self._plan.utilisations:
                with contextlib.ExitStack() as stack:
                    front = [stack.enter_context(job) for job in self._front(layout, utilisation)]
                    back = stack.enter_context(self._back(layout))
                    for who, number in self._turns():
                        yield self._measure(utilisation, layout, who, number, front, back)

    def _turns(self) -> Iterator[tuple[Mechanism | str, int]]:
        chosen = self._plan.mechanisms
        order = [
            mechanism
            for _repetition in range(self._plan.repetitions)
            for mechanism in self._order.sample(chosen, len(chosen))
        ]
        for number, mechanism in enumerate(order):
            yield FOREGROUND, number
            yield BACKGROUND, number
            yield mechanism, number
        yield FOREGROUND, len(order)
        yield BACKGROUND, len(order)

    def _front(self, layout: Layout, utilisation: float) -> list[Job]:
        return [
            self._job(cpus, utilisation, CYCLE * (1 + number * _STRETCH))
            for number, cpus in enumerate(layout.foreground(self._plan.cpus))
        ]

    def _back(self, layout: Layout) -> Job:
        cpus = layout.background(self._plan.cpus)
        if layout.parallel:
            return self._job(cpus, self._plan.background, CYCLE)
        return self._job(cpus, 1.0, SHORT)

    def _job(self, cpus: Cpus, utilisation: float, seconds: float) -> Job:
        return self._kind.job(cpus, Load.of(utilisation, seconds, self._kind.scan))

    def _measure(
        self,
        utilisation: float,
        layout: Layout,
        who: Mechanism | str,
        number: int,
        front: Sequence[Job],
        back: Job,
    ) -> Turn:
        mechanism = who if isinstance(who, Mechanism) else mechanisms.EQUAL
        pids = {cpu: pid for job in front for cpu, pid in job.pids.items()}
        mechanisms.apply(mechanism, self._groups, pids, back.pids)
        running = [*([] if who == BACKGROUND else front), *([] if who == FOREGROUND else [back])]
        seen = self._observe(running)
        return Turn(
            utilisation,
            layout.name,
            mechanism.name if isinstance(who, Mechanism) else who,
            number,
            () if who == BACKGROUND else tuple(seen.rates[: len(front)]),
            () if who == FOREGROUND else (seen.rates[-1],),
            seen.waited,
            seen.foreign,
            seen.steal,
        )

    def _observe(self, running: Sequence[Job]) -> "_Seen":
        """Let jobs run for a turn. All of them are looked at at the same two instants."""
        resumed = time.monotonic()
        for job in running:
            job.resume()
        time.sleep(SETTLE)
        first = self._look(running)
        time.sleep(self._plan.seconds)
        last = self._look(running)
        for job in running:
            job.pause()
        window = last.at - first.at
        whole = window * len(self._plan.cpus)
        processes = sum(len(job.cpus) for job in running)
        ran = last.own.ran - first.own.ran
        return _Seen(
            [
                rate(begin, end, resumed, window, len(job.cpus))
                for job, begin, end in zip(running, first.jobs, last.jobs, strict=True)
            ],
            waited=(last.own.waited - first.own.waited) / window / processes,
            # Ticks are coarser than the times of processes: a difference may be below 0.
            foreign=max(0.0, last.cpus.busy - first.cpus.busy - ran) / whole,
            steal=(last.cpus.steal - first.cpus.steal) / whole,
        )

    def _look(self, running: Sequence[Job]) -> "_Look":
        return _Look(
            time.monotonic(),
            [job.sample() for job in running],
            host.cpu_times(self._plan.cpus),
            host.process_times(pid for job in running for pid in job.pids.values()),
        )


@dataclass(frozen=True)
class _Look:
    """Everything at one instant."""

    at: float
    jobs: list[Sample]
    cpus: host.CpuTimes
    own: host.ProcessTimes


@dataclass(frozen=True)
class _Seen:
    """What two looks differ in; the fields are those of a turn."""

    rates: list[Rate]
    waited: float
    foreign: float
    steal: float


def rate(first: Sample, last: Sample, resumed: float, window: float, processes: int = 1) -> Rate:
    """What a job achieved between two samples.

    Whole steps are counted over the time that they took, so that it does not matter at which point
    of a step a sample was taken.

    :param resumed: when the job began to run; the step before may have been stopped in the middle.
    :param window: seconds between the samples.
    """
    steps = last.steps - first.steps
    span = last.at - max(first.at, resumed) if steps >= _FEW else window
    return Rate(steps / span, (last.cpu - first.cpu) / span, processes)
