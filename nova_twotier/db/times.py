"""Stored times that others are measured from, after the wall clock was set."""

from dataclasses import replace

from sqlalchemy import case, or_, update
from sqlalchemy.orm import Session

from nova_twotier.db.models import Job
from nova_twotier.db.plans import EndPlan
from nova_twotier.db.states import OVER
from nova_twotier.db.store import open_actions


def shift(session: Session, pool: str, seconds: float) -> None:
    """Move the beginnings of what is under way in a pool, so that it has lasted as long as before.

    Runs, pauses, and actions with what they wait for. Records of what is over stay as they are, and
    so does the order in which jobs wait.
    """
    measured = or_(Job.run_since.is_not(None), Job.swapped_at.is_not(None), Job.not_before > 0)
    jobs = update(Job).where(Job.pool == pool, Job.state.not_in(OVER), measured)
    values = {
        "run_since": Job.run_since + seconds,
        "swapped_at": Job.swapped_at + seconds,
        # 0: there is no pause.
        "not_before": case((Job.not_before > 0, Job.not_before + seconds), else_=0.0),
    }
    session.execute(jobs.values(values).execution_options(synchronize_session=False))
    for action in open_actions(session, pool):
        if action.begun_at is not None:
            action.begun_at += seconds
        if isinstance(action.plan, EndPlan):
            action.plan = replace(action.plan, at=action.plan.at + seconds)
        progress = action.progress
        action.progress = replace(
            progress,
            vacated_at=_later(progress.vacated_at, seconds),
            booted_at=_later(progress.booted_at, seconds),
        )


def _later(at: float | None, seconds: float) -> float | None:
    return None if at is None else at + seconds
