"""Selects the predictions that the API may show: outdated ones are left out."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import select

from nova_twotier.api.reasons import reason_of
from nova_twotier.api.site import Site
from nova_twotier.core.reasons import Reason, starts, waits
from nova_twotier.db.heartbeats import Heartbeat
from nova_twotier.db.models import Job, PoolPrediction, Prediction
from nova_twotier.db.readers import instant
from nova_twotier.db.states import OVER, JobState, QueueMode
from nova_twotier.db.store import Store


class Record(NamedTuple):
    """How many of the recent prediction intervals contained the actual time."""

    held: int
    of: int


class Learned(NamedTuple):
    """How right the predictions of a queue have been.

    :ivar made_at: when the last ones were made, in seconds since the epoch.
    """

    made_at: float
    estimator: str
    starts: Record
    finishes: Record


class Told(NamedTuple):
    """What may be told of a job's prediction.

    :ivar row: what is predicted; None: nothing.
    :ivar unpredicted: why it is not told when a job starts or ends that is not over.
    :ivar unblock: what its start depends on.
    """

    row: "Shown | None" = None
    unpredicted: Reason | None = None
    unblock: Reason | None = None


class Shown(NamedTuple):
    """The times of a prediction, in seconds since the epoch; None: not known, or in the past."""

    made_at: float
    start: float | None
    start_low: float | None
    start_high: float | None
    finish: float | None
    finish_low: float | None
    finish_high: float | None


class _Pool(NamedTuple):
    """What is the same for all jobs of a pool."""

    last: PoolPrediction | None
    manager: Heartbeat
    mode: QueueMode


NOTHING = Told()


def learned(store: Store, pool: str) -> Learned | None:
    """How right the predictions of a pool's queue have been; None: it has made none."""
    with store.reading() as session:
        last = session.get(PoolPrediction, pool)
    if last is None:
        return None
    held = (last.calibration[which][1] for which in ("starts", "finishes"))
    records = (Record(sum(each), len(each)) for each in held)
    return Learned(last.made_at, last.estimator, *records)


def tell(site: Site, jobs: Sequence[Job]) -> list[Told]:
    """The predictions of these jobs that the caller may see, in the same order."""
    opened = [job for job in jobs if job.state not in (*OVER, JobState.ENDING)]
    if not opened:
        return [NOTHING] * len(jobs)
    now, names = time.time(), {job.pool for job in opened}
    beats = site.heartbeats(names)
    with site.store.reading() as session:
        numbers = [job.number for job in opened]
        query = select(Prediction).where(Prediction.job.in_(numbers))
        rows = {row.job: row for row in session.scalars(query)}
        last = {pool: session.get(PoolPrediction, pool) for pool in names}
    pools = {pool: _Pool(last[pool], beats[pool], site.store.queue_mode(pool)) for pool in names}
    told = {job.number: _tell(job, rows.get(job.number), pools[job.pool], now) for job in opened}
    return [told.get(job.number, NOTHING) for job in jobs]


def _tell(job: Job, row: Prediction | None, pool: _Pool, now: float) -> Told:
    if (why := _outdated(job, row, pool, now)) is not None or row is None:
        return Told(unpredicted=why)
    waiting = job.state == JobState.QUEUED
    if waiting and row.start is None:
        # One that never starts never ends; one that ran when it was predicted was to end.
        return Told(unpredicted=_never(job) if row.finish is None else starts.NOT_PREDICTED())
    start = (row.start, row.start_low, row.start_high) if waiting else (None, None, None)
    shown = Shown(row.made_at, *start, row.finish, row.finish_low, row.finish_high)
    return Told(shown, unblock=_unblock(job, row, now) if waiting else None)


def _outdated(job: Job, row: Prediction | None, pool: _Pool, now: float) -> Reason | None:
    """Why nothing is predicted of a job, or not any more; None: something is."""
    if pool.manager.missing:
        return starts.NO_MANAGER()
    waiting, why = job.state == JobState.QUEUED, reason_of(job)
    if waiting:
        if job.held or job.gated or (why is not None and why.code is waits.OUTAGE):
            return why
        if pool.mode == QueueMode.PAUSED:
            return waits.PAUSED()
    last = pool.last
    if last is None or now > last.valid_until:
        return starts.NOT_PREDICTED()
    if row is not None and row.made_at == last.made_at:
        return None
    if not waiting or job.eligible_at > last.made_at:
        return starts.NOT_PREDICTED()
    shut_out = why is not None and why.code is waits.WINDOW and _exceeds_other_hosts(why)
    if last.later_than is not None and not shut_out:
        return starts.FAR_BEHIND(later=instant(last.later_than))
    # The policy was not shown it: its own reason says why.
    return why


def _exceeds_other_hosts(why: Reason) -> bool:
    """Whether a job needs more slots than there are on hosts without maintenance before its end."""
    said = dict(why.parameters)
    return "slots" in said and said["size"] > said["slots"]


def _never(job: Job) -> Reason:
    """The reason of a job that never starts, with the maintenance that its wait names, if any."""
    why = reason_of(job)
    said = dict(why.parameters) if why is not None else {}
    window = {name: said[name] for name in ("limit", "begin") if name in said}
    return starts.NEVER_STARTS(**window if len(window) == 2 else {})


def _unblock(job: Job, row: Prediction, now: float) -> Reason | None:
    fewer = {} if row.smaller is None else {"smaller": row.smaller, "size": job.size}
    if row.starts_after is not None and row.start is not None:
        return starts.STARTS_AFTER(row.starts_after, wait=_span(row.start - now), **fewer)
    return starts.FEWER_PROCESSES(**fewer) if fewer else None


def _span(seconds: float) -> str:
    """A time to come, in words: `22 min`, `3 h 20 min`, `2 d 4 h`."""
    minutes = max(1, round(seconds / 60))
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (0 if days else minutes, "min")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count)
