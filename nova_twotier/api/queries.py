"""Database queries that only the API needs."""

import copy
import itertools
from collections import Counter
from collections.abc import Iterable

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, load_only

from nova_twotier.core.qos import Qos
from nova_twotier.db import job_counts, queue_policy, waiting_jobs
from nova_twotier.db.job_counts import not_by_index
from nova_twotier.db.models import Action, Event, Job
from nova_twotier.db.plans import EndPlan
from nova_twotier.db.states import OVER, ActionKind, ActionState, JobState, QueueMode
from nova_twotier.db.store import Store, queue_event

#: Kinds of the events of a queue.
QUEUE_KINDS = [*(queue_event(mode) for mode in QueueMode), queue_policy.CHOSEN]
#: A project with more jobs than this has many, for lists of its events.
MANY_JOBS = 5000
#: Where more events than this have happened since a time, these are many.
MANY_EVENTS = 10_000
#: What jobs that are not over do: one that starts, restarts, is preempted or ends is running.
PHASES = (WAITING, RUNNING) = ("waiting", "running")


def _phase(state: str) -> str:
    return WAITING if state == JobState.QUEUED else RUNNING


def by_state(
    store: Store, project_id: str | None = None, pool: str | None = None
) -> dict[JobState, tuple[int, int]]:
    """Numbers of jobs and processes by state, of one project or all, in one pool or all."""
    found = dict.fromkeys(JobState, (0, 0))
    with store.reading() as session:
        counted = job_counts.by_pool_and_state(session, project_id, pool)
    for (_pool, state), (jobs, processes) in counted.items():
        before = found[state]
        found[state] = before[0] + jobs, before[1] + processes
    return found


def by_pool_and_state(
    store: Store, pools: Iterable[str]
) -> dict[tuple[str, JobState], tuple[int, int]]:
    """Numbers of jobs and processes of all projects by pool and state.

    :param pools: that are there although they may have no job.
    """
    with store.reading() as session:
        counted = job_counts.by_pool_and_state(session)
    return {(pool, state): (0, 0) for pool in pools for state in JobState} | counted


def by_class(
    store: Store, project_id: str | None = None, pool: str | None = None
) -> dict[str, dict[str, int]]:
    """Count the waiting jobs, and the other jobs that are not over, by class of service."""
    query = select(Job.qos, Job.state, func.count())
    query = query.where(*job_counts.not_over(project_id, pool))
    found = {phase: dict.fromkeys(map(str, Qos), 0) for phase in PHASES}
    with store.reading() as session:
        for qos, state, jobs in session.execute(query.group_by(Job.qos, Job.state)):
            found[_phase(state)][qos] += jobs
    return found


def by_pool_and_class(store: Store, pools: Iterable[str]) -> dict[tuple[str, str, str], int]:
    """Count the jobs of all projects that are not over by pool, phase and class of service.

    The phases are those of `by_class`.

    :param pools: that are there although they may have no job.
    """
    query = select(Job.pool, Job.qos, Job.state, func.count())
    query = query.where(*job_counts.not_over())
    found = Counter(dict.fromkeys(itertools.product(pools, PHASES, map(str, Qos)), 0))
    with store.reading() as session:
        for pool, qos, state, jobs in session.execute(query.group_by(Job.pool, Job.qos, Job.state)):
            found[pool, _phase(state), qos] += jobs
    return dict(found)


#: Of a pool without jobs that are not over.
NO_JOBS = {"jobs": {"waiting": 0, "running": 0}, "processes": {"waiting": 0, "running": 0}}


def open_by_pool(store: Store) -> dict[str, dict[str, dict[str, int]]]:
    """Numbers of jobs, and of their processes, that wait and that run, by pool.

    Of all projects. Those that start, restart, are preempted or end count as running.
    """
    query = select(Job.pool, Job.state, func.count(), func.sum(Job.size))
    query = query.where(*job_counts.not_over()).group_by(Job.pool, Job.state)
    found: dict[str, dict[str, dict[str, int]]] = {}
    with store.reading() as session:
        for pool, state, jobs, processes in session.execute(query):
            counts = found.setdefault(pool, copy.deepcopy(NO_JOBS))
            counts["jobs"][_phase(state)] += jobs
            counts["processes"][_phase(state)] += int(processes)
    return found


def waiting_by_reason(store: Store) -> dict[tuple[str, str], int]:
    """Count the queued jobs of all projects by pool and by reason code."""
    code = waiting_jobs.code().label("code")
    query = select(Job.pool, code, func.count()).where(Job.state == JobState.QUEUED)
    with store.reading() as session:
        counts = session.execute(query.group_by(Job.pool, "code"))
        return {(pool, reason): number for pool, reason, number in counts}


def keeps_servers(store: Store, job: Job) -> bool:
    """Whether a job is ending and keeps its servers, which one that begins anew does not."""
    if not (job.keep_servers and job.state == JobState.ENDING):
        return False
    query = select(Action).where(Action.job == job.number, Action.kind == ActionKind.END)
    query = query.where(Action.state == ActionState.EXPECTED)
    with store.reading() as session:
        ends = session.scalars(query).all()
    return any(end.planned(EndPlan).then in OVER for end in ends)


def events(
    store: Store,
    *,
    project_id: str | None = None,
    job: int | None = None,
    array: int | None = None,
    since: float | None = None,
    after: int | None = None,
    newest_first: bool = False,
    limit: int | None = None,
) -> list[tuple[Event, Job | None]]:
    """Events with their jobs' number, uuid and project, in the order of their records or reversed.

    :param project_id: only events of this project's jobs, and of the queue.
    :param array: only events of the tasks of this array.
    :param since: only events of this time or later, in seconds since the epoch.
    :param after: id of the last event of the page before.
    """
    asked: list[ColumnElement[bool]] = []
    if job is not None:
        asked.append(Event.job == job)
    if array is not None:
        asked.append(Job.array == array)
    if since is not None:
        asked.append(Event.at >= since)
    if after is not None:
        asked.append(Event.id < after if newest_first else Event.id > after)
    query = (
        select(Event, Job)
        .where(*asked)
        .options(load_only(Job.uuid, Job.project_id, Job.array, Job.array_index, raiseload=True))
    )
    with store.snapshot() as session:
        of_one = job is not None or array is not None
        recent = since is not None and not of_one and _are_few(session, since)
        place = Event.id + 0 if recent else Event.id
        query = query.order_by(place.desc() if newest_first else place).limit(limit)
        of_all = query.outerjoin(Job, Event.job == Job.number)
        if project_id is None:
            return [(event, owner) for event, owner in session.execute(of_all)]
        of_jobs = query.join(Job, Event.job == Job.number)
        if of_one:
            of_jobs = of_jobs.where(Job.project_id == project_id)
            return [(event, owner) for event, owner in session.execute(of_jobs)]
        # Two queries, each with an index. One for either kind of event would read all events.
        project = not_by_index(Job.project_id) == project_id
        of_jobs = of_jobs.where(project if recent else _project(session, project_id))
        # Other events without a job may name hosts.
        of_queue = of_all.where(Event.job.is_(None), Event.kind.in_(QUEUE_KINDS))
        found = [
            (event, owner) for some in (of_jobs, of_queue) for event, owner in session.execute(some)
        ]
    return sorted(found, key=lambda each: each[0].id, reverse=newest_first)[:limit]


def _are_few(session: Session, since: float) -> bool:
    """Whether so few events are newer than a time that it is fastest to find them by its index.

    Otherwise it is faster to walk through all events until there are enough.
    """
    ids = select(Event.id).where(Event.at >= since).limit(MANY_EVENTS + 1).subquery()
    return (session.scalar(select(func.count()).select_from(ids)) or 0) <= MANY_EVENTS


def _project(session: Session, project_id: str) -> ColumnElement[bool]:
    """The condition that a job is this project's, for events in the order of their records.

    Those of a project with few jobs are found by its jobs, and sorted. For a project with many, it
    is faster to walk through everybody's events until there are enough.
    """
    jobs = select(Job.number).where(Job.project_id == project_id).limit(MANY_JOBS + 1).subquery()
    few = session.scalar(select(func.count()).select_from(jobs)) <= MANY_JOBS
    return Job.project_id == project_id if few else not_by_index(Job.project_id) == project_id


def latest(store: Store, job: int, count: int) -> list[Event]:
    """The last `count` events of a job, oldest first."""
    query = select(Event).where(Event.job == job)
    query = query.order_by(Event.at.desc(), Event.id.desc()).limit(count)
    with store.reading() as session:
        return list(session.scalars(query))[::-1]


def task(store: Store, array: int, index: int) -> list[Job]:
    """The task of an array with this index, if there is one."""
    if max(array, index) >= 2**31:
        # PostgreSQL refuses to compare a column of 32 bits with it.
        return []
    query = select(Job).where(Job.array == array, Job.array_index == index)
    with store.reading() as session:
        return list(session.scalars(query))


def beginning_with(store: Store, prefix: str) -> list[Job]:
    """Jobs of all projects whose uuid begins with `prefix`, by number."""
    query = select(Job).where(Job.uuid.startswith(prefix, autoescape=True)).order_by(Job.number)
    with store.reading() as session:
        return list(session.scalars(query))
