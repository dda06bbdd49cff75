"""Takes the state of a pool's queue from a live cloud: it reads, and writes nothing anywhere.

A manager may work meanwhile, or none may run.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from nova_twotier.cloud.compute_hosts import ComputeHost
from nova_twotier.cloud.ledger_hosts import LedgerHosts
from nova_twotier.cloud.nova import Cloud
from nova_twotier.core import prediction
from nova_twotier.core.actions import BG, FG
from nova_twotier.core.cluster import UNMANAGED, Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.prediction.present import Past
from nova_twotier.core.queue_state import Measured, QueueJob, QueueState, Server, present
from nova_twotier.core.reasons import Reason
from nova_twotier.core.slots import background_places
from nova_twotier.db import drains, predictions, queue_policy
from nova_twotier.db.models import Action, Job
from nova_twotier.db.open_jobs import OpenJobs
from nova_twotier.db.plans import EvictPlan
from nova_twotier.db.predictions import Calibrations, owner
from nova_twotier.db.states import REQUEUE, JobState, Preemption
from nova_twotier.db.store import Store, open_actions
from nova_twotier.ledger.placement import Placement
from nova_twotier.manager import forecast, priorities
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.observer import Observer
from nova_twotier.manager.recorded_servers import RecordedServers
from nova_twotier.manager.releases import Releases
from nova_twotier.manager.situation import Situation

#: Past jobs that are kept for the estimators.
PAST = 1000
#: Seconds of work per second of a job of which nobody knows better.
FULL_SPEED = 1.0
#: How often it is read until the database has not changed meanwhile.
TRIES = 5


class NoSuchPool(Exception):
    """A pool with neither hosts nor jobs; the message says which there are."""


@dataclass(frozen=True)
class Taken:
    """
    :ivar left_out: how many jobs are not over and neither wait for slots nor run: they are held, or
        wait for a time, another job or the limit of their array, or are about to end.
    """

    state: QueueState
    left_out: int


@dataclass(frozen=True)
class _Records:
    """What the database has."""

    jobs: dict[int, Job]
    prioritised: set[int]
    opened: list[Action]
    job_of: Mapping[str, str]
    policy: str | None
    past: tuple[Past, ...]
    #: The work of each job, and in how many seconds of its run, as the manager recorded it.
    done: Mapping[int, tuple[float, float]]
    #: The estimator of the manager's last predictions, and what it has learned; None: of none.
    learned: tuple[str, Calibrations] | None

    def signature(self) -> tuple:
        """Differs if anything about the jobs or their actions has changed."""
        return (
            [(number, job.revision) for number, job in self.jobs.items()],
            [(action.id, action.begun_at) for action in self.opened],
        )


class _NoJudge:
    """Silent hosts take nothing new; whether they are dead is for the manager to say."""

    dead: frozenset[str] = frozenset()
    reason: Reason | None = None

    def judge(
        self,
        hosts: Mapping[str, ComputeHost],
        down: Mapping[str, float],
        now: float,
        fresh: bool = True,
    ) -> None:
        """Nothing."""


def take(
    store: Store,
    cloud: Cloud,
    placement: Placement,
    options,
    pool: str,
    clock: Callable[[], float],
    readers: Executor | None = None,
) -> Taken:
    """The state of a pool's queue, as it will be when the open actions are done.

    With what the manager has learned for its predictions: what is predicted of the state is what it
    predicts itself. Servers that would make way for a job count as gone.

    :param options: of group `[manager]`.
    :param readers: read the claims of many hosts at once; None: one by one.
    :raises CloudError, PlacementError: if Nova or Placement does not answer.
    :raises NoSuchPool: if the pool has neither hosts nor jobs.
    """
    hosts = LedgerHosts(cloud, placement, math.inf, pool)
    observer = Observer(cloud, placement, hosts, _NoJudge(), readers)
    now = clock()
    hosts.refresh(now)
    with store.reading() as session:
        hosts.drained = frozenset(
            drain.host for drain in drains.begun(drains.present(session, now), now)
        )
    records = _read(store, pool, hosts)
    if not (hosts.tree or records.jobs):
        known = sorted({each.shape.pool for each in hosts.computes.values() if each.shape})
        raise NoSuchPool(
            f"pool {pool} has neither hosts nor jobs; pools with hosts: "
            f"{', '.join(known) or 'none'}"
        )
    for _ in range(TRIES):
        cloud.remember(records.job_of)
        seen = observer.poll(clock(), records.job_of)
        before, records = records, _read(store, pool, hosts)
        if before.signature() == records.signature():
            break
    policy = records.policy or options.policy
    return _taken(records, seen, options, policy, pool)


def _read(store: Store, pool: str, hosts: LedgerHosts) -> _Records:
    open_jobs = OpenJobs(pool)
    open_jobs.limit_tiers(hosts.limited_flavors)
    with store.snapshot() as session:
        return _Records(
            open_jobs.read(session),
            open_jobs.prioritised,
            open_actions(session, pool),
            RecordedServers(session, pool).job_of,
            queue_policy.chosen(session, pool) or queue_policy.in_use(session, pool),
            tuple(_past(session, pool)),
            predictions.done(session, pool),
            predictions.last_learned(session, pool),
        )


def _past(session: Session, pool: str) -> Iterator[Past]:
    """The jobs that have ended last by themselves, the oldest first."""
    for row in predictions.ended(session, pool, 0.0, PAST):
        # Nobody recorded the work of a job that began and ended between two predictions.
        recorded = (row.work or 0.0, row.ran or 0.0)
        yield predictions.past(row, predictions.work_done(recorded, row.run_before, FULL_SPEED))


def _taken(records: _Records, seen: Observation, options, policy: str, pool: str) -> Taken:
    jobs, opened = records.jobs, records.opened
    for job in jobs.values():
        if job.state == JobState.RUNNING:
            job.has_run(job.ran(seen.at))
    present = Situation(jobs, opened, seen, seen.at, preemptible=seen.preemptible)
    ends = {job.number for job in present.ending}
    asked = {n for n, job in jobs.items() if job.requested_action not in (None, REQUEUE)}
    cluster = _cluster(present, options.threshold)
    lost = {
        action.number
        for action in opened
        if isinstance(plan := action.plan, EvictPlan) and plan.mode == Preemption.REQUEUE
    }
    placed: dict[int, QueueJob] = {}
    servers: list[Server] = []
    for number, run in cluster.runs.items():
        if number in UNMANAGED.values():
            pairs = zip(run.hosts, run.job.cpu, strict=True)
            servers += [Server(run.tier, host, cpu) for host, cpu in pairs]
        elif number in jobs and number not in ends | asked and run.job.size == jobs[number].size:
            job = jobs[number]
            # A run that is only about to begin counts from now.
            ran = 0.0 if job.run_since is None else job.ran(seen.at)
            placed[number] = QueueJob(run.job, owner(job), 0.0, run.tier, run.hosts, ran)
    waiting = {
        number: job
        for number, job in jobs.items()
        if number not in placed.keys() | ends | asked
        and not (job.held or job.gated)
        and (job.state != JobState.RUNNING or number in present.moving)
    }
    priorities.exchange(waiting, records.prioritised)
    queued = [QueueJob(job.core, owner(job)) for job in waiting.values()]
    known = sorted([*placed.values(), *queued], key=lambda each: each.job.number)
    state = QueueState(
        at=seen.at,
        policy=policy,
        hosts=_with_room(cluster.hosts, placed.values(), servers),
        jobs=tuple(known),
        servers=tuple(servers),
        past=records.past,
        leaving=frozenset(i for i, host in enumerate(seen.hosts) if host.leaving),
        threshold=options.threshold,
        deadline_factor=options.deadline_factor,
        pool=pool,
    )
    return Taken(_as_predicted(state, records, lost, options.estimator), len(jobs) - len(known))


def _as_predicted(
    state: QueueState, records: _Records, lost: Set[int], configured: str
) -> QueueState:
    """The state, with the work and the prediction errors that the manager has recorded.

    :param lost: numbers of the jobs that begin anew.
    :param configured: the estimator of a manager that has not predicted yet.
    """
    estimator, learned = records.learned or (configured, Calibrations.load({}))
    rates = prediction.get(estimator).rates(present(state))

    def done(number: int) -> float:
        if number in lost:
            return 0.0
        recorded = records.done.get(number, (0.0, 0.0))
        ran = records.jobs[number].ran(state.at)
        return predictions.work_done(recorded, ran, rates.get(number, FULL_SPEED))

    return replace(
        state,
        jobs=tuple(replace(each, done=done(each.job.number)) for each in state.jobs),
        measured=Measured(
            estimator,
            learned.policy or state.policy,
            learned.starts.state(),
            learned.finishes.state(),
        ),
    )


def _cluster(present: Situation, threshold: float) -> Hosts:
    """The cluster as the manager shows it to its policy."""
    jobs = present.jobs
    running = (job for job in jobs.values() if job.state == JobState.RUNNING)
    return forecast.of(
        present,
        [job for job in running if job.number not in present.moving],
        [job for job in jobs.values() if job.state == JobState.QUEUED],
        threshold,
        Releases().partial(present.opened, jobs, present.seen),
    )


def _with_room(
    hosts: Iterable[Host], jobs: Iterable[QueueJob], servers: Iterable[Server]
) -> tuple[Host, ...]:
    """The hosts with a slot for each process that is there.

    A host that was given fewer slots than it has processes takes nothing until some have left. When
    hosts close is left out: the file knows no windows, and names the hosts that leave.
    """
    hosts = [replace(host, closes=math.inf) for host in hosts]
    held = Counter((host, each.tier) for each in jobs for host in each.hosts)
    held.update((each.host, each.tier) for each in servers)
    return tuple(_grown(host, held[index, FG], held[index, BG]) for index, host in enumerate(hosts))


def _grown(host: Host, foreground: int, background: int) -> Host:
    if foreground <= host.slots and background <= background_places(host.slots, host.tiers):
        return host
    slots = max(1, host.slots, foreground)
    tiers = max(host.tiers, 1 + math.ceil(background / slots))
    return replace(host, slots=slots, tiers=tiers, enabled=False)
