"""Keeps the usage of jobs that are purged, as sums of each day: operators bill by it."""

from collections.abc import Sequence

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from nova_twotier.db.models import Job, Place, UsageDay
from nova_twotier.db.store import rows_changed
from nova_twotier.db.usage import Usage, day_of, days

#: Day, project, user, pool and class of service.
_Key = tuple[int, str, str, str, str]


def keep(session: Session, numbers: Sequence[int]) -> list[int]:
    """Add the usage of jobs to the sums of their days; returns those that still exist.

    The jobs are locked until the transaction ends: of two purges at once, only one counts them.

    :param numbers: of jobs that are over and hold no slots.
    """
    query = select(Job.number, Job.project_id, Job.user_id, Job.pool, Job.qos)
    query = query.add_columns(Job.started_at, Job.finished_at, Job.discarded_at)
    rows = session.execute(query.where(Job.number.in_(numbers)).with_for_update()).all()
    jobs = {row.number: row for row in rows}
    sums: dict[_Key, Usage] = {}

    def of(job, day: int, qos: str) -> Usage:
        return sums.setdefault((day, job.project_id, job.user_id, job.pool, qos), Usage())

    columns = Place.job, Place.tier, Place.since, Place.until, Place.qos
    stays = select(*columns, func.count().label("slots"))
    stays = stays.where(Place.job.in_(jobs), Place.until > Place.since).group_by(*columns)
    for stay in session.execute(stays):
        job = jobs[stay.job]
        for day, span in days(stay.since, stay.until):
            of(job, day, stay.qos or job.qos).hold(stay.tier, stay.slots, span, job.discarded_at)
    for job in jobs.values():
        if job.started_at is not None:
            of(job, day_of(job.started_at), job.qos).started += 1
        if job.finished_at is not None:
            of(job, day_of(job.finished_at), job.qos).ended += 1
    for key, more in sorted(sums.items()):
        _add(session, key, more)
    return list(jobs)


def _add(session: Session, key: _Key, more: Usage) -> None:
    names = ("day", "project_id", "user_id", "pool", "qos")
    that_day = [getattr(UsageDay, name) == part for name, part in zip(names, key, strict=True)]
    values = {name: getattr(UsageDay, name) + value for name, value in vars(more).items()}
    if not rows_changed(session, update(UsageDay).where(*that_day).values(values)):
        session.add(UsageDay(**dict(zip(names, key, strict=True)), **vars(more)))
        session.flush()
