"""Updates the Prometheus metrics of one pool after each poll."""

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar

from nova_twotier.core.actions import Tier
from nova_twotier.core.jobs import SHORTEST
from nova_twotier.db.models import Job
from nova_twotier.db.states import OVER, ActionKind, ActionState, JobState
from nova_twotier.manager import gauges
from nova_twotier.manager.counters import Counters
from nova_twotier.manager.gauges import Gauges
from nova_twotier.manager.round import Round

P = ParamSpec("P")
T = TypeVar("T")

PHASES = ("observe", "read", "advance", "decide", "write")
RESULTS = (ActionState.DONE, ActionState.FAILED)
#: Seconds at least until the gauges are taken again, and how many times longer than that took.
PAUSE, SHARE = 5.0, 50.0
EARLIER, LATER = "earlier", "later"


class PoolMetrics:
    """The metrics of one pool. Only its loop calls this, but for `judged`.

    :param exported: whether anybody may read the gauges.
    :ivar leads: whether this process leads the pool.
    :ivar polled_at: when it last finished a poll, in seconds since the epoch; None: not in this
        term.
    :ivar hosts_listed_at: when it last took over what Nova says of its hosts, likewise.
    :ivar gauges: the queue as it was then, or a moment before; None: this process does not lead.
    """

    def __init__(self, counters: Counters, pool: str, exported: bool = False):
        self._exported = exported
        self._submitted = counters.submitted.labels(pool)
        #: By the kind of the event that tells of it. All series begin at 0.
        self._counters = {
            kind: family.labels(pool, label)
            for family, kinds in (
                (counters.started, {"started": "started", "restored": "restored"}),
                (counters.ended, {str(state): str(state) for state in OVER}),
                (counters.preemptions, {"evicted": "evicted", "killed": "killed"}),
                (counters.moves, {"swapped": "swap", "migrated": "migration"}),
            )
            for kind, label in kinds.items()
        }
        self._waits, self._slowdowns = counters.waits.labels(pool), counters.slowdowns.labels(pool)
        self._operations = {
            (kind, result): counters.operations.labels(pool, kind, result)
            for kind in ActionKind
            for result in RESULTS
        }
        self._phases = {phase: counters.phases.labels(pool, phase) for phase in PHASES}
        self._process_seconds = {tier: counters.process_seconds.labels(pool, tier) for tier in Tier}
        self._lost = counters.lost.labels(pool)
        self._start_errors = {
            direction: counters.start_errors.labels(pool, direction)
            for direction in (EARLIER, LATER)
        }
        #: Seconds of the phases that have ended inside of each one that is under way.
        self._inside: list[float] = []
        self.leads = False
        self._forget()

    def _forget(self) -> None:
        self.polled_at: float | None = None
        self.hosts_listed_at: float | None = None
        self.gauges: Gauges | None = None
        #: When the gauges are taken again.
        self._due_at = -math.inf
        #: Process-seconds of work that was lost in this term.
        self.lost_seconds = 0.0
        #: The last poll: its time by the engine's clock, what it worked on, and the slots that jobs
        #: held after it.
        self._at: float | None = None
        self._work: Round | None = None
        self._slots: Mapping[tuple[int, str], int] = {}
        #: Process-seconds of the jobs since they last began anew, by number.
        self._held: dict[int, float] = {}

    def lead(self) -> None:
        """A term of this process begins."""
        self._forget()
        self.leads = True

    def resign(self) -> None:
        """This process no longer leads the pool: show no gauges of it."""
        self.leads = False
        self._forget()

    def restart(self) -> None:
        """An engine begins, whose clock may differ from that of the one before it."""
        self._at = None

    def hosts_listed(self) -> None:
        """The poll under way has taken over what Nova says of its hosts."""
        self.hosts_listed_at = time.time()

    def timed(self, phase: str, function: Callable[P, T]) -> Callable[P, T]:
        """The function, with its time counted to a phase, without the phases inside of it."""

        def call(*args: P.args, **options: P.kwargs) -> T:
            self._inside.append(0.0)
            began = time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                took = time.perf_counter() - began
                self._phases[phase].observe(took - self._inside.pop())
                if self._inside:
                    self._inside[-1] += took

        return call

    def polled(self, work: Round, slots: Mapping[tuple[int, str], int]) -> None:
        """Update the counters after a poll was written to the database.

        :param slots: how many slots each job holds now, by number and tier.
        """
        if self._work is not None:
            self._submitted.inc(len(work.jobs.keys() - self._work.jobs.keys()))
        self._pass_time(work, slots)
        for event in work.events:
            if event.kind in self._counters:
                self._counters[event.kind].inc()
                # As in `Round.note`, the job may be none of those of this poll.
                if event.job is not None and (job := work.jobs.get(event.job)):
                    self._measure(event.kind, job)
        for action in work.opened:
            if action.state == ActionState.EXPECTED:
                continue
            if action.begun_at is not None and action.closed_at is not None:
                histogram = self._operations[ActionKind(action.kind), ActionState(action.state)]
                histogram.observe(max(0.0, action.closed_at - action.begun_at))
            begun_anew = work.jobs.get(action.job) if action.job is not None else None
            if begun_anew and begun_anew.discarded_at == work.env.now:
                lost = self._held.pop(begun_anew.number, 0.0)
                self._lost.inc(lost)
                self.lost_seconds += lost
        self._work = work
        self.polled_at = time.time()

    def _pass_time(self, work: Round, slots: Mapping[tuple[int, str], int]) -> None:
        """Count the time since the last poll for the slots that jobs held meanwhile."""
        now, held = work.seen.at, self._held
        if self._at is not None:
            passed = max(0.0, now - self._at)
            counts: Counter[str] = Counter()
            for (number, tier), count in self._slots.items():
                counts[tier] += count
                if number in held:
                    held[number] += count * passed
            for tier, count in counts.items():
                self._process_seconds[Tier(tier)].inc(count * passed)
        self._at, self._slots = now, dict(slots)
        for job in work.active:
            if job.number not in held:
                held[job.number] = job.size * job.ran(now)
        for number in held.keys() - work.jobs.keys():
            del held[number]

    def _measure(self, kind: str, job: Job) -> None:
        if kind == "started" and job.runs == 1 and job.started_at is not None:
            self._waits.observe(max(0.0, job.started_at - job.eligible_at))
        elif kind == JobState.FINISHED and job.finished_at is not None:
            response = max(0.0, job.finished_at - job.eligible_at)
            self._slowdowns.observe(response / max(SHORTEST, job.run_before))

    def judged(self, error: float) -> None:
        """Count a start that was predicted.

        :param error: by how many seconds the job started later than that.
        """
        self._start_errors[EARLIER if error < 0 else LATER].observe(abs(error))

    def show(self) -> None:
        """Refresh the gauges between two polls if they are exported."""
        if self._exported:
            self.refresh()

    def refresh(self) -> Gauges | None:
        """The gauges, refreshed unless they were a moment ago; None before the first poll."""
        began = time.monotonic()
        if self._work is not None and began >= self._due_at:
            self.gauges = gauges.take(self._work)
            now = time.monotonic()
            self._due_at = now + max(PAUSE, SHARE * (now - began))
        return self.gauges

    @staticmethod
    def waited(oldest: float | None) -> float:
        """Seconds for which a job has waited by now, or 0."""
        return 0.0 if oldest is None else max(0.0, time.time() - oldest)
