"""Accounting: how long jobs held slots in a period, by tier, and how much of that was lost.

The recorded schedule (`Place`) is the only source: a job uses a slot from when it takes it until it
gives it up. Lost is what it held before `Job.discarded_at`, when it last began anew or failed with
its servers. Of jobs that were purged there are the sums of each day (`UsageDay`).

A stay counts for the class of service that the job had then, so that a later class changes no bill;
a job that starts or ends, for the class that it has now.
"""

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, func, literal, null, select, union_all
from sqlalchemy.orm import InstrumentedAttribute, Session

from nova_twotier.core.actions import FG
from nova_twotier.db.models import Job, Place, UsageDay

#: Seconds.
DAY = 86400


class By(StrEnum):
    """What usage is summed by."""

    PROJECT = "project"
    USER = "user"
    POOL = "pool"
    QOS = "qos"
    JOB = "job"
    DAY = "day"
    MONTH = "month"


#: A job has one of each of these.
_OF_JOB = frozenset({By.PROJECT, By.USER, By.POOL})
_TIMES = frozenset({By.DAY, By.MONTH})


class InvalidUsage(ValueError):
    """There is no such usage; the message says what to ask for instead."""


class Span(NamedTuple):
    """From `start` until before `end`, in seconds since the epoch."""

    start: float
    end: float


class Key(NamedTuple):
    """Whose usage a row is; None where it is not summed by that.

    :param span: the number of the day or month in the period.
    :param qos: empty where the class is not known: of jobs that an earlier release purged.
    :param job: its number; None also for jobs that were purged.
    """

    span: int
    project_id: str | None
    user_id: str | None
    pool: str | None
    qos: str | None
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

    @property
    def used(self) -> float:
        """Slot-seconds in both tiers."""
        return self.foreground + self.background

    def hold(self, tier: str, slots: int, span: Span, discarded_at: float | None) -> None:
        """Add that a job held slots of a tier.

        :param discarded_at: what it did before was discarded; None: nothing was.
        """
        seconds = slots * (span.end - span.start)
        if tier == FG:
            self.foreground += seconds
        else:
            self.background += seconds
        if discarded_at is not None and discarded_at > span.start:
            self.lost += slots * (min(discarded_at, span.end) - span.start)

    def add(self, other: "Usage") -> None:
        self.foreground += other.foreground
        self.background += other.background
        self.lost += other.lost
        self.started += other.started
        self.ended += other.ended


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
        """:raises InvalidUsage: for an empty period, or two kinds of times."""
        if not self.period.start < self.period.end:
            raise InvalidUsage("start: give a time before the end of the period, and before now")
        if set(self.by) >= _TIMES:
            raise InvalidUsage("by: give day or month, not both")

    @cached_property
    def spans(self) -> list[Span]:
        """The days or months of the period, in UTC; the period itself if it is not summed by
        them. The first and the last may be parts of one."""
        start, end = self.period
        borders = [start]
        if _TIMES & set(self.by):
            later = _next_month if By.MONTH in self.by else _next_day
            while (border := later(borders[-1])) < end:
                borders.append(border)
        return [Span(*pair) for pair in zip(borders, [*borders[1:], end], strict=True)]


class _Sums:
    """The usage by key, while it is added up.

    :param most: at most so many rows.
    """

    def __init__(self, question: Question, most: int):
        self.found: dict[Key, Usage] = {}
        self._spans = question.spans
        self._borders = [span.start for span in self._spans]
        self._most = most

    def at(self, row: Row, at: float) -> Usage:
        """The usage of the row's key in the span of a time in the period."""
        return self._of(row, bisect_right(self._borders, at) - 1)

    def hold(self, row: Row) -> None:
        """Add the part of a stay that is in the period to the spans that it is in."""
        first, last = self._spans[0], self._spans[-1]
        since, until = max(row.since, first.start), min(row.until, last.end)
        number = bisect_right(self._borders, since) - 1
        while since < until:
            end = min(until, self._spans[number].end)
            stay = Span(since, end)
            self._of(row, number).hold(row.tier, row.slots, stay, row.discarded_at)
            since, number = end, number + 1

    def _of(self, row: Row, span: int) -> Usage:
        key = Key(span, row.project_id, row.user_id, row.pool, row.qos, row.job)
        if (usage := self.found.get(key)) is None:
            if len(self.found) == self._most:
                raise InvalidUsage(
                    f"by: the answer has more than {self._most} rows; give a shorter period, or "
                    "sum by less"
                )
            usage = self.found[key] = Usage()
        return usage


def usage(session: Session, question: Question, most: int) -> dict[Key, Usage]:
    """The usage by key, in the order of time, project, user, pool, class and job.

    A purge moves rows between the tables that it reads: give it a session of `Store.snapshot`.

    It takes no longer when there is more history before the period.

    :param most: at most so many rows.
    :raises InvalidUsage: if there are more.
    """
    sums = _Sums(question, most)
    for row in session.execute(_stays(question)):
        sums.hold(row)
    for row in session.execute(_jobs(question, Job.started_at)):
        sums.at(row, row.at).started += 1
    for row in session.execute(_jobs(question, Job.finished_at)):
        sums.at(row, row.at).ended += 1
    for row in session.execute(_days(question)):
        that_day = Usage(row.foreground, row.background, row.lost, row.started, row.ended)
        sums.at(row, row.day * DAY).add(that_day)
    return {key: sums.found[key] for key in sorted(sums.found, key=_order)}


def total(rows: Iterable[Usage]) -> Usage:
    """The sum of all rows."""
    found = Usage()
    for row in rows:
        found.add(row)
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
    day = datetime.fromtimestamp(day_of(at) * DAY, UTC)
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1).timestamp()


def _stays(question: Question) -> Select:
    """The stays in the period of the jobs that are in the database.

    A clock that was set back may have made stays that end before they begin; they count nothing.
    """
    start, end = question.period
    # Grouped, so that databases read the places of the period first, and not those that the jobs
    # of a project ever had. Most processes of a job come and go together: that leaves few rows.
    columns = [Place.job, Place.tier, Place.since]
    if By.QOS in question.by:
        columns.append(Place.qos)
    closed = select(*columns, Place.until, func.count().label("slots"))
    closed = closed.where(Place.until > start, Place.since < end).group_by(*columns, Place.until)
    held = select(*columns, literal(end).label("until"), func.count().label("slots"))
    held = held.where(Place.until.is_(None), Place.since < end).group_by(*columns)
    stays = union_all(closed, held).subquery("stay")
    told = stays.c.tier, stays.c.since, stays.c.until, stays.c.slots, Job.discarded_at
    qos = func.coalesce(stays.c.qos, Job.qos) if By.QOS in question.by else null()
    return _selected(question, Job, qos, *told).join_from(stays, Job, Job.number == stays.c.job)


def _jobs(question: Question, at: InstrumentedAttribute[float | None]) -> Select:
    """The jobs to which something happened in the period."""
    return _selected(question, Job, Job.qos, at.label("at")).where(
        at >= question.period.start, at < question.period.end
    )


def _days(question: Question) -> Select:
    """Sums of purged jobs: each day counts to the span in which it begins."""
    first, after = (math.ceil(at / DAY) for at in question.period)
    names = ("day", "foreground", "background", "lost", "started", "ended")
    columns = (getattr(UsageDay, name) for name in names)
    return _selected(question, UsageDay, UsageDay.qos, *columns).where(
        UsageDay.day >= first, UsageDay.day < after
    )


def _selected(question: Question, table: Any, qos: Any, *columns: Any) -> Select:
    """A query for these columns, grouped by the key, of the rows that the question selects.

    :param qos: the column of the class.
    """
    by = set(question.by) | (_OF_JOB if By.JOB in question.by else set())
    query = select(
        table.project_id if By.PROJECT in by else null().label("project_id"),
        table.user_id if By.USER in by else null().label("user_id"),
        table.pool if By.POOL in by else null().label("pool"),
        (qos if By.QOS in by else null()).label("qos"),
        Job.number.label("job") if By.JOB in by and table is Job else null().label("job"),
        *columns,
    )
    for name in ("project_id", "user_id", "pool"):
        if (wanted := getattr(question, name)) is not None:
            # As an expression: by an index on it, all jobs that it ever had would be looked at.
            query = query.where(func.coalesce(getattr(table, name), "") == wanted)
    return query


def _order(key: Key) -> tuple[int, list[str], int]:
    names = key.project_id, key.user_id, key.pool, key.qos
    return key.span, [name or "" for name in names], key.job or 0
