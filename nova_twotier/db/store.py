"""Opens the database, and holds the queries that several components need."""

import contextlib
import copy
import time
from collections.abc import Collection, Iterator, Sequence

from sqlalchemy import Delete, Update, delete, event, func, or_, select, tuple_
from sqlalchemy.orm import Session, defer, sessionmaker

from nova_twotier.core.jobs import UNKNOWN_CPU, InvalidJob, check_size
from nova_twotier.core.jobs import Job as CoreJob
from nova_twotier.core.qos import NORMAL
from nova_twotier.core.reasons import waits
from nova_twotier.db import arrays, job_counts, migration
from nova_twotier.db.connection import (
    DATABASE_ERRORS,
    READING,
    StoreError,
    connect,
    server_options,
)
from nova_twotier.db.dependencies import Dependency
from nova_twotier.db.event import USER, User, sign
from nova_twotier.db.learned import learned
from nova_twotier.db.models import (
    DEFAULT_POOL,
    NAME_LENGTH,
    Action,
    Array,
    Event,
    Job,
    Queue,
    Submission,
)
from nova_twotier.db.plans import SwapPlan
from nova_twotier.db.races import again_if_made
from nova_twotier.db.selection import EVERY_JOB, Selection
from nova_twotier.db.states import COMPLETE, OVER, ActionState, JobState, Preemption, QueueMode

__all__ = [
    "DATABASE_ERRORS",
    "NoSuchJob",
    "NotStarted",
    "QueueDraining",
    "Store",
    "StoreError",
    "SubmissionLapsed",
    "open_actions",
    "open_jobs",
    "open_store",
    "queue_event",
]

#: Seconds that a session is open before the log says that the database hangs.
HANGS = 30.0

_LONG = (Job.cpu, Job.learned, Job.measured, Job.used, Job.user_data)
#: Options of a query of many jobs, which leave out their long columns.
SHORT = tuple(defer(column, raiseload=True) for column in _LONG)


class NoSuchJob(LookupError):
    """There is no job of that number or uuid."""


class NotStarted(Exception):
    """The job has not started, or waits to begin anew: there is nothing to complete or requeue."""


class SubmissionLapsed(Exception):
    """Submitting a job took so long that the submission has lapsed."""


class QueueDraining(Exception):
    """The queue of a pool takes no jobs for the time being."""

    def __init__(self, pool: str):
        super().__init__(f"the queue of pool {pool} is draining: it takes no jobs")
        self.pool = pool


class Store:
    """The manager's database.

    A SQLite file and its tables are created or upgraded when it is opened; a database server is
    prepared by `twotier-manage db upgrade`.

    :param url: SQLAlchemy URL.
    :param options: of the connections, as oslo.db's `create_engine` takes them.
    :raises StoreError: if it cannot be opened, or its schema is not up to date.
    """

    def __init__(self, url: str, **options):
        self._engine = connect(url, **options)
        try:
            migration.require_newest(self._engine)
        except StoreError:
            self._engine.dispose()
            raise
        self._session = sessionmaker(self._engine, expire_on_commit=False)
        event.listen(self._session, "before_flush", job_counts.follow)
        event.listen(self._session, "before_flush", sign)
        #: For whom its transactions work; None: for no user in particular.
        self._user: User | None = None
        #: When each open session began, by `time.monotonic`.
        self._open: dict[object, float] = {}

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Session]:
        with self._timed(), self._session.begin() as session:
            session.info[USER] = self._user
            yield session

    @contextlib.contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that only reads, and so never waits for one that writes."""
        with self._timed(), self._session() as session:
            session.connection(execution_options=READING)
            yield session

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Session]:
        """Like `reading`; all queries see the database as it was at the first one."""
        with self.reading() as session:
            if self._engine.dialect.name != "sqlite":  # there any transaction does
                statement = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
                session.connection().exec_driver_sql(statement)
            yield session

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        session = object()
        self._open[session] = time.monotonic()
        try:
            yield
        finally:
            del self._open[session]

    def waited(self) -> float:
        """For how many seconds the longest of the open sessions, of all threads, has been open.

        It is many if the database hangs: no session waits for anything else. Those of stores that
        were made by `apart` do not count.
        """
        now = time.monotonic()
        return now - min(list(self._open.values()), default=now)

    def apart(self) -> "Store":
        """A store on the same connections whose `waited` counts only its own sessions.

        Closing one of them closes the connections of all.
        """
        store = copy.copy(self)
        store._open = {}
        return store

    def acting_for(self, user: User) -> "Store":
        """The same store, whose transactions note this user in the events that they record."""
        store = copy.copy(self)
        store._user = user
        return store

    def close(self) -> None:
        self._engine.dispose()

    def submit(
        self,
        size: int,
        cpu: list[float],
        name: str = "",
        estimate: float | None = None,
        at: float | None = None,
        *,
        project_id: str = "",
        user_id: str = "",
        held: bool = False,
        pool: str = DEFAULT_POOL,
        flavor: str | None = None,
        image: str | None = None,
        networks: list[str] | None = None,
        key_name: str | None = None,
        user_data: str | None = None,
        keep_servers: bool = False,
        bandwidth: float = 0.0,
        preemption: str = Preemption.SHELVE,
        checkpoint: bool = False,
        walltime: float | None = None,
        retries: int = 0,
        report_token: str | None = None,
        webhook: str | None = None,
        webhook_secret: str | None = None,
        published: bool = False,
        begin_at: float | None = None,
        dependencies: Sequence[Dependency] = (),
        peers: bool = False,
        qos: str = NORMAL,
        priority: int = 0,
        trust_id: str | None = None,
        submission: str | None = None,
        tasks: arrays.Tasks | None = None,
    ) -> Job:
        """Put a job in the queue, or the tasks of an array.

        The columns of `Job` describe the other parameters.

        :param cpu: utilisation of each process, or one for all; empty if it is unknown.
        :param estimate: of its run time, in seconds.
        :param at: the time of its arrival, in seconds since the epoch; default: now.
        :param held: it does not start until it is released.
        :param networks: uuids of networks, or ["none"], or ["auto"].
        :param bandwidth: in Mbit/s.
        :param walltime: in seconds.
        :param begin_at: it does not start before; in seconds since the epoch.
        :param dependencies: it does not start before all of them are met.
        :param submission: the uuid that it has had since `submissions.begin`.
        :param tasks: it is an array of so many jobs, all as described; the first one is returned.
        :raises InvalidJob: if it cannot be a job.
        :raises SubmissionLapsed: if its submission is not under way any more.
        :raises QueueDraining: if the queue of its pool takes none.
        """
        check_size(size)
        for what, text in (("name", name), ("pool", pool), ("flavor", flavor), ("key", key_name)):
            check_text(what, text or "")
        cpu = list(cpu) * size if len(cpu) == 1 else list(cpu)
        now = time.time() if at is None else at
        # The core's own checks, before anything is written.
        CoreJob(0, size, now, tuple(cpu) or (UNKNOWN_CPU,) * size, estimate)
        job = Job(
            size=size,
            cpu=cpu,
            name=name,
            estimate=estimate,
            submitted_at=now,
            project_id=project_id,
            user_id=user_id,
            held=held,
            reason=waits.HELD() if held else None,
            pool=pool,
            flavor=flavor,
            image=image,
            networks=networks,
            key_name=key_name,
            user_data=None if tasks else user_data,
            keep_servers=keep_servers,
            bandwidth=bandwidth,
            preemption=Preemption(preemption),
            checkpoint=checkpoint,
            walltime=walltime,
            retries=retries,
            report_token=report_token,
            webhook=webhook,
            webhook_secret=webhook_secret,
            published=published,
            begin_at=begin_at,
            dependencies=dependencies,
            gated=bool(dependencies) or (begin_at is not None and begin_at > now),
            peers=peers,
            qos=qos,
            priority=priority,
            trust_id=trust_id,
        )
        with self.transaction() as session:
            if submission is not None:
                _end(session, submission)
                if tasks is None:
                    job.uuid = submission
            if _mode(session, pool) == QueueMode.DRAINING:
                raise QueueDraining(pool)
            job.learned = learned(session, job)
            session.add(job)
            session.flush()
            if tasks is None:
                session.add(job.happening(now, "submitted"))
            else:
                arrays.add(session, job, tasks, submission, user_data)
        return job

    def job(self, number: int) -> Job:
        """:raises NoSuchJob: if there is none of that number."""
        with self.reading() as session:
            return require_job(session, number)

    def find(self, uuid: str) -> Job:
        """:raises NoSuchJob: if there is none of that uuid."""
        with self.reading() as session:
            return _find(session, uuid)

    def user_data(self, number: int) -> str | None:
        """The user data of the job's servers, in base64.

        :raises NoSuchJob: if there is none of that number.
        """
        with self.reading() as session:
            job = require_job(session, number)
            array = None if job.array is None else session.get(Array, job.array)
            return array.user_data if array else job.user_data

    def has_user_data(self, number: int) -> bool:
        """Whether the job's servers are given user data; these are secrets, and not read."""
        given = or_(Job.user_data.is_not(None), Array.user_data.is_not(None))
        query = select(given).outerjoin(Array, Array.number == Job.array)
        with self.reading() as session:
            return bool(session.scalar(query.where(Job.number == number)))

    def jobs(
        self,
        *,
        selection: Selection = EVERY_JOB,
        newest_first: bool = False,
        limit: int | None = None,
        marker: str | None = None,
        collapsed: bool = False,
    ) -> list[Job]:
        """Jobs in the order of submission, or in the opposite one.

        Without their long columns, see `SHORT`: `job` and `find` give them.

        :param limit: at most so many, from the first in this order.
        :param marker: uuid of the last job of the page before.
        :param collapsed: of the tasks of an array that wait, only the first of the selection, and
            the first that is held.
        :raises NoSuchJob: if the marker is not a job, or not one of the selection's project.
        """
        place = Job.submitted_at, Job.number
        order = [column.desc() for column in place] if newest_first else place
        query = select(Job).options(*SHORT).order_by(*order).limit(limit)
        with self.reading() as session:
            query = selection.of(query, session.get_bind().dialect.name)
            if collapsed:
                query = query.where(arrays.collapsed(session, selection))
            if marker is not None:
                last = _find(session, marker, selection.project_id)
                here, there = tuple_(*place), (last.submitted_at, last.number)
                query = query.where(here < there if newest_first else here > there)
            return list(session.scalars(query))

    def events(self, number: int | None = None) -> list[Event]:
        """What happened, to one job or to all, oldest first."""
        query = select(Event).order_by(Event.at, Event.id)
        if number is not None:
            query = query.where(Event.job == number)
        with self.reading() as session:
            return list(session.scalars(query))

    def last_event(self) -> int:
        """The greatest number of an event: it grows with every change by the API."""
        with self.reading() as session:
            return session.scalar(select(func.max(Event.id))) or 0

    def request_action(self, number: int, action: str) -> Job:
        """Record what a user asks for, `complete` or `cancel`; the manager carries it out.

        :raises NoSuchJob: if there is none of that number.
        :raises NotStarted: if it is to be completed and has not started.
        """
        with self.transaction() as session:
            job = require_job(session, number, lock=True)
            if job.state not in OVER and (event := ask_to_end(job, action, time.time())):
                session.add(event)
            return job

    def hold(self, number: int, held: bool) -> Job:
        """Hold a job, or release it.

        A held job that is queued does not start; once released, it waits as if it had just arrived.
        A job that runs, or whose start has begun, continues, and is held from its next eviction on.
        A job that is over stays as it is.

        :raises NoSuchJob: if there is none of that number.
        """
        with self.transaction() as session:
            job = require_job(session, number, lock=True)
            if job.state not in OVER and (event := set_held(job, held, time.time())):
                session.add(event)
            return job

    def largest_bandwidth(self, pool: str) -> float:
        """The largest bandwidth, in Mbit/s, of all jobs of a pool that were not purged; 0: none."""
        with self.reading() as session:
            largest = session.scalar(select(func.max(Job.bandwidth)).where(Job.pool == pool))
            return largest or 0.0

    def queue_mode(self, pool: str = DEFAULT_POOL) -> QueueMode:
        with self.reading() as session:
            return _mode(session, pool)

    @again_if_made
    def set_queue_mode(self, pool: str, mode: QueueMode) -> None:
        """Change the mode of a pool's queue, and record an event about it."""
        mode = QueueMode(mode)
        with self.transaction() as session:
            if _mode(session, pool) == mode:
                return
            now = time.time()
            session.merge(Queue(pool=pool, mode=mode, changed_at=now))
            session.add(Event(at=now, kind=queue_event(mode), detail=f"pool {pool}"))


def ask_to_end(job: Job, action: str, now: float) -> Event | None:
    """What `Store.request_action` does to a job that is not over.

    :returns: the event of it; None if that was asked before.
    :raises NotStarted: if it is to be completed and has not started.
    """
    if action == COMPLETE and job.not_started:
        raise NotStarted
    if job.requested_action == action:
        return None
    job.requested_action = action
    return job.happening(now, f"asked to {action}")


def set_held(job: Job, held: bool, now: float) -> Event | None:
    """What `Store.hold` does to a job that is not over; returns the event of it, if any."""
    if job.held == held:
        return None
    job.held = held
    if job.state == JobState.QUEUED:
        job.reason = waits.HELD() if held else None
        if not held:
            job.enter_queue(now)
            # Another task of its array may have taken its place meanwhile.
            job.gated = job.gated or job.array is not None
    return job.happening(now, "held" if held else "released")


def queue_event(mode: QueueMode) -> str:
    """The kind of the event that a queue is now in this mode."""
    return f"queue {mode}"


def open_store(conf, **changes) -> Store:
    """The database that the configuration names.

    :param changes: to options of group `[database]`, such as `max_retries`.
    :raises StoreError: as `Store`.
    """
    return Store(conf.database.connection, **server_options(conf, **changes))


def open_jobs(
    session: Session, pool: str | None = None, numbers: Collection[int] | None = None
) -> list[Job]:
    """Jobs that are not over, of a pool or of all, by arrival in the queue.

    :param numbers: only those of them.
    """
    query = select(Job).where(*job_counts.not_over(pool=pool))
    query = query.order_by(Job.eligible_at, Job.number)
    if numbers is not None:
        query = query.where(Job.number.in_(numbers))
    # User data has up to 64 KiB per job, and is read when it boots: `Store.user_data`.
    return list(session.scalars(query.options(defer(Job.user_data, raiseload=True))))


def open_actions(session: Session, pool: str | None = None) -> list[Action]:
    """Actions that are expected but not observed yet, of a pool or of all, as they were decided."""
    query = select(Action).where(Action.state == ActionState.EXPECTED)
    if pool is not None:
        query = query.where(Action.pool == pool)
    return list(session.scalars(query.order_by(Action.phase, Action.id)))


def busy_jobs(actions: list[Action]) -> set[int]:
    """Numbers of the jobs that open actions are about."""
    numbers = {action.job for action in actions if action.job is not None}
    for action in actions:
        if isinstance(action.plan, SwapPlan):
            numbers.update(change.number for change in action.plan.changes)
    return numbers


def rows_changed(session: Session, statement: Delete | Update) -> int:
    """Carry out a statement; returns how many rows it changed or deleted."""
    return session.connection().execute(statement).rowcount


def check_text(what: str, text: str) -> None:
    """:raises InvalidJob: if a name is too long, or has a character that cannot be printed."""
    if len(text) > NAME_LENGTH:
        raise InvalidJob(f"the {what} has {len(text)} characters; give at most {NAME_LENGTH}")
    if not text.isprintable():
        # Line breaks spoil tables; PostgreSQL takes no NUL, and none takes half a surrogate pair.
        wrong = next(each for each in text if not each.isprintable())
        raise InvalidJob(f"{what} is {text!r}; give one without the character U+{ord(wrong):04X}")


def _end(session: Session, submission: str) -> None:
    """:raises SubmissionLapsed: if it is not under way any more."""
    under_way = Submission.uuid == submission, Submission.abandoned.is_(False)
    if not rows_changed(session, delete(Submission).where(*under_way)):
        raise SubmissionLapsed(submission)


def _mode(session: Session, pool: str) -> QueueMode:
    queue = session.get(Queue, pool)
    return QueueMode.ACTIVE if queue is None else QueueMode(queue.mode)


def require_job(session: Session, number: int, lock: bool = False) -> Job:
    """The job of a number.

    :param lock: lock the row until the transaction ends, so that it is read after any change that
        the manager is writing.
    :raises NoSuchJob: if there is none.
    """
    job = session.get(Job, number, with_for_update=lock or None)
    if job is None:
        raise NoSuchJob(f"there is no job {number}; `twotier job list` shows those there are")
    return job


def _find(session: Session, uuid: str, project_id: str | None = None) -> Job:
    """A job of another project is as if there were none."""
    job = session.scalar(select(Job).where(Job.uuid == uuid))
    if job is None or project_id not in (None, job.project_id):
        raise NoSuchJob(f"there is no job {uuid}")
    return job
