"""The policy of a pool's queue: what an operator chose at run time, and what its leader uses."""

import time

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from nova_twotier.core import policies
from nova_twotier.db.models import Event, Leader, Queue
from nova_twotier.db.races import again_if_made
from nova_twotier.db.store import Store

#: The kind of the event that an operator chose a policy.
CHOSEN = "queue policy"


def chosen(session: Session, pool: str) -> str | None:
    """The policy that an operator chose; None: that of the configuration counts."""
    return session.scalar(select(Queue.policy).where(Queue.pool == pool))


@again_if_made
def choose(store: Store, pool: str, policy: str | None) -> None:
    """Choose the policy of a pool's queue, and record an event about it.

    :param policy: None: that of the configuration.
    :raises policies.UnknownPolicy: if there is none of that name.
    """
    if policy is not None:
        policies.get(policy)
    with store.transaction() as session:
        if chosen(session, pool) == policy:
            return
        now = time.time()
        session.merge(Queue(pool=pool, policy=policy, changed_at=now))
        detail = f"pool {pool}: {policy or 'as configured'}"
        session.add(Event(at=now, kind=CHOSEN, detail=detail))


def in_use(session: Session, pool: str) -> str | None:
    """The policy that the leader of a pool uses.

    None: nobody leads it, its leader has not polled yet, or is of a release before schema 0018.
    """
    return session.scalar(select(Leader.policy).where(Leader.pool == pool))


def record_use(session: Session, pool: str, policy: str) -> None:
    """Record which policy the leader uses; the caller is the leader."""
    session.execute(update(Leader).where(Leader.pool == pool).values(policy=policy))
