"""When the policy is asked, what it is shown, and what becomes of its answer."""

import math
from collections.abc import Iterable, Sequence

from nova_twotier.core import actions as decided
from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.policies import Policy
from nova_twotier.core.ranking import is_hot
from nova_twotier.core.snapshot import Event, Snapshot
from nova_twotier.manager import planning
from nova_twotier.manager.db.models import Action, ActionKind, Job, JobState
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.operation import Jobs

ALL = Event.ARRIVAL | Event.BACKGROUND | Event.FOREGROUND
#: Why a suspended job waits although slots are free.
ELSEWHERE = "waits for slots on the hosts where it is suspended"
_FREED = {Tier.FG: Event.FOREGROUND, Tier.BG: Event.BACKGROUND}


class Decisions:
    """Asks the policy when something has happened since the last time.

    :param options: the options of group `[manager]`.
    """

    def __init__(self, policy: Policy, options):
        self._policy = policy
        self._options = options
        # What happened since the last decision; after a start, anything may have.
        self._events = ALL
        self._known: set[int] = set()
        self._held: set[int] = set()
        self._decided_at = -math.inf
        #: When a job that was to stay as it was no longer is.
        self._due_at = math.inf

    def happened(self, event: Event) -> None:
        self._events |= event

    def decide(
        self, jobs: Jobs, opened: Sequence[Action], seen: Observation, now: float
    ) -> list[Action]:
        """The records of what the policy decides now; the jobs that go on waiting learn why."""
        starting = {action.job: action for action in opened if action.kind == ActionKind.START}
        ending = [jobs[action.job] for action in opened if action.kind == ActionKind.END]
        waiting = [
            job
            for job in jobs.values()
            if job.state == JobState.QUEUED and job.number not in starting and not job.held
        ]
        queue = [job for job in waiting if job.not_before <= now]
        self._notice(jobs, queue, now)
        running = [job for job in jobs.values() if job.state == JobState.RUNNING]
        if not self._events or not all(seen.whole(job) for job in running):
            return []
        settled = self._settled(running, now)
        cluster = seen.cluster(
            running,
            {jobs[number]: Tier(action.plan["tier"]) for number, action in starting.items()},
            [job for job in ending if job.tier],
            self._options.threshold,
            settled,
        )
        decision, aside = self._ask(cluster, queue, seen, now)
        cluster.apply(decision)
        if _closes_under(cluster, {*starting, *(job.number for job in ending)}):
            return []
        # Where Nova puts those, nobody knows yet: a slot might be closed above one of them. Those
        # that have not begun come after whatever is decided for the foreground now.
        unplaced = any(
            action.plan["tier"] == Tier.BG
            and action.begun_at is not None
            and not seen.whole(jobs[number])
            for number, action in starting.items()
        )
        if unplaced and _heats(decision, self._options.threshold):
            return []
        records = planning.records(decision, jobs, seen, now)
        self._explain(cluster, queue, aside)
        self._known, self._decided_at = set(jobs), now
        self._events = ALL if len(queue) < len(waiting) else Event(0)
        self._due_at = min(settled.values(), default=math.inf)
        return records

    def _notice(self, jobs: Jobs, queue: Iterable[Job], now: float) -> None:
        """What happened without an action of the manager."""
        if not self._known.issuperset(job.number for job in queue):
            self._events |= Event.ARRIVAL
        if self._held != (held := {job.number for job in jobs.values() if job.held}):
            # Those behind a held job move up; a released one is back before later arrivals.
            self._events, self._held = ALL, held
        if now >= self._due_at:
            self._events = ALL

    def _settled(self, running: Iterable[Job], now: float) -> dict[int, float]:
        """Jobs that are to stay as they are, by number, and until when."""
        until = {
            job.number: max(
                _later(job.run_since, self._options.min_run_time),
                _later(job.swapped_at, self._options.swap_hysteresis),
            )
            for job in running
        }
        return {number: end for number, end in until.items() if end > now}

    def _ask(
        self, cluster: Cluster, queue: list[Job], seen: Observation, now: float
    ) -> tuple[list[decided.Action], set[int]]:
        """The policy's decision, and the numbers of the jobs that it was not shown.

        Those are suspended, on hosts that would have no slots for them after the decision: a policy
        does not know that they can only come back where they are, and would make room elsewhere.
        """
        fixed = {job.number: seen.suspended_on(job) for job in queue}
        fixed = {number: hosts for number, hosts in fixed.items() if hosts is not None}
        aside = {number for number, hosts in fixed.items() if not hosts}
        while True:
            shown = (job.core() for job in queue if job.number not in aside)
            snapshot = Snapshot(cluster, shown, self._decided_at)
            decision = self._policy.schedule(snapshot, self._events, now)
            stuck = _stuck(decision, cluster, fixed)
            if not stuck:
                return decision, aside
            aside |= stuck

    def _explain(self, cluster: Cluster, queue: Iterable[Job], aside: set[int]) -> None:
        """Tell the jobs that wait after a decision why they do."""
        left = [job for job in queue if job.number not in cluster.runs]
        after = Snapshot(cluster, (job.core() for job in left))
        for job in left:
            reason = ELSEWHERE if job.number in aside else self._policy.reason(after, job.core())
            if job.reason != reason:
                job.reason = reason


def caused(action: Action, jobs: Jobs) -> Event:
    """What a policy has to know of an action that is done, besides what it decided itself."""
    if action.kind == ActionKind.END:
        tier = jobs[action.job].tier
        return _FREED[Tier(tier)] if tier else ALL
    if "mend" in action.plan:
        return ALL
    # It can be moved and evicted from now on, and Nova may have placed it elsewhere than the policy
    # thought.
    return ALL if action.kind == ActionKind.START else Event(0)


def _later(at: float | None, pause: float) -> float:
    return -math.inf if at is None else at + pause


def _stuck(
    decision: Iterable[decided.Action], cluster: Cluster, fixed: dict[int, tuple[int, ...]]
) -> set[int]:
    """Numbers of the jobs that are to start, but would find no slots on their hosts.

    :param fixed: the hosts of those that may start on no others.
    """
    starts = [
        action
        for action in decision
        if isinstance(action, decided.Start) and action.job.number in fixed
    ]
    if not starts:
        return set()
    after = cluster.copy()
    after.apply(action for action in decision if not isinstance(action, decided.Start))
    stuck = set()
    for start in starts:
        hosts = fixed[start.job.number]
        if after.takes(start.tier, hosts):
            after.start(start.job, start.tier, hosts)
        else:
            stuck.add(start.job.number)
    return stuck


def _heats(decision: Iterable[decided.Action], threshold: float) -> bool:
    """Whether processes that close their slots come to the foreground."""
    return any(
        isinstance(action, decided.Start | decided.Move)
        and action.tier is Tier.FG
        and any(is_hot(cpu, threshold) for cpu in action.job.cpu)
        for action in decision
    )


def _closes_under(cluster: Cluster, passing: set[int]) -> bool:
    """Whether a slot would be closed under a job that is just starting or ending there.

    That lasts a moment; it is decided anew when it is over.
    """
    return any(
        cluster.overfull(host)
        for run in cluster.running(Tier.BG)
        if run.job.number in passing
        for host in run.hosts
    )
