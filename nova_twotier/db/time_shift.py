"""Shifts stored times after the wall clock was set, so that measured durations stay right."""

from dataclasses import dataclass, replace

from sqlalchemy import case, or_, select, update
from sqlalchemy.orm import Session

from nova_twotier.db import job_counts, predictions
from nova_twotier.db.models import Job, Leader, Place, PoolPrediction, Prediction
from nova_twotier.db.plans import EndPlan
from nova_twotier.db.prediction import JOB_TIMES, POOL_TIMES
from nova_twotier.db.predictions import Calibrations
from nova_twotier.db.store import open_actions


@dataclass(frozen=True, slots=True)
class Attempt:
    """A shift of which it is not known whether it was committed.

    :param led_since: since when the pool's leader had led before, see `led_since`.
    """

    led_since: float | None
    seconds: float

    def was_made(self, led_since: float | None) -> bool:
        """Whether the shift was committed, judged by the leader's `since` as it is recorded now."""
        if self.led_since is None or led_since is None:
            return False
        return abs(led_since - self.led_since - self.seconds) < abs(self.seconds) / 2


def led_since(session: Session, pool: str) -> float | None:
    """Since when the pool's leader has led, which `shift` shifts, too; None: there is none.

    The leader's row is locked: a shift that is just being committed is waited for.
    """
    query = select(Leader.since).where(Leader.pool == pool).with_for_update()
    return session.scalar(query)


def shift(session: Session, pool: str, seconds: float) -> None:
    """Shift the start times of everything in progress in a pool, so that its duration stays.

    This covers runs, the slots that are held, back-off pauses, actions with their deadlines,
    predictions, and the leader's term. Records of the past and the order of waiting jobs stay as
    they are, but for what a job that has begun anew held before.
    """
    _judge_predictions(session, pool)
    _shift_places(session, pool, seconds)
    times = Job.run_since, Job.swapped_at, Job.warned_at, Job.discarded_at
    measured = or_(*(time.is_not(None) for time in times), Job.not_before > 0)
    jobs = update(Job).where(*job_counts.not_over(pool=pool), measured)
    values = {
        **{time.key: time + seconds for time in times},
        # 0 means no pause.
        "not_before": case((Job.not_before > 0, Job.not_before + seconds), else_=0.0),
    }
    session.execute(jobs.values(values).execution_options(synchronize_session=False))
    _shift_predictions(session, pool, seconds)
    leader = update(Leader).where(Leader.pool == pool).values(since=Leader.since + seconds)
    session.execute(leader.execution_options(synchronize_session=False))
    for action in open_actions(session, pool):
        # The same for all of one decision: it tells them from those of others.
        action.created_at += seconds
        if action.begun_at is not None:
            action.begun_at += seconds
        if isinstance(action.plan, EndPlan):
            action.plan = replace(action.plan, at=action.plan.at + seconds)
        progress = action.progress
        action.progress = replace(
            progress,
            vacated_at=_later(progress.vacated_at, seconds),
            booted_at=_later(progress.booted_at, seconds),
            retry_at=_later(progress.retry_at, seconds),
            escalated_at=_later(progress.escalated_at, seconds),
        )


def _shift_places(session: Session, pool: str, seconds: float) -> None:
    """Shift the slots that jobs hold; of a job that has begun anew, also those that it has held.

    What it held before `discarded_at`, which is shifted too, is lost; what it held since is not.
    """
    opened = select(Job.number).where(*job_counts.not_over(pool=pool))
    anew = opened.where(Job.discarded_at.is_not(None))
    begins = {"since": Place.since + seconds}
    for whose, values in (
        (Place.job.in_(anew), {**begins, "until": Place.until + seconds}),
        (Place.job.in_(opened.where(Job.discarded_at.is_(None))) & Place.until.is_(None), begins),
    ):
        statement = update(Place).where(whose).values(values)
        session.execute(statement.execution_options(synchronize_session=False))


def _judge_predictions(session: Session, pool: str) -> None:
    """Judge the predictions of jobs that have started, before the predictions are shifted."""
    if stored := session.get(PoolPrediction, pool):
        learned = Calibrations.load(stored.calibration)
        predictions.judge(session, pool, learned)
        stored.calibration = learned.dump()


def _shift_predictions(session: Session, pool: str, seconds: float) -> None:
    opened = select(Job.number).where(*job_counts.not_over(pool=pool))
    for table, names, whose in (
        (Prediction, JOB_TIMES, Prediction.job.in_(opened)),
        (PoolPrediction, POOL_TIMES, PoolPrediction.pool == pool),
    ):
        values = {name: getattr(table, name) + seconds for name in names}
        statement = update(table).where(whose).values(values)
        session.execute(statement.execution_options(synchronize_session=False))


def _later(at: float | None, seconds: float) -> float | None:
    return None if at is None else at + seconds
