"""Database queries that only the API needs."""

import copy

from sqlalchemy import and_, case, func, or_, select
from sqlalchemy.orm import load_only

from nova_twotier.core.qos import PRECEDENCE, Qos
from nova_twotier.core.reasons import waits
from nova_twotier.db import queue_policy
from nova_twotier.db.models import Event, Job
from nova_twotier.db.states import OVER, JobState, QueueMode
from nova_twotier.db.store import Store, queue_event

#: Kinds of the events of a queue.
QUEUE_KINDS = [*(queue_event(mode) for mode in QueueMode), queue_policy.CHOSEN]


def by_state(
    store: Store, project_id: str | None = None, pool: str | None = None
) -> dict[JobState, tuple[int, int]]:
    """Numbers of jobs and processes by state, of one project or all, in one pool or all."""
    query = select(Job.state, func.count(), func.sum(Job.size)).group_by(Job.state)
    if project_id is not None:
        query = query.where(Job.project_id == project_id)
    if pool is not None:
        query = query.where(Job.pool == pool)
    found = dict.fromkeys(JobState, (0, 0))
    with store.reading() as session:
        for state, jobs, processes in session.execute(query):
            found[JobState(state)] = jobs, int(processes)
    return found


def by_class(
    store: Store, project_id: str | None = None, pool: str | None = None
) -> dict[str, dict[str, int]]:
    """Count the waiting jobs, and the other jobs that are not over, by class of service."""
    query = select(Job.qos, Job.state, func.count()).where(Job.state.not_in(OVER))
    for column, value in ((Job.project_id, project_id), (Job.pool, pool)):
        if value is not None:
            query = query.where(column == value)
    found = {which: dict.fromkeys(map(str, Qos), 0) for which in ("waiting", "running")}
    with store.reading() as session:
        for qos, state, jobs in session.execute(query.group_by(Job.qos, Job.state)):
            found["waiting" if state == JobState.QUEUED else "running"][qos] += jobs
    return found


#: Of a pool without jobs that are not over.
NO_JOBS = {"jobs": {"waiting": 0, "running": 0}, "processes": {"waiting": 0, "running": 0}}


def open_by_pool(store: Store) -> dict[str, dict[str, dict[str, int]]]:
    """Numbers of jobs, and of their processes, that wait and that run, by pool.

    Of all projects. Those that start, restart, are preempted or end count as running.
    """
    query = select(Job.pool, Job.state, func.count(), func.sum(Job.size))
    query = query.where(Job.state.not_in(OVER)).group_by(Job.pool, Job.state)
    found: dict[str, dict[str, dict[str, int]]] = {}
    with store.reading() as session:
        for pool, state, jobs, processes in session.execute(query):
            counts = found.setdefault(pool, copy.deepcopy(NO_JOBS))
            which = "waiting" if state == JobState.QUEUED else "running"
            counts["jobs"][which] += jobs
            counts["processes"][which] += int(processes)
    return found


def waiting_by_reason(store: Store) -> dict[str, int]:
    """Numbers of queued jobs of all projects, by the code of their reason."""
    # As `reasons.reason_of` has it.
    known = func.coalesce(Job.reason_code, waits.UNDECIDED.name)
    code = case((Job.held, waits.HELD.name), else_=known).label("code")
    query = select(code, func.count()).where(Job.state == JobState.QUEUED).group_by("code")
    with store.reading() as session:
        return dict(session.execute(query).all())


def position(store: Store, job: Job) -> int | None:
    """A waiting job's position in its pool's queue: by class, submission or release, and fair
    share.

    None if it does not wait there, or not yet.
    """
    if not job.in_queue:
        return None
    place = Job.eligible_at + func.coalesce(Job.queue_offset, 0.0)
    its = job.eligible_at + (job.queue_offset or 0.0)
    turn, its_turn = case(PRECEDENCE, value=Job.qos, else_=0), PRECEDENCE[Qos(job.qos)]
    query = select(func.count()).where(
        Job.state == JobState.QUEUED,
        Job.held.is_(False),
        Job.gated.is_(False),
        Job.pool == job.pool,
        or_(
            turn < its_turn,
            and_(turn == its_turn, place < its),
            and_(turn == its_turn, place == its, Job.number < job.number),
        ),
    )
    with store.reading() as session:
        return session.scalar(query) + 1


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
    query = select(Event, Job).outerjoin(Job, Event.job == Job.number)
    query = query.options(
        load_only(Job.uuid, Job.project_id, Job.array, Job.array_index, raiseload=True)
    )
    query = query.order_by(Event.id.desc() if newest_first else Event.id).limit(limit)
    if project_id is not None:
        # Other events without a job may name hosts.
        of_queue = and_(Event.job.is_(None), Event.kind.in_(QUEUE_KINDS))
        query = query.where(or_(Job.project_id == project_id, of_queue))
    if job is not None:
        query = query.where(Event.job == job)
    if array is not None:
        query = query.where(Job.array == array)
    if since is not None:
        query = query.where(Event.at >= since)
    if after is not None:
        query = query.where(Event.id < after if newest_first else Event.id > after)
    with store.reading() as session:
        return [(event, owner) for event, owner in session.execute(query)]


def latest(store: Store, job: int, count: int) -> list[Event]:
    """The last `count` events of a job, oldest first."""
    query = select(Event).where(Event.job == job)
    query = query.order_by(Event.at.desc(), Event.id.desc()).limit(count)
    with store.reading() as session:
        return list(session.scalars(query))[::-1]


def task(store: Store, array: int, index: int) -> list[Job]:
    """The task of an array with this index, if there is one."""
    query = select(Job).where(Job.array == array, Job.array_index == index)
    with store.reading() as session:
        return list(session.scalars(query if max(array, index) < 2**31 else query.limit(0)))


def beginning_with(store: Store, prefix: str) -> list[Job]:
    """Jobs of all projects whose uuid begins with `prefix`, by number."""
    query = select(Job).where(Job.uuid.startswith(prefix, autoescape=True)).order_by(Job.number)
    with store.reading() as session:
        return list(session.scalars(query))
