"""Opens the database, and the few questions that are asked of it."""

import contextlib
import pathlib
import time
from collections.abc import Iterator

from sqlalchemy import create_engine, event, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker

from nova_twotier.core.jobs import Job as CoreJob
from nova_twotier.core.jobs import check_size
from nova_twotier.manager.db.models import OVER, Action, ActionState, Base, Event, Job

#: Execution option of connections that only read.
_READING = {"reading": True}


class StoreError(Exception):
    """The database cannot be opened; the message says which and why."""


class NoSuchJob(LookupError):
    """There is no job of that number or uuid."""


class Store:
    """The manager's database.

    :param url: SQLAlchemy URL; the file and the tables are made if they do not exist.
    :raises StoreError: if it cannot be opened.
    """

    def __init__(self, url: str):
        try:
            parsed = make_url(url)
            if parsed.get_backend_name() == "sqlite" and parsed.database:
                pathlib.Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
            self._engine = create_engine(parsed)
            if parsed.get_backend_name() == "sqlite":
                event.listen(self._engine, "connect", _durable_sqlite)
                event.listen(self._engine, "begin", _begin_immediate)
            Base.metadata.create_all(self._engine)
        except (ArgumentError, SQLAlchemyError, OSError, ImportError) as error:
            reason = str(error).splitlines()[0]
            raise StoreError(f"database {url} cannot be opened: {reason}") from error
        self._session = sessionmaker(self._engine, expire_on_commit=False)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Session]:
        with self._session.begin() as session:
            yield session

    @contextlib.contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that only reads, and so never waits for one that writes."""
        with self._session() as session:
            session.connection(execution_options=_READING)
            yield session

    def close(self) -> None:
        self._engine.dispose()

    def submit(
        self,
        size: int,
        cpu: list[float],
        name: str = "",
        estimate: float | None = None,
        at: float | None = None,
    ) -> Job:
        """Put a job in the queue.

        :param cpu: utilisation of each process, or one for all.
        :param at: the time of its arrival, in seconds since the epoch; default: now.
        :raises InvalidJob: if it cannot be a job.
        """
        check_size(size)
        cpu = list(cpu) * size if len(cpu) == 1 else list(cpu)
        now = time.time() if at is None else at
        # The core's own checks, before anything is written.
        core = CoreJob(0, size, now, tuple(cpu), estimate)
        job = Job(size=size, cpu=list(core.cpu), name=name, estimate=estimate, submitted_at=now)
        with self.transaction() as session:
            session.add(job)
            session.flush()
            session.add(Event(at=now, job=job.number, kind="submitted"))
        return job

    def job(self, number: int) -> Job:
        """:raises NoSuchJob: if there is none of that number."""
        with self.reading() as session:
            return _job(session, number)

    def jobs(self) -> list[Job]:
        """All jobs, in the order of submission."""
        with self.reading() as session:
            return list(session.scalars(select(Job).order_by(Job.submitted_at, Job.number)))

    def events(self, number: int | None = None) -> list[Event]:
        """What happened, to one job or to all, oldest first."""
        query = select(Event).order_by(Event.at, Event.id)
        if number is not None:
            query = query.where(Event.job == number)
        with self.reading() as session:
            return list(session.scalars(query))

    def wish(self, number: int, wish: str) -> Job:
        """Leave the manager the owner's wish: to `complete` or `cancel` the job.

        :raises NoSuchJob: if there is none of that number.
        """
        with self.transaction() as session:
            job = _job(session, number)
            if job.state not in OVER:
                job.wish = wish
            return job


def open_jobs(session: Session) -> list[Job]:
    """Jobs that are not over, in the order of submission."""
    query = select(Job).where(Job.state.not_in(OVER)).order_by(Job.submitted_at, Job.number)
    return list(session.scalars(query))


def open_actions(session: Session) -> list[Action]:
    """Actions that are expected but not observed yet, in the order in which they were decided."""
    query = select(Action).where(Action.state == ActionState.EXPECTED)
    return list(session.scalars(query.order_by(Action.phase, Action.id)))


def _job(session: Session, number: int) -> Job:
    job = session.get(Job, number)
    if job is None:
        raise NoSuchJob(f"there is no job {number}; `twotier job list` shows those there are")
    return job


def _durable_sqlite(connection, _record) -> None:
    # The driver must not begin transactions by itself: a deferred one that reads, then writes,
    # fails at once when another process has written in between.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA busy_timeout=60000")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin_immediate(connection) -> None:
    reading = connection.get_execution_options().get("reading")
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")
