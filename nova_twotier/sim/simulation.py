"""One run: a workload under a policy, from the first arrival to the last end."""

import itertools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy
import pandas

from nova_twotier.core import policies
from nova_twotier.core import progress as models
from nova_twotier.core.actions import FG
from nova_twotier.core.cluster import Cluster, Host
from nova_twotier.core.fair_share import (
    BACKGROUND_WEIGHT,
    HALF_LIFE,
    LONGEST_OFFSET,
    FairShare,
)
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.linked import Linked
from nova_twotier.core.nodes import Counted, Nodes
from nova_twotier.core.policies import Policy
from nova_twotier.core.policies.bandwidth import Guaranteeing
from nova_twotier.core.qos import SCAVENGER
from nova_twotier.core.slots import THRESHOLD
from nova_twotier.sim import calibration, classes, engine, estimates, network, rivals, variants
from nova_twotier.sim.classes import Classes
from nova_twotier.sim.easy_plus_plus import EasyPlusPlus
from nova_twotier.sim.estimates import Predictions
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.garbage import collected_seldom
from nova_twotier.sim.many_nodes import MANY, ManyNodes
from nova_twotier.sim.recorder import Recorder, Stay
from nova_twotier.sim.running_jobs import RunningJobs
from nova_twotier.sim.shared import Shared, SharedNodes
from nova_twotier.sim.shared_many_nodes import SharedManyNodes
from nova_twotier.sim.sharing import Sharing
from nova_twotier.sim.workloads.bandwidth import Bandwidth
from nova_twotier.sim.workloads.swf import NO_CLASSES
from nova_twotier.sim.workloads.utilisation import Utilisation
from nova_twotier.sim.workloads.workload import Submission, Workload

#: What becomes of an estimate that is understated.
UNDERSTATED = 0.1

#: Whose use fair share may go by.
OWNERS = ("user", "group")

#: Columns of a result, one row a job; times in seconds, counts without unit.
COLUMNS = {
    "job": "int64",
    "arrival": "float64",
    "size": "int64",
    "runtime": "float64",
    "estimate": "float64",  # that the policy was told last; NaN: none
    "start": "float64",  # the first
    "finish": "float64",
    "how": "category",  # the first start came about
    "tier": "category",  # of the first start
    "background_time": "float64",
    "lost_time": "float64",  # work lost by kills
    "migrations": "int64",
    "evictions": "int64",
    "kills": "int64",
    "swaps": "int64",
    "qos": "category",
}


class InvalidScenario(ValueError):
    """A scenario that cannot be simulated; the message says which field and what it may be."""


@dataclass(frozen=True)
class Scenario:
    """All parameters of a run except its workload.

    :param slots: slots of a host.
    :param tiers: K; by default as many as the policy uses.
    :param progress: the name of a progress model, or the path of a calibration.
    :param reading: fields of the model that differ from it.
    :param migration_cost: seconds that a job loses when it is restored or migrates.
    :param threshold: foreground CPU utilisation from which on a slot is closed.
    :param estimates: what the policy is told of run times, as `estimates.check` has it.
    :param rerank: as of `Predictions`, for the policies that order by deadline.
    :param understated: share of the jobs, drawn, whose estimate is told at a tenth.
    :param deadline_factor: as of `Policy`, for those that order by deadline.
    :param fair_share: whose recent use puts jobs back: "user" or "group"; None: nobody's.
    :param half_life: as of `FairShare`; so are the next two.
    :param qos: the classes, as `classes.check` has it; None: all are normal.
    :param topology: of a network that guarantees bandwidth, as `network.topology` reads it.
    :param embedding: which hosts take a job there, by name (`rivals.get`).
    :param bandwidth: what jobs ask for, as `Bandwidth.parse` reads it; None: nothing.
    :param queueing: whether jobs wait; else those that do not fit at their arrival are rejected.
    :param seed: of the utilisations and bandwidths, and of what the model draws.
    :raises InvalidScenario, policies.UnknownPolicy, models.InvalidModel, InvalidFairShare,
        InvalidClasses, and those of the embedding, the topology and the bandwidth: if a field is
        wrong.
    """

    policy: str
    slots: int = 1
    tiers: int | None = None
    utilisation: Utilisation = field(default_factory=Utilisation)
    progress: str = "tpds"
    reading: dict = field(default_factory=dict)
    migration_cost: float = 20.0
    threshold: float = THRESHOLD
    estimates: str = estimates.USER
    rerank: bool = True
    understated: float = 0.0
    deadline_factor: float = 1.0
    fair_share: str | None = None
    half_life: float = HALF_LIFE
    background_weight: float = BACKGROUND_WEIGHT
    longest_offset: float = LONGEST_OFFSET
    qos: str | None = None
    topology: str | None = None
    embedding: str = "adaba"
    bandwidth: str | None = None
    queueing: bool = True
    seed: int = 0

    def __post_init__(self):
        policy = variants.get(self.policy)
        for name, lowest in (("slots", 1), ("tiers", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int) and value >= lowest):
                raise InvalidScenario(f"{name} is {value}; give a whole number from {lowest}")
        for name in ("migration_cost", "threshold", "deadline_factor"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InvalidScenario(f"{name} is {getattr(self, name)}; give 0 or more")
        estimates.check(self.estimates)
        if not 0 <= self.understated <= 1:
            raise InvalidScenario(f"understated is {self.understated}; give a share of 0 to 1")
        if self.fair_share not in (None, *OWNERS):
            raise InvalidScenario(
                f"fair share is by {self.fair_share!r}; choose one of: {', '.join(OWNERS)}"
            )
        self.sharing()
        if self.fair_share is not None and not self.queueing:
            raise InvalidScenario("fair share orders a queue; without one, leave it out")
        if self.qos is not None:
            self._check_classes(policy)
        if self.policy == EasyPlusPlus.name and self.estimates != estimates.USER:
            raise InvalidScenario(
                f"{self.policy} predicts by itself; leave estimates out, or take easy-sjf"
            )
        self.model()
        rivals.get(self.embedding)
        if self.bandwidth is not None:
            Bandwidth.parse(self.bandwidth)
        if self.topology is not None:
            network.topology(self.topology)
        self._check_embedding(policy)

    def _check_embedding(self, policy: Policy) -> None:
        for fails, where, able in (
            (self.topology is not None, "on a topology", lambda each: each.embeds),
            (not self.queueing, "without a queue", lambda each: each.embeds and each.tiers == 1),
        ):
            if fails and not able(policy):
                names = ", ".join(n for n, each in policies.POLICIES.items() if able(each))
                raise InvalidScenario(
                    f"{self.policy} cannot decide {where}; choose one of: {names}"
                )

    def check_classes(self, workload: Workload) -> None:
        """Require a workload whose trace names classes, if the scenario takes them from there.

        :raises InvalidScenario: if it names none, or some that cannot be simulated.
        """
        if self.qos != classes.TRACE:
            return
        if not workload.classes:
            raise InvalidScenario(f"{workload.name} {NO_CLASSES}")
        if SCAVENGER in workload.classes:
            self._require_background(variants.get(self.policy))

    def check(self, workload: Workload) -> None:
        """Require a workload of which the results are what they are called.

        It could be simulated: on more slots than the load is for, or with predictions of nothing.

        :raises InvalidScenario: if the nodes of the workload are no multiple of the slots of a host
            (those of a topology are checked when it is simulated), or if it has no users and run
            times are predicted from those of a user's jobs.
        """
        self._check_slots(workload)
        self._check_users(workload)

    def _check_users(self, workload: Workload) -> None:
        if workload.users:
            return
        if self.policy == EasyPlusPlus.name:
            what = f"the predictions of {self.policy}"
        elif estimates.needs_users(self.estimates):
            what = f"estimates {self.estimates}"
        else:
            return
        raise InvalidScenario(f"{workload.name} has no users for {what}; take a trace with them")

    def _check_slots(self, workload: Workload) -> None:
        nodes, slots = workload.nodes, self.slots
        if self.topology is not None or nodes % slots == 0:
            return
        less = nodes - nodes % slots
        near = f"{less} or {less + slots}" if less else str(slots)
        raise InvalidScenario(
            f"{workload.name} is for {nodes} nodes, which is no multiple of {slots} slots: give "
            f"--nodes {near}"
        )

    def _check_classes(self, policy: Policy) -> None:
        classes.check(self.qos or "")
        if self.qos != classes.TRACE and Classes.parse(self.qos or "").scavenger:
            self._require_background(policy)
        if not self.queueing:
            raise InvalidScenario("classes order a queue; without one, leave them out")

    def _require_background(self, policy: Policy) -> None:
        tiers = policy.tiers if self.tiers is None else min(self.tiers, policy.tiers)
        if tiers == 1:
            able = ", ".join(n for n, each in policies.POLICIES.items() if each.tiers > 1)
            raise InvalidScenario(
                f"scavengers run in the background only, and {self.policy} has none here; choose "
                f"one of: {able}, with two tiers or more"
            )

    def model(self) -> models.Progress:
        return models.load(self.reading, "reading", calibration.get(self.progress))

    def sharing(self) -> FairShare:
        return FairShare(self.half_life, self.background_weight, self.longest_offset)


@dataclass
class Result:
    """The result of a run.

    :param jobs: one row a job, by number, with `COLUMNS`.
    :param rejected: job, size and reason of jobs that this cluster can never run or, without a
        queue, could not run when they arrived.
    :param nodes: slots.
    :param span: seconds from the first arrival to the last end.
    :param busy: CPU seconds used.
    :param schedule: if it was asked for: job, process, slot, tier, begin, end.
    """

    workload: str
    scenario: Scenario
    jobs: pandas.DataFrame
    rejected: pandas.DataFrame
    nodes: int
    span: float
    busy: float
    schedule: pandas.DataFrame | None = None


def simulate(
    workload: Workload,
    scenario: Scenario,
    *,
    record: bool = False,
    watch: engine.Watch | None = None,
    ended: Callable[[Execution], None] | None = None,
) -> Result:
    """Run a workload; deterministic given its inputs.

    A job larger than the cluster is rejected, and the run goes on.

    :param record: whether to keep the schedule: a row for each stay of a process, so a lot.
    :param watch: called after each pass; not without a queue.
    :param ended: called with each job that has ended, before the pass that follows.
    :raises InvalidScenario: if the workload is for other nodes than the topology has, has no
        owners for fair share, or no classes that it is to give.
    """
    scenario.check_classes(workload)
    policy = variants.get(scenario.policy, scenario.deadline_factor)
    if isinstance(policy, EasyPlusPlus):
        policy.users = workload.users
    rng = random.Random(scenario.seed)  # noqa: S311
    cluster = make_cluster(workload.nodes, scenario, policy, named=record, rng=rng)
    recorder = Recorder(scenario.slots) if record else None
    running = make_running(cluster, scenario, policy, rng, recorder)
    size = cluster.idle[FG]
    rejected = [
        (job.number, job.size, f"needs {job.size} slots; the cluster has {size}")
        for job in workload.jobs
        if job.size > size
    ]
    accepted = [job for job in workload.jobs if job.size <= size]
    arrivals = executions(accepted, scenario)
    if scenario.queueing:
        arrivals = network.admitted(arrivals, cluster, rejected)
        sharing = sharing_of(workload, scenario, size)
        predictions = Predictions.of(
            scenario.estimates, workload.users, policy, rerank=scenario.rerank
        )
        run = engine.run(
            arrivals, policy, cluster, running, watch, sharing, predictions=predictions
        )
    else:
        run = network.run_without_queue(arrivals, cluster, running, rejected)
    rows, busy, first, last = [], 0.0, math.inf, -math.inf
    with collected_seldom():
        for job in run:
            if ended:
                ended(job)
            rows.append(_row(job))
            busy += job.busy
            first, last = min(first, job.job.arrival), max(last, job.finish)
    rows.sort()
    rejected.sort()
    return Result(
        workload=workload.name,
        scenario=scenario,
        jobs=pandas.DataFrame.from_records(rows, columns=list(COLUMNS)).astype(COLUMNS),
        rejected=pandas.DataFrame(rejected, columns=["job", "size", "reason"]),
        nodes=size,
        span=max(0.0, last - first),
        busy=busy,
        schedule=pandas.DataFrame(recorder.stays(), columns=Stay._fields) if recorder else None,
    )


def sharing_of(workload: Workload, scenario: Scenario, slots: int) -> Sharing | None:
    """What the owners use during a run; None without fair share."""
    if scenario.fair_share is None:
        return None
    known = workload.users if scenario.fair_share == "user" else workload.groups
    if not known:
        raise InvalidScenario(
            f"{workload.name} has no {scenario.fair_share}s for fair share; take a trace with them"
        )
    owners = {number: str(owner) for number, owner in known.items()}
    return Sharing(scenario.sharing(), owners, slots)


def make_cluster(
    nodes: int, scenario: Scenario, policy: Policy, *, named: bool, rng: random.Random
) -> Cluster:
    """The simplest cluster of at least `nodes` slots that leads to the same decisions.

    :param named: whether it matters which process is on which slot.
    """
    tiers = policy.tiers if scenario.tiers is None else scenario.tiers
    unknown = rng if scenario.utilisation.error is None and policy.tiers > 1 else None
    if scenario.topology is not None:
        return _linked(nodes, scenario, tiers, policy.tiers, unknown)
    # A job that returns to its own hosts has not migrated: that tells them apart.
    if policy.tiers == 1 and not named and not isinstance(policy, Guaranteeing):
        return Counted(math.ceil(nodes / scenario.slots) * scenario.slots)
    if scenario.slots == 1 and tiers <= 2 and (tiers == 2 or policy.tiers == 1):
        kind = ManyNodes if nodes >= MANY else Nodes
        return kind(nodes, scenario.threshold, unknown)
    hosts = math.ceil(nodes / scenario.slots)
    return Hosts(
        [Host(f"host{index}", scenario.slots, tiers) for index in range(hosts)],
        scenario.threshold,
        unknown,
    )


def _linked(
    nodes: int, scenario: Scenario, tiers: int, used: int, unknown: random.Random | None
) -> Linked:
    topology = network.topology(scenario.topology)
    there = len(topology.hosts) * scenario.slots
    if nodes != there:
        raise InvalidScenario(
            f"{scenario.topology} with {scenario.slots} slots a host has {there} slots; the "
            f"workload is for {nodes}"
        )
    return Linked(
        [Host(name, scenario.slots, tiers) for name in topology.hosts],
        topology,
        rivals.get(scenario.embedding),
        threshold=scenario.threshold,
        rng=unknown,
        tiers=used,
    )


def executions(jobs: list[Submission], scenario: Scenario) -> Iterator[Execution]:
    """The jobs as they arrive, each with its CPU utilisation and bandwidth."""
    draws = scenario.utilisation.draw(
        (job.size for job in jobs),
        numpy.random.default_rng(scenario.seed),
        scenario.threshold,
    )
    rows = zip(
        jobs,
        draws,
        _estimates(jobs, scenario),
        _demands(jobs, scenario),
        classes.of(jobs, scenario.qos, scenario.seed),
        strict=True,
    )
    for (number, arrival, size, runtime, *_), (known, true), estimate, mbps, qos in rows:
        above = qos is not SCAVENGER
        job = Job(number, size, arrival, known, estimate, mbps=mbps, foreground=above, qos=qos)
        yield Execution(job, true, runtime)


def _estimates(jobs: list[Submission], scenario: Scenario) -> Iterator[float | None]:
    """The estimate that comes with each job."""
    if estimates.is_missing(scenario.estimates):
        return itertools.repeat(None, len(jobs))
    exact = scenario.estimates == estimates.EXACT
    told = [job.runtime if exact else job.estimate for job in jobs]
    if not scenario.understated:
        return iter(told)
    draws = numpy.random.default_rng((scenario.seed, 2)).random(len(jobs)).tolist()
    return (
        estimate * UNDERSTATED if draw < scenario.understated else estimate
        for estimate, draw in zip(told, draws, strict=True)
    )


def _demands(jobs: list[Submission], scenario: Scenario) -> Iterator[float]:
    """The bandwidth that each job asks for; the same whatever the utilisations are."""
    if scenario.bandwidth is None:
        return itertools.repeat(0.0, len(jobs))
    return Bandwidth.parse(scenario.bandwidth).draw(
        [job.size for job in jobs],
        scenario.slots,
        network.link_rate(scenario.topology),
        numpy.random.default_rng((scenario.seed, 1)),
    )


def make_running(
    cluster: Cluster,
    scenario: Scenario,
    policy: Policy,
    rng: random.Random,
    recorder: Recorder | None = None,
) -> RunningJobs:
    """What advances the running jobs on a cluster of `make_cluster`."""
    if policy.tiers == 1:
        return RunningJobs(scenario.migration_cost, recorder)
    cost, model = scenario.migration_cost, scenario.model()
    if isinstance(cluster, ManyNodes):
        return SharedManyNodes(cost, cluster, model, rng, recorder)
    if isinstance(cluster, Nodes):
        return SharedNodes(cost, cluster, model, rng, recorder)
    return Shared(cost, cluster, model, rng, recorder)


def _row(done: Execution) -> tuple:
    job = done.job
    return (
        job.number,
        job.arrival,
        job.size,
        done.runtime,
        job.estimate,
        done.start,
        done.finish,
        done.how,
        done.first_tier,
        done.background,
        done.lost,
        done.migrations,
        done.evictions,
        done.kills,
        done.swaps,
        str(job.qos),
    )
