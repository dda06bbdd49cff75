"""The table of jobs."""

import functools
import math
import uuid
from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import Index, String, Text, false, text
from sqlalchemy.orm import Mapped, mapped_column, validates
from sqlalchemy.orm.attributes import set_committed_value

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.jobs import UNKNOWN_CPU, job_label
from nova_twotier.core.jobs import Job as CoreJob
from nova_twotier.core.qos import NORMAL, SCAVENGER, Qos
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.db.array_task import ArrayTask
from nova_twotier.db.base import Base
from nova_twotier.db.event import BUS, Delivery, Event, origin_of
from nova_twotier.db.predicted import Predicted
from nova_twotier.db.queueing import Queueing
from nova_twotier.db.reasoned import Reasoned
from nova_twotier.db.states import OVER, REQUEUE, JobState, Preemption
from nova_twotier.ledger.names import DEFAULT_POOL

#: Characters that the name of a job may have.
NAME_LENGTH = 255
#: Longest back-off of a job after something about it was refused, seconds.
LONGEST_PAUSE = 60.0
#: First and longest back-off, in seconds, if others had made room for it in vain.
FIRST_COSTLY_PAUSE, LONGEST_COSTLY_PAUSE = 60.0, 1800.0
ALL_TIERS: tuple[Tier, ...] = (FG, BG)


def as_it_is(core: CoreJob, /) -> CoreJob:
    """How a policy that orders by arrival admits a job."""
    return core


def pause(times: int) -> float:
    """Back-off in seconds of a job that was refused so often in a row."""
    return min(LONGEST_PAUSE, 2.0 ** min(times, 30))


def costly_pause(times: int) -> float:
    """Back-off, in seconds, of a job for which others made room in vain so often in a row."""
    return min(LONGEST_COSTLY_PAUSE, FIRST_COSTLY_PAUSE * 2.0 ** min(times - 1, 30))


class Job(Queueing, ArrayTask, Predicted, Reasoned, Base):
    """A tenant's job; its reason says why it waits, or how it ended."""

    __tablename__ = "job"
    __table_args__ = (
        # For the pages of lists, of all projects and of one.
        Index("ix_job_submitted_at_number", "submitted_at", "number"),
        Index("ix_job_project_id_submitted_at_number", "project_id", "submitted_at", "number"),
        # To find the last job of a kind at once, however many of its name others have.
        Index(
            "ix_job_project_id_user_id_name_finished_at",
            "project_id",
            "user_id",
            "name",
            "finished_at",
        ),
        Base.__table_args__,
    )

    number: Mapped[int] = mapped_column(primary_key=True)
    uuid: Mapped[str] = mapped_column(String(36), unique=True, default=lambda: str(uuid.uuid4()))
    name: Mapped[str] = mapped_column(String(NAME_LENGTH), default="")
    size: Mapped[int]
    #: CPU utilisation 0..1 of each process, as its owner declared it; empty: unknown.
    cpu: Mapped[list[float]]
    #: The same as it was measured of the last job of its kind, see `learned`; None: of none.
    learned: Mapped[list[float] | None]
    #: The same as node agents have measured it where that contradicts what was expected; None for
    #: processes, or a job, of which they have said nothing.
    measured: Mapped[list[float | None] | None]
    #: CPU seconds of each process in the first `used_until` seconds of its run; None: not measured.
    used: Mapped[list[float] | None]
    used_until: Mapped[float] = mapped_column(default=0.0, server_default="0")
    estimate: Mapped[float | None]
    submitted_at: Mapped[float]
    project_id: Mapped[str] = mapped_column(String(64), default="", server_default="")
    user_id: Mapped[str] = mapped_column(String(64), default="", server_default="")
    state: Mapped[str] = mapped_column(String(16), default=JobState.QUEUED, index=True)
    tier: Mapped[str | None] = mapped_column(String(2))
    saved: Mapped[bool] = mapped_column(default=False)
    how: Mapped[str | None] = mapped_column(String(16))
    #: The reason of releases before schema 0012, whose API may still read it.
    text_before: Mapped[str] = mapped_column("reason", Text, default="")
    #: What a user asked for: "complete", "cancel" or "requeue".
    requested_action: Mapped[str | None] = mapped_column(String(16))
    started_at: Mapped[float | None] = mapped_column(index=True)
    finished_at: Mapped[float | None] = mapped_column(index=True)
    #: What it did before this time was discarded, see `usage`; None: nothing was.
    discarded_at: Mapped[float | None]
    #: Until then nothing is decided about it: it does not start, nor is it preempted or moved.
    not_before: Mapped[float] = mapped_column(default=0.0)
    #: The pool of hosts that it runs on: the metadata `twotier:pool` of their aggregate.
    pool: Mapped[str] = mapped_column(
        String(255), default=DEFAULT_POOL, server_default=DEFAULT_POOL, index=True
    )
    #: What its servers are made of; by default, what `[manager]` says.
    flavor: Mapped[str | None] = mapped_column(String(255))
    image: Mapped[str | None] = mapped_column(String(36))
    #: Uuids, or "none" or "auto" alone.
    networks: Mapped[list[str] | None]
    key_name: Mapped[str | None] = mapped_column(String(255))
    #: In base64, as Nova takes it; dropped when the job is over. That of a task is its array's.
    user_data: Mapped[str | None] = mapped_column(Text)
    #: With it its guests report on their consoles how they ended; None: they do not report.
    report_token: Mapped[str | None] = mapped_column(String(64))
    #: The first status that is not 0 of those that its guests reported; None if one did not report.
    exit_status: Mapped[int | None]
    #: Its guests are told who they are and where the others are, see `cloud.peers`.
    peers: Mapped[bool] = mapped_column(default=False, server_default=false())
    #: Its servers are kept when it has ended: shelved, so that they hold no slots, and unlocked.
    keep_servers: Mapped[bool] = mapped_column(default=False, server_default=false())
    #: Of every process, in Mbit/s; 0: none.
    bandwidth: Mapped[float] = mapped_column(default=0.0, server_default="0")
    preemption: Mapped[str] = mapped_column(
        String(16), default=Preemption.SHELVE, server_default=Preemption.SHELVE
    )
    #: Its guests save their state when they are told to power off: no policy kills it.
    checkpoint: Mapped[bool] = mapped_column(default=False, server_default=false())
    #: Seconds that it may run, summed over its runs; None: no limit.
    walltime: Mapped[float | None]
    #: How often it may begin anew after its servers or their host failed, and how often it has.
    retries: Mapped[int] = mapped_column(default=0, server_default="0")
    requeues: Mapped[int] = mapped_column(default=0, server_default="0")
    #: The beginning of the present run, and the seconds of the runs before it.
    run_since: Mapped[float | None]
    run_before: Mapped[float] = mapped_column(default=0.0, server_default="0")
    #: When its owner was warned that its walltime is nearly over, and when it last swapped.
    warned_at: Mapped[float | None]
    swapped_at: Mapped[float | None]
    #: Where its events are posted, and the key that signs them, see `deliveries`; None: nowhere.
    webhook: Mapped[str | None] = mapped_column(Text)
    webhook_secret: Mapped[str | None] = mapped_column(String(255))
    #: Whether its events are published on the operator's message bus.
    published: Mapped[bool] = mapped_column(default=False, server_default=false())
    #: The Keystone trust by which the manager acts in its project; None: without Keystone.
    trust_id: Mapped[str | None] = mapped_column(String(64))
    #: How often in a row it failed to start, and how often something else about it was refused or
    #: unavailable, which does not count against it.
    failures: Mapped[int] = mapped_column(default=0)
    setbacks: Mapped[int] = mapped_column(default=0, server_default="0")
    evictions: Mapped[int] = mapped_column(default=0)
    #: How often it has started, from the beginning or restored; 0 for runs before schema 0019.
    runs: Mapped[int] = mapped_column(default=0, server_default="0")
    restores: Mapped[int] = mapped_column(default=0)
    swaps: Mapped[int] = mapped_column(default=0)
    migrations: Mapped[int] = mapped_column(default=0)
    #: Goes up by one with each change, for `OpenJobs`; it is not known after a change of one's own.
    revision: Mapped[int] = mapped_column(
        default=0, server_default="0", onupdate=text("revision + 1")
    )

    #: The tiers that its flavor allows. Not in the database: code that knows the flavors sets it.
    tiers = ALL_TIERS
    #: Those of them that it may not take for now, see `bar`. Not in the database either.
    _barred: frozenset[Tier] = frozenset()
    #: Makes what the policy of its pool is shown of it, see `Policy.admit`. Not in the database:
    #: code that knows the policy sets it.
    admit = staticmethod(as_it_is)

    @validates("state")
    def _drop_user_data(self, _name: str, state: str) -> str:
        # It may hold secrets, and no server will boot with it any more.
        if state in OVER:
            self.user_data = None
        return state

    @property
    def allowed_tiers(self) -> tuple[Tier, ...]:
        """The tiers that its flavor and its class allow; if there is none, it waits."""
        if self.qos != SCAVENGER:
            return self.tiers
        return (BG,) if BG in self.tiers else ()

    def bar(self, tiers: frozenset[Tier]) -> bool:
        """Set the tiers that it may not take for now; returns whether that changes something.

        Not all that its flavor allows: policies are shown no job that may run in none.
        """
        if tiers == self._barred:
            return False
        self._barred = tiers
        self.__dict__.pop("core", None)
        return True

    @property
    def label(self) -> str:
        """The job for operators and its owner, after the word "job"."""
        return job_label(self.in_array or self.number, self.name)

    @property
    def restarts(self) -> int:
        """How often it had started before the run that goes on, or before the next one."""
        return self.runs if self.run_since is None else max(0, self.runs - 1)

    @property
    def routes(self) -> list[str]:
        """On which its events are delivered."""
        # Of the project, too: one that fills a receiver with its events holds up no other.
        routes = [f"{self.project_id} {origin_of(self.webhook)}"] if self.webhook else []
        return [*routes, BUS] if self.published else routes

    def happening(
        self, at: float, kind: str, reason: Reason | None = None, detail: str = ""
    ) -> Event:
        """Something that happens to it, with the deliveries to those who are to hear of it."""
        deliveries = [Delivery(route=route, due_at=at) for route in self.routes]
        return Event(
            at=at, job=self.number, kind=kind, reason=reason, detail=detail, deliveries=deliveries
        )

    def ran(self, at: float) -> float:
        """Seconds that it has run until `at`, summed over its runs since it last began anew."""
        return self.run_before + (0.0 if self.run_since is None else max(0.0, at - self.run_since))

    def stop(self, at: float) -> None:
        """End its run; the next one continues from there."""
        self.run_before, self.run_since = self.ran(at), None

    def interrupt(self, at: float, until: float) -> None:
        """Pause its run from `at` to `until`, a time to come: run time does not count meanwhile."""
        self.stop(at)
        self.run_since = until

    @property
    def interrupted(self) -> bool:
        """Whether `interrupt` paused the run until the end of a back-off, which may be over.

        Such a run begins again exactly then; other runs begin at other times.
        """
        return self.run_since == self.not_before

    def stay_interrupted(self, at: float) -> None:
        """Prolong the pause of its run until `at`, if it is over."""
        if self.not_before < at:
            self.run_since = self.not_before = at

    def go_on(self, at: float) -> None:
        """Let its run, which has gone on by itself since its pause was over, count as any other."""
        if self.not_before < at:
            self.stop(at)
            self.run_since = at

    def back_off(self, now: float, pause: Callable[[int], float] = pause) -> None:
        """Leave it alone for a while after something about it was refused, longer each time.

        :param pause: the seconds, by how often it was refused in a row.
        """
        self.setbacks += 1
        self.not_before = now + pause(self.setbacks)

    def reset_backoff(self) -> None:
        """Reset the back-off: what was decided about it was done."""
        self.failures = self.setbacks = 0

    def begin_anew(self, now: float) -> None:
        """Discard what it has done so far."""
        self.discarded_at = now
        self.reset_backoff()
        self.saved, self.warned_at = False, None
        self.run_before, self.run_since = 0.0, None
        self.used, self.used_until = None, 0.0
        if self.requested_action == REQUEUE:
            # Not written with the rest: see `changes.began_anew`.
            set_committed_value(self, "requested_action", None)

    def measure(self, found: Mapping[int, float], at: float) -> None:
        """Record CPU utilisations that were measured; from now on they count, not earlier ones.

        :param found: 0..1 by process.
        :param at: the time, in seconds since the epoch.
        """
        ran = max(self.used_until, self.ran(at))
        used, measured = self._used_in(ran), list(self.measured or [None] * self.size)
        for process, share in found.items():
            if measured[process] is None and not (self.learned or self.cpu):
                # Nothing was expected: what is measured first counts from the beginning.
                used[process] = share * ran
            measured[process] = share
        self.used, self.used_until = used, ran
        self.measured = measured
        self.__dict__.pop("core", None)

    @property
    def profile(self) -> Sequence[float]:
        """CPU utilisation 0..1 of each process: measured, else learned, else declared."""
        expected = self.learned or self.cpu or [UNKNOWN_CPU] * self.size
        if not self.measured:
            return expected
        pairs = zip(expected, self.measured, strict=True)
        return [said if seen is None else seen for said, seen in pairs]

    @property
    def mean_profile(self) -> Sequence[float]:
        """CPU utilisation 0..1 of each process of a job that is over: the mean of its run.

        What was expected counts until a measurement contradicts it.
        """
        ran = max(self.used_until, self.run_before)
        if self.used is None or not ran:
            return self.profile
        return [round(seconds / ran, 3) for seconds in self._used_in(ran)]

    def _used_in(self, ran: float) -> list[float]:
        """CPU seconds of each process in the first `ran` seconds of its run."""
        before = self.used or [0.0] * self.size
        since = ran - self.used_until
        return [sum_ + share * since for sum_, share in zip(before, self.profile, strict=True)]

    @property
    def mbps(self) -> int:
        """Its bandwidth as the ledger counts it: whole Mbit/s, a fraction counts as one."""
        return math.ceil(self.bandwidth)

    @property
    def server_owner(self) -> tuple[str, str] | None:
        """The project and the user that its servers belong to; None: the manager's own."""
        return (self.project_id, self.user_id) if self.trust_id else None

    @property
    def never_begun(self) -> bool:
        """Whether no start before the present one, if any, was begun: Nova and Placement have
        nothing of it from before."""
        tried = self.runs or self.failures or self.setbacks or self.saved or self.requeues
        # Whoever begins anew has neither failures nor setbacks any more.
        marks = self.started_at, self.run_since, self.discarded_at
        return not tried and marks == (None, None, None)

    @property
    def in_queue(self) -> bool:
        """Whether it waits for its turn: it is queued, and neither held nor behind a gate."""
        return self.state == JobState.QUEUED and not (self.held or self.gated)

    @property
    def not_started(self) -> bool:
        """Whether it waits with nothing saved: it has never started, or begins anew."""
        return self.state == JobState.QUEUED and not self.saved

    @property
    def waiting_code(self) -> str:
        """The code of the reason why it waits, if it does."""
        # It may have been preempted or refused before; its events say so.
        return waits.HELD.name if self.held else self.reason_code or waits.UNDECIDED.name

    @property
    def plain_waiting(self) -> bool:
        """Whether it waits for slots, once its back-off is over, and needs nothing else: ten
        thousand jobs may."""
        return self.state == JobState.QUEUED and not (
            self.saved
            or not self.allowed_tiers
            or self.held
            or self.gated
            or self.requested_action
            or self.failures
            or self.setbacks
            or self.bandwidth
        )

    @property
    def behind_array_limit(self) -> bool:
        """Whether it waits for other tasks of its array alone: ten thousand may, too."""
        return (
            self.reason_code == waits.ARRAY_LIMIT.name
            and self.gated
            and self.state == JobState.QUEUED
            and not (self.saved or self.held or self.requested_action or self.failures)
        )

    @functools.cached_property
    def core(self) -> CoreJob:
        """The job as policies see it: without its name, which they would show to other owners.

        It changes only with a measurement, its place in the queue, what is predicted of it, or the
        tiers that are barred.
        What others change of it is read from the database as a new `Job`.
        """
        # One that may run nowhere is shown to nobody.
        tiers = self.allowed_tiers or (BG,)
        core = CoreJob(
            number=self.number,
            size=self.size,
            arrival=self.eligible_at,
            cpu=tuple(self.profile),
            estimate=self.expected_run_time,
            mbps=self.mbps,
            foreground=FG in tiers and FG not in self._barred,
            background=BG in tiers and BG not in self._barred,
            walltime=self.walltime,
            offset=self.queue_offset or 0.0,
            qos=Qos(self.qos or NORMAL),
        )
        return self.admit(core)
