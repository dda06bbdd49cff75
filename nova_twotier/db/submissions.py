"""Jobs that are being submitted: recorded before a trust is made for them.

A submission becomes a job (`Store.submit`), is withdrawn, or is abandoned: nobody knows whether
there is a trust for it, because Keystone did not answer or the API ended meanwhile. What was
abandoned becomes a job no more, so that its trust can be deleted.
"""

import time
import uuid
from collections.abc import Callable, Collection, Iterator

from oslo_log import log as logging
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from nova_twotier.db.models import Job, Submission
from nova_twotier.db.states import OVER
from nova_twotier.db.store import Store

LOG = logging.getLogger(__name__)

#: Seconds after which a submission is not under way any more, whatever became of it: many times
#: what Keystone and the database may take to answer.
LAPSED = 600.0
#: Values in one statement.
_MANY = 500


def begin(store: Store, project_id: str, size: int, admit: Callable[[int, int], None]) -> str:
    """Record a submission; returns the uuid that its job will have.

    :param admit: is given the jobs of the project that are not over, and their processes, both with
        those that are being submitted; what it raises is raised, and nothing is recorded.
    """
    submission = Submission(
        uuid=str(uuid.uuid4()), project_id=project_id, size=size, since=time.time(), abandoned=False
    )
    with store.transaction() as session:
        admit(*count(session, project_id))
        session.add(submission)
    return submission.uuid


def count(session: Session, project_id: str) -> tuple[int, int]:
    """How many jobs of a project are not over or are being submitted, and their processes."""
    jobs = [Job.project_id == project_id, Job.state.not_in(OVER)]
    submitted = [
        Submission.project_id == project_id,
        Submission.abandoned.is_(False),
        Submission.since > time.time() - LAPSED,
    ]
    number, processes = 0, 0
    for table, which in ((Job, jobs), (Submission, submitted)):
        query = select(func.count(), func.coalesce(func.sum(table.size), 0)).where(*which)
        rows, size = session.execute(query).one()
        number, processes = number + rows, processes + int(size)
    return number, processes


def withdraw(store: Store, uuids: Collection[str]) -> None:
    """There will be no such jobs, and there are no trusts for them."""
    for some in _in_parts(uuids):
        with store.transaction() as session:
            session.execute(delete(Submission).where(Submission.uuid.in_(some)))


def abandon(store: Store, uuid: str) -> None:
    """There will be no such job; whether there is a trust for it is not known."""
    with store.transaction() as session:
        session.execute(update(Submission).where(Submission.uuid == uuid).values(abandoned=True))


def lapsed(store: Store, limit: int | None = None) -> set[str]:
    """The uuids of the submissions that are not under way any more, but were not withdrawn."""
    with store.reading() as session:
        return set(session.scalars(select(Submission.uuid).where(_lapsed()).limit(limit)))


def abandon_lapsed(store: Store) -> set[str]:
    """As `lapsed`; none of them becomes a job from now on."""
    # One instant for both, so that all that are returned were abandoned.
    over = _lapsed()
    with store.transaction() as session:
        session.execute(update(Submission).where(over).values(abandoned=True))
        return set(session.scalars(select(Submission.uuid).where(over)))


def _lapsed():
    return Submission.since < time.time() - LAPSED


def sweep(store: Store, trusts, dry_run: bool = False) -> list:
    """Delete the trusts of submissions that came to nothing, and of jobs that are over.

    Others of the same user are left alone: those of jobs that are open or just being submitted, of
    another installation, and whatever else somebody gave it.

    :param trusts: a `cloud.trusts.Trusts`; what it raises is raised, and what is left then is swept
        the next time.
    :param dry_run: only tell which.
    :return: the trusts that were, or would be, deleted.
    """
    # Before Keystone is asked: no submission becomes a job after its trust was found useless.
    nothing = lapsed(store) if dry_run else abandon_lapsed(store)
    given = trusts.given()
    over = _of_jobs_over(store, [each.id for each in given])
    useless = [each for each in given if each.job in nothing or each.id in over]
    if not dry_run:
        for each in useless:
            trusts.delete(each.id)
            LOG.info("Trust %s was swept: there is no open job %s", each.id, each.job or "for it")
        withdraw(store, nothing)
    return useless


def _of_jobs_over(store: Store, trusts: Collection[str]) -> set[str]:
    """Those of the trusts that were made for jobs that are over."""
    found: set[str] = set()
    with store.reading() as session:
        for some in _in_parts(trusts):
            made_for = select(Job.trust_id).where(Job.trust_id.in_(some), Job.state.in_(OVER))
            found.update(session.scalars(made_for))
    return found


def _in_parts(values: Collection[str]) -> Iterator[list[str]]:
    """So many that a statement does not become too long."""
    every = sorted(values)
    return (every[first : first + _MANY] for first in range(0, len(every), _MANY))
