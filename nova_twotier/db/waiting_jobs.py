"""SQL for waiting jobs: which of them are in a queue, at which place, and why they wait."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, select
from sqlalchemy.orm import Session

from nova_twotier.core.qos import PRECEDENCE
from nova_twotier.core.reasons import waits
from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState


def in_queue() -> ColumnElement[bool]:
    """As `Job.in_queue` has it."""
    return and_(Job.state == JobState.QUEUED, Job.held.is_(False), Job.gated.is_(False))


def places() -> tuple[ColumnElement[Any], ...]:
    """The columns by which a queue is ordered, but for the job number: class, and `Job.place`."""
    turn = case(PRECEDENCE, value=Job.qos, else_=0)
    return turn, Job.eligible_at + func.coalesce(Job.queue_offset, 0.0)


def positions(session: Session, numbers: Collection[int]) -> dict[int, int]:
    """The positions, from 1, of those of these jobs that are in the queue of their pool."""
    position = func.row_number().over(partition_by=Job.pool, order_by=(*places(), Job.number))
    every = select(Job.number, position.label("position")).where(in_queue()).subquery()
    query = select(every.c.number, every.c.position).where(every.c.number.in_(numbers))
    return {row.number: row.position for row in session.execute(query)}


def code() -> ColumnElement[str | None]:
    """As `Job.waiting_code` has it; of a job that does not wait, the code of its reason."""
    waiting = Job.state == JobState.QUEUED
    return case(
        (and_(waiting, Job.held), waits.HELD.name),
        (waiting, func.coalesce(Job.reason_code, waits.UNDECIDED.name)),
        else_=Job.reason_code,
    )
