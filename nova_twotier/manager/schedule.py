"""The schedule that was: which slot each process of a job held, from when to when."""

import csv
import io
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from nova_twotier.db.models import Job, Place
from nova_twotier.manager.observation import Observation

COLUMNS = ("job", "process", "host", "tier", "from", "to")


def open_places(session: Session, pool: str) -> list[Place]:
    """Those that jobs of a pool hold still."""
    held = select(Place).join(Job, Job.number == Place.job).where(Job.pool == pool)
    return list(session.scalars(held.where(Place.until.is_(None))))


def places(session: Session) -> Iterator[Place]:
    """All, in the order in which they were taken."""
    return session.scalars(select(Place).order_by(Place.since, Place.job, Place.process))


class _Held(NamedTuple):
    """What is looked at of a place, of tens of thousands at each poll, and its record."""

    job: int
    server: str
    host: str
    tier: str
    record: Place


class Places:
    """The places that are held.

    :param held: as the database has them.
    """

    def __init__(self, held: Iterable[Place]):
        self._held = list(map(_entry, held))

    def follow(
        self, seen: Observation, jobs: Container[int], running: Iterable[Job]
    ) -> list[Place]:
        """Close the places that are not held any more; returns those and the new ones.

        A process takes its place when its whole job runs, and keeps it until its server gives it
        up, whatever becomes of the job.

        :param jobs: numbers; others are somebody else's.
        """
        held, closed = [], []
        for entry in self._held:
            if entry.job in jobs:
                claim = seen.claims.get(entry.server)
                if not (claim and claim.host == entry.host and claim.tier == entry.tier):
                    entry.record.until = seen.at
                    closed.append(entry.record)
                    continue
            held.append(entry)
        kept = {entry.server for entry in held}
        begun = list(_new(seen, running, kept))
        self._held = [*held, *map(_entry, begun)]
        return [*closed, *begun]


def _entry(place: Place) -> _Held:
    return _Held(place.job, place.server, place.host, place.tier, place)


def _new(seen: Observation, running: Iterable[Job], kept: Container[str]) -> Iterator[Place]:
    """The places of servers that keep none of theirs."""
    for job in running:
        number = job.number
        for server in seen.gang(job):
            claim = seen.claims.get(server.id)
            if claim and server.id not in kept:
                yield Place(
                    job=number,
                    process=server.index,
                    server=server.id,
                    host=claim.host,
                    tier=claim.tier,
                    since=seen.at,
                )


def as_csv(rows: Iterable[Place]) -> str:
    """A header and a line for each place: times in seconds since the epoch, `to` empty if held."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for place in rows:
        until = "" if place.until is None else f"{place.until:.3f}"
        writer.writerow(
            (place.job, place.process, place.host, place.tier, f"{place.since:.3f}", until)
        )
    return text.getvalue()
