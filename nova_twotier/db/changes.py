"""Changes that an owner makes to a job that is not over, and requests to begin it anew."""

import time
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from nova_twotier.core.jobs import InvalidJob
from nova_twotier.db.models import Action, Event, Job
from nova_twotier.db.states import OVER, REQUEUE, ActionState, JobState
from nova_twotier.db.store import NotStarted, Store, check_text, require_job

#: Units, for people.
_UNITS = {"estimate": " s", "walltime": " s"}


class Ending(Exception):
    """The job is about to end."""


class HasSlots(Exception):
    """The job has slots: it keeps its class."""


class Extension(Exception):
    """A job that has slots would get a longer walltime, which needs a permission of its own."""

    def __init__(self, walltime: float):
        super().__init__(f"the job has slots, and a walltime of {walltime:g} s")
        self.walltime = walltime


def change(store: Store, number: int, new: Mapping[str, Any], may_extend: bool) -> Job:
    """Change attributes of a job; one that is over stays as it is.

    :param new: name, estimate and walltime in seconds or None, priority, qos; those that are given.
    :param may_extend: the walltime may become longer although the job has slots: others were
        planned to start when it ends.
    :raises NoSuchJob: if there is none of that number.
    :raises InvalidJob: if the name cannot be one, or the job has run for the walltime already.
    :raises HasSlots: if its class would change: that says where it may run.
    :raises Extension: if the walltime may not become longer.
    """
    check_text("name", new.get("name", ""))
    with store.transaction() as session:
        job = require_job(session, number, lock=True)
        if job.state in OVER:
            return job
        if "walltime" in new:
            _set_walltime(session, job, new["walltime"], may_extend)
        if new.get("qos", job.qos) != job.qos and _has_slots(session, job):
            raise HasSlots
        if event := apply(job, new, time.time()):
            session.add(event)
        return job


def apply(job: Job, new: Mapping[str, Any], now: float) -> Event | None:
    """Set attributes of a job; returns the event of that, None if they were the same before."""
    before = {name: getattr(job, name) for name in new}
    changed = [name for name, value in new.items() if value != before[name]]
    for name in changed:
        setattr(job, name, new[name])
    detail = "; ".join(
        f"{name}: {_shown(name, new[name])}, before: {_shown(name, before[name])}"
        for name in changed
    )
    return job.happening(now, "changed", detail=detail) if changed else None


def requeue(store: Store, number: int) -> Job:
    """Have a job that has started begin anew, at its place in the queue; the manager does it.

    One that is over stays as it is.

    :raises NoSuchJob: if there is none of that number.
    :raises NotStarted: if it has not started, or waits with nothing saved.
    :raises Ending: if it ends anyway.
    """
    with store.transaction() as session:
        job = require_job(session, number, lock=True)
        if job.state not in OVER and (event := ask_to_requeue(job, time.time())):
            session.add(event)
        return job


def ask_to_requeue(job: Job, now: float) -> Event | None:
    """What `requeue` does to a job that is not over; returns the event, None if it was asked."""
    if job.requested_action == REQUEUE:
        return None
    if job.requested_action or job.state == JobState.ENDING:
        raise Ending
    if job.not_started:
        raise NotStarted
    job.requested_action = REQUEUE
    return job.happening(now, f"asked to {REQUEUE}")


def began_anew(session: Session, numbers: Collection[int]) -> None:
    """Clear the requests to begin anew of jobs that have; a request to end one stays."""
    if numbers:
        done = update(Job).where(Job.number.in_(numbers), Job.requested_action == REQUEUE)
        unseen = {"synchronize_session": False}
        session.execute(done.values(requested_action=None), execution_options=unseen)


def _set_walltime(session: Session, job: Job, walltime: float | None, may_extend: bool) -> None:
    ran = job.ran(time.time())
    if walltime is not None and walltime <= ran:
        raise InvalidJob(f"walltime: the job has run for {ran:.0f} s; give more, or cancel it")
    before = job.walltime
    longer = before is not None and (walltime is None or walltime > before)
    if before is not None and longer and not may_extend and _has_slots(session, job):
        raise Extension(before)
    if walltime != before:
        # It is warned once more, of the new end.
        job.warned_at = None


def _has_slots(session: Session, job: Job) -> bool:
    """Whether it has slots, or is about to get some because a decision counts on its walltime."""
    if job.state != JobState.QUEUED:
        return True
    decided = Action.job == job.number, Action.state == ActionState.EXPECTED
    return session.scalar(select(Action.id).where(*decided).limit(1)) is not None


def _shown(name: str, value: Any) -> str:
    if value is None or value == "":
        return "none"
    return f"{value:g}{_UNITS[name]}" if name in _UNITS else str(value)
