"""The servers of a job and the time that it was in each tier, from the recorded schedule."""

import time as clock
from collections.abc import Sequence

from sqlalchemy import Row, func, select

from nova_twotier.api import views
from nova_twotier.core.actions import Tier
from nova_twotier.core.jobs import server_name
from nova_twotier.db.models import Job, Place
from nova_twotier.db.store import Store


def fields(store: Store, job: Job, hosts: bool) -> dict:
    """A job's servers and its time in each tier, from the recorded schedule.

    :param hosts: whether the reader may see the hosts.
    """
    # Before its first start it has held no slot.
    started = job.started_at is not None
    held = _held(store, job) if started else {}
    return {
        "foreground_elapsed": held.get(Tier.FG, 0.0),
        "background_elapsed": held.get(Tier.BG, 0.0),
        "servers": [_server(job, place, hosts) for place in _last(store, job)] if started else [],
    }


def _held(store: Store, job: Job) -> dict[str, float]:
    """Seconds that the job held slots of each tier, to the millisecond: the mean of its processes.

    They usually take and change their slots together. Then it is the time of each.
    """
    seconds = func.sum(func.coalesce(Place.until, clock.time()) - Place.since)
    query = select(Place.tier, seconds).where(Place.job == job.number).group_by(Place.tier)
    with store.reading() as session:
        return {
            # The manager's clock may be ahead of ours.
            tier: max(0.0, round(total / job.size, 3))
            for tier, total in session.execute(query)
        }


def _last(store: Store, job: Job) -> Sequence[Row]:
    """The columns of the place that each process has, or had last, by process."""
    newest = select(func.max(Place.id)).where(Place.job == job.number).group_by(Place.process)
    # Not whole places: a job may have ten thousand processes.
    query = select(Place.process, Place.server, Place.tier, Place.host, Place.since, Place.until)
    query = query.where(Place.id.in_(newest)).order_by(Place.process)
    with store.reading() as session:
        return session.execute(query).all()


def _server(job: Job, place: Row, hosts: bool) -> dict:
    return {
        "name": server_name(job.number, place.process),
        "uuid": place.server,
        "tier": place.tier,
        **({"host": place.host} if hosts else {}),
        "since": views.time(place.since),
        "until": views.time(place.until),
    }
