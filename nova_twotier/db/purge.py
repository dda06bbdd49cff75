"""Deletes old records in small steps, while API and manager work."""

import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import NamedTuple

from oslo_db.exception import DBDuplicateEntry
from sqlalchemy import Row, Select, and_, delete, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from nova_twotier.db import dependencies, job_counts, purged_usage, revisions
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
from nova_twotier.db.parts import in_parts
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
    purged, awaited = Purged(), Awaited()
    with store.reading() as session:
        awaited.read(session)
    for step in (partial(_jobs, awaited), _swaps, _events):
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


class Awaited:
    """The jobs and the arrays that others are still to start after: these stay.

    Thousands may wait for others. What each of them waits for is read once, before the purge takes
    the database for itself; after that, only that of jobs which were submitted meanwhile.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._numbers: set[int] = set()
        #: Those of them that would be deleted: few, so that the statement stays short.
        self.kept: set[int] = set()

    def read(self, session: Session) -> None:
        """Read the dependencies of the jobs that were not there at the last time."""
        # By their numbers: a job may show after another with a higher one.
        gated = set(session.scalars(select(Job.number).where(Job.gated, *job_counts.not_over())))
        for some in in_parts(gated - self._known):
            query = select(Job.dependencies_data).where(Job.number.in_(some))
            for data in session.scalars(query):
                given = dependencies.load(data or ())
                self._numbers.update(each.job for each in given if each.met_at is None)
        self._known |= gated

    def keep(self, rows: Iterable[Row]) -> bool:
        """Add those of these jobs and arrays that others wait for to `kept`; True if any was."""
        found = self._numbers.intersection(chain.from_iterable(rows))
        self.kept |= found
        return bool(found)


def _jobs(awaited: Awaited, session: Session, before: float, batch: int | None) -> Purged:
    """Delete at most `batch` jobs with their rows; with None, only count what would be deleted."""
    newest_event = select(Event.job).where(Event.id == _greatest(Event.id)).scalar_subquery()
    # No ended job should have any of these; if one does, the manager is not done with it.
    under_way = or_(
        exists().where(Action.job == Job.number, Action.state == ActionState.EXPECTED),
        exists().where(Place.job == Job.number, Place.until.is_(None)),
    )
    awaited.read(session)
    old = (
        Job.state.in_(OVER),
        Job.finished_at < before,
        Job.number != _greatest(Job.number),
        func.coalesce(Job.number != newest_event, True),
        ~under_way,
        or_(Job.array.is_(None), Job.array.not_in(_arrays_needed(before))),
    )
    while True:
        kept = Job.number.in_(awaited.kept), func.coalesce(Job.array.in_(awaited.kept), False)
        chosen = select(Job.number, Job.array).where(*old, ~or_(*kept))
        rows = session.execute(chosen.order_by(Job.number).limit(batch)).all()
        if not awaited.keep(rows):
            break
    tables = ((Event, Event.job), (Action, Action.job), (Place, Place.job))
    if batch is None:
        over = chosen.with_only_columns(Job.number)
        of_jobs = (select(func.count()).where(column.in_(over)) for _table, column in tables)
        return Purged(len(rows), *(session.scalars(count).one() for count in of_jobs))
    numbers = purged_usage.keep(session, [row.number for row in rows])
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
