"""Submissions: jobs being submitted, recorded before their trusts are made.

A submission becomes a job (`Store.submit`), is withdrawn, or is abandoned. It is abandoned if it is
unknown whether it has a trust, because Keystone did not answer or the API ended meanwhile. An
abandoned submission can no longer become a job, so its trust can be deleted.
"""

import contextlib
import time
import uuid
from collections.abc import Callable, Collection

from oslo_db.exception import DBDuplicateEntry
from oslo_log import log as logging
from sqlalchemy import ColumnElement, delete, func, select, union_all, update
from sqlalchemy.orm import Session

from nova_twotier.db import job_counts
from nova_twotier.db.models import Job, Project, Submission
from nova_twotier.db.parts import in_parts
from nova_twotier.db.states import OVER
from nova_twotier.db.store import Store, rows_changed

LOG = logging.getLogger(__name__)

#: Seconds after which a submission counts as lapsed: many times what Keystone and the database may
#: take to answer.
LAPSED = 600.0
#: Processes of a submission, all tasks together: a 32-bit integer, except on SQLite.
MOST_PROCESSES = 2**31 - 1


def begin(
    store: Store,
    project_id: str,
    size: int,
    admit: Callable[[int, int], None],
    tasks: int = 1,
) -> str:
    """Record a submission; returns the uuid of its future job or array.

    Of the requests of a project, in whatever process, each counts what the one before has recorded.

    :param size: processes, of all tasks together.
    :param admit: called with the project's numbers of open jobs and of their processes, including
        submissions. If it raises, nothing is recorded and the error is passed on.
    """
    submission = Submission(
        uuid=str(uuid.uuid4()),
        project_id=project_id,
        size=size,
        since=time.time(),
        abandoned=False,
        tasks=tasks,
    )
    while True:
        with store.transaction() as session:
            if _wait_for_turn(session, project_id):
                admit(*count(session, project_id))
                session.add(submission)
                return submission.uuid
        # In a transaction of its own: in MariaDB several that add the same row, and then change it,
        # would wait for each other.
        with contextlib.suppress(DBDuplicateEntry), store.transaction() as session:
            session.add(Project(project_id=project_id, submissions=0))


def _wait_for_turn(session: Session, project_id: str) -> bool:
    """Keep other submissions of the project waiting until the transaction ends.

    It changes a row, rather than lock it: a Galera cluster compares changed rows alone.

    :returns: False if the project has no row yet.
    """
    row = update(Project).where(Project.project_id == project_id)
    return rows_changed(session, row.values(submissions=Project.submissions + 1)) > 0


def count(session: Session, project_id: str) -> tuple[int, int]:
    """The numbers of a project's open jobs and submissions, and of their processes."""
    jobs = job_counts.not_over(project_id)
    submitted = [Submission.project_id == project_id, *under_way()]
    tasks = func.coalesce(func.sum(Submission.tasks), 0)
    counts = (
        select(counted, func.coalesce(func.sum(table.size), 0)).where(*which)
        for table, counted, which in ((Job, func.count(), jobs), (Submission, tasks, submitted))
    )
    # In one statement: a submission that becomes a job meanwhile is counted once.
    found = session.execute(union_all(*counts)).all()
    return sum(int(number) for number, _size in found), sum(int(size) for _number, size in found)


def under_way() -> tuple[ColumnElement[bool], ...]:
    """Conditions on `Submission`: requests under way, which may still become jobs."""
    return Submission.abandoned.is_(False), Submission.since > time.time() - LAPSED


def withdraw(store: Store, uuids: Collection[str]) -> None:
    """Withdraw submissions that will not become jobs and have no trusts."""
    for some in in_parts(uuids):
        with store.transaction() as session:
            session.execute(delete(Submission).where(Submission.uuid.in_(some)))


def abandon(store: Store, uuid: str) -> None:
    """Abandon a submission: it will not become a job, but may have a trust."""
    with store.transaction() as session:
        session.execute(update(Submission).where(Submission.uuid == uuid).values(abandoned=True))


def lapsed(store: Store, limit: int | None = None) -> set[str]:
    """Uuids of the submissions that have lapsed or were abandoned."""
    with store.reading() as session:
        return set(session.scalars(select(Submission.uuid).where(_lapsed()).limit(limit)))


def abandon_lapsed(store: Store) -> set[str]:
    """Abandon all lapsed submissions; returns the same uuids as `lapsed`."""
    # The same condition for both statements, so that all returned ones are abandoned.
    over = _lapsed()
    with store.transaction() as session:
        session.execute(update(Submission).where(over).values(abandoned=True))
        return set(session.scalars(select(Submission.uuid).where(over)))


def _lapsed():
    return Submission.since < time.time() - LAPSED


def sweep(store: Store, trusts, dry_run: bool = False) -> list:
    """Delete the trusts of failed submissions and of jobs that are over.

    Other trusts of the same user stay: those of open jobs and running submissions, of another
    installation, or made for another purpose.

    :param trusts: a `cloud.trusts.Trusts`; its errors are passed on, and the remaining trusts are
        swept the next time.
    :param dry_run: delete nothing.
    :return: the trusts that were, or would be, deleted.
    """
    # First, so that no submission becomes a job after its trust was found useless.
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
    """The trusts that were made for jobs that are over; that of an array is all its tasks'."""
    found: set[str] = set()
    with store.reading() as session:
        for some in in_parts(trusts):
            made_for = select(Job.trust_id).where(Job.trust_id.in_(some)).distinct()
            needed = made_for.where(Job.state.not_in(OVER))
            found.update(session.scalars(made_for.where(Job.state.in_(OVER))))
            found.difference_update(session.scalars(needed))
    return found
