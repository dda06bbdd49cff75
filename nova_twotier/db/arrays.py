"""Job arrays: the record of each, and the jobs that are its tasks.

A task is a job like any other, of which policies know no more. The record has what all tasks share.
"""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, insert, inspect, or_, select, update
from sqlalchemy.orm import Session

from nova_twotier.core import indexes
from nova_twotier.core.reasons import waits
from nova_twotier.db.event import USER
from nova_twotier.db.models import Array, Delivery, Event, Job
from nova_twotier.db.parts import in_parts
from nova_twotier.db.selection import EVERY_JOB, Selection
from nova_twotier.db.states import OVER, JobState

#: What no task has from another one, or what the database gives each.
_OWN = frozenset({"number", "uuid", "revision", "array_index"})


@dataclass(frozen=True)
class Tasks:
    """The tasks of a new array.

    :param written: their indexes, see `core.indexes`.
    :param most_at_once: so many are in the queue, or run, at the same time; None: all.
    """

    written: str
    most_at_once: int | None = None

    @property
    def indexes(self) -> list[int]:
        """:raises InvalidIndexes: if they cannot be those of an array."""
        return indexes.parse(self.written)


def add(
    session: Session, first: Job, tasks: Tasks, its_uuid: str | None, user_data: str | None
) -> None:
    """Turn a newly numbered job into the first task of an array, and add the other tasks.

    :param its_uuid: that of the array; by default, a new one.
    """
    every = tasks.indexes
    first.array, first.array_index = first.number, every[0]
    first.array_span = [len(every), every[0], every[-1]]
    session.add(
        Array(
            number=first.number,
            uuid=its_uuid or str(uuid.uuid4()),
            name=first.name,
            project_id=first.project_id,
            user_id=first.user_id,
            pool=first.pool,
            indexes=tasks.written,
            most_at_once=tasks.most_at_once,
            user_data=user_data,
            trust_id=first.trust_id,
            submitted_at=first.submitted_at,
        )
    )
    session.flush()
    columns = [each.key for each in inspect(Job).column_attrs if each.key not in _OWN]
    shared = {name: getattr(first, name) for name in columns}
    most = tasks.most_at_once or len(every)
    behind: dict[str, Any] = {"gated": True}
    if most < len(every) and not (first.held or first.gated):
        # As the manager would find: ten thousand tasks need not be written once more.
        one = Job(reason=waits.ARRAY_LIMIT(limit=most))
        behind |= {"reason_code": one.reason_code, "reason_data": one.reason_data}
    rows = [
        {**shared, "uuid": str(uuid.uuid4()), "array_index": index}
        | (behind if place >= most else {})
        for place, index in enumerate(every[1:], start=1)
    ]
    if rows:
        session.execute(insert(Job), rows)
    of_array = select(Job.number).where(Job.array == first.number).order_by(Job.number)
    numbers = session.scalars(of_array).all()
    at = first.submitted_at
    submitted = {"at": at, "kind": "submitted"}
    if user := session.info.get(USER):
        submitted |= user._asdict()
    if routes := first.routes:
        deliveries = ([Delivery(route=route, due_at=at) for route in routes] for _each in numbers)
        session.add_all(
            Event(**submitted, job=number, deliveries=told)
            for number, told in zip(numbers, deliveries, strict=True)
        )
    else:
        session.execute(insert(Event), [{**submitted, "job": number} for number in numbers])


def find(session: Session, reference: int | str) -> Array | None:
    """
    :param reference: the number or the uuid of the array.
    """
    column = Array.number if isinstance(reference, int) else Array.uuid
    return session.scalar(select(Array).where(column == reference))


def by_state(session: Session, number: int) -> dict[JobState, int]:
    """How many tasks of an array are in each state."""
    found = dict.fromkeys(JobState, 0)
    query = select(Job.state, func.count()).where(Job.array == number).group_by(Job.state)
    for state, count in session.execute(query):
        found[JobState(state)] = count
    return found


def state(counts: Mapping[JobState, int]) -> JobState:
    """The state of an array whose tasks are in these states: it is over when all of them are."""
    there = {each for each, count in counts.items() if count}
    if there <= {JobState.QUEUED}:
        return JobState.QUEUED
    if there - set(OVER):
        return JobState.RUNNING
    for worst in (JobState.FAILED, JobState.CANCELLED):
        if worst in there:
            return worst
    return JobState.FINISHED


@dataclass(frozen=True)
class Whole:
    """All tasks of an array as one job, for what depends on it.

    :param started_at: when the last of them started; None: one has not, and is not over.
    :param finished_at: when the last of them ended; None: one is not over.
    :param failed: the number and the state of the first task that did not succeed.
    """

    state: JobState
    started_at: float | None
    finished_at: float | None
    failed: tuple[int, str] | None


def whole(session: Session, numbers: Collection[int]) -> dict[int, Whole]:
    """Arrays by number, without those whose records were deleted."""
    return {n: each for some in in_parts(numbers) for n, each in _whole(session, some).items()}


def _whole(session: Session, numbers: Collection[int]) -> dict[int, Whole]:
    is_open = Job.state.not_in(OVER)
    unsuccessful = Job.state.in_((JobState.FAILED, JobState.CANCELLED))
    query = select(
        Job.array,
        func.sum(case((is_open, 1), else_=0)).label("open"),
        func.sum(case((and_(is_open, Job.started_at.is_(None)), 1), else_=0)).label("unstarted"),
        func.max(Job.started_at).label("started_at"),
        func.max(Job.finished_at).label("finished_at"),
        func.min(case((unsuccessful, Job.number))).label("failed"),
    )
    rows = session.execute(query.where(Job.array.in_(numbers)).group_by(Job.array)).all()
    failed = [row.failed for row in rows if row.failed is not None]
    states = dict(
        session.execute(select(Job.number, Job.state).where(Job.number.in_(failed))).all()
        if failed
        else ()
    )
    return {
        row.array: Whole(
            state=JobState.RUNNING if row.open else JobState(states.get(row.failed, "finished")),
            started_at=None if row.unstarted else row.started_at,
            finished_at=None if row.open else row.finished_at,
            failed=None if row.failed is None else (row.failed, states[row.failed]),
        )
        for row in rows
    }


#: Queued tasks that lists show in one line: those of which nothing is saved.
WAITING = Job.array.is_not(None), Job.state == JobState.QUEUED, Job.saved.is_(False)


def collapsed(session: Session, selection: Selection) -> ColumnElement[bool]:
    """Condition of the jobs that a list shows: of the waiting tasks of an array, only the first of
    the selection, and the first that is held."""
    first = select(func.min(Job.number)).where(*WAITING).group_by(Job.array, Job.held)
    first = selection.of(first, session.get_bind().dialect.name)
    return or_(~and_(*WAITING), Job.number.in_(first))


def is_waiting(job: Job) -> bool:
    """Whether a job is one of those."""
    return job.array is not None and job.state == JobState.QUEUED and not job.saved


def waiting(session: Session, numbers: Collection[int]) -> dict[int, list[int]]:
    """The indexes of the tasks that wait, by the number of their array."""
    found: dict[int, list[int]] = {number: [] for number in numbers}
    for (number, _held), some in waiting_by_hold(session, numbers).items():
        found[number] += some
    return {number: sorted(some) for number, some in found.items()}


def waiting_by_hold(
    session: Session, numbers: Collection[int], selection: Selection = EVERY_JOB
) -> dict[tuple[int, bool], list[int]]:
    """The indexes of the tasks that wait, by the number of their array and whether they are held.

    :param selection: only these.
    """
    found: dict[tuple[int, bool], list[int]] = {}
    query = select(Job.array, Job.held, Job.array_index).where(*WAITING).order_by(Job.number)
    query = selection.of(query, session.get_bind().dialect.name)
    for some in in_parts(numbers):
        for number, held, index in session.execute(query.where(Job.array.in_(some))):
            if number is not None and index is not None:
                found.setdefault((number, held), []).append(index)
    return found


def limits(session: Session, numbers: Collection[int]) -> dict[int, int | None]:
    """The limits of arrays, by their numbers."""
    query = select(Array.number, Array.most_at_once)
    return {
        row.number: row.most_at_once
        for some in in_parts(numbers)
        for row in session.execute(query.where(Array.number.in_(some)))
    }


def without_open_tasks(session: Session, pool: str) -> list[Array]:
    """The arrays of a pool whose last task is over, but that are not closed yet."""
    task_open = select(Job.number).where(Job.array == Array.number, Job.state.not_in(OVER))
    query = select(Array).where(Array.pool == pool, Array.finished_at.is_(None))
    return list(session.scalars(query.where(~task_open.exists())))


def close(session: Session, numbers: Collection[int], now: float) -> None:
    """Record that arrays are over and that their trusts are deleted."""
    for some in in_parts(numbers):
        over = update(Array).where(Array.number.in_(some))
        session.execute(over.values(finished_at=now, user_data=None))
