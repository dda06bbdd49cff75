"""Finds the jobs and arrays that a new job is to start after."""

from collections.abc import Mapping, Sequence

from nova_twotier.api import errors
from nova_twotier.api.auth import Caller
from nova_twotier.api.errors import Refused, invalid
from nova_twotier.api.finding import find_array, find_job
from nova_twotier.api.site import Site
from nova_twotier.db import arrays
from nova_twotier.db.dependencies import Condition, Dependency
from nova_twotier.db.models import Job
from nova_twotier.db.states import OVER, JobState


def dependencies(site: Site, caller: Caller, asked: Sequence[Mapping]) -> list[Dependency]:
    """
    :param asked: the `dependencies` of a valid body.
    :raises Refused: if one names no job of the caller's project, or can never be met.
    """
    found = []
    for each in asked:
        condition = Condition(each["condition"])
        if "array" in each:
            found.append(_on_array(site, caller, condition, int(each["array"])))
            continue
        job = _find(site, caller, each["job"])
        failed = job.state in OVER and job.state != JobState.FINISHED
        if failed and condition is Condition.SUCCEEDED:
            raise errors.never_met(job.label, job.state)
        found.append(Dependency(job.number, condition))
    return list(dict.fromkeys(found))


def _on_array(site: Site, caller: Caller, condition: Condition, number: int) -> Dependency:
    try:
        array = find_array(site, caller, str(number))
    except Refused:
        raise invalid(f"dependencies: there is no array {number} in your project") from None
    if array.project_id != caller.project_id:
        raise invalid(f"dependencies: array {number} is of another project")
    with site.store.reading() as session:
        whole = arrays.whole(session, [number]).get(number)
    if condition is Condition.SUCCEEDED and whole and whole.failed:
        task, state = whole.failed
        raise errors.never_met(site.store.job(task).label, state)
    return Dependency(number, condition, array=True)


def _find(site: Site, caller: Caller, asked: str | float) -> Job:
    name = asked if isinstance(asked, str) else str(int(asked))
    try:
        job = find_job(site, caller, name)
    except Refused as refusal:
        if refusal.status != 404:
            raise
        raise invalid(f"dependencies: there is no job {name[:40]} in your project") from None
    if job.project_id != caller.project_id:
        raise invalid(f"dependencies: job {job.label} is of another project")
    return job
