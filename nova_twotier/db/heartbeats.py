"""Heartbeats: whether a pool has a queue manager, as its leader's row in the database tells.

The leader renews its row three times a lease. The database records no end of a term, so a manager
that has stopped shows by the heartbeats that it misses. One that hangs in a poll goes on with its
heartbeats, so these also say when it last finished one. Reader and manager need the same time.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import select

from nova_twotier.db.models import Leader
from nova_twotier.db.readers import instant
from nova_twotier.db.store import Store

#: Of `Leader`: what `heartbeat` is made of.
COLUMNS = Leader.renewed_at, Leader.polled_at, Leader.since
#: Leases without a heartbeat after which there is no manager. A standby takes over within two.
MOST_LEASES = 3
#: Seconds in which a manager finishes a poll, also of thousands of jobs and hosts.
LONGEST_POLL = 120.0


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The last heartbeat of a pool's queue manager.

    :param at: in seconds since the epoch; None if no manager has led the pool yet.
    :param age: in seconds when it was read; infinite if there was none.
    :param limit: the age in seconds from which on there is no manager.
    :param polled_at: when it last finished a poll, or began to lead, in seconds since the epoch;
        None if that is not known.
    """

    at: float | None
    age: float
    limit: float
    polled_at: float | None = None

    @property
    def missing(self) -> bool:
        """Whether the pool has no manager."""
        return self.age >= self.limit

    @property
    def stuck(self) -> bool:
        """Whether there is a manager, but it has finished no poll for too long."""
        if self.missing or self.at is None or self.polled_at is None:
            return False
        return self.at + self.age >= self.polled_at + LONGEST_POLL

    def text(self) -> str:
        """`no manager since 2026-11-24T06:28:00Z`, or `running`."""
        if self.stuck and self.polled_at is not None:
            return f"the manager has not finished a poll since {instant(self.polled_at)}"
        if not self.missing:
            return "running"
        return "no manager yet" if self.at is None else f"no manager since {instant(self.at)}"


def heartbeats(
    store: Store, pools: Iterable[str], lease: float, now: float | None = None
) -> dict[str, Heartbeat]:
    """The last heartbeats of the managers of these pools, by pool.

    :param lease: `[coordination]lease`.
    :param now: in seconds since the epoch; default: the present time.
    """
    pools = list(pools)
    now = time.time() if now is None else now
    with store.reading() as session:
        query = select(Leader.pool, *COLUMNS).where(Leader.pool.in_(pools))
        found = {
            pool: heartbeat(at, polled_at, since, lease, now)
            for pool, at, polled_at, since in session.execute(query)
        }
    never = heartbeat(None, None, None, lease, now)
    return {pool: found.get(pool, never) for pool in pools}


def absences(found: Mapping[str, Heartbeat]) -> list[str]:
    """The pools whose manager is missing or stuck, each with since when, in words."""
    return [
        f"pool {pool}: {last.text()}" for pool, last in found.items() if last.missing or last.stuck
    ]


def heartbeat(
    at: float | None, polled_at: float | None, since: float | None, lease: float, now: float
) -> Heartbeat:
    """The last heartbeat of a manager, from the columns of its pool's leader.

    :param now: in seconds since the epoch.
    """
    if polled_at is not None and since is not None and polled_at < since:
        polled_at = None  # What an earlier leader has finished says nothing about this one.
    age = float("inf") if at is None else now - at
    return Heartbeat(at, age, MOST_LEASES * lease, polled_at)
