"""Accounting: how long jobs held slots in a period, by tier, and how much of that was lost.

The recorded schedule (`Place`) is the only source: a job uses a slot from when it takes it until it
gives it up. Lost is what it held before `Job.discarded_at`, when it last began anew or failed with
its servers. Of jobs that were purged there are the sums of each day (`UsageDay`).
"""

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    case,
    func,
    literal,
    null,
    select,
    union_all,
)
from sqlalchemy.orm import Session

from nova_twotier.core.actions import BG, FG
from nova_twotier.db.models import Job, Place, UsageDay

#: Seconds.
DAY = 86400
#: Most days or months of an answer: databases limit the parts of a query.
MOST_SPANS = 400


class By(StrEnum):
    """What usage is summed by."""

    PROJECT = "project"
    USER = "user"
    POOL = "pool"
    JOB = "job"
    DAY = "day"
    MONTH = "month"


#: A job has one of each of these.
_OF_JOB = frozenset({By.PROJECT, By.USER, By.POOL})
#: Those that are times.
TIMES = frozenset({By.DAY, By.MONTH})


class InvalidUsage(ValueError):
    """There is no such usage; the message says what to ask for instead."""


class Span(NamedTuple):
    """From `start` until before `end`, in seconds since the epoch."""

    start: float
    end: float


class Key(NamedTuple):
    """Whose usage a row is; None where it is not summed by that.

    :param span: the number of the day or month in the period.
    :param job: its number; None also for jobs that were purged.
    """

    span: int
    project_id: str | None
    user_id: str | None
    pool: str | None
    job: int | None


@dataclass
class Usage:
    """Slot-seconds in each tier, those of them whose work was discarded, and numbers of jobs.

    :param started: jobs that started for the first time.
    :param ended: jobs that ended, also those that never started.
    """

    foreground: float = 0.0
    background: float = 0.0
    lost: float = 0.0
    started: int = 0
    ended: int = 0

    def add(self, **more: float) -> None:
        for name, value in more.items():
            # Sums in SQL are None for no rows, and decimal numbers of integers.
            setattr(self, name, type(getattr(self, name))(getattr(self, name) + (value or 0)))

    @property
    def used(self) -> float:
        """Slot-seconds in both tiers."""
        return self.foreground + self.background


@dataclass(frozen=True, kw_only=True)
class Question:
    """Which usage to sum, and by what.

    :param period: its end is not in the future: slots that are still held count until then.
    """

    period: Span
    by: Collection[By] = ()
    project_id: str | None = None
    user_id: str | None = None
    pool: str | None = None

    def __post_init__(self):
        """:raises InvalidUsage: for an empty or too long period, or two kinds of times."""
        if not self.period.start < self.period.end:
            raise InvalidUsage("start: give a time before the end of the period, and before now")
        if TIMES <= set(self.by):
            raise InvalidUsage("by: give day or month, not both")
        if len(self.spans) > MOST_SPANS:
            raise InvalidUsage(
                f"by: the period has more than {MOST_SPANS} parts; give a shorter one, or sum by "
                "month"
            )

    @property
    def spans(self) -> list[Span]:
        """The days or months of the period, in UTC; the period itself if it is not summed by
        them. The first and the last may be parts of one."""
        start, end = self.period
        if not TIMES & set(self.by):
            return [self.period]
        borders, border = [start], start
        while len(borders) <= MOST_SPANS:
            border = _next_month(border) if By.MONTH in self.by else _next_day(border)
            if border >= end:
                break
            borders.append(border)
        return [Span(*pair) for pair in zip(borders, [*borders[1:], end], strict=True)]


def usage(session: Session, question: Question, most: int) -> dict[Key, Usage]:
    """The usage by key, in the order of time, project, user, pool and job.

    It takes no longer when there is more history before the period.

    :param most: at most so many rows.
    :raises InvalidUsage: if there are more.
    """
    spans = _spans(question.spans)
    found: dict[Key, Usage] = {}
    queries = (
        _stays(question, spans),
        _counted(question, spans, Job.started_at, "started"),
        _counted(question, spans, Job.finished_at, "ended"),
        _purged(question, spans),
    )
    for query in queries:
        for row in session.execute(query.limit(most + 1)):
            values = row._asdict()
            key = Key(*(values.pop(name) for name in Key._fields))
            found.setdefault(key, Usage()).add(**values)
    if len(found) > most:
        raise InvalidUsage(
            f"by: the answer has more than {most} rows; give a shorter period, or sum by less"
        )
    return {key: found[key] for key in sorted(found, key=_order)}


def total(rows: Iterable[Usage]) -> Usage:
    """The sum of all rows."""
    found, rows = Usage(), list(rows)
    for name in vars(found):
        values = [getattr(row, name) for row in rows]
        found.add(**{name: math.fsum(values)})
    return found


def days(since: float, until: float) -> Iterator[tuple[int, Span]]:
    """The days of a stay, counted from 1970-01-01 in UTC, and its part in each."""
    at = since
    while at < until:
        end = min(until, _next_day(at))
        yield day_of(at), Span(at, end)
        at = end


def day_of(at: float) -> int:
    """The number of the day of a time, counted from 1970-01-01 in UTC."""
    return math.floor(at / DAY)


def _next_day(at: float) -> float:
    return float((day_of(at) + 1) * DAY)


def _next_month(at: float) -> float:
    first = datetime.fromtimestamp(at, UTC).replace(day=1, hour=0, minute=0, second=0)
    later = first.replace(microsecond=0) + timedelta(days=32)
    return later.replace(day=1).timestamp()


def _stays(question: Question, spans: FromClause) -> Select:
    """Slot-seconds of the jobs that are in the database."""
    start, end = question.period
    # Grouped, so that databases read the places of the period first, and not those that the jobs
    # of a project ever had. Most processes of a job come and go together: that leaves few rows.
    columns = Place.job, Place.tier, Place.since
    closed = select(*columns, Place.until, func.count().label("slots"))
    closed = closed.where(Place.until > start, Place.since < end).group_by(*columns, Place.until)
    held = select(*columns, literal(end).label("until"), func.count().label("slots"))
    held = held.where(Place.until.is_(None), Place.since < end).group_by(*columns)
    stays = union_all(closed, held).subquery("stay")
    stay = stays.c
    begun = _greatest(stay.since, spans.c.start)
    over = _least(stay.until, spans.c.end)
    discarded = _least(over, func.coalesce(Job.discarded_at, start))
    query = _grouped(
        question,
        foreground=func.sum(case((stay.tier == FG, stay.slots * (over - begun)), else_=0.0)),
        background=func.sum(case((stay.tier == BG, stay.slots * (over - begun)), else_=0.0)),
        lost=func.sum(case((discarded > begun, stay.slots * (discarded - begun)), else_=0.0)),
        span=spans.c.span,
    )
    query = query.join_from(stays, Job, Job.number == stay.job)
    query = query.join(spans, (stay.since < spans.c.end) & (stay.until > spans.c.start))
    # A clock that was set back may have made stays that end before they begin.
    return query.where(stay.since < stay.until)


def _counted(question: Question, spans: FromClause, at: ColumnElement[Any], name: str) -> Select:
    """Numbers of the jobs to which something happened in the period."""
    start, end = question.period
    query = _grouped(question, span=spans.c.span, **{name: func.count()})
    query = query.join_from(Job, spans, (at >= spans.c.start) & (at < spans.c.end))
    return query.where(at >= start, at < end)


def _purged(question: Question, spans: FromClause) -> Select:
    """Sums of purged jobs: each day counts to the span in which it begins."""
    start, end = question.period
    at = UsageDay.day * DAY
    names = ("foreground", "background", "lost", "started", "ended")
    sums = {name: func.sum(getattr(UsageDay, name)) for name in names}
    query = _grouped(question, table=UsageDay, span=spans.c.span, **sums)
    query = query.join_from(UsageDay, spans, (at >= spans.c.start) & (at < spans.c.end))
    first, after = math.ceil(start / DAY), math.ceil(end / DAY)
    return query.where(UsageDay.day >= first, UsageDay.day < after)


def _grouped(question: Question, *, table: Any = Job, span: Any, **sums: Any) -> Select:
    """The sums by key, of what the question selects."""
    by = set(question.by) | (_OF_JOB if By.JOB in question.by else set())
    none = null()
    keys = {
        "span": span,
        "project_id": table.project_id if By.PROJECT in by else none,
        "user_id": table.user_id if By.USER in by else none,
        "pool": table.pool if By.POOL in by else none,
        "job": Job.number if By.JOB in by and table is Job else none,
    }
    query = select(*(value.label(name) for name, value in {**keys, **sums}.items()))
    query = query.group_by(*(value for value in keys.values() if value is not none))
    for name in ("project_id", "user_id", "pool"):
        if (wanted := getattr(question, name)) is not None:
            # As an expression: by an index on it, all jobs that it ever had would be looked at.
            query = query.where(func.coalesce(getattr(table, name), "") == wanted)
    return query


def _spans(spans: Iterable[Span]) -> FromClause:
    """The spans as a table, whatever the database."""
    rows = (
        select(
            literal(number).label("span"),
            literal(span.start).label("start"),
            literal(span.end).label("end"),
        )
        for number, span in enumerate(spans)
    )
    return union_all(*rows).subquery("part")


def _least(one: ColumnElement[Any], other: Any) -> ColumnElement[Any]:
    return case((one < other, one), else_=other)


def _greatest(one: ColumnElement[Any], other: Any) -> ColumnElement[Any]:
    return case((one > other, one), else_=other)


def _order(key: Key) -> tuple[int, str, str, str, int]:
    return key.span, key.project_id or "", key.user_id or "", key.pool or "", key.job or 0
