"""The experiment of CISNE (Lérida et al., section 3): 90 jobs on 16 time-shared nodes."""

import dataclasses
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

import pandas

from nova_twotier.core import policies, prediction
from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction import Estimator
from nova_twotier.core.prediction.nodes import Node
from nova_twotier.sim import engine, forecasts, sweep
from nova_twotier.sim.crowd import NODES, Crowd, LocalUsers, TimeShared
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.forecasts import Forecaster

JOBS, SIZES = 90, (2, 4, 8)
#: What a process that communicates takes of a link, in Mbit/s.
WANTED = 400.0
#: Jobs arrive so fast, in seconds on average: the queue is rarely empty with one job a node.
GAP = 75.0
#: The NAS benchmarks: share of its time in which a process computes, 0.5 on average. Seconds on a
#: dedicated cluster by class; the paper prints neither.
KINDS = {"BT": 0.8, "MG": 0.6, "CG": 0.4, "IS": 0.2}
SECONDS = {"A": 150.0, "B": 450.0}
#: Runs of one benchmark differ by this, relative to its mean (standard deviation).
VARIATION = 0.05
#: Users ask for so many times what a job takes on a dedicated cluster.
REQUEST = 3.0


@dataclass(frozen=True)
class Setup:
    """What the paper varies.

    :param level: the MPL, parallel processes a node at most.
    :param backfilling: EASY, or else FCFS.
    :param uniform: whether CPU-bound and I/O-bound jobs are mixed, or nodes chosen by load alone.
    :param saturated: whether local tasks saturate half of the links.
    :param window: seconds over which the state of the nodes is averaged; 0: the last sample.
    """

    level: int = 4
    backfilling: bool = False
    uniform: bool = False
    saturated: bool = False
    window: int = 0


def workload(rng: random.Random) -> tuple[list[Execution], dict[int, str]]:
    """The jobs, and the benchmark that each is, by number: similar jobs run the same one."""
    jobs, benchmarks = [], {}
    now = 0.0
    for number in range(1, JOBS + 1):
        now += rng.expovariate(1 / GAP)
        kind, size, of_class = rng.choice([*KINDS]), rng.choice(SIZES), rng.choice([*SECONDS])
        mean = SECONDS[of_class]
        runtime = mean * max(0.5, rng.gauss(1, VARIATION))
        cpu = (KINDS[kind],) * size
        job = Job(number, size, now, cpu, REQUEST * mean, mbps=WANTED)
        jobs.append(Execution(job, cpu, runtime))
        benchmarks[number] = f"{kind}.{of_class}"
    return jobs, benchmarks


def run(setup: Setup, estimators: Mapping[str, Estimator], seed: int) -> pandas.DataFrame:
    """The predictions for all jobs of one run, with the columns of `forecasts`."""
    rng = random.Random(seed)  # noqa: S311
    jobs, benchmarks = workload(rng)
    users = LocalUsers(NODES // 2 if setup.saturated else 0, rng)
    name = "easy" if setup.backfilling else "fcfs"

    def nodes(now: float) -> list[Node]:
        users.until(now)
        return users.nodes(setup.window)

    forecaster = Forecaster(
        estimators, policies.get(name), benchmarks, cost=0.0, every=True, nodes=nodes
    )
    cluster = Crowd(setup.level, setup.uniform)
    running = TimeShared(users)
    for ended in engine.run(jobs, policies.get(name), cluster, running, forecaster.watch):
        forecaster.ended(ended)
    return pandas.DataFrame(forecaster.rows, columns=list(forecasts.COLUMNS))


#: Metrics of an estimator, which a row has as `METRIC:ESTIMATOR`; deviations are averages, in per
#: cent of what is predicted.
TURNAROUND = "turnaround_deviation_percent"
WAITING = "waiting_deviation_percent"
EXECUTION = "execution_deviation_percent"
ESTIMATORS = ("sdpn", "hanzich", "historical", "hybrid-smith", "hybrid-li")


def summarise(found: pandas.DataFrame) -> dict[str, float]:
    """The metrics of each estimator; waits below a second are left out of theirs."""
    wait, expected_wait = found["start"] - found["made"], found["expected_start"] - found["made"]
    real, expected = (
        found["finish"] - found["start"],
        found["expected_finish"] - found["expected_start"],
    )
    deviations = found.assign(
        turnaround=_percent(
            found["expected_finish"] - found["made"], found["finish"] - found["made"]
        ),
        waiting=_percent(expected_wait, wait.where(wait >= 1)),
        execution=_percent(expected, real),
    )
    row = {}
    for name, made in deviations.groupby("estimator"):
        row[f"{TURNAROUND}:{name}"] = float(made["turnaround"].mean())
        row[f"{WAITING}:{name}"] = float(made["waiting"].mean())
        row[f"{EXECUTION}:{name}"] = float(made["execution"].mean())
        row[f"{forecasts.COST}:{name}"] = 1000 * float(made["seconds"].mean())
    return row


def _percent(expected: pandas.Series, real: pandas.Series) -> pandas.Series:
    return 100 * (expected - real).abs() / real


@dataclass(frozen=True)
class CisnePoint(sweep.Point):
    """A run of a sweep on this cluster; the scenario only has the policy and the seed.

    The estimators have seen a run of other 90 jobs in the same setting before.
    """

    setup: Setup = Setup()

    def row(self) -> dict:
        seed = self.scenario.seed
        estimators = {name: prediction.get(name) for name in ESTIMATORS}
        run(self.setup, estimators, seed + 1_000_000)
        found = run(self.setup, estimators, seed)
        about = {"policy": self.scenario.policy, "workload": "cisne", "load": math.nan}
        about |= {"seed": seed, "jobs": JOBS, "rejected": 0}
        return about | dataclasses.asdict(self.setup) | summarise(found)
