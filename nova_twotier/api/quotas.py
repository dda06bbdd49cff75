"""Quotas: how many jobs and processes a project may have."""

import threading

from nova_twotier.api.errors import Refused
from nova_twotier.api.site import Site
from nova_twotier.db import submissions

#: Makes counting and recording atomic among the threads of this process; SQLite does so among all
#: processes. With other databases, a project may exceed its quota by one job for each process.
_recording = threading.Lock()


def reserve(site: Site, project_id: str, size: int) -> str:
    """Reserve quota for a job of this size; returns the uuid of the job.

    It counts from now on, although it is not submitted yet.

    :raises Refused: if it exceeds the project's quota.
    """
    options = site.conf.api
    if size > options.max_job_size:
        most = options.max_job_size
        raise _over(f"a job may have {most:,} processes at most; this one has {size:,}", 0, most)

    def admit(jobs: int, processes: int) -> None:
        most = options.max_jobs_per_project
        if 0 <= most <= jobs:
            raise _over(
                f"your project may have {most:,} jobs at most, and has {jobs:,} that are not over",
                jobs,
                most,
            )
        most = options.max_processes_per_project
        if 0 <= most < processes + size:
            raise _over(
                f"the jobs of your project may have {most:,} processes at most; those that are "
                f"not over have {processes:,}, and this one has {size:,}",
                processes,
                most,
            )

    with _recording:
        return submissions.begin(site.store, project_id, size, admit)


def _over(detail: str, used: int, allowed: int) -> Refused:
    return Refused(403, "quota.exceeded", detail, used=used, allowed=allowed)


def limits(site: Site, project_id: str) -> dict:
    """The project's quotas and their usage."""
    options = site.conf.api
    with site.store.reading() as session:
        jobs, processes = submissions.count(session, project_id)
    return {
        "job_size": options.max_job_size,
        "jobs": {"used": jobs, "allowed": options.max_jobs_per_project},
        "processes": {"used": processes, "allowed": options.max_processes_per_project},
    }
