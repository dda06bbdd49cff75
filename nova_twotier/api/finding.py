"""Finds the job or the array that a request names: by number, uuid, or beginning of the uuid."""

import re
from collections.abc import Sequence
from uuid import UUID

from nova_twotier.api import errors, queries
from nova_twotier.api.auth import Caller
from nova_twotier.api.site import Site
from nova_twotier.db import arrays
from nova_twotier.db.models import Array, Job
from nova_twotier.db.store import NoSuchJob, Store

#: Largest number of a job: a 32-bit integer in all databases.
MOST = 2**31 - 1
_NUMBER = re.compile(r"[1-9][0-9]{0,9}")
#: A task, by the number of its array and its index.
_TASK = re.compile(r"([1-9][0-9]{0,9})_([0-9]{1,9})")
#: Digits alone are a number, so that a wrong number never names another job.
_BEGINNING = re.compile(r"(?=.*[a-f-])[0-9a-f-]{4,36}")


def find_job(site: Site, caller: Caller, name: str) -> Job:
    """
    Jobs that the caller may not see count as absent: they make no beginning ambiguous either.

    :param name: a number, `12_3` for a task of an array, a uuid, or at least 4 characters of its
        beginning.
    :raises Refused: if there is no such job that the caller may see, or more than one.
    """
    candidates = _candidates(site.store, name.lower())
    seen = [
        job for job in candidates if caller.may("twotier:jobs:show", job.project_id, job.user_id)
    ]
    if not seen:
        raise errors.no_such_job()
    if len(seen) > 1:
        raise errors.ambiguous_job(name, [f"{job.label}: {job.uuid}" for job in seen])
    return seen[0]


def find_array(site: Site, caller: Caller, name: str) -> Array:
    """
    :param name: a number or a uuid.
    :raises Refused: if there is no such array that the caller may see.
    """
    reference: int | str | None = _uuid(name)
    if _NUMBER.fullmatch(name) and int(name) <= MOST:
        reference = int(name)
    with site.store.reading() as session:
        found = None if reference is None else arrays.find(session, reference)
    if not found or not caller.may("twotier:arrays:show", found.project_id, found.user_id):
        raise errors.no_such_array()
    return found


def _candidates(store: Store, name: str) -> Sequence[Job]:
    """The jobs of all projects that a name may stand for."""
    try:
        if _NUMBER.fullmatch(name) and int(name) <= MOST:
            return [store.job(int(name))]
        if task := _TASK.fullmatch(name):
            return queries.task(store, *map(int, task.groups()))
        if uuid := _uuid(name):
            return [store.find(uuid)]
        if _BEGINNING.fullmatch(name):
            return queries.beginning_with(store, name)
    except NoSuchJob:
        pass
    return []


def _uuid(text: str) -> str | None:
    """The canonical form of a uuid; None if the text is not a uuid."""
    try:
        return str(UUID(text))
    except ValueError:
        return None
