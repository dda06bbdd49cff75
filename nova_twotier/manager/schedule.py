"""The schedule that was: which slot each process of a job held, from when to when."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from nova_twotier.manager.db.models import Job, JobState, Place
from nova_twotier.manager.observation import Observation

COLUMNS = ("job", "process", "host", "tier", "from", "to")


def open_places(session: Session, pool: str) -> list[Place]:
    """Those that jobs of a pool hold still."""
    held = select(Place).join(Job, Job.number == Place.job).where(Job.pool == pool)
    return list(session.scalars(held.where(Place.until.is_(None))))


def places(session: Session) -> Iterator[Place]:
    """All, in the order in which they were taken."""
    return session.scalars(select(Place).order_by(Place.since, Place.job, Place.process))


def follow(held: Iterable[Place], seen: Observation, jobs: Mapping[int, Job]) -> list[Place]:
    """Close the places that are not held any more; returns those and the new ones.

    A process takes its place when its whole job runs, and keeps it until its server gives it up,
    whatever becomes of the job. Jobs that are not among `jobs` are somebody else's.
    """
    changed, kept = [], set()
    for place in held:
        if place.job not in jobs:
            continue
        claim = seen.claims.get(place.server)
        if claim and (claim.host, claim.tier) == (place.host, place.tier):
            kept.add(place.server)
        else:
            place.until = seen.at
            changed.append(place)
    for job in jobs.values():
        if job.state != JobState.RUNNING:
            continue
        for server in seen.gang(job):
            claim = seen.claims.get(server.id)
            if claim and server.id not in kept:
                changed.append(
                    Place(
                        job=job.number,
                        process=server.index,
                        server=server.id,
                        host=claim.host,
                        tier=claim.tier,
                        since=seen.at,
                    )
                )
    return changed


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
