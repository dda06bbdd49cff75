"""The recorded schedule: which slot each process of a job held, from when to when."""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from nova_twotier.core import slot_numbers
from nova_twotier.db.models import Job, Place
from nova_twotier.manager.observation import Observation

NO_JOBS: Mapping[int, float] = MappingProxyType({})
COLUMNS = ("job", "process", "host", "tier", "from", "to", "slot")


def open_places(session: Session, pool: str) -> tuple[list[Place], dict[int, float]]:
    """The places that jobs of a pool still hold, and when those of the jobs that are over ended."""
    held = select(Place, Job.finished_at).join(Job, Job.number == Place.job)
    rows = session.execute(held.where(Job.pool == pool, Place.until.is_(None))).all()
    ended = {place.job: at for place, at in rows if at is not None}
    return [place for place, _at in rows], ended


def places(session: Session) -> Iterator[Place]:
    """All recorded places, in the order in which they were taken."""
    return session.scalars(select(Place).order_by(Place.since, Place.job, Place.process))


class _OpenPlace(NamedTuple):
    """A place's record, with its fields copied: each poll compares tens of thousands of them."""

    job: int
    server: str
    host: str
    tier: str
    record: Place


_SLOTS_OF = attrgetter("job", "tier")


class Places:
    """The places that are held now.

    :param held: from the database.
    :param ended: when jobs of these that are over ended, by their numbers.
    :ivar slots: how many slots each job holds, by its number and their tier.
    """

    def __init__(self, held: Iterable[Place], ended: Mapping[int, float] = NO_JOBS):
        self._held = list(map(_entry, held))
        self._ended = ended
        self.slots = Counter(map(_SLOTS_OF, self._held))
        #: What was last followed: the same once more changes nothing.
        self._followed: tuple[Observation, set[int], list[Job]] | None = None

    def follow(
        self, seen: Observation, jobs: Collection[int], running: Sequence[Job]
    ) -> list[Place]:
        """Close the places that are no longer held; returns those and the new ones.

        A process takes its place when its whole job runs, and keeps it until its server gives up
        the slot, or the job is over: a claim that Nova has left behind is no use of the job's.

        :param jobs: numbers of the jobs that are not over.
        """
        before, now = self._followed, (seen, set(jobs), list(running))
        if before is not None and seen.continues(before[0]) and now[1:] == before[1:]:
            return []
        self._followed = now
        held: list[_OpenPlace] = []
        left: list[_OpenPlace] = []
        for entry in self._held:
            if entry.job in jobs:
                claim = seen.claims.get(entry.server)
                if claim and claim.host == entry.host and claim.tier == entry.tier:
                    held.append(entry)
                    continue
            entry.record.until = max(entry.record.since, self._ended.get(entry.job, seen.at))
            left.append(entry)
        kept = {entry.server for entry in held}
        closed = [entry.record for entry in left]
        begun = list(_new(seen, running, kept))
        if begun:
            slots = {host.name: host.shape.slots for host in seen.hosts}
            _number(begun, closed, held, slots)
        if left or begun:
            self.slots.update(map(_SLOTS_OF, begun))
            self.slots -= Counter(map(_SLOTS_OF, left))
        self._held = [*held, *map(_entry, begun)]
        return [*closed, *begun]


def _entry(place: Place) -> _OpenPlace:
    return _OpenPlace(place.job, place.server, place.host, place.tier, place)


def _new(seen: Observation, running: Iterable[Job], kept: Container[str]) -> Iterator[Place]:
    """Places of servers that did not keep an earlier one."""
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
                    qos=job.qos,
                )


def _number(
    begun: Sequence[Place],
    closed: Iterable[Place],
    held: Iterable[_OpenPlace],
    slots: Mapping[str, int],
) -> None:
    """Number the slots of new places.

    :param slots: of each host.
    """
    # An earlier release did not record the slots.
    before = {(old.server, old.host): old.slot for old in closed if old.slot is not None}
    taken: slot_numbers.Taken = defaultdict(set)
    for entry in held:
        if entry.record.slot is not None:
            taken[entry.host, entry.tier].add(entry.record.slot)
    new = [slot_numbers.Place(place.server, place.host, place.tier) for place in begun]
    numbers = slot_numbers.take(new, before, taken, slots)
    for place, number in zip(begun, numbers, strict=True):
        place.slot = number


def as_csv(rows: Iterable[Place]) -> str:
    """The places as CSV with a header: times in seconds since the epoch, `to` empty while held."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for place in rows:
        until = "" if place.until is None else f"{place.until:.3f}"
        writer.writerow(
            (
                place.job,
                place.process,
                place.host,
                place.tier,
                f"{place.since:.3f}",
                until,
                place.slot,
            )
        )
    return text.getvalue()
