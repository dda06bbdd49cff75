"""Reads the jobs of the manager's database, and its heartbeats, for an audit."""

import contextlib
import pathlib
from collections.abc import Iterable, Iterator

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from nova_twotier.audit.state import JobRecord
from nova_twotier.conf import ConfigError
from nova_twotier.core.actions import Tier
from nova_twotier.db.heartbeats import absences, heartbeats
from nova_twotier.db.models import Job
from nova_twotier.db.plans import MigratePlan
from nova_twotier.db.states import JobState
from nova_twotier.db.store import (
    DATABASE_ERRORS,
    Store,
    StoreError,
    busy_jobs,
    open_actions,
    open_jobs,
    open_store,
)

#: In these states a job holds either its entry and all of its slots, or nothing.
_AT_REST = (JobState.QUEUED, JobState.RUNNING)


def existing_store(conf) -> Store:
    """The manager's database, which must exist: an empty one would make every entry an orphan.

    :raises ConfigError: if there is none, or it cannot be opened.
    """
    require_file(conf, ", or --no-database if there is no queue manager")
    try:
        return open_store(conf, max_retries=0)
    except StoreError as error:
        raise ConfigError(str(error)) from error


def require_file(conf, otherwise: str = "") -> None:
    """Check that a SQLite file exists: opening it would create it, and its directory.

    :param otherwise: appended to the message: what else the operator can do.
    :raises ConfigError: if the database is a missing SQLite file, or has no URL.
    """
    try:
        url = make_url(conf.database.connection)
    except (ArgumentError, ValueError) as error:
        raise ConfigError(
            "option [database]connection is not a URL, such as "
            "mysql+pymysql://USER:PASSWORD@HOST/DATABASE"
        ) from error
    if url.get_backend_name() == "sqlite" and not pathlib.Path(url.database or "").is_file():
        raise ConfigError(
            f"there is no manager's database {url.database}: give the manager's configuration "
            f"with --config-file{otherwise}"
        )


def job_records(store: Store, lease: float) -> dict[str, JobRecord]:
    """The open jobs by uuid, in one consistent read.

    :param lease: `[coordination]lease`.
    :raises ConfigError: if the database does not answer.
    """
    with _answering():
        with store.snapshot() as session:
            jobs = open_jobs(session)
            actions = open_actions(session)
        beats = heartbeats(store, {job.pool for job in jobs}, lease)
    busy = busy_jobs(actions)
    targets = {
        action.number: frozenset(action.plan.targets.values())
        for action in actions
        if isinstance(action.plan, MigratePlan)
    }
    return {
        job.uuid: _record(
            job, busy, targets.get(job.number, frozenset()), not beats[job.pool].missing
        )
        for job in jobs
    }


def missing_managers(store: Store, pools: Iterable[str], lease: float) -> list[str]:
    """Which of these pools have no queue manager, and since when, in words.

    :param lease: `[coordination]lease`.
    :raises ConfigError: if the database does not answer.
    """
    with _answering():
        return absences(heartbeats(store, pools, lease))


@contextlib.contextmanager
def _answering() -> Iterator[None]:
    """:raises ConfigError: if the database does not answer."""
    try:
        yield
    except DATABASE_ERRORS as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"the manager's database does not answer: {reason}") from error


def _record(job: Job, busy: set[int], targets: frozenset[str], managed: bool) -> JobRecord:
    return JobRecord(
        uuid=job.uuid,
        size=job.size,
        tier=Tier(job.tier) if job.tier else None,
        cpu=tuple(job.profile),
        under_way=job.number in busy or job.state not in _AT_REST,
        pool=job.pool,
        mbps=job.mbps,
        targets=targets,
        managed=managed,
    )
