"""Deletes old records in small steps, while API and manager work."""

import time
from collections.abc import Callable
from typing import NamedTuple

from oslo_db.exception import DBDuplicateEntry
from sqlalchemy import Select, and_, delete, exists, func, or_, select
from sqlalchemy.orm import Session, aliased, load_only

from nova_twotier.db import job_counts, purged_usage, revisions
from nova_twotier.db.models import (
    Action,
    Array,
    Delivery,
    Drain,
    Event,
    Job,
    JobServer,
    Place,
    Prediction,
)
from nova_twotier.db.states import OVER, ActionState
from nova_twotier.db.store import Store, rows_changed

#: Jobs, or rows, in one transaction, which bounds how long others wait for the database.
BATCH = 200


class Purged(NamedTuple):
    """How many rows of each kind were deleted, or would be."""

    jobs: int = 0
    events: int = 0
    actions: int = 0
    places: int = 0

    def plus(self, other: "Purged") -> "Purged":
        return Purged(*(mine + its for mine, its in zip(self, other, strict=True)))


def purge(
    store: Store,
    before: float,
    dry_run: bool = False,
    pause: Callable[[float], object] = time.sleep,
) -> Purged:
    """Delete the jobs that ended before some time, all their records, old swaps, queue events and
    drains of hosts.

    The newest job and the newest event are kept, since SQLite would reuse their numbers: texts that
    name the job would mean another, and readers of the events page by page would miss some. What
    the jobs used is kept as sums of each day.

    :param before: seconds since the epoch.
    :param dry_run: only count.
    :param pause: called with the seconds that each step took; pausing as long halves the load.
    """
    purged = Purged()
    for step in (_jobs, _swaps, _events):
        while True:
            began = time.monotonic()
            if dry_run:
                with store.reading() as session:
                    purged = purged.plus(step(session, before, None))
                break
            try:
                with store.transaction() as session:
                    deleted = step(session, before, BATCH)
            except DBDuplicateEntry:
                continue  # another purge has just made the sums of the same day
            if not any(deleted):
                break
            purged = purged.plus(deleted)
            pause(time.monotonic() - began)
    if not dry_run:
        with store.transaction() as session:
            session.execute(delete(Drain).where(Drain.until < before))
            revisions.changed(session)
    return purged


def _jobs(session: Session, before: float, batch: int | None) -> Purged:
    """Delete at most `batch` jobs with their rows; with None, only count what would be deleted."""
    newest_event = select(Event.job).where(Event.id == _greatest(Event.id)).scalar_subquery()
    # No ended job should have any of these; if one does, the manager is not done with it.
    under_way = or_(
        exists().where(Action.job == Job.number, Action.state == ActionState.EXPECTED),
        exists().where(Place.job == Job.number, Place.until.is_(None)),
    )
    awaited = _awaited(session)
    over = select(Job.number).where(
        Job.state.in_(OVER),
        Job.finished_at < before,
        Job.number.not_in(awaited),
        func.coalesce(Job.array.not_in(awaited), True),
        Job.number != _greatest(Job.number),
        func.coalesce(Job.number != newest_event, True),
        ~under_way,
        or_(Job.array.is_(None), Job.array.not_in(_arrays_needed(before))),
    )
    tables = ((Event, Event.job), (Action, Action.job), (Place, Place.job))
    if batch is None:
        of_jobs = (select(func.count()).where(column.in_(over)) for _table, column in tables)
        counts = (select(func.count()).select_from(over.subquery()), *of_jobs)
        return Purged(*(session.scalars(count).one() for count in counts))
    numbers = list(session.scalars(over.order_by(Job.number).limit(batch)))
    numbers = purged_usage.keep(session, numbers)
    if not numbers:
        return Purged()
    of_them = select(Event.id).where(Event.job.in_(numbers))
    session.execute(delete(Delivery).where(Delivery.event.in_(of_them)))
    deleted = (
        rows_changed(session, delete(table).where(column.in_(numbers))) for table, column in tables
    )
    purged = Purged(len(numbers), *deleted)
    # They mean nothing once the job is over; a pool without a manager keeps them all the same.
    session.execute(delete(JobServer).where(JobServer.job.in_(numbers)))
    session.execute(delete(Prediction).where(Prediction.job.in_(numbers)))
    arrays = select(Job.array).where(Job.number.in_(numbers), Job.array.is_not(None)).distinct()
    touched = session.scalars(arrays).all()
    job_counts.forget(session, numbers)
    session.execute(delete(Job).where(Job.number.in_(numbers)))
    if touched:
        left = exists().where(Job.array == Array.number)
        session.execute(delete(Array).where(Array.number.in_(touched), ~left))
    return purged


def _arrays_needed(before: float) -> Select[int | None]:
    """Numbers of the arrays with a task that is not over, or ended later: all tasks of an array go
    together, so that what it shows of them stays true.

    Also of those whose trust is not deleted yet: nobody would know any more what it was made for.
    """
    task = aliased(Job)
    needed = or_(
        task.state.not_in(OVER),
        task.finished_at >= before,
        and_(Array.finished_at.is_(None), Array.trust_id.is_not(None)),
    )
    of_arrays = select(task.array).join(Array, Array.number == task.array)
    return of_arrays.where(needed).distinct()


def _awaited(session: Session) -> set[int]:
    """Numbers of the jobs, and of the arrays, that others are still to start after."""
    gated = select(Job).where(Job.gated, Job.state.not_in(OVER))
    gated = gated.options(load_only(Job.dependencies_data))
    given = (each for job in session.scalars(gated) for each in job.dependencies)
    return {each.job for each in given if each.met_at is None}


def _events(session: Session, before: float, batch: int | None) -> Purged:
    """Like `_jobs`, for events without a job: those of queues."""
    old = and_(Event.job.is_(None), Event.at < before, Event.id != _greatest(Event.id))
    if batch is None:
        return Purged(events=session.scalars(select(func.count()).where(old)).one())
    ids = list(session.scalars(select(Event.id).where(old).order_by(Event.id).limit(batch)))
    if ids:
        session.execute(delete(Event).where(Event.id.in_(ids)))
    return Purged(events=len(ids))


def _swaps(session: Session, before: float, batch: int | None) -> Purged:
    """Like `_jobs`, for closed actions without a job: swaps, which are about several."""
    closed = Action.job.is_(None), Action.state != ActionState.EXPECTED, Action.closed_at < before
    if batch is None:
        return Purged(actions=session.scalars(select(func.count()).where(*closed)).one())
    ids = list(session.scalars(select(Action.id).where(*closed).order_by(Action.id).limit(batch)))
    if ids:
        session.execute(delete(Action).where(Action.id.in_(ids)))
    return Purged(actions=len(ids))


def _greatest(column):
    return select(func.max(column)).scalar_subquery()
