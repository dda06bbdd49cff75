"""How many jobs and processes a project may have."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from nova_twotier.api.errors import Refused
from nova_twotier.api.site import Site

#: Counting and adding are one step among the threads of this process. Several processes may let a
#: project have a job more for each of them.
_adding = threading.Lock()


@contextmanager
def room_for(site: Site, project_id: str, size: int) -> Iterator[None]:
    """While a job of this size is added.

    :raises Refused: if the project has no room for it.
    """
    options = site.conf.api
    if size > options.max_job_size:
        raise _over("processes of a job", 0, options.max_job_size, size)
    if options.max_jobs_per_project < 0 and options.max_processes_per_project < 0:
        yield
        return
    with _adding:
        jobs, processes = site.store.count(project_id)
        for what, used, allowed, wanted in (
            ("jobs", jobs, options.max_jobs_per_project, 1),
            ("processes", processes, options.max_processes_per_project, size),
        ):
            if 0 <= allowed < used + wanted:
                raise _over(what, used, allowed, wanted)
        yield


def _over(what: str, used: int, allowed: int, wanted: int) -> Refused:
    return Refused(
        403,
        "quota.exceeded",
        f"{what}: {used} used, {allowed} allowed, {wanted} more asked for",
        used=used,
        allowed=allowed,
    )


def limits(site: Site, project_id: str) -> dict:
    """What is used and allowed."""
    options = site.conf.api
    jobs, processes = site.store.count(project_id)
    return {
        "job_size": options.max_job_size,
        "jobs": {"used": jobs, "allowed": options.max_jobs_per_project},
        "processes": {"used": processes, "allowed": options.max_processes_per_project},
    }
