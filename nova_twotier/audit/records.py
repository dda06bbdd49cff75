"""The manager's database, as an audit sees it."""

import pathlib

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from nova_twotier.audit.state import JobRecord
from nova_twotier.conf import ConfigError
from nova_twotier.core.actions import Tier
from nova_twotier.db.models import Job
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

#: Between them a job has neither an entry nor slots, or has all of both.
_AT_REST = (JobState.QUEUED, JobState.RUNNING)


def existing_store(conf) -> Store:
    """The manager's database, which must be there already.

    An empty one would make every job's entry an orphan: none is made here.

    :raises ConfigError: if there is none, or it cannot be opened.
    """
    require_file(conf, ", or --no-database if there is no queue manager")
    try:
        return open_store(conf, max_retries=0)
    except StoreError as error:
        raise ConfigError(str(error)) from error


def require_file(conf, otherwise: str = "") -> None:
    """Whoever only reads must not make a SQLite file, or its directory, by opening it.

    :param otherwise: what else the operator can do about it.
    :raises ConfigError: if the database is a SQLite file that is not there, or has no URL.
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


def job_records(store: Store) -> dict[str, JobRecord]:
    """The jobs that are not over, by uuid, all from one instant.

    :raises ConfigError: if the database does not answer.
    """
    try:
        with store.reading() as session:
            jobs = open_jobs(session)
            busy = busy_jobs(open_actions(session))
    except DATABASE_ERRORS as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"the manager's database does not answer: {reason}") from error
    return {job.uuid: _record(job, busy) for job in jobs}


def _record(job: Job, busy: set[int]) -> JobRecord:
    return JobRecord(
        uuid=job.uuid,
        size=job.size,
        tier=Tier(job.tier) if job.tier else None,
        cpu=tuple(job.cpu),
        under_way=job.number in busy or job.state not in _AT_REST,
        pool=job.pool,
        mbps=job.mbps,
    )
