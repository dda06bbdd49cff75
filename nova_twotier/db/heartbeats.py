"""Heartbeats: whether a pool has a queue manager, as its leader's row in the database tells.

The leader renews its row three times a lease. The database records no end of a term, so a manager
that has stopped shows by the heartbeats that it misses. Reader and manager need the same time.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select

from nova_twotier.db.models import Leader
from nova_twotier.db.store import Store

#: Leases without a heartbeat after which there is no manager. A standby takes over within two.
MOST_LEASES = 3


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The last heartbeat of a pool's queue manager.

    :param at: in seconds since the epoch; None if no manager has led the pool yet.
    :param age: in seconds when it was read; infinite if there was none.
    :param limit: the age in seconds from which on there is no manager.
    """

    at: float | None
    age: float
    limit: float

    @property
    def missing(self) -> bool:
        """Whether the pool has no manager."""
        return self.age >= self.limit

    def text(self) -> str:
        """`no manager since 06:28 UTC`, with the date unless that is today; or `running`."""
        if not self.missing:
            return "running"
        if self.at is None:
            return "no manager yet"
        at, now = (datetime.fromtimestamp(each, UTC) for each in (self.at, self.at + self.age))
        shown = f"{at:%H:%M}" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M}"
        return f"no manager since {shown} UTC"


def heartbeats(
    store: Store, pools: Iterable[str], lease: float, now: float | None = None
) -> dict[str, Heartbeat]:
    """The last heartbeats of the managers of these pools, by pool.

    :param lease: `[coordination]lease`.
    :param now: in seconds since the epoch; default: the present time.
    """
    pools = list(pools)
    now = time.time() if now is None else now
    query = select(Leader.pool, Leader.renewed_at).where(Leader.pool.in_(pools))
    with store.reading() as session:
        beats = dict(session.execute(query).all())
    return {pool: _heartbeat(beats.get(pool), lease, now) for pool in pools}


def absences(found: Mapping[str, Heartbeat]) -> list[str]:
    """The pools without a manager, each with since when, in words."""
    return [f"pool {pool}: {last.text()}" for pool, last in found.items() if last.missing]


def _heartbeat(at: float | None, lease: float, now: float) -> Heartbeat:
    return Heartbeat(at, float("inf") if at is None else now - at, MOST_LEASES * lease)
