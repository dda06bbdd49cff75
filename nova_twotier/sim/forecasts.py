"""Predicts each job at its submission during a run, and keeps what came of it."""

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import pandas

from nova_twotier.core import prediction
from nova_twotier.core.policies import Policy
from nova_twotier.core.prediction import Estimator
from nova_twotier.core.prediction.calibration import Calibration, Interval
from nova_twotier.core.prediction.nodes import Node
from nova_twotier.core.prediction.present import Forecast, Past, Present
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.sim import metrics, run_time_coverage, simulation, sweep, variants
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.planned import Planned
from nova_twotier.sim.scenario import InvalidScenario, Scenario
from nova_twotier.sim.simulation import Result
from nova_twotier.sim.workloads.workload import Workload

#: Those of the queue manager, and what batch systems show.
ESTIMATORS: dict[str, type[Estimator]] = {**prediction.ESTIMATORS, Planned.name: Planned}

#: Columns of the predictions, one row for each estimator and job; times in seconds.
COLUMNS = (
    "estimator",
    "job",
    "made",
    "expected_start",
    "corrected_start",  # by the errors so far
    "start_low",  # of the 80 % interval; None while too little is known
    "start_high",
    "start",
    "expected_finish",
    "finish_low",
    "finish_high",
    "finish",
    "seconds",  # of CPU time that the prediction took
)


@dataclass
class _Made:
    """A prediction, and what was told with it."""

    forecast: Forecast
    corrected: float
    start: Interval | None
    finish: Interval | None
    seconds: float


@dataclass
class _Record:
    """An estimator, and how the predictions came out that it has made."""

    estimator: Estimator
    starts: Calibration = field(default_factory=Calibration)
    finishes: Calibration = field(default_factory=Calibration)
    made: dict[int, _Made] = field(default_factory=dict)


class Forecaster:
    """Makes a prediction with each estimator for each job that still waits after its arrival.

    An estimator learns from a job when it has ended, a calibration from a start when it is due.

    :param policy: of the run; an instance of its own.
    :param users: the owner of each job, by number; absent: not known.
    :param cost: of a migration, in seconds.
    :param every: whether the ends of jobs that start at once are predicted, too.
    :param nodes: what is known of the hosts at a time.
    """

    def __init__(
        self,
        estimators: Mapping[str, Estimator],
        policy: Policy,
        users: Mapping[int, Hashable],
        cost: float,
        *,
        every: bool = False,
        nodes: Callable[[float], Sequence[Node]] = lambda now: (),
    ):
        self._every = every
        self._nodes = nodes
        self._policy = policy
        self._users = users
        self._cost = cost
        self._records = {name: _Record(estimator) for name, estimator in estimators.items()}
        #: Predicted jobs that have not started yet, and when they were predicted.
        self._unstarted: dict[int, float] = {}
        self._made: dict[int, float] = {}
        self.rows: list[tuple] = []

    def watch(
        self,
        snapshot: Snapshot,
        waiting: Mapping[int, Execution],
        running: Mapping[int, Execution],
        now: float,
    ) -> None:
        """As `engine.run` calls it."""
        for number in [number for number in self._unstarted if number not in waiting]:
            self._started(number, now)
        arrived = self._arrived(waiting, running, now)
        if arrived:
            done = {
                number: execution.done(now)
                for jobs in (running, waiting)
                for number, execution in jobs.items()
            }
            nodes = self._nodes(now)
            present = Present(snapshot, self._policy, now, done, self._users, nodes, self._cost)
            for number in arrived:
                self._made[number] = now
                if number in waiting:
                    self._unstarted[number] = now
                for record in self._records.values():
                    record.made[number] = _predict(record, present, number)

    def _arrived(
        self, waiting: Mapping[int, Execution], running: Mapping[int, Execution], now: float
    ) -> list[int]:
        """The numbers of the jobs that arrived now and are to be predicted, ascending.

        They may be anywhere in the queue: some policies order it by something else than arrival.
        """
        jobs = [*waiting.values(), *(running.values() if self._every else ())]
        return sorted(
            each.job.number
            for each in jobs
            if each.job.arrival == now and each.job.number not in self._made
        )

    def _started(self, number: int, now: float) -> None:
        at = self._unstarted.pop(number)
        for record in self._records.values():
            made = record.made[number]
            record.starts.learn(at, made.forecast.start, now, made.start)

    def calibrations(self, estimator: str) -> tuple[Calibration, Calibration]:
        """How the predictions of an estimator have come out: of starts, and of ends."""
        record = self._records[estimator]
        return record.starts, record.finishes

    def ended(self, execution: Execution) -> None:
        """Take note of a job that has ended."""
        job, finish, start = execution.job, execution.finish, execution.start
        number = job.number
        past = Past(
            job, self._users.get(number), start - job.arrival, finish - start, execution.runtime
        )
        if number in self._unstarted:  # it started and ended in the same instant
            self._started(number, start)
        at = self._made.pop(number, None)
        for name, record in self._records.items():
            record.estimator.learn(past)
            if at is None:
                continue
            made = record.made.pop(number)
            record.finishes.learn(at, made.forecast.finish, finish, made.finish)
            self.rows.append(
                (
                    *(name, number, at),
                    *(made.forecast.start, made.corrected, *(made.start or (None, None)), start),
                    *(made.forecast.finish, *(made.finish or (None, None)), finish),
                    made.seconds,
                )
            )


def _predict(record: _Record, present: Present, number: int) -> _Made:
    begin = time.process_time()
    forecast = record.estimator.predict(present, number)[number]
    seconds = time.process_time() - begin
    return _Made(
        forecast,
        record.starts.corrected(present.now, forecast.start),
        record.starts.interval(present.now, forecast.start),
        record.finishes.interval(present.now, forecast.finish),
        seconds,
    )


def simulate(
    workload: Workload, scenario: Scenario, estimators: Mapping[str, Estimator]
) -> tuple[Result, pandas.DataFrame]:
    """Run a workload and predict its jobs.

    :returns: the result of the run, and the predictions with `COLUMNS`.
    :raises InvalidScenario: if the policy remembers earlier passes.
    """
    policy = variants.get(scenario.policy, scenario.deadline_factor)
    if policy.remembers:
        raise InvalidScenario(
            f"{policy.name} remembers the past, so its queue cannot be run forward; choose another "
            "policy"
        )
    forecaster = Forecaster(estimators, policy, workload.users, scenario.migration_cost)
    result = simulation.simulate(workload, scenario, watch=forecaster.watch, ended=forecaster.ended)
    return result, pandas.DataFrame(forecaster.rows, columns=list(COLUMNS))


#: Metrics of an estimator, which `summarise` writes as `METRIC:ESTIMATOR`.
START_ERROR = "median_start_error_seconds"
CORRECTED_ERROR = "median_corrected_start_error_seconds"
MEAN_START_ERROR = "mean_start_error_seconds"
START_COVERAGE = "start_coverage_percent"
START_WIDTH = "median_start_interval_seconds"
FINISH_ERROR = "median_finish_error_seconds"
FINISH_COVERAGE = "finish_coverage_percent"
COST = "milliseconds_per_prediction"


def summarise(predictions: pandas.DataFrame) -> dict[str, float]:
    """The metrics of each estimator, over the jobs that it was asked for; and their number.

    Errors are absolute differences; coverages are of the predictions that had an interval.
    """
    row: dict[str, float] = {"predicted": predictions["job"].nunique()}
    for name, made in predictions.groupby("estimator"):
        start_error = (made["expected_start"] - made["start"]).abs()
        of_estimator = {
            START_ERROR: start_error.median(),
            CORRECTED_ERROR: (made["corrected_start"] - made["start"]).abs().median(),
            MEAN_START_ERROR: start_error.mean(),
            START_COVERAGE: 100 * _coverage(made, "start"),
            START_WIDTH: (made["start_high"] - made["start_low"]).astype(float).median(),
            FINISH_ERROR: (made["expected_finish"] - made["finish"]).abs().median(),
            FINISH_COVERAGE: 100 * _coverage(made, "finish"),
            COST: 1000 * made["seconds"].mean(),
        }
        row |= {f"{metric}:{name}": float(value) for metric, value in of_estimator.items()}
    return row


def _coverage(made: pandas.DataFrame, what: str) -> float:
    told = made[made[f"{what}_low"].notna()]
    return ((told[f"{what}_low"] <= told[what]) & (told[what] <= told[f"{what}_high"])).mean()


@dataclass(frozen=True)
class ForecastPoint(sweep.Point):
    """A run of a sweep with predictions; its row has their metrics, too."""

    estimators: tuple[str, ...] = tuple(ESTIMATORS)

    def row(self) -> dict:
        estimators = {name: ESTIMATORS[name]() for name in self.estimators}
        workload = sweep.workload_of(self)
        result, found = simulate(workload, self.scenario, estimators)
        held = run_time_coverage.coverage(result.jobs, workload.users)
        return metrics.summarise(result) | self.parameters() | summarise(found) | held
