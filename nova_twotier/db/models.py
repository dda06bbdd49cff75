"""Tables of the queue manager. Times are seconds since the epoch.

Those of jobs and events have modules of their own, and are here, too. A change needs a migration
beside it, in `migrations/versions`.
"""

from typing import Any, TypeVar

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from nova_twotier.db import plans
from nova_twotier.db.base import Base
from nova_twotier.db.event import BUS, Delivery, Event, origin_of
from nova_twotier.db.job import NAME_LENGTH, Job, as_it_is, costly_pause, pause
from nova_twotier.db.prediction import PoolPrediction, Prediction
from nova_twotier.db.progress import Progress
from nova_twotier.db.states import OVER, ActionState, JobState, Preemption, QueueMode
from nova_twotier.ledger.names import DEFAULT_POOL

__all__ = [
    "BUS",
    "DEFAULT_POOL",
    "NAME_LENGTH",
    "OVER",
    "Action",
    "ActionState",
    "Array",
    "Base",
    "DeadHost",
    "Delivery",
    "Drain",
    "EndedJobs",
    "Event",
    "Job",
    "JobServer",
    "JobState",
    "Leader",
    "Place",
    "PoolPrediction",
    "Prediction",
    "Preemption",
    "Project",
    "Queue",
    "QueueMode",
    "Submission",
    "UsageDay",
    "Utilisation",
    "as_it_is",
    "costly_pause",
    "origin_of",
    "pause",
]

PlanT = TypeVar("PlanT", bound=plans.Plan)


class Submission(Base):
    """A job that is being submitted, from before its trust is made (see `db.submissions`)."""

    __tablename__ = "submission"

    #: The uuid of the future job.
    uuid: Mapped[str] = mapped_column(String(36), primary_key=True)
    project_id: Mapped[str] = mapped_column(String(64), index=True)
    size: Mapped[int]
    since: Mapped[float]
    #: It can no longer become a job.
    abandoned: Mapped[bool]
    #: How many jobs it is: 1, or the tasks of an array, whose processes `size` counts together.
    tasks: Mapped[int] = mapped_column(default=1, server_default="1")


class Project(Base):
    """A project's row, which serialises its submissions, so that its quotas hold.

    Each submission updates it before it counts the project's jobs (see `submissions.begin`).
    """

    __tablename__ = "project"

    project_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    #: How many of its submissions had room in its quotas since schema 0030.
    submissions: Mapped[int] = mapped_column(BigInteger)


class Array(Base):
    """A job array: what its tasks, which are jobs, have in common and what is asked of all."""

    __tablename__ = "array"

    #: That of its first task, so that no other job has it.
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    uuid: Mapped[str] = mapped_column(String(36), unique=True)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    project_id: Mapped[str] = mapped_column(String(64))
    user_id: Mapped[str] = mapped_column(String(64))
    pool: Mapped[str] = mapped_column(String(255))
    #: As its owner wrote them, see `core.indexes`.
    indexes: Mapped[str] = mapped_column(Text)
    #: Most tasks that are in the queue, or run, at the same time; None: no limit.
    most_at_once: Mapped[int | None]
    #: Of all tasks, in base64; dropped when the last of them is over.
    user_data: Mapped[str | None] = mapped_column(Text)
    #: That of all tasks; deleted when the last of them is over.
    trust_id: Mapped[str | None] = mapped_column(String(64))
    submitted_at: Mapped[float]
    #: When the last task was over and the trust was deleted; None: not yet.
    finished_at: Mapped[float | None]


class Action(Base):
    """A decided action: written before it is begun, closed when its effect is observed."""

    __tablename__ = "action"
    #: For the two attributes that are no columns.
    __allow_unmapped__ = True

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    #: The pool whose leader carries it out.
    pool: Mapped[str] = mapped_column(
        String(255), default=DEFAULT_POOL, server_default=DEFAULT_POOL
    )
    #: Of the actions of one decision, those of a lower phase come first (see `manager.turns`).
    phase: Mapped[int]
    job: Mapped[int | None] = mapped_column(ForeignKey("job.number"), index=True)
    plan_data: Mapped[dict[str, Any]] = mapped_column("plan")
    progress_data: Mapped[dict[str, Any]] = mapped_column("begun", default=dict)
    begun_at: Mapped[float | None]
    state: Mapped[str] = mapped_column(String(16), default=ActionState.EXPECTED, index=True)
    #: For operators: why it failed, with what the cloud said; `progress.undoing` is for owners.
    reason: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[float]
    closed_at: Mapped[float | None]

    #: Cached as last read or written: most are read many times.
    _plan: plans.Plan | None = None
    _progress: Progress | None = None

    @property
    def plan(self) -> plans.Plan:
        """What to do, as an object of the class in `plans` for its kind."""
        if self._plan is None:
            self._plan = plans.load(self.kind, self.plan_data)
        return self._plan

    @plan.setter
    def plan(self, plan: plans.Plan) -> None:
        self._plan, self.plan_data = plan, plans.dump(plan)

    def planned(self, of: type[PlanT]) -> PlanT:
        """The plan, as the class that actions of its kind have.

        :raises TypeError: if it is of another.
        """
        plan = self.plan
        if not isinstance(plan, of):
            raise TypeError(f"the plan of a {self.kind} is a {type(plan).__name__}")
        return plan

    @property
    def number(self) -> int:
        """The number of its job.

        :raises TypeError: if it is a swap, which is about several.
        """
        if self.job is None:
            raise TypeError(f"a {self.kind} is about several jobs")
        return self.job

    @property
    def progress(self) -> Progress:
        """Which requests it has made, and their outcomes."""
        if self._progress is None:
            self._progress = Progress.load(self.progress_data or {})
        return self._progress

    @progress.setter
    def progress(self, progress: Progress) -> None:
        self._progress, self.progress_data = progress, progress.dump()


class Queue(Base):
    """The queue of a pool, once somebody has changed its mode or its policy."""

    __tablename__ = "queue"

    pool: Mapped[str] = mapped_column(String(255), primary_key=True)
    mode: Mapped[str] = mapped_column(String(16), default=QueueMode.ACTIVE)
    #: What an operator chose at run time; None: the policy of the configuration.
    policy: Mapped[str | None] = mapped_column(String(64))
    changed_at: Mapped[float]


class Leader(Base):
    """The queue manager that leads a pool, or was the last to do so.

    The term grows with every new leader, so that one that was replaced can tell (see `db.terms`).
    """

    __tablename__ = "leader"

    pool: Mapped[str] = mapped_column(String(255), primary_key=True)
    name: Mapped[str] = mapped_column(String(255))
    term: Mapped[int]
    since: Mapped[float]
    #: Its last heartbeat, see `terms`; None: no manager has led since an earlier release.
    renewed_at: Mapped[float | None]
    #: When it last finished a poll, as its last heartbeat said; None: an earlier release leads.
    polled_at: Mapped[float | None]
    #: The policy that it uses; None: it has not said so yet.
    policy: Mapped[str | None] = mapped_column(String(64))
    #: Goes up with each transaction of the leader, see `db.revisions`.
    revision: Mapped[int] = mapped_column(default=0, server_default="0")


class JobServer(Base):
    """A server of a job that has started: whose it is, whatever its metadata says."""

    __tablename__ = "server"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    job: Mapped[int] = mapped_column(ForeignKey("job.number"), index=True)


class DeadHost(Base):
    """A host that counts as dead for the leader of a pool, until its nova-compute is up again."""

    __tablename__ = "dead_host"

    pool: Mapped[str] = mapped_column(String(255), primary_key=True)
    host: Mapped[str] = mapped_column(String(255), primary_key=True)


class Drain(Base):
    """A host that takes nothing new from some time on, for maintenance (see `db.drains`)."""

    __tablename__ = "drain"

    #: By its name in Placement.
    host: Mapped[str] = mapped_column(String(255), primary_key=True)
    since: Mapped[float]
    #: The end of a window; None: until an operator ends the drain.
    until: Mapped[float | None]
    reason: Mapped[str] = mapped_column(String(255))
    #: Jobs there are moved to other hosts.
    migrate: Mapped[bool]


class Place(Base):
    """A slot that a process of a job held, from when to when: the schedule that was."""

    __tablename__ = "place"
    # Who looks for the stays after some time need not read those that began after another.
    __table_args__ = (Index("ix_place_until_since", "until", "since"), Base.__table_args__)

    id: Mapped[int] = mapped_column(primary_key=True)
    job: Mapped[int] = mapped_column(ForeignKey("job.number"), index=True)
    process: Mapped[int]
    server: Mapped[str] = mapped_column(String(36))
    host: Mapped[str] = mapped_column(String(255))
    tier: Mapped[str] = mapped_column(String(2))
    #: The number of the slot in the tier of the host, from 0: no two stays there overlap. It has
    #: nothing to do with CPUs, which node agents assign. None: it was taken before schema 0026.
    slot: Mapped[int | None]
    since: Mapped[float] = mapped_column(index=True)
    #: None: it still holds the slot.
    until: Mapped[float | None]
    #: The job's class of service then; None: an earlier release wrote the record.
    qos: Mapped[str | None] = mapped_column(String(16))


class EndedJobs(Base):
    """The number of jobs of a project and pool that ended in a state, without purged ones."""

    __tablename__ = "ended_jobs"

    pool: Mapped[str] = mapped_column(String(255), primary_key=True)
    project_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    state: Mapped[str] = mapped_column(String(16), primary_key=True)
    jobs: Mapped[int] = mapped_column(BigInteger)
    processes: Mapped[int] = mapped_column(BigInteger)


class UsageDay(Base):
    """What the purged jobs of a project, a user, a pool and a class used on a day, see `usage`."""

    __tablename__ = "usage_day"

    #: Days since 1970-01-01, in UTC.
    day: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    project_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    pool: Mapped[str] = mapped_column(String(255), primary_key=True)
    #: The class of service; empty: not known, since an earlier release purged the jobs.
    qos: Mapped[str] = mapped_column(String(16), primary_key=True)
    #: Slot-seconds in each tier, and those of them whose work was discarded.
    foreground: Mapped[float]
    background: Mapped[float]
    lost: Mapped[float]
    #: How many jobs started for the first time, and how many ended.
    started: Mapped[int]
    ended: Mapped[int]


class Utilisation(Base):
    """The utilisation and the queue length of a pool in one interval, see `db.utilisation`.

    Sums over the samples that its leader took, and the largest values among them.
    """

    __tablename__ = "utilisation"

    #: Seconds of the interval: one of `utilisation.KEPT`.
    step: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    #: Its begin in seconds since the epoch, a multiple of the step.
    at: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    pool: Mapped[str] = mapped_column(String(255), primary_key=True)
    samples: Mapped[int]
    fg_slots: Mapped[int] = mapped_column(BigInteger)
    fg_used: Mapped[int] = mapped_column(BigInteger)
    fg_free: Mapped[int] = mapped_column(BigInteger)
    bg_slots: Mapped[int] = mapped_column(BigInteger)
    bg_used: Mapped[int] = mapped_column(BigInteger)
    bg_free: Mapped[int] = mapped_column(BigInteger)
    waiting_jobs: Mapped[int] = mapped_column(BigInteger)
    running_jobs: Mapped[int] = mapped_column(BigInteger)
    waiting_processes: Mapped[int] = mapped_column(BigInteger)
    running_processes: Mapped[int] = mapped_column(BigInteger)
    most_fg_used: Mapped[int]
    most_bg_used: Mapped[int]
    most_waiting_jobs: Mapped[int]
    most_waiting_processes: Mapped[int]
    #: Slot-seconds whose work was lost in the interval.
    lost: Mapped[float]
