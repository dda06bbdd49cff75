"""The manager's loop: observe, carry on, decide, record, act.

Every look starts from what Nova, Placement and the database say; nothing that matters is kept in
memory, so a manager that is killed at any point goes on where it was.
"""

import math
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor

from oslo_log import log as logging

from nova_twotier.core.actions import Tier
from nova_twotier.core.policies import Policy
from nova_twotier.core.snapshot import Event, Snapshot
from nova_twotier.ledger import claims
from nova_twotier.ledger.placement import Placement, PlacementError
from nova_twotier.manager import planning
from nova_twotier.manager.cloud import Cloud, CloudError
from nova_twotier.manager.db import models
from nova_twotier.manager.db.models import Action, ActionKind, ActionState, Job, JobState
from nova_twotier.manager.db.store import Store, open_actions, open_jobs
from nova_twotier.manager.endings import PHASE_END, endings
from nova_twotier.manager.hosts import Hosts
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations import OPERATIONS
from nova_twotier.manager.operations.operation import Call, Environment, Note

LOG = logging.getLogger(__name__)

ALL = Event.ARRIVAL | Event.BACKGROUND | Event.FOREGROUND
_FREED = {Tier.FG: Event.FOREGROUND, Tier.BG: Event.BACKGROUND}


class Engine:
    """One look at a time: `look()` observes and takes each open action one step further.

    :param options: the options of group `[manager]`.
    :param pool: makes the requests to Nova; by default as many at once as the options allow.
    """

    def __init__(
        self,
        options,
        store: Store,
        cloud: Cloud,
        placement: Placement,
        policy: Policy,
        clock: Callable[[], float] = time.time,
        pool: Executor | None = None,
    ):
        self._options = options
        self._store = store
        self._cloud = cloud
        self._placement = placement
        self._policy = policy
        self._clock = clock
        self._hosts = Hosts(cloud, placement, options.host_interval)
        self._pool = pool or ThreadPoolExecutor(options.concurrency)
        # What happened since the last decision; after a start, anything may have.
        self._events = ALL
        self._known: set[int] = set()
        self._decided_at = -math.inf

    def look(self) -> bool:
        """One round. Returns whether something changed, so that another look is due at once.

        :raises CloudError, PlacementError: if one of them does not answer; look again later.
        """
        seen = self._observe()
        with self._store.transaction() as session:
            jobs = {job.number: job for job in open_jobs(session)}
            opened = open_actions(session)
            env = self._environment()
            self._settle_ledger(seen, jobs)

            # 1. Jobs that end, or whose gang is broken.
            ended = self._endings(seen, jobs, opened)
            session.add_all(ended)
            session.flush()
            opened += ended

            # 2. The next step of each action whose turn it is.
            calls = []
            changed = bool(ended)
            for action in _due(opened):
                if action.state != ActionState.EXPECTED:
                    continue  # dropped, because one before it has just failed
                over, requests = self._advance(session, action, jobs, seen, env)
                changed |= over
                calls += [(action.id, call) for call in requests]

            # 3. A decision, unless jobs are just changing places.
            opened = [action for action in opened if action.state == ActionState.EXPECTED]
            if all(action.kind in (ActionKind.START, ActionKind.END) for action in opened):
                changed |= self._decide(session, jobs, opened, seen, env.now)

        # 4. Requests are made after they were recorded.
        self._request(calls)
        return changed and not calls

    def close(self) -> None:
        """Wait for the requests under way."""
        self._pool.shutdown()

    def _environment(self) -> Environment:
        return Environment(
            cloud=self._cloud,
            placement=self._placement,
            attempts=self._options.attempts,
            boot_grace=self._options.boot_grace,
            close=self._hosts.close,
            threshold=self._options.threshold,
            now=self._clock(),
        )

    def _observe(self) -> Observation:
        now = self._clock()
        if self._hosts.refresh(now):
            self._events |= Event.FOREGROUND
        servers = {}
        for server in self._cloud.servers():
            servers.setdefault(server.job, []).append(server)
        for gang in servers.values():
            gang.sort(key=lambda server: server.index)
        held = claims.read_claims(self._placement, self._hosts.tree)
        return Observation(
            at=now,
            hosts=self._hosts.tree,
            enabled=self._hosts.enabled,
            servers=servers,
            claims={vm: claim[0] for vm, claim in held.items() if len(claim) == 1},
        )

    def _settle_ledger(self, seen: Observation, jobs: dict[int, Job]) -> None:
        """Close the slots under hot processes, and enter the CPU points that are missing."""
        self._hosts.close(seen.closed(jobs.values(), self._options.threshold))
        if points := seen.missing_points(jobs.values()):
            claims.set_cpu_points(self._placement, seen.hosts, points)

    def _endings(self, seen, jobs, opened) -> list[Action]:
        busy = {action.job for action in opened}
        for action in opened:
            if action.kind == ActionKind.SWAP:
                busy.update(item["number"] for item in action.plan["swaps"])
        at_peace = (
            job
            for job in jobs.values()
            if job.number not in busy and job.state in (JobState.QUEUED, JobState.RUNNING)
        )
        found = (endings(job, seen, self._options.attempts) for job in at_peace)
        return [action for action in found if action]

    def _advance(self, session, action, jobs, seen, env) -> tuple[bool, list[Call]]:
        operation = OPERATIONS[action.kind]
        if action.begun_at is None:
            action.begun_at = env.now
            operation.begin(action, jobs)
        try:
            step = operation.advance(action, jobs, seen, env)
        except (CloudError, PlacementError) as error:
            LOG.warning("Action %s of job %s is repeated: %s", action.kind, action.job, error)
            return False, []
        if step.state is None:
            counts = dict(action.begun)
            for call in step.calls:
                counts[call.key] = counts.get(call.key, 0) + 1
            action.begun = counts
            return False, step.calls
        action.state, action.closed_at = step.state, env.now
        if step.state is ActionState.DONE:
            self._events |= caused(action, jobs)
            notes = operation.close(action, jobs, env)
        else:
            action.reason = step.reason
            notes = operation.undo(action, jobs, env)
            self._abandon(session, env.now)
            self._events = ALL
        self._note(session, notes, env.now)
        return True, []

    def _abandon(self, session, now: float) -> None:
        """Drop what was decided but not begun: after a failure it is decided anew."""
        for action in open_actions(session):
            if action.begun_at is None and action.kind != ActionKind.END:
                action.state, action.closed_at = ActionState.FAILED, now
                action.reason = "an action before it failed"

    def _decide(self, session, jobs, opened, seen, now) -> bool:
        starting = {action.job: action for action in opened if action.kind == ActionKind.START}
        ending = [jobs[action.job] for action in opened if action.kind == ActionKind.END]
        waiting = [
            job
            for job in jobs.values()
            if job.state == JobState.QUEUED and job.number not in starting
        ]
        queue = [job for job in waiting if job.not_before <= now]
        if not self._known.issuperset(job.number for job in queue):
            self._events |= Event.ARRIVAL
        running = [job for job in jobs.values() if job.state == JobState.RUNNING]
        if not self._events or not all(seen.whole(job) for job in running):
            return False
        cluster = seen.cluster(
            running,
            {jobs[number]: Tier(action.plan["tier"]) for number, action in starting.items()},
            [job for job in ending if job.tier],
            self._options.threshold,
        )
        snapshot = Snapshot(cluster, (job.core() for job in queue), self._decided_at)
        decision = self._policy.schedule(snapshot, self._events, now)
        cluster.apply(decision)
        coming = [run for run in cluster.running(Tier.BG) if run.pinned]
        if any(cluster.overfull(host) for run in coming for host in run.hosts):
            # It would close a slot under a job that is just starting or ending there: a moment.
            return False
        session.add_all(planning.records(decision, jobs, seen, now))
        left = tuple(job.core() for job in queue if job.number not in cluster.runs)
        after = Snapshot(cluster, left)
        for job in left:
            jobs[job.number].reason = self._policy.reason(after, job)
        self._known, self._decided_at = set(jobs), now
        self._events = ALL if len(queue) < len(waiting) else Event(0)
        return bool(decision)

    def _note(self, session, notes: list[Note], now: float) -> None:
        for note in notes:
            LOG.info("Job %s %s %s", note.job, note.kind, note.detail)
            session.add(models.Event(at=now, job=note.job, kind=note.kind, detail=note.detail))

    def _request(self, calls: list[tuple[int, Call]]) -> None:
        def make(item):
            action, call = item
            try:
                call.run()
            except CloudError as error:
                LOG.warning("Action %s, %s: %s", action, call.key, error)

        list(self._pool.map(make, calls))


def caused(action: Action, jobs: dict[int, Job]) -> Event:
    """What a policy has to know of an action that is done, besides what it decided itself."""
    if action.kind == ActionKind.END:
        tier = jobs[action.job].tier
        return _FREED[Tier(tier)] if tier else ALL
    if "mend" in action.plan:
        return ALL
    # It can be moved and evicted from now on, and Nova may have placed it elsewhere than the policy
    # thought.
    return ALL if action.kind == ActionKind.START else Event(0)


def _due(opened: list[Action]) -> list[Action]:
    """What was begun, ends, and of the rest those of the lowest phase that is not closed."""
    lowest = min((action.phase for action in opened if action.kind != ActionKind.END), default=0)
    return [
        action
        for action in opened
        if action.begun_at is not None or action.phase in (PHASE_END, lowest)
    ]
