"""The state of a queue at a time of a simulated workload, as if it had been written there."""

import dataclasses
import random
from collections import deque
from collections.abc import Mapping

from nova_twotier.core import prediction
from nova_twotier.core.actions import FG
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.prediction.calibration import KEEP
from nova_twotier.core.prediction.present import Past
from nova_twotier.core.queue_state import Measured, QueueJob, QueueState, past_of
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.sim import engine, simulation, variants
from nova_twotier.sim.arrivals import executions
from nova_twotier.sim.estimates import EXACT, MISSING, USER, Predictions
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.forecasts import Forecaster
from nova_twotier.sim.machine import make_cluster, make_running
from nova_twotier.sim.scenario import InvalidScenario, Scenario
from nova_twotier.sim.workloads.workload import Workload

#: Past jobs that are kept for the estimators.
PAST = 1000
#: Arrivals before the time that are predicted, so that the errors are known: some start at once.
PREDICTED = 3 * KEEP


class _Course:
    """Follows a run: what it was like at the last pass, and which jobs have ended."""

    def __init__(self, forecaster: Forecaster, since: float):
        self._forecaster, self._since = forecaster, since
        self.waiting: Mapping[int, Execution] = {}
        self.running: Mapping[int, Execution] = {}
        self.past: deque[Past] = deque(maxlen=PAST)
        #: When the last job ended.
        self.end = 0.0

    def watch(
        self,
        snapshot: Snapshot,
        waiting: Mapping[int, Execution],
        running: Mapping[int, Execution],
        now: float,
    ) -> None:
        """As `engine.run` calls it."""
        self.waiting, self.running = waiting, running
        if now >= self._since:
            self._forecaster.watch(snapshot, waiting, running, now)

    def ended(self, execution: Execution, user: str | None) -> None:
        self._forecaster.ended(execution)
        self.end = execution.finish
        job, start = execution.job, execution.start
        self.past.append(
            past_of(
                job.number,
                job.size,
                job.estimate,
                user,
                wait=start - job.arrival,
                elapsed=execution.finish - start,
                work=execution.runtime,
            )
        )


def state_at(
    workload: Workload, scenario: Scenario, at: float, estimator: str = "sdpn"
) -> QueueState:
    """Run a workload until a time; deterministic given its inputs.

    Hosts have a background, also under a policy that does not use it: another policy might.

    :param at: in seconds of the workload: not before its first arrival, nor after all its jobs have
        ended.
    :param estimator: by name; its errors before that time are measured.
    :raises InvalidScenario: if the policy is not one of the queue manager's or is told predictions,
        there is a network or no queue, a job has a negative number (a forward run takes some of
        them for servers), nothing has arrived at that time, or all is over.
    """
    scenario.check_jobs(workload)
    policy = variants.get(scenario.policy, scenario.deadline_factor)
    if scenario.policy in variants.VARIANTS:
        raise InvalidScenario(f"{policy.name} is only in the simulator; choose another policy")
    if scenario.topology is not None or scenario.bandwidth is not None or not scenario.queueing:
        raise InvalidScenario("a queue's state has no network; leave its options out")
    if Predictions.of(scenario.estimates, {}, policy) is not None:
        raise InvalidScenario(
            f"estimates are {scenario.estimates!r}, which the estimator of what-if would predict "
            f"anew; choose one of: {USER}, {EXACT}, {MISSING}"
        )
    if (number := min(job.number for job in workload.jobs)) < 0:
        raise InvalidScenario(
            f"{workload.name}: job {number}: the jobs of a queue's state are numbered from 0; "
            "give the jobs of the trace (field 1) such numbers"
        )
    if at < workload.jobs[0].arrival:
        raise InvalidScenario(
            f"{workload.name}: the first job arrives at {workload.jobs[0].arrival:.0f} s, which is "
            f"after {at:.0f} s"
        )
    tiers = max(2, policy.tiers) if scenario.tiers is None else scenario.tiers
    scenario = dataclasses.replace(scenario, tiers=tiers)
    rng = random.Random(scenario.seed)  # noqa: S311
    cluster = make_cluster(workload.nodes, scenario, policy, named=True, rng=rng)
    running = make_running(cluster, scenario, policy, rng)
    slots = cluster.idle[FG]
    arrived = [job for job in workload.jobs if job.arrival <= at and job.size <= slots]
    users = {number: str(user) for number, user in workload.users.items()}
    forecaster = Forecaster(
        {estimator: prediction.get(estimator)},
        policy,
        users,
        scenario.migration_cost,
        every=True,
    )
    since = arrived[max(0, len(arrived) - PREDICTED)].arrival if arrived else at
    course = _Course(forecaster, since)
    sharing = simulation.sharing_of(workload, scenario, slots)
    arrivals = executions(arrived, scenario)
    for job in engine.run(arrivals, policy, cluster, running, course.watch, sharing, until=at):
        course.ended(job, users.get(job.job.number))
    last = workload.jobs[-1].arrival
    if at > last and not (course.waiting or course.running):
        raise InvalidScenario(
            f"{workload.name}: all is over at {at:.0f} s: the last job arrives at {last:.0f} s, "
            f"and the last one ends at {max(last, course.end):.0f} s; give an earlier time"
        )
    return _state(course, cluster, scenario, at, users, estimator, forecaster)


def _state(
    course: _Course,
    cluster: Cluster,
    scenario: Scenario,
    at: float,
    users: Mapping[int, str],
    estimator: str,
    forecaster: Forecaster,
) -> QueueState:
    jobs = [
        *(_job(each, at, users) for each in course.waiting.values()),
        *(
            dataclasses.replace(_job(each, at, users), tier=each.tier, hosts=each.hosts)
            for each in course.running.values()
        ),
    ]
    starts, finishes = forecaster.calibrations(estimator)
    return QueueState(
        at=at,
        policy=scenario.policy,
        hosts=cluster.hosts,
        jobs=tuple(sorted(jobs, key=lambda each: each.job.number)),
        past=tuple(course.past),
        threshold=scenario.threshold,
        deadline_factor=scenario.deadline_factor,
        cost=scenario.migration_cost,
        measured=Measured(estimator, scenario.policy, starts.state(), finishes.state()),
    )


def _job(execution: Execution, at: float, users: Mapping[int, str]) -> QueueJob:
    job = execution.job
    plain = job if job.rank is None else dataclasses.replace(job, rank=None)
    return QueueJob(plain, users.get(job.number), execution.done(at))
