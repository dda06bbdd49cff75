"""Drains: hosts that take nothing new from some time on, since operators want to maintain them."""

import time
from collections.abc import Iterable, Mapping

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from nova_twotier.db.models import Drain, Event
from nova_twotier.db.store import Store

#: Kinds of the events that an operator drains a host, and ends that.
DRAINED, UNDRAINED = "host drain", "host undrain"


def drain(store: Store, drain: Drain) -> None:
    """Record a drain, instead of an earlier one of the same host, and an event about it."""
    with store.transaction() as session:
        session.merge(drain)
        detail = f"{drain.host}: {drain.reason}" if drain.reason else drain.host
        session.add(Event(at=time.time(), kind=DRAINED, detail=detail))


def undrain(store: Store, host: str) -> bool:
    """End the drain of a host, and record an event; returns whether there was one."""
    with store.transaction() as session:
        found = session.get(Drain, host)
        if found is None:
            return False
        session.delete(found)
        now = time.time()
        if over(found, now):
            return False
        session.add(Event(at=now, kind=UNDRAINED, detail=host))
        return True


def over(drain: Drain, now: float) -> bool:
    """Whether the window of a drain has ended."""
    return drain.until is not None and drain.until <= now


def present(session: Session, now: float) -> dict[str, Drain]:
    """The drains whose windows have not ended, by host: some may not have begun."""
    query = select(Drain).where(or_(Drain.until.is_(None), Drain.until > now))
    return {drain.host: drain for drain in session.scalars(query)}


def begun(drains: Mapping[str, Drain], now: float) -> Iterable[Drain]:
    """Those of them that have begun."""
    return (drain for drain in drains.values() if drain.since <= now)
