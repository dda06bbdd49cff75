"""Gives each job that becomes eligible its place in the queue, by the recent use of its owner."""

from collections.abc import Iterable, Mapping, Set
from itertools import compress
from operator import is_not

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from nova_twotier.core.actions import Tier
from nova_twotier.core.fair_share import REMEMBERED, FairShare, Uses
from nova_twotier.db.models import Job, Place
from nova_twotier.db.states import JobState
from nova_twotier.manager.operations.context import Jobs

#: Values of option `fair_share`: whose use counts.
NONE, PROJECT, USER = "none", "project", "user"


def rule(options) -> FairShare:
    """The parameters, from the options of group `[manager]`."""
    return FairShare(
        options.fair_share_half_life,
        options.fair_share_background_weight,
        options.fair_share_longest_offset,
    )


def share(options, session: Session, pool: str, now: float) -> "Sharing | None":
    """What the owners of a pool's jobs use; None without fair share."""
    return None if options.fair_share == NONE else Sharing(options, session, pool, now)


class Sharing:
    """What the owners of a pool's jobs use, from the recorded schedule.

    The schedule is read once; later, only its changes are followed.

    :param options: of group `[manager]`.
    :param now: seconds since the epoch.
    """

    def __init__(self, options, session: Session, pool: str, now: float):
        self._by_user = options.fair_share == USER
        chosen = rule(options)
        self._uses = Uses(chosen)
        #: The jobs at the last poll, and the numbers of those that were not in the queue then.
        self._seen: Mapping[int, Job] = {}
        self._outside = set[int]()
        self._read(session, pool, chosen, now)

    def _read(self, session: Session, pool: str, chosen: FairShare, now: float) -> None:
        # A job that is over holds nothing, even if nobody has seen that it left.
        left = func.coalesce(Place.until, Job.finished_at).label("left")
        stay = Job.project_id, Job.user_id, Place.tier, Place.since, left
        past = (
            select(*stay, func.count())
            .join(Job, Job.number == Place.job)
            .where(Job.pool == pool)
            .where(or_(Place.until.is_(None), Place.until > now - REMEMBERED * chosen.half_life))
            .group_by(*stay)
        )
        held: list[tuple[str, Tier, int]] = []
        for project, user, tier, since, until, slots in session.execute(past):
            owner = self._owner(project, user)
            end = now if until is None else min(until, now)
            self._uses.add(owner, Tier(tier), slots, min(since, end), end, now)
            if until is None:
                held.append((owner, Tier(tier), slots))
        for owner, tier, slots in held:
            self._uses.hold(owner, tier, slots, now)

    def follow(self, places: Iterable[Place], jobs: Jobs) -> None:
        """Note places that were taken or left, as `schedule.Places.follow` has them."""
        for place in places:
            if place.job not in jobs:
                continue  # The job was over before: its places did not count as held.
            owner = self._owner_of(jobs[place.job])
            if place.until is None:
                self._uses.hold(owner, Tier(place.tier), 1, place.since)
            else:
                self._uses.hold(owner, Tier(place.tier), -1, place.until)

    def place(self, jobs: Jobs, slots: int, now: float, outside: Set[int] = frozenset()) -> None:
        """Fix the offset of the jobs that have become eligible.

        Jobs that run already when fair share is switched on keep their places.

        :param slots: of the pool, in one tier.
        :param outside: numbers of those that are known not to be in the queue.
        """
        seen, self._seen = self._seen, dict(jobs)
        new = compress(jobs, map(is_not, jobs.values(), map(seen.get, jobs)))
        candidates = self._outside & jobs.keys() | set(new)
        self._outside = candidates & outside
        for number in sorted(candidates - outside):
            job = jobs[number]
            if job.held or job.gated:
                # Also one that was in the queue before: it gets another place when it comes back.
                self._outside.add(number)
                continue
            if job.queue_offset is not None:
                continue
            if job.state == JobState.QUEUED:
                offset = self._uses.offset(self._owner_of(job), slots, now)
                job.place_behind(round(offset, 3))
            else:
                job.place_behind(0.0)

    def _owner_of(self, job: Job) -> str:
        return self._owner(job.project_id, job.user_id)

    def _owner(self, project: str, user: str) -> str:
        return f"{project} {user}" if self._by_user else project
