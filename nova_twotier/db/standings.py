"""Pages through the jobs that wait or run, in any order, each with its position in the queue.

What is looked through are the jobs that are not over; only the rows asked for are read whole.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    case,
    cast,
    func,
    or_,
    select,
)
from sqlalchemy.orm import Session

from nova_twotier.core.reasons import CODES
from nova_twotier.db import arrays, job_counts, waiting_jobs
from nova_twotier.db.models import Job, Prediction
from nova_twotier.db.selection import Selection
from nova_twotier.db.states import JobState
from nova_twotier.db.store import SHORT

#: What jobs that are not over do: one that starts, restarts, is preempted or ends has started.
PHASES = (WAITING, STARTED) = ("waiting", "started")
#: What they can be sorted by.
SORT_KEYS = (
    POSITION,
    NUMBER,
    SIZE,
    TIER,
    REASON,
    START,
    EVICTIONS,
    AGE,
) = ("position", "number", "size", "tier", "reason", "start", "evictions", "age")


@dataclass(frozen=True, kw_only=True)
class Question:
    """Which jobs, and in which order.

    :param project_id: only of this project; None for all projects that the reader may see.
    :param search: a part of number, name, uuid, user, project or reason, in any case.
    :param own: the project whose jobs come first; None: none.
    :param shared: whether owners share fairly: then a job has no position before it has an offset.
    """

    scope: str | None = None
    project_id: str | None = None
    pool: str | None = None
    phase: str | None = None
    search: str = ""
    sort_key: str = POSITION
    descending: bool = False
    own: str | None = None
    shared: bool = False


class Standing(NamedTuple):
    """A job and its position in its pool's queue; None: it is not in the queue."""

    job: Job
    position: int | None


class Counts(NamedTuple):
    """How many jobs match.

    :ivar phases: of the project that is asked for, if one is, in both phases.
    :ivar projects: the projects with jobs that match but for their project.
    """

    phases: dict[str, int]
    projects: list[str]


def counts(session: Session, question: Question) -> Counts:
    waiting = case((Job.state == JobState.QUEUED, WAITING), else_=STARTED).label("phase")
    query = _matching(session, question, select(Job.project_id, waiting, func.count()))
    phases, projects = dict.fromkeys(PHASES, 0), set()
    for project, phase, jobs in session.execute(query.group_by(Job.project_id, "phase")):
        projects.add(project)
        if question.project_id in (None, project):
            phases[phase] += jobs
    return Counts(phases, sorted(projects))


def page(session: Session, question: Question, offset: int, limit: int) -> list[Standing]:
    """One page of the matching jobs: `limit` of them after the first `offset`."""
    query = _matching(session, question, select(Job.number))
    if question.sort_key == START:
        query = query.outerjoin(Prediction, Prediction.job == Job.number)
    if question.project_id is not None:
        query = query.where(func.coalesce(Job.project_id, "") == question.project_id)
    if question.phase is not None:
        waits_now = Job.state == JobState.QUEUED
        query = query.where(waits_now if question.phase == WAITING else ~waits_now)
    lacks, *keys = _keys(question)
    first = [case((lacks, 1), else_=0)]
    if question.own is not None:
        first.insert(0, case((Job.project_id == question.own, 0), else_=1))
    order = (*first, *(key.desc() if question.descending else key for key in keys), Job.number)
    numbers = session.scalars(query.order_by(*order).offset(offset).limit(limit)).all()
    jobs, places = _whole(session, numbers), waiting_jobs.positions(session, numbers)
    # One may have been purged meanwhile.
    return [Standing(jobs[number], places.get(number)) for number in numbers if number in jobs]


def _whole(session: Session, numbers: Collection[int]) -> dict[int, Job]:
    query = select(Job).where(Job.number.in_(numbers))
    return {job.number: job for job in session.scalars(query.options(*SHORT))}


def _matching(session: Session, question: Question, query: Select) -> Select:
    """Restrict a query to the jobs that match, in any phase and any project."""
    query = query.where(
        *job_counts.not_over(question.scope, question.pool),
        arrays.collapsed(session, Selection(pool=question.pool)),
    )
    sought = question.search.strip().lower()
    return query.where(_found(sought)) if sought else query


def _found(sought: str) -> ColumnElement[bool]:
    texts = (Job.name, Job.uuid, Job.user_id, Job.project_id)
    numbers = (cast(column, String(20)) for column in (Job.number, Job.array))
    # The texts of reasons are made when they are read, so it is their patterns that are searched.
    codes = [code.name for code in CODES.values() if sought in f"{code.name} {code.text}".lower()]
    return or_(
        *(func.lower(text).contains(sought, autoescape=True) for text in texts),
        *(number.contains(sought, autoescape=True) for number in numbers),
        waiting_jobs.code().in_(codes),
    )


def _keys(question: Question) -> tuple[ColumnElement[Any], ...]:
    """SQL for a sort: whether a job has no value, then the columns to sort by."""
    waiting = Job.state == JobState.QUEUED
    key: ColumnElement[Any]
    match question.sort_key:
        case "position":
            # Also of several queues, each by its own: one after the other as they came.
            lacks = ~waiting_jobs.in_queue()
            if question.shared:
                lacks |= Job.queue_offset.is_(None)
            return lacks, *waiting_jobs.places()
        case "reason":
            key = waiting_jobs.code()
        case "start":
            key = case((waiting, Prediction.start), else_=Job.started_at)
        case "age":
            # The youngest first.
            key = -Job.submitted_at
        case name:
            key = getattr(Job, name)
    return key.is_(None), key
