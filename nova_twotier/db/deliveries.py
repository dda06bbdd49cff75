"""Events that somebody is still to be told of: a job's webhook, or the operator's message bus.

A delivery is written in the transaction of its event, so that none is forgotten, and deleted after
it was made. Any process may make it: it claims the delivery first, by postponing it. So one that is
killed meanwhile, or fails, is tried again later; who receives it may get it twice.
"""

from dataclasses import dataclass

from sqlalchemy import delete, select, update
from sqlalchemy.orm import load_only

from nova_twotier.db.models import BUS, Delivery, Event, Job
from nova_twotier.db.states import OVER
from nova_twotier.db.store import Store, rows_changed

#: Seconds after the first attempt, and most after a later one.
FIRST_PAUSE, LONGEST_PAUSE = 10.0, 3600.0
#: Characters of the reason of a failure that are kept.
ERROR_LENGTH = 255


@dataclass(frozen=True, slots=True)
class Claim:
    """A delivery that this process may make now; all others leave it alone for a while."""

    id: int
    event: Event
    job: Job


@dataclass(frozen=True, slots=True)
class Backlog:
    """What of a job's events its webhook has not received yet.

    :param error: why the last attempt failed; empty if none has.
    """

    count: int
    error: str


def pause(attempts: int) -> float:
    """Seconds after so many attempts until the next one."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(attempts - 1, 30))


def due_routes(store: Store, now: float) -> list[str]:
    """The routes on which something is due."""
    with store.reading() as session:
        return list(
            session.scalars(select(Delivery.route).where(Delivery.due_at <= now).distinct())
        )


def claim(store: Store, route: str, now: float, patience: float = 0.0) -> Claim | None:
    """Claim the delivery that has been due for longest; None if none is due.

    :param patience: seconds that the attempt may take: nobody else tries it before.
    """
    query = select(Delivery).where(Delivery.route == route, Delivery.due_at <= now)
    query = query.order_by(Delivery.due_at, Delivery.id).limit(1)
    while True:
        with store.reading() as session:
            found = session.scalar(query)
        if found is None:
            return None
        later = now + max(patience, pause(found.attempts + 1))
        same = Delivery.id == found.id, Delivery.attempts == found.attempts
        change = update(Delivery).where(*same).values(attempts=found.attempts + 1, due_at=later)
        with store.transaction() as session:
            claimed = rows_changed(session, change)
        # None if a purge has deleted the job since.
        if claimed and (mine := _claimed(store, found)):
            return mine


def close(store: Store, claimed: Claim) -> None:
    """Delete a delivery that was made, or never will be; after the last one, the job's key, too."""
    job = claimed.job
    of_job = select(Delivery.id).join(Event, Event.id == Delivery.event)
    left = of_job.where(Event.job == job.number, Delivery.route != BUS).exists()
    forget = update(Job).where(Job.number == job.number, Job.state.in_(OVER), ~left)
    with store.transaction() as session:
        session.execute(delete(Delivery).where(Delivery.id == claimed.id))
        session.execute(
            forget.where(Job.webhook_secret.is_not(None)).values(webhook_secret=None),
            execution_options={"synchronize_session": False},
        )


def failed(store: Store, claimed: Claim, error: str) -> None:
    """Record why an attempt failed; it is tried again after the pause."""
    change = update(Delivery).where(Delivery.id == claimed.id).values(error=error[:ERROR_LENGTH])
    with store.transaction() as session:
        session.execute(change)


def backlog(store: Store, job: Job) -> Backlog:
    """What the job's webhook has not received yet."""
    of_job = select(Delivery.error, Delivery.id).join(Event, Event.id == Delivery.event)
    of_job = of_job.where(Event.job == job.number, Delivery.route != BUS)
    with store.reading() as session:
        found = session.execute(of_job.order_by(Delivery.id)).all()
    errors = [error for error, _id in found if error]
    return Backlog(len(found), errors[-1] if errors else "")


def _claimed(store: Store, delivery: Delivery) -> Claim | None:
    wanted = Job.name, Job.size, Job.pool, Job.uuid, Job.project_id, Job.user_id
    keys = Job.webhook, Job.webhook_secret
    shown = load_only(*wanted, Job.array, Job.array_index, *keys, raiseload=True)
    query = select(Event, Job).join(Job, Job.number == Event.job).options(shown)
    with store.reading() as session:
        found = session.execute(query.where(Event.id == delivery.event)).one_or_none()
    return None if found is None else Claim(delivery.id, *found)
