"""Terms: the database knows the leader of each pool, independent of any lock.

Every new leader begins a term. A leader that was replaced without noticing, because its process was
paused or its connection lost, finds another term than its own, and changes nothing more.
"""

import time

from sqlalchemy import Update, select, update
from sqlalchemy.orm import Session

from nova_twotier.db.models import Leader
from nova_twotier.db.races import again_if_made
from nova_twotier.db.store import Store


class Deposed(Exception):
    """Another manager leads the pool now; the message says which."""


@again_if_made
def begin(store: Store, pool: str, name: str, manages: bool = True) -> int:
    """Begin a new term of a pool, led by `name`; returns its number.

    :param manages: it manages the pool's queue, so this is its first heartbeat.
    """
    with store.transaction() as session:
        leader = session.get(Leader, pool, with_for_update=True)
        if leader is None:
            leader = Leader(pool=pool, term=0)
            session.add(leader)
        leader.name, leader.term = name, leader.term + 1
        leader.since = time.time()
        leader.policy = None
        if manages:
            leader.renewed_at = leader.polled_at = leader.since
        return leader.term


def renew(store: Store, pool: str, term: int, polled_at: float | None = None) -> None:
    """Record a heartbeat of the leader of this term; does nothing if the term is over.

    :param polled_at: when it last finished a poll, in seconds since the epoch; None: not yet.
    """
    renewal = _renewal(pool, term)
    if polled_at is not None:
        renewal = renewal.values(polled_at=polled_at)
    with store.transaction() as session:
        session.execute(renewal)


def require(session: Session, pool: str, term: int, lock: bool = False) -> None:
    """Check that this term is still the pool's newest.

    :param lock: also update the leader's row, so that the session's transaction commits only if no
        other term begins before. Locking the row would be enough on a single server, but the nodes
        of a Galera cluster do not share locks; they compare changed rows. Readers tell by its
        revision that something has changed.
    :raises Deposed: if the term is over.
    """
    if lock:
        renewal = _renewal(pool, term).values(revision=Leader.revision + 1)
        if session.connection().execute(renewal).rowcount:
            return
    # Columns, not the object: the session's copy may be out of date.
    columns = select(Leader.term, Leader.name).where(Leader.pool == pool)
    found = session.execute(columns).one_or_none()
    if lock or found is None or found.term != term:
        by = f"led by {found.name}" if found else "without a leader in the database"
        raise Deposed(f"pool {pool} is {by} since")


def leader_of(store: Store, pool: str) -> str:
    """The name of the present or the last leader of a pool; empty if there was none."""
    with store.reading() as session:
        return session.scalar(select(Leader.name).where(Leader.pool == pool)) or ""


def _renewal(pool: str, term: int) -> Update:
    of_term = Leader.pool == pool, Leader.term == term
    return update(Leader).where(*of_term).values(renewed_at=time.time())
