"""Stores predictions, and compares the first one of each job with what came of it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, and_, delete, insert, or_, select, update
from sqlalchemy.orm import Session

from nova_twotier.core.prediction.calibration import Calibration, Interval
from nova_twotier.core.prediction.present import Forecast, Past
from nova_twotier.core.queue_state import past_of
from nova_twotier.core.reasons import failures
from nova_twotier.db import job_counts
from nova_twotier.db.models import Job, PoolPrediction, Prediction
from nova_twotier.db.parts import in_parts
from nova_twotier.db.prediction import ALL, LATEST, NOTHING, START, TIMES
from nova_twotier.db.states import OVER, JobState

#: How jobs end that run for as long as they have to do or may: others tell nothing of run times.
_BY_ITSELF = or_(
    Job.state == JobState.FINISHED,
    Job.reason_code.in_((failures.WALLTIME.name, failures.EXIT_STATUS.name)),
)


@dataclass
class Calibrations:
    """How far the starts and the ends that were predicted for a pool have been off.

    :ivar policy: under which they were; None: recorded by a release that did not tell.
    """

    starts: Calibration
    finishes: Calibration
    policy: str | None = None

    @classmethod
    def load(cls, data: Mapping[str, Any]) -> "Calibrations":
        starts, finishes = (Calibration(*data.get(which, ())) for which in ("starts", "finishes"))
        return cls(starts, finishes, data.get("policy"))

    def dump(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "starts": self.starts.state(),
            "finishes": self.finishes.state(),
            "policy": self.policy,
        }


@dataclass(frozen=True, slots=True)
class Told:
    """What is to be stored about a job.

    :param queued: it has not begun, or waits again.
    :param first: it waits, and has never started: what it is told first will be judged.
    :param work: seconds of work that it has done in the first `ran` seconds of its run.
    """

    number: int
    forecast: Forecast
    queued: bool
    first: bool
    starts_after: int | None
    smaller: int | None
    work: float
    ran: float


def ended(session: Session, pool: str, since: float, most: int | None) -> Sequence[Row]:
    """The last jobs of a pool that ended by themselves at or after some time, the oldest first.

    With the work that is recorded of them; None: nothing is.
    """
    query = _ended(pool).where(Job.finished_at >= since)
    return session.execute(query.order_by(Job.finished_at.desc()).limit(most)).all()[::-1]


def ended_late(session: Session, pool: str, since: float, numbers: Iterable[int]) -> list[Row]:
    """Those of these jobs that ended by themselves before some time; as of `ended`."""
    query = _ended(pool).where(Job.finished_at < since)
    parts = (query.where(Job.number.in_(part)) for part in in_parts(numbers))
    return [row for part in parts for row in session.execute(part)]


def _ended(pool: str) -> Select:
    query = select(
        *(Job.number, Job.project_id, Job.user_id, Job.size, Job.estimate, Job.walltime),
        *(Job.eligible_at, Job.started_at, Job.finished_at, Job.run_before),
        *(Prediction.work, Prediction.ran),
    )
    query = query.outerjoin(Prediction, Prediction.job == Job.number)
    by_itself = Job.started_at.is_not(None), _BY_ITSELF
    return query.where(job_counts.not_by_index(Job.pool) == pool, *by_itself)


def past(row: Row, work: float) -> Past:
    """A job that has ended, as estimators are told of it.

    :param row: as of `ended`.
    :param work: seconds of work that it has done.
    """
    return past_of(
        row.number,
        row.size,
        row.estimate,
        owner(row),
        wait=max(0.0, row.started_at - row.eligible_at),
        elapsed=max(0.0, row.finished_at - row.started_at),
        work=work,
        walltime=row.walltime,
    )


def owner(job: Job | Row) -> str | None:
    """Project and user of a job, as estimators are told; None: not known."""
    return f"{job.project_id} {job.user_id}".strip() or None


def work_done(recorded: tuple[float, float], ran: float, rate: float) -> float:
    """Seconds of work that a job has done in the first `ran` seconds of its run.

    :param recorded: the work that it did in its first seconds, and in how many.
    :param rate: seconds of work per second since then.
    """
    work, until = recorded
    if ran < until:
        work, until = 0.0, 0.0  # it has begun anew
    return work + (ran - until) * rate


def record_work(session: Session, done: Mapping[int, tuple[float, float]]) -> None:
    """Record the work of jobs that have ended, and in how many seconds they did it, by number."""
    for number, (work, ran) in done.items():
        of_job = update(Prediction).where(Prediction.job == number)
        session.execute(of_job.values(work=work, ran=ran))


def done(session: Session, pool: str) -> dict[int, tuple[float, float]]:
    """The work that is recorded of the jobs that are not over, and in which time they did it."""
    query = select(Prediction.job, Prediction.work, Prediction.ran)
    query = query.join(Job, Job.number == Prediction.job)
    found = session.execute(query.where(*job_counts.not_over(pool=pool)))
    return {number: (work, ran) for number, work, ran in found}


def last_learned(session: Session, pool: str) -> tuple[str, Calibrations] | None:
    """The estimator of a pool's last predictions, and what it has learned of its errors."""
    stored = session.get(PoolPrediction, pool)
    if stored is None:
        return None
    return stored.estimator, Calibrations.load(stored.calibration)


def learn(
    session: Session, pool: str, estimator: str, policy: str
) -> tuple[Calibrations, list[float]]:
    """Learn from what has come of a pool's predictions so far.

    After a change of the estimator or the policy, earlier predictions do not count: those of jobs
    that wait are made anew, and those of jobs that have started are not judged.

    :returns: what is known of the errors of the estimator under the policy, and what `judge`
        returns.
    """
    last = last_learned(session, pool)
    learned = last[1] if last else Calibrations.load({})
    errors = judge(session, pool, learned)
    if last and (last[0] != estimator or learned.policy not in (None, policy)):
        _forget_first(session, pool)
        learned = Calibrations.load({})
    learned.policy = policy
    return learned, errors


def _forget_first(session: Session, pool: str) -> None:
    """Delete a pool's predictions of jobs that never started, and mark the others as judged."""
    query = select(Prediction.job, Job.started_at).join(Job, Job.number == Prediction.job)
    query = query.where(job_counts.not_by_index(Job.pool) == pool, Prediction.judged < ALL)
    rows = session.execute(query).all()
    for some in in_parts([number for number, started_at in rows if started_at is None]):
        session.execute(delete(Prediction).where(Prediction.job.in_(some)))
    if begun := [number for number, started_at in rows if started_at is not None]:
        session.execute(update(Prediction), [{"job": job, "judged": ALL} for job in begun])


def judge(session: Session, pool: str, learning: Calibrations) -> list[float]:
    """Compare the first predictions of the jobs that have started or ended with what came.

    Each start and each end is judged once. An end that somebody brought about, by a cancellation or
    a failure of hosts, says nothing about the prediction.

    :returns: by how many seconds each job has started later than predicted.
    """
    query = select(
        *(Prediction.job, Prediction.judged, Prediction.first_made_at),
        *(Prediction.first_start, Prediction.first_start_low, Prediction.first_start_high),
        *(Prediction.first_finish, Prediction.first_finish_low, Prediction.first_finish_high),
        *(Job.started_at, Job.finished_at, Job.state.in_(OVER).label("is_over")),
        _BY_ITSELF.label("by_itself"),
    )
    query = query.join(Job, Job.number == Prediction.job)
    # The table has the predictions of the whole history, too, but all of them are judged.
    query = query.where(job_counts.not_by_index(Job.pool) == pool, Prediction.judged < ALL)
    judged, errors = [], []
    for row in session.execute(query.order_by(Job.finished_at, Job.started_at)).all():
        level, made = row.judged, row.first_made_at
        if level == NOTHING and row.started_at is not None:
            level = START
            interval = _interval(row.first_start_low, row.first_start_high)
            learning.starts.learn(made, _or_never(row.first_start), row.started_at, interval)
            if row.first_start is not None:
                errors.append(row.started_at - row.first_start)
        if row.is_over:
            level = ALL
            if row.by_itself and row.started_at is not None:
                interval = _interval(row.first_finish_low, row.first_finish_high)
                expected = _or_never(row.first_finish)
                learning.finishes.learn(made, expected, row.finished_at, interval)
        if level != row.judged:
            judged.append({"job": row.job, "judged": level})
    if judged:
        session.execute(update(Prediction), judged)
    return errors


def write(
    session: Session, pool: str, now: float, told: Iterable[Told], learned: Calibrations
) -> None:
    """Store the predictions of jobs, with the intervals that follow from the calibrations.

    Those of jobs that are over by now are left out. Those of jobs that are held and have never
    started are deleted: once released, such a job waits as if it had just arrived.
    """
    held = and_(Job.held, Job.state == JobState.QUEUED, Job.started_at.is_(None))
    query = select(Job.number, Prediction.job, held)
    query = query.outerjoin(Prediction, Prediction.job == Job.number)
    rows = session.execute(query.where(*job_counts.not_over(pool=pool))).all()
    for some in in_parts([job for _number, job, is_held in rows if is_held and job is not None]):
        session.execute(delete(Prediction).where(Prediction.job.in_(some)))
    # The prediction that there is of each job that is not over; others may have ended meanwhile.
    known = {number: job for number, job, is_held in rows if not is_held}
    new, old = [], []
    for each in told:
        if each.number not in known:
            continue
        values = _values(each, now, learned)
        if known[each.number] is not None:
            old.append(values)
            continue
        first = {name: values[name] if each.first else None for name in TIMES}
        new.append(
            values
            | {f"first_{name}": value for name, value in first.items()}
            | {"judged": NOTHING if each.first else ALL}
        )
    if old:
        session.execute(update(Prediction), old)
    if new:
        session.execute(insert(Prediction), new)


def _values(told: Told, now: float, learned: Calibrations) -> dict[str, Any]:
    start, finish = map(_dated, told.forecast)
    starts = learned.starts.interval(now, start) if told.queued else None
    finishes = learned.finishes.interval(now, finish)
    return {
        "job": told.number,
        "made_at": now,
        "start": _finite(start) if told.queued else None,
        "start_low": starts and starts.low,
        "start_high": starts and min(starts.high, LATEST),
        "finish": _finite(finish),
        "finish_low": finishes and finishes.low,
        "finish_high": finishes and min(finishes.high, LATEST),
        "starts_after": told.starts_after,
        "smaller": told.smaller,
        "work": told.work,
        "ran": told.ran,
    }


def _dated(at: float) -> float:
    """The time, or infinity if it has no date."""
    return at if at <= LATEST else math.inf


def _finite(at: float) -> float | None:
    return at if at < math.inf else None


def _or_never(at: float | None) -> float:
    return math.inf if at is None else at


def _interval(low: float | None, high: float | None) -> Interval | None:
    return None if low is None or high is None else Interval(low, high)
