"""Records which servers belong to a job once it has started: owners may change the metadata.

Until a server is recorded, the manager remembers the job that its metadata named when the server
was first seen. That memory ends with the process, and until the server is locked its owner may
change the metadata: a manager that starts later would take the server for another job's.
"""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from nova_twotier.db.models import Job, JobServer
from nova_twotier.db.states import OVER, JobState
from nova_twotier.manager.observation import Observation


class RecordedServers:
    """The recorded servers of a pool's jobs, read from the database once."""

    def __init__(self, session: Session, pool: str):
        #: Uuid of the job of each recorded server; another object after each change.
        self.job_of: dict[str, str] = {}
        self._of_job: dict[int, list[str]] = {}
        rows = select(JobServer.id, Job.number, Job.uuid).join(Job, Job.number == JobServer.job)
        for server, number, uuid in session.execute(rows.where(Job.pool == pool)):
            self._add(number, uuid, [server])

    def of(self, job: int) -> Sequence[str]:
        """The recorded servers of a job, by its number; Nova may have some of them no more."""
        return self._of_job.get(job, ())

    def follow(
        self, seen: Observation, jobs: Mapping[int, Job], running: Iterable[Job]
    ) -> tuple[list[JobServer], list[int]]:
        """The servers to record, and the numbers of the jobs whose records are to be deleted.

        :param jobs: open jobs and those that have just ended, by number.
        :param running: those of them that run, with all their servers.
        """
        ended = [number for number in self._of_job if _has_none(jobs.get(number))]
        self.job_of = dict(self.job_of) if ended else self.job_of
        for number in ended:
            for server in self._of_job.pop(number):
                del self.job_of[server]
        new: list[JobServer] = []
        for job in running:
            if job.number not in self._of_job:
                gang = [server.id for server in seen.gang(job)]
                if len(gang) == job.size:
                    if not new and not ended:
                        self.job_of = dict(self.job_of)
                    self._add(job.number, job.uuid, gang)
                    new += [JobServer(id=server, job=job.number) for server in gang]
        return new, ended

    def _add(self, number: int, uuid: str, servers: Iterable[str]) -> None:
        for server in servers:
            self.job_of[server] = uuid
            self._of_job.setdefault(number, []).append(server)


def _has_none(job: Job | None) -> bool:
    """Whether a job has no servers any more, or will get new ones."""
    if job is None or job.state in OVER:
        return True
    return job.state == JobState.QUEUED and not job.saved
