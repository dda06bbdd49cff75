"""Predicts the run times of jobs that name none, from those of the pool's finished jobs."""

from collections.abc import Iterable, Mapping, Set
from itertools import compress
from operator import is_not

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from nova_twotier.core.jobs import UNKNOWN_CPU
from nova_twotier.core.jobs import Job as CoreJob
from nova_twotier.core.prediction import run_times
from nova_twotier.core.prediction.history import History
from nova_twotier.db import job_counts
from nova_twotier.db.models import Job
from nova_twotier.db.parts import in_parts
from nova_twotier.db.states import JobState
from nova_twotier.db.store import Store
from nova_twotier.manager.operations.context import Jobs

#: Values of option `estimates`: what policies are told of run times.
USER, HISTORICAL = "user", "historical"
#: Finished jobs that are read at first; earlier ones are not similar to what is submitted today.
MOST = 10_000
#: The end of a job may be recorded up to so many seconds late.
OVERLAP = 60.0

_COLUMNS = (
    *(Job.finished_at, Job.number, Job.size, Job.estimate, Job.walltime),
    *(Job.project_id, Job.user_id, Job.run_before),
)


class RunTimes:
    """Follows the finished jobs of a pool.

    They are read when a prediction is due that may need them; nothing that matters is in memory
    alone.
    """

    def __init__(self, store: Store, pool: str):
        self._store = store
        self._pool = pool
        self._history = History()
        #: The least time of the ends that it reads next, and the known jobs that ended since then.
        #: If the clock was set back, the ends of earlier jobs are in the future.
        self._until: float | None = None
        self._known = set[int]()
        #: Numbers of the jobs that were giving up their servers at the last read.
        self._ending = set[int]()
        #: The jobs at the last poll, and the numbers of those that were not in the queue then.
        self._seen: Mapping[int, Job] = {}
        self._outside = set[int]()

    def predict(self, jobs: Jobs, now: float, outside: Set[int] = frozenset()) -> None:
        """Fix the run time of the jobs that have joined the queue and name none.

        :param outside: numbers of those that are known not to be in the queue.
        """
        seen, self._seen = self._seen, dict(jobs)
        new = compress(jobs, map(is_not, jobs.values(), map(seen.get, jobs)))
        candidates = self._outside & jobs.keys() | set(new)
        self._outside = candidates & outside
        due = []
        for number in sorted(candidates - outside):
            job = jobs[number]
            if job.state != JobState.QUEUED or job.predicted_from is not None:
                continue
            if job.held or job.gated:
                self._outside.add(number)
            elif job.estimate is None:
                due.append(job)
        if due:
            self._read(now)
        for job in due:
            job.predict(run_times.similar(self._history, job.core, _owner(job)))

    def correct(self, running: Iterable[Job], now: float) -> bool:
        """Raise the predictions that jobs have outrun; returns whether there were any."""
        outrun = [job for job in running if job.counts_as_predicted and job.has_run(job.ran(now))]
        return bool(outrun)

    def _read(self, now: float) -> None:
        """Learn from the jobs that have finished since the last time."""
        with self._store.reading() as session:
            late, rows = self._late(session), self._finished(session)
            self._ending = job_counts.ending(session, self._pool)
        for _finished_at, number, size, estimate, walltime, project, user, ran in (*late, *rows):
            if number not in self._known:
                cpu = (UNKNOWN_CPU,) * size
                job = CoreJob(number, size, 0.0, cpu, estimate, walltime=walltime)
                self._history.add(job, (project, user), ran)
        if rows:
            self._until = until = min(rows[-1].finished_at, now - OVERLAP)
            self._known = {row.number for row in rows if row.finished_at >= until}

    def _finished(self, session: Session) -> list:
        """Rows of `_COLUMNS` of the finished jobs, in the order in which they ended."""
        query = self._of_finished
        if self._until is not None:
            query = query.where(Job.finished_at >= self._until)
        query = query.order_by(Job.finished_at.desc(), Job.number.desc())
        most = MOST if self._until is None else None
        return list(reversed(session.execute(query.limit(most)).all()))

    def _late(self, session: Session) -> list:
        """Rows of those that ended earlier, but had not given up their servers at the last read."""
        if self._until is None:
            return []
        query = self._of_finished.where(Job.finished_at < self._until)
        parts = (query.where(Job.number.in_(part)) for part in in_parts(self._ending))
        return [row for part in parts for row in session.execute(part)]

    @property
    def _of_finished(self) -> Select:
        return select(*_COLUMNS).where(Job.pool == self._pool, Job.state == JobState.FINISHED)


def _owner(job: Job) -> tuple[str, str]:
    return job.project_id, job.user_id
