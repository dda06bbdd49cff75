"""Drains: hosts that take nothing new from some time on, since operators want to maintain them."""

import time
from collections.abc import Iterable, Mapping

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from nova_twotier.db.models import Drain, Event
from nova_twotier.db.races import again_if_made
from nova_twotier.db.store import Store

#: Kinds of the events that an operator drains a host, and ends that.
DRAINED, UNDRAINED = "host drain", "host undrain"


class Over(Exception):
    """A drain would end before it begins, or has ended."""


@again_if_made
def drain(store: Store, host: str, now: float, **given) -> Drain:
    """Begin or plan the drain of a compute host, or change the drain that it has.

    An event is recorded, but of a change only if it gives another reason: an event has no more.

    :param given: columns of `Drain`. The others keep their values; without a drain before, they are
        those of one that begins now and has no end.
    :raises Over: if it would end before it begins, or before `now`; nothing is changed then.
    """
    with store.transaction() as session:
        drain = session.get(Drain, host, with_for_update=True)
        if drain is None or over(drain, now):
            told = None
            new = {"since": now, "until": None, "reason": "", "migrate": False, **given}
            drain = session.merge(Drain(host=host, **new))
        else:
            told = drain.reason
            for name, value in given.items():
                setattr(drain, name, value)
        if over(drain, max(drain.since, now)):
            raise Over
        if drain.reason != told:
            detail = f"{host}: {drain.reason}" if drain.reason else host
            session.add(Event(at=time.time(), kind=DRAINED, detail=detail))
    return drain


def undrain(store: Store, host: str) -> bool:
    """End the drain of a host, and record an event; returns whether there was one."""
    with store.transaction() as session:
        found = session.get(Drain, host, with_for_update=True)
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
