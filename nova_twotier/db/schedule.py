"""Pages of the schedule: the stays that were recorded, and the starts that are predicted.

A page costs no more when there is more history before its window. What came after it is looked
through in an index for the stays that had begun before.
"""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, and_, func, or_, select
from sqlalchemy.orm import Session

from nova_twotier.db.job_counts import not_by_index
from nova_twotier.db.models import Job, Place, PoolPrediction, Prediction
from nova_twotier.db.states import JobState
from nova_twotier.db.store import SHORT


class Window(NamedTuple):
    """A span of time from `begin` until before `end`, in seconds since the epoch; None: no end."""

    begin: float
    end: float | None = None


class Marker(NamedTuple):
    """Where a page ended: when its last stay began, and which of the stays of that time it was.

    :ivar number: the id of a recorded stay; of predicted ones, how many of that time were told.
    """

    at: float
    number: int


class Stay(NamedTuple):
    """A slot that a process holds or held."""

    place: Place
    job: Job

    @property
    def marker(self) -> Marker:
        return Marker(self.place.since, self.place.id)


def stays(
    session: Session,
    window: Window,
    pool: str | None,
    after: Marker | None,
    limit: int,
    changed: float | None = None,
    hosts: Collection[str] | None = None,
) -> list[Stay]:
    """Stays with a part in the window, by begin; at most `limit`.

    A clock that was set back may have made stays that end before they begin; they are left out.

    :param pool: only of jobs of this pool.
    :param after: the last one of the page before.
    :param changed: only stays that began or ended at this time or later.
    :param hosts: only on these hosts.
    """
    found: list[tuple[float, int]] = []
    for since, wanted in _parts(window, after, changed):
        query = select(Place.since, Place.id).where(wanted).order_by(since, Place.id).limit(limit)
        if window.end is not None:
            query = query.where(since < window.end)
        if hosts is not None:
            query = query.where(Place.host.in_(hosts))
        if after is not None:
            later = or_(since > after.at, Place.id > after.number)
            query = query.where(since >= after.at, later)
        if pool is not None:
            of_pool = not_by_index(Job.pool) == pool
            query = query.join(Job, Job.number == Place.job).where(of_pool)
        found += ((at, number) for at, number in session.execute(query))
    ids = [number for _since, number in sorted(found)[:limit]]
    whole = select(Place).where(Place.id.in_(ids)).order_by(Place.since, Place.id)
    places = session.scalars(whole).all()
    # Each job once: its row is much wider than that of a place, and it may have a thousand of them.
    whole_jobs = select(Job).where(Job.number.in_({place.job for place in places}))
    jobs = {job.number: job for job in session.scalars(whole_jobs.options(*SHORT))}
    # One may have been purged meanwhile.
    return [Stay(place, jobs[place.job]) for place in places if place.job in jobs]


def hosts(session: Session, window: Window, pool: str | None) -> set[str]:
    """The names of the hosts with stays in the window.

    :param pool: of jobs of this pool.
    """
    found: set[str] = set()
    for since, wanted in _parts(window, None, None):
        query = select(Place.host).where(wanted).distinct()
        if window.end is not None:
            query = query.where(since < window.end)
        if pool is not None:
            of_pool = not_by_index(Job.pool) == pool
            query = query.join(Job, Job.number == Place.job).where(of_pool)
        found.update(session.scalars(query))
    return found


def _parts(
    window: Window, after: Marker | None, changed: float | None
) -> list[tuple[SQLColumnExpression[float], ColumnElement[bool]]]:
    """Conditions on stays that have each an index, and what to order their stays by."""
    before = func.coalesce(Place.since, 0.0)  # An expression: by its index, all that was is read.
    begin = window.begin if changed is None else max(changed, window.begin)
    parts: list[tuple[SQLColumnExpression[float], ColumnElement[bool]]] = []
    if after is None or after.at < begin:
        held = [Place.until.is_(None), Place.since < begin]
        ended = [Place.until > window.begin, before < begin]
        if changed is not None:
            held.append(Place.since >= changed)
            ended.append(Place.until >= changed)
        parts += [(Place.since, and_(*held)), (before, and_(*ended))]
    lasted = or_(Place.until.is_(None), Place.until > Place.since)
    return [*parts, (Place.since, (Place.since >= begin) & lasted)]


def starts(
    session: Session, window: Window, pool: str | None, after: Marker | None, limit: int
) -> tuple[list[Job], list[Marker]]:
    """The waiting jobs that are predicted to have slots in the window, by start; at most `limit`.

    With the marker of each.

    :param pool: only of this pool.
    :param after: that of the last one of the page before.
    """
    query: Select = select(Job, Prediction.start).join(Prediction, Prediction.job == Job.number)
    last = PoolPrediction.pool == func.coalesce(Job.pool, "")
    query = query.join(PoolPrediction, and_(last, PoolPrediction.made_at == Prediction.made_at))
    query = query.where(
        Job.state == JobState.QUEUED,
        Prediction.start.is_not(None),
        or_(Prediction.finish.is_(None), Prediction.finish > window.begin),
    )
    if window.end is not None:
        query = query.where(Prediction.start < window.end)
    if pool is not None:
        query = query.where(not_by_index(Job.pool) == pool)
    if after is not None:
        query = query.where(Prediction.start >= after.at).offset(after.number)
    query = query.order_by(Prediction.start, Job.number).limit(limit)
    jobs, markers = [], []
    told = after or Marker(-1.0, 0)
    for job, start in session.execute(query.options(*SHORT)):
        told = Marker(start, told.number + 1 if start == told.at else 1)
        jobs.append(job)
        markers.append(told)
    return jobs, markers
