"""The cluster of CISNE (Lerida et al. 2009, section 3), simulated: nodes that jobs and users share.

Nodes of one CPU take up to MPL processes of parallel jobs beside the tasks of local users, whose
load changes all the time. The rule by which processes slow each other down here is none of those
that the estimators use: a process that computes shares its CPU with those that compute at the same
moment, of which the other processes there are a part of the time.
"""

import dataclasses
import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas

from nova_twotier.core import policies, prediction
from nova_twotier.core.actions import FG, Tier
from nova_twotier.core.cluster import Cluster, Host, Run, make_run
from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction import Estimator
from nova_twotier.core.prediction.nodes import Node
from nova_twotier.sim import engine, forecasts, sweep
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.forecasts import Forecaster
from nova_twotier.sim.stage import Stage

NODES, JOBS, SIZES = 16, 90, (2, 4, 8)
#: Capacity of a link, and what a process that communicates takes of it, in Mbit/s.
LINK, WANTED = 1000.0, 400.0
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
#: Local load: 15 % of a CPU on average, none or this much, for so many seconds on average.
LOCAL, BUSY, SPELL = 0.15, 0.6, 60.0
#: Share of a saturated link that local tasks take, on half of the nodes.
SATURATED = 0.7
#: Seconds between two samples of the cluster's state, and how many are kept.
SAMPLE, SAMPLES = 1.0, 120


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


class Crowd(Cluster):
    """Nodes with a place for each of `level` processes; the policy of node selection is its own."""

    def __init__(self, level: int, uniform: bool):
        super().__init__([Host(f"node{index}", level, tiers=1) for index in range(NODES)])
        self._uniform = uniform

    def copy(self) -> "Crowd":
        twin = Crowd(self.hosts[0].slots, self._uniform)
        self._copy_runs(twin)
        self._copy_counts(twin)
        return twin

    def start(
        self, job: Job, tier: Tier, hosts: Sequence[int] | None = None, until: float = 0.0
    ) -> Run:
        chosen = tuple(hosts if hosts is not None else self._choose(job))
        run = make_run((job, tier, chosen, False, until))
        self.adopt(run)
        return run

    def _choose(self, job: Job) -> list[int]:
        """One place after the other: a node of the least load, without the others of the job."""
        used, load = list(self.used[FG]), list(self.load[FG])
        level, cpu = self.hosts[0].slots, job.cpu[0]
        taken = [0] * NODES
        for _process in range(job.size):
            node = min(
                (index for index in range(NODES) if used[index] < level),
                key=lambda index: (taken[index], *self._rank(used[index], load[index], cpu), index),
            )
            taken[node] += 1
            used[node] += 1
            load[node] += cpu
        return [node for node in range(NODES) for _process in range(taken[node])]

    def _rank(self, used: int, load: float, cpu: float) -> tuple[float, float]:
        """Normal: by load. Uniform: evenly filled, and the most unlike processes together."""
        return (used, load if cpu > 0.5 else -load) if self._uniform else (load, used)


class LocalUsers:
    """The load of the local users on each node, sampled every second.

    :param saturated: nodes on whose links they saturate.
    """

    def __init__(self, saturated: int, rng: random.Random):
        self._rng = rng
        self.mbps = [SATURATED * LINK if node < saturated else 0.004 for node in range(NODES)]
        rng.shuffle(self.mbps)
        self.load = [self._draw() for _node in range(NODES)]
        self._samples = [deque([each] * SAMPLES, maxlen=SAMPLES) for each in self.load]
        self.now = 0.0

    def _draw(self) -> float:
        return BUSY if self._rng.random() < LOCAL / BUSY else 0.0

    def until(self, now: float) -> None:
        """Let time pass."""
        while self.now + SAMPLE <= now:
            self.now += SAMPLE
            for node in range(NODES):
                if self._rng.random() < SAMPLE / SPELL:
                    self.load[node] = self._draw()
                self._samples[node].append(self.load[node])

    def nodes(self, window: int) -> list[Node]:
        """What an observer knows who averages the last `window` samples."""
        recent = [list(samples)[-max(1, window) :] for samples in self._samples]
        return [
            Node(local=sum(each) / len(each), cpus=1, mbps=LINK, local_mbps=mbps)
            for each, mbps in zip(recent, self.mbps, strict=True)
        ]


class TimeShared(Stage):
    """Processes that share the CPUs and links of their nodes with each other and local users."""

    #: Seconds after which the local load is looked at again.
    STEP = 10.0

    def __init__(self, users: LocalUsers):
        super().__init__(cost=0.0)
        self._users = users
        self._again = 0.0

    def next_end(self) -> float:
        end = super().next_end()
        return min(end, self._again) if self.running else end

    def settle(self, now: float) -> None:
        self._users.until(now)
        self._again = now + self.STEP
        computing, sending = [0.0] * NODES, [0.0] * NODES
        for job in self.running.values():
            for node, cpu in zip(job.hosts, job.cpu, strict=True):
                computing[node] += cpu
                sending[node] += (1 - cpu) * job.job.mbps
        for job in self.running.values():
            cpu, mbps = job.cpu[0], job.job.mbps
            processing = max(
                (1 + computing[node] - cpu) / (1 - self._users.load[node]) for node in job.hosts
            )
            communication = max(
                max(1.0, (mbps + sending[node] - (1 - cpu) * mbps) / self._left(node))
                for node in job.hosts
            )
            self._set(job, 1 / (cpu * processing + (1 - cpu) * communication), job.demand, now)

    def _left(self, node: int) -> float:
        return LINK - self._users.mbps[node]


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
    stage = TimeShared(users)
    for ended in engine.run(jobs, policies.get(name), cluster, stage, forecaster.watch):
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
        about = {"policy": self.scenario.policy, "workload": "cisne", "load": float("nan")}
        about |= {"seed": seed, "jobs": JOBS, "rejected": 0}
        return about | dataclasses.asdict(self.setup) | summarise(found)
