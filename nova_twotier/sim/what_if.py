"""What is expected of a queue, and what would change if something about it were different."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from nova_twotier.core import policies, prediction
from nova_twotier.core.actions import Start, Tier
from nova_twotier.core.prediction.calibration import Calibration, Interval
from nova_twotier.core.prediction.present import Forecast
from nova_twotier.core.queue_state import QueueState, present, with_policy

#: Never: of a job that the hosts, or the policy, have no place for.
NEVER = Forecast(math.inf, math.inf)
#: A change of a time by less is none: forecasts are sums of floating-point numbers.
LEAST = 0.5


@dataclass(frozen=True)
class Expected:
    """What is expected of a job, in seconds from the time of the state; infinite: never.

    :param size: number of its processes.
    :param waited: seconds that it has waited by then.
    :param running: whether it runs by then.
    :param tier, hosts: where it runs, or starts; None and empty if that is not known.
    :param start_interval, finish_interval: hold with a probability of 80 %; None: not known, as of
        jobs that run: errors are those of predictions at the arrival.
    """

    number: int
    size: int
    waited: float
    running: bool
    start: float
    finish: float
    tier: Tier | None = None
    hosts: tuple[str, ...] = ()
    start_interval: Interval | None = None
    finish_interval: Interval | None = None

    @property
    def wait(self) -> float:
        """Seconds from its arrival to its start."""
        return self.waited + self.start

    @property
    def turnaround(self) -> float:
        """Seconds from its arrival to its end."""
        return self.waited + self.finish


def expect(state: QueueState, estimator: str = "sdpn") -> dict[int, Expected]:
    """What is expected of every job of a queue, by number.

    Intervals follow from the errors that the state has of this estimator under this policy.

    :raises UnknownEstimator: if there is none of that name.
    """
    learned = prediction.get(estimator)
    for past in state.past:
        learned.learn(past)
    starts: dict[int, Start] = {}

    def started(action: Start) -> None:
        starts[action.job.number] = action

    forecasts = learned.predict(replace(present(state), started=started))
    of_start, of_finish = _calibrations(state, estimator)
    found = {}
    for each in state.jobs:
        job, waits = each.job, each.tier is None
        start, finish = forecasts.get(job.number, NEVER)
        tier, hosts = each.tier, each.hosts
        if waits and (action := starts.get(job.number)):
            tier, hosts = action.tier, action.hosts
        found[job.number] = Expected(
            number=job.number,
            size=job.size,
            waited=max(0.0, state.at - job.arrival),
            running=not waits,
            start=start - state.at,
            finish=finish - state.at,
            tier=tier,
            hosts=tuple(state.hosts[host].name for host in hosts),
            # Nothing is uncertain about a start that the policy decides now.
            start_interval=of_start.interval(0.0, start - state.at) if start > state.at else None,
            finish_interval=of_finish.interval(0.0, finish - state.at) if waits else None,
        )
    return found


def _calibrations(state: QueueState, estimator: str) -> tuple[Calibration, Calibration]:
    measured = state.measured
    if measured and (measured.estimator, measured.policy) == (estimator, state.policy):
        return measured.calibrations()
    return Calibration(), Calibration()


@dataclass(frozen=True)
class Outlook:
    """The mean over some jobs of what is expected of them, in seconds.

    :param wait, longest_wait: of those of them that wait now.
    :param turnaround: of all of them.
    :param never: how many jobs of the queue, these or others, never end.
    """

    wait: float
    longest_wait: float
    turnaround: float
    never: int


def outlooks(found: Sequence[Mapping[int, Expected]]) -> list[Outlook]:
    """The outlook in each case, over the jobs that are there and end in all of the cases."""
    shared = [number for number in found[0] if all(_ends(each.get(number)) for each in found)]
    return [_outlook([each[number] for number in shared], each) for each in found]


def _ends(expected: Expected | None) -> bool:
    return expected is not None and expected.finish < math.inf


def _outlook(shared: Sequence[Expected], all_: Mapping[int, Expected]) -> Outlook:
    waits = [each.wait for each in shared if not each.running]
    return Outlook(
        wait=_mean(waits),
        longest_wait=max(waits, default=math.nan),
        turnaround=_mean([each.turnaround for each in shared]),
        never=sum(not _ends(each) for each in all_.values()),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


@dataclass(frozen=True)
class Shift:
    """How many jobs start and end sooner or later than before."""

    start_sooner: int
    start_later: int
    end_sooner: int
    end_later: int


def shift(before: Mapping[int, Expected], after: Mapping[int, Expected]) -> Shift:
    pairs = [(before[number], after[number]) for number in before.keys() & after.keys()]
    starts = [(old.start, new.start) for old, new in pairs]
    ends = [(old.finish, new.finish) for old, new in pairs]
    return Shift(
        start_sooner=sum(new < old - LEAST for old, new in starts),
        start_later=sum(new > old + LEAST for old, new in starts),
        end_sooner=sum(new < old - LEAST for old, new in ends),
        end_later=sum(new > old + LEAST for old, new in ends),
    )


def most_affected(
    before: Mapping[int, Expected], after: Mapping[int, Expected], count: int
) -> list[int]:
    """The numbers of the jobs whose ends move the most, the most affected first."""
    moved = []
    for number in before.keys() & after.keys():
        old, new = before[number].finish, after[number].finish
        change = 0.0 if old == new else abs(new - old)
        if change > LEAST:
            moved.append((-change, number))
    return [number for _change, number in sorted(moved)[:count]]


def under_each_policy(
    state: QueueState, estimator: str, names: Iterable[str] = tuple(policies.POLICIES)
) -> dict[str, dict[int, Expected]]:
    """What is expected of the queue under each of these policies, by name."""
    return {name: expect(with_policy(state, name), estimator) for name in names}
