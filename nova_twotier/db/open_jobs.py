"""Keeps the open jobs in memory: ten thousand may wait, and few of them change."""

from collections.abc import Callable, Container, Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from nova_twotier.core.actions import Tier
from nova_twotier.core.jobs import Job as CoreJob
from nova_twotier.db import job_counts
from nova_twotier.db.models import Job, as_it_is
from nova_twotier.db.store import open_jobs

#: If more jobs have changed, all are read, to bound the length of the statement.
MANY = 500


class OpenJobs:
    """Reads only the jobs that this or another process changed since the last read.

    Between two reads, the caller must write its changes to the jobs, or call `forget`.

    :param admit: of the pool's policy, see `Policy.admit`.
    """

    def __init__(self, pool: str, admit: Callable[[CoreJob], CoreJob] = as_it_is):
        self._pool = pool
        self._admit = admit
        #: By number: revision, job, and its uuid if at that revision it was `plain_waiting`, and if
        #: it was `behind_array_limit`.
        self._known: dict[int, tuple[int, Job, str | None, str | None]] = {}
        #: Numbers of the jobs with a priority other than 0, or another's place, at the last read.
        self.prioritised: set[int] = set()
        self._limited_flavors: Mapping[str | None, tuple[Tier, ...]] = {}

    def limit_tiers(self, flavors: Mapping[str | None, tuple[Tier, ...]]) -> bool:
        """Set the tiers that flavors allow; returns whether they changed: all is read anew then.

        :param flavors: the flavors that do not allow every tier, see `Cloud.limited_flavors`.
        """
        if flavors == self._limited_flavors:
            return False
        self._limited_flavors = flavors
        self.forget()
        return True

    def forget(self) -> None:
        """Make the next read fetch all jobs."""
        self._known = {}

    def read(self, session: Session) -> dict[int, Job]:
        """The jobs by number, by arrival in the queue."""
        query = select(Job.number, Job.revision).where(*job_counts.not_over(pool=self._pool))
        # Read before the jobs, so that the next read finds changes made in between.
        query = query.order_by(Job.eligible_at, Job.number)
        revisions = dict(session.execute(query).all())
        known = self._known
        changed = {n for n, at in revisions.items() if n not in known or known[n][0] != at}
        few = changed if len(changed) <= MANY else None
        fresh = {job.number: job for job in open_jobs(session, self._pool, few)} if changed else {}
        for over in changed - fresh.keys():
            del revisions[over]
        self.prioritised -= changed
        self.prioritised.update(number for number, job in fresh.items() if job.exchanges)
        if self.prioritised:
            self.prioritised &= revisions.keys()
        self._known = {
            number: self._entry(at, fresh[number]) if number in changed else known[number]
            for number, at in revisions.items()
        }
        return {number: job for number, (_at, job, _uuid, _behind) in self._known.items()}

    def plain_waiting(self, named: Container[str], now: float) -> dict[int, Job]:
        """The jobs that were plainly waiting at the last read, without those that back off.

        :param named: uuids of the jobs that have servers, and so are not plainly waiting.
        :param now: in seconds since the epoch.
        """
        return {
            number: job
            for number, (_at, job, uuid, _behind) in self._known.items()
            if uuid and uuid not in named and job.not_before <= now
        }

    def behind_array_limit(self, named: Container[str]) -> dict[int, Job]:
        """The tasks that were waiting for others of their arrays alone at the last read.

        :param named: as of `plain_waiting`.
        """
        return {
            number: job
            for number, (_at, job, _uuid, uuid) in self._known.items()
            if uuid and uuid not in named
        }

    def _entry(self, at: int, job: Job) -> tuple[int, Job, str | None, str | None]:
        if job.flavor in self._limited_flavors:
            job.tiers = self._limited_flavors[job.flavor]
        job.admit = self._admit
        # Cache its core job here; a decision would otherwise make those of all waiting jobs.
        _core = job.core
        plain, behind = job.plain_waiting, job.behind_array_limit
        return at, job, job.uuid if plain else None, job.uuid if behind else None
