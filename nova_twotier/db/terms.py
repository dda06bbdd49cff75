"""Terms: who leads a pool is known to the database, whatever has become of a lock elsewhere.

Every new leader begins a term. One that was replaced without noticing, because its process was
paused or its connection lost, finds a term that is not its own, and changes nothing more.
"""

import time

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from nova_twotier.db.models import Leader
from nova_twotier.db.store import Store


class Deposed(Exception):
    """Another manager leads the pool by now; the message says which."""


def begin(store: Store, pool: str, name: str) -> int:
    """Begin a new term of a pool, led by `name`; returns its number."""
    with store.transaction() as session:
        leader = session.get(Leader, pool, with_for_update=True)
        if leader is None:
            leader = Leader(pool=pool, term=0)
            session.add(leader)
        leader.name, leader.term = name, leader.term + 1
        leader.since = leader.renewed_at = time.time()
        return leader.term


def require(session: Session, pool: str, term: int, lock: bool = False) -> None:
    """Go on only while this term lasts.

    :param lock: the session's transaction is committed only if no other term begins before that:
        it changes the leader's row. A row that was only locked would do on one server; the nodes of
        a Galera cluster do not know of each other's locks, and compare what was changed.
    :raises Deposed: if it is over.
    """
    of_pool = Leader.pool == pool
    if lock:
        renewal = update(Leader).where(of_pool, Leader.term == term)
        if session.connection().execute(renewal.values(renewed_at=time.time())).rowcount:
            return
    # Columns, not the object: what the session has read before may be out of date.
    found = session.execute(select(Leader.term, Leader.name).where(of_pool)).one_or_none()
    if lock or found is None or found.term != term:
        by = f"led by {found.name}" if found else "without a leader in the database"
        raise Deposed(f"pool {pool} is {by} since")


def leader_of(store: Store, pool: str) -> str:
    """The name of the manager that leads a pool, or was the last to do so; empty if none did."""
    with store.reading() as session:
        return session.scalar(select(Leader.name).where(Leader.pool == pool)) or ""
