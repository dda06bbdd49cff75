"""Counts of jobs by state that do not scan the jobs that have ended.

Jobs that are not over are counted when somebody asks. Of those that have ended, `EndedJobs` keeps
the number: each transaction that ends jobs through the session adds them, and a purge subtracts
those that it deletes.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from oslo_db.exception import DBDuplicateEntry
from sqlalchemy import ColumnElement, func, insert, inspect, select, union_all, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from nova_twotier.db.models import DEFAULT_POOL, EndedJobs, Job
from nova_twotier.db.states import OPEN, OVER, JobState

#: Pool, project and state.
_Key = tuple[str, str, str]
_NAMES = ("pool", "project_id", "state")


def by_pool_and_state(
    session: Session, project_id: str | None = None, pool: str | None = None
) -> dict[tuple[str, JobState], tuple[int, int]]:
    """Numbers of jobs and of their processes by pool and state, where there are any.

    :param project_id: only of this project.
    :param pool: only in this pool.
    """
    opened = select(Job.pool, Job.state, func.count().label("jobs"), func.sum(Job.size))
    opened = opened.where(*not_over(project_id, pool)).group_by(Job.pool, Job.state)
    sums = func.sum(EndedJobs.jobs), func.sum(EndedJobs.processes)
    ended = select(EndedJobs.pool, EndedJobs.state, *sums)
    ended = ended.group_by(EndedJobs.pool, EndedJobs.state)
    for name, value in (("project_id", project_id), ("pool", pool)):
        if value is not None:
            ended = ended.where(getattr(EndedJobs, name) == value)
    # In one statement: a job that ends meanwhile is counted once.
    rows = session.execute(union_all(opened, ended))
    return {(each, JobState(state)): (int(jobs), int(size)) for each, state, jobs, size in rows}


def not_over(
    project_id: str | None = None, pool: str | None = None
) -> Iterator[ColumnElement[bool]]:
    """Conditions of the jobs that are not over, of one project or all, in one pool or all."""
    yield Job.state.in_(OPEN)
    for column, value in ((Job.project_id, project_id), (Job.pool, pool)):
        if value is not None:
            # By the index on it, all jobs that it ever had would be looked at.
            yield not_by_index(column) == value


def ending(session: Session, pool: str) -> set[int]:
    """Numbers of the jobs of a pool whose servers are being deleted or shelved at their end.

    Their `finished_at` is written only when that is done (with images, minutes later), and is the
    time when it began. So code that reads jobs by `finished_at` has to look for these, too.
    """
    query = select(Job.number).where(Job.state == JobState.ENDING, not_by_index(Job.pool) == pool)
    return set(session.scalars(query))


def not_by_index(column: InstrumentedAttribute[str]) -> ColumnElement[str]:
    """An expression that equals the column, and keeps databases from using the index on it.

    Use it where so many jobs have the value that another index is better.
    """
    return func.coalesce(column, "")


def follow(session: Session, _context: Any, _instances: Any) -> None:
    """Keep `EndedJobs` up to date with the jobs of a session: a `before_flush` listener."""
    jobs, processes = Counter[_Key](), Counter[_Key]()
    for job in (*session.new, *session.dirty):
        if isinstance(job, Job):
            history = inspect(job).attrs.state.history
            for states, sign in ((history.deleted, -1), (history.added, 1)):
                for state in states or ():
                    if state in OVER:
                        jobs[_key(job, state)] += sign
                        processes[_key(job, state)] += sign * job.size
    _add(session, jobs, processes)


def forget(session: Session, numbers: Collection[int]) -> None:
    """Subtract jobs that are deleted next.

    :param numbers: of jobs that are over, and locked until the transaction ends.
    """
    key = Job.pool, Job.project_id, Job.state
    query = select(*key, func.count(), func.sum(Job.size)).where(Job.number.in_(numbers))
    jobs, processes = Counter[_Key](), Counter[_Key]()
    for pool, project, state, number, size in session.execute(query.group_by(*key)):
        jobs[pool, project, state] -= number
        processes[pool, project, state] -= int(size)
    _add(session, jobs, processes)


def _key(job: Job, state: str) -> _Key:
    # A new job has no defaults yet.
    return job.pool or DEFAULT_POOL, job.project_id or "", str(state)


def _add(session: Session, jobs: Counter[_Key], processes: Counter[_Key]) -> None:
    # In one order, so that two transactions do not wait for each other.
    for key in sorted(jobs):
        if not jobs[key]:
            continue
        row = [getattr(EndedJobs, name) == part for name, part in zip(_NAMES, key, strict=True)]
        more = {
            "jobs": EndedJobs.jobs + jobs[key],
            "processes": EndedJobs.processes + processes[key],
        }
        # Not by the session, which is about to be flushed.
        connection, adding = session.connection(), update(EndedJobs).where(*row).values(more)
        if connection.execute(adding).rowcount:
            continue
        names = (*_NAMES, "jobs", "processes")
        first = dict(zip(names, (*key, jobs[key], processes[key]), strict=True))
        try:
            with connection.begin_nested():
                connection.execute(insert(EndedJobs).values(first))
        except DBDuplicateEntry:
            # Another transaction has made the row meanwhile.
            connection.execute(adding)
