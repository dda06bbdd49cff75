"""Tables of the queue manager. Times are seconds since the epoch."""

import uuid
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, ForeignKey, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from nova_twotier.core.jobs import Job as CoreJob


class Base(DeclarativeBase):
    type_annotation_map = {dict[str, Any]: JSON, list[float]: JSON}


class JobState(StrEnum):
    """Life of a job; a job that was preempted is queued again, with `saved` set."""

    QUEUED = "queued"
    STARTING = "starting"
    RESTORING = "restoring"
    RUNNING = "running"
    PREEMPTING = "preempting"
    ENDING = "ending"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


#: Nothing happens to a job any more in these.
OVER = (JobState.FINISHED, JobState.FAILED, JobState.CANCELLED)


class ActionKind(StrEnum):
    EVICT = "evict"
    SWAP = "swap"
    MIGRATE = "migrate"
    START = "start"
    END = "end"


class ActionState(StrEnum):
    EXPECTED = "expected"  # recorded; begun or not
    DONE = "done"  # its effect was observed
    FAILED = "failed"  # given up, and undone


class Job(Base):
    """A tenant's job."""

    __tablename__ = "job"

    number: Mapped[int] = mapped_column(primary_key=True)
    uuid: Mapped[str] = mapped_column(String(36), unique=True, default=lambda: str(uuid.uuid4()))
    name: Mapped[str] = mapped_column(String(255), default="")
    size: Mapped[int]
    cpu: Mapped[list[float]]
    estimate: Mapped[float | None]
    submitted_at: Mapped[float]
    state: Mapped[str] = mapped_column(String(16), default=JobState.QUEUED, index=True)
    tier: Mapped[str | None] = mapped_column(String(2))
    saved: Mapped[bool] = mapped_column(default=False)
    how: Mapped[str | None] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(default="")
    #: What its owner asked for: "complete" or "cancel".
    wish: Mapped[str | None] = mapped_column(String(16))
    started_at: Mapped[float | None]
    finished_at: Mapped[float | None]
    not_before: Mapped[float] = mapped_column(default=0.0)
    failures: Mapped[int] = mapped_column(default=0)
    evictions: Mapped[int] = mapped_column(default=0)
    restores: Mapped[int] = mapped_column(default=0)
    swaps: Mapped[int] = mapped_column(default=0)
    migrations: Mapped[int] = mapped_column(default=0)

    def core(self) -> CoreJob:
        """The job as policies see it."""
        return CoreJob(
            number=self.number,
            size=self.size,
            arrival=self.submitted_at,
            cpu=tuple(self.cpu),
            estimate=self.estimate,
            name=self.name,
        )


class Action(Base):
    """A decided action: written before it is begun, closed when its effect is observed."""

    __tablename__ = "action"

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    #: Actions of a lower phase are closed before those of a higher one begin.
    phase: Mapped[int]
    job: Mapped[int | None] = mapped_column(ForeignKey("job.number"), index=True)
    #: What to do, and what was begun of it: how often each request was made.
    plan: Mapped[dict[str, Any]]
    begun: Mapped[dict[str, Any]] = mapped_column(default=dict)
    begun_at: Mapped[float | None]
    state: Mapped[str] = mapped_column(String(16), default=ActionState.EXPECTED, index=True)
    reason: Mapped[str] = mapped_column(default="")
    created_at: Mapped[float]
    closed_at: Mapped[float | None]


class Event(Base):
    """Something that happened to a job, for its owner and for the records."""

    __tablename__ = "event"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[float]
    job: Mapped[int | None] = mapped_column(ForeignKey("job.number"), index=True)
    kind: Mapped[str] = mapped_column(String(32))
    detail: Mapped[str] = mapped_column(default="")
