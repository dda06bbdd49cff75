"""What the owner of an array asks of its tasks, or changes of those that have not started."""

import time
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Select, or_, select, update
from sqlalchemy.orm import Session

from nova_twotier.db.cancellation import BATCH
from nova_twotier.db.changes import Ending, apply, ask_to_requeue
from nova_twotier.db.models import Action, Array, Event, Job
from nova_twotier.db.states import OVER, REQUEUE, ActionState, JobState
from nova_twotier.db.store import NotStarted, Store, ask_to_end, check_text, set_held
from nova_twotier.db.waiting_jobs import in_queue

#: The actions that an owner may ask of tasks.
ACTIONS: tuple[str, ...] = ("cancel", "complete", "hold", "release", "requeue")
#: What may be changed of the tasks of an array.
CHANGEABLE = ("name", "estimate", "walltime", "priority", "qos")


def ask(
    store: Store, number: int, action: str, indexes: Collection[int] | None = None
) -> list[Job]:
    """Ask something of the tasks of an array that are not over, in short transactions.

    :param action: one of `ACTIONS`.
    :param indexes: only of these tasks.
    :returns: the tasks of which it was asked; those that have not started are neither completed
        nor requeued, and those that end anyway are not requeued.
    """
    asked: list[Job] = []
    for some in _batches(_open_tasks(store, number, indexes)):
        with store.transaction() as session:
            found, now = session.scalars(_locked(some)).all(), time.time()
            asked += [job for job in found if _do(session, job, action, now)]
    return asked


def change(store: Store, number: int, new: Mapping[str, Any]) -> None:
    """Change an array, and what is given of its tasks that have not started.

    :param new: `CHANGEABLE`, and `most_at_once`; those that are given.
    :raises InvalidJob: if the name cannot be one.
    """
    check_text("name", new.get("name", ""))
    own = {name: value for name, value in new.items() if name in ("name", "most_at_once")}
    of_tasks = {name: value for name, value in new.items() if name in CHANGEABLE}
    with store.transaction() as session:
        if own:
            session.execute(update(Array).where(Array.number == number).values(own))
        if "most_at_once" in new:
            _send_behind_gate(session, number, new["most_at_once"])
    if not of_tasks:
        return
    for some in _batches(_open_tasks(store, number)):
        with store.transaction() as session:
            found = session.scalars(_locked(some).where(*_not_started())).all()
            _change(session, found, of_tasks)


def _change(session: Session, found: Collection[Job], new: Mapping[str, Any]) -> None:
    now = time.time()
    for job in found:
        if event := apply(job, new, now):
            session.add(event)


def _send_behind_gate(session: Session, number: int, most: int | None) -> None:
    """Let the manager decide anew about the tasks behind a gate; those in the queue that the limit
    does not allow any more go behind one. The others keep their places."""
    waiting = Job.array == number, *_not_started()
    behind = update(Job).where(*waiting, Job.gated.is_(True), Job.held.is_(False))
    anew = {"reason_code": None, "reason_data": None}
    unseen = {"synchronize_session": False}
    session.execute(behind.values(anew), execution_options=unseen)
    for some in _batches([] if most is None else _beyond(session, number, most)):
        beyond = update(Job).where(Job.number.in_(some), *waiting)
        session.execute(beyond.values(gated=True, **anew), execution_options=unseen)
    # So that managers look at once.
    detail = f"at most {most} tasks at the same time" if most else "no limit of its tasks"
    changed = Event(at=time.time(), job=number, kind="array changed", detail=detail)
    session.add(changed)


def _beyond(session: Session, number: int, most: int) -> list[int]:
    """Numbers of the tasks in the queue that are too many, which are the last ones there."""
    of_array = select(Job.number).where(Job.array == number, Job.state.not_in(OVER))
    there = of_array.where(or_(Job.state != JobState.QUEUED, in_queue(), _decided().exists()))
    taken = len(session.scalars(there).all())
    waiting = of_array.where(in_queue(), *_not_started()).order_by(Job.eligible_at, Job.number)
    numbers = list(session.scalars(waiting))
    return numbers[max(0, len(numbers) - max(0, taken - most)) :]


def _not_started() -> tuple[ColumnElement[bool], ...]:
    return Job.state == JobState.QUEUED, Job.saved.is_(False), ~_decided().exists()


def _decided() -> Select[int]:
    """The open actions about a job."""
    return select(Action.id).where(Action.job == Job.number, Action.state == ActionState.EXPECTED)


def _do(session: Session, job: Job, action: str, now: float) -> bool:
    try:
        if action == REQUEUE:
            event = ask_to_requeue(job, now)
        elif action in ("hold", "release"):
            event = set_held(job, action == "hold", now)
        else:
            event = ask_to_end(job, action, now)
    except (Ending, NotStarted):
        return False
    if event is not None:
        session.add(event)
    return True


def _open_tasks(store: Store, number: int, indexes: Collection[int] | None = None) -> list[int]:
    query = select(Job.number, Job.array_index).where(Job.array == number)
    with store.reading() as session:
        rows = session.execute(query.where(Job.state.not_in(OVER)).order_by(Job.number)).all()
    wanted = None if indexes is None else set(indexes)
    return [row.number for row in rows if wanted is None or row.array_index in wanted]


def _batches(numbers: list[int]) -> Iterator[list[int]]:
    return (numbers[start : start + BATCH] for start in range(0, len(numbers), BATCH))


def _locked(numbers: Collection[int]) -> Select[Job]:
    """Jobs that are not over, locked in the order of their numbers, as `cancellation` does."""
    query = select(Job).where(Job.number.in_(numbers), Job.state.not_in(OVER))
    return query.order_by(Job.number).with_for_update()
