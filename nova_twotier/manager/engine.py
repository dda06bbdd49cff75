"""The manager's loop: observe, carry on, decide, record, act.

Every poll starts from what Nova, Placement and the database say; nothing that matters is kept in
memory alone, so a manager that is killed at any point continues where it was. A poll never waits
for its requests to Nova (see `requests`), and sends none during a database transaction.
"""

import math
import time
from collections.abc import Callable, Mapping, Set
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from oslo_log import log as logging
from sqlalchemy import delete, insert
from sqlalchemy.orm.attributes import instance_state

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.hosts import BLIND, Hosts
from nova_twotier.cloud.listing import AT_ONCE, Lister
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.qos import Qos
from nova_twotier.core.policies import Policy
from nova_twotier.core.reasons import Reason, failures, waits
from nova_twotier.core.snapshot import Event
from nova_twotier.db import changes, models
from nova_twotier.db.models import DEFAULT_POOL, Action, Job, JobServer
from nova_twotier.db.open_jobs import OpenJobs
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import OVER, ActionKind, ActionState, JobState, QueueMode
from nova_twotier.db.store import Store, busy_jobs, open_actions
from nova_twotier.ledger.placement import FencedPlacement, Placement, PlacementError
from nova_twotier.manager import gates, ongoing, preemption, schedule, unknown_pools
from nova_twotier.manager.arrays import Arrays
from nova_twotier.manager.counters import Counters
from nova_twotier.manager.dead_hosts import DeadHosts
from nova_twotier.manager.decision import Decisions
from nova_twotier.manager.drains import Drains
from nova_twotier.manager.endings import end_by, endings, warning
from nova_twotier.manager.events import ALL
from nova_twotier.manager.fair_share import Sharing, share
from nova_twotier.manager.fencing import Fence
from nova_twotier.manager.half_restored import HalfRestored
from nova_twotier.manager.late_boots import LateBoots
from nova_twotier.manager.network import Network
from nova_twotier.manager.notices import Notices
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.observer import Observer
from nova_twotier.manager.operations import OPERATIONS
from nova_twotier.manager.operations.context import Environment
from nova_twotier.manager.operations.gang import NOTICE
from nova_twotier.manager.operations.operation import CloudRequest, Note, Outcome
from nova_twotier.manager.outages import Outages
from nova_twotier.manager.peers import Peers
from nova_twotier.manager.pool_metrics import PoolMetrics
from nova_twotier.manager.predictions import Predictions
from nova_twotier.manager.preemption import Preemptions
from nova_twotier.manager.recorded_servers import RecordedServers
from nova_twotier.manager.requests import Requests
from nova_twotier.manager.round import Round
from nova_twotier.manager.run_times import HISTORICAL, RunTimes
from nova_twotier.manager.server_locks import Locks
from nova_twotier.manager.shortages import Shortages
from nova_twotier.manager.shutdowns import Shutdowns
from nova_twotier.manager.situation import Situation
from nova_twotier.manager.surplus import Surplus
from nova_twotier.manager.turns import Turns
from nova_twotier.manager.upkeep import Upkeep

LOG = logging.getLogger(__name__)

#: Jobs that never began, and hold nothing, whose end begins at one poll: ten thousand may be
#: cancelled at once, and the others do not wait for all of that.
MOST_ENDS = 1000


@dataclass(frozen=True)
class _Recorded:
    """What the database has of running jobs, their slots and their servers, and of dead hosts.

    :ivar sharing: what owners have used; None without fair share.
    """

    places: schedule.Places
    servers: RecordedServers
    dead: DeadHosts
    sharing: Sharing | None


class Engine:
    """One poll at a time: `poll()` observes and takes each open action one step further.

    :param options: the options of group `[manager]`.
    :param pool: the pool whose hosts and jobs it manages.
    :param workers: make the requests to Nova; by default as many at once as the options allow.
    :param fence: `fence(session, lock)` raises `Deposed` if another manager leads the pool by now.
    :param wake: called, from another thread, when another poll is due at once.
    :param qos: Neutron, if it is to guarantee the jobs' bandwidth.
    :param metrics: count what polls do.
    """

    def __init__(
        self,
        options,
        store: Store,
        cloud: Cloud,
        placement: Placement,
        policy: Policy,
        clock: Callable[[], float] = time.time,
        workers: Executor | None = None,
        *,
        pool: str = DEFAULT_POOL,
        fence: Callable[..., None] = lambda _session, lock=False: None,
        wake: Callable[[], None] = lambda: None,
        qos: Qos | None = None,
        metrics: PoolMetrics | None = None,
    ):
        self._options = options
        self._store = store
        self._cloud = cloud
        self._placement = FencedPlacement(placement, self._permit)
        self._clock = clock
        self._pool = pool
        self._fence = fence
        self._qos = qos
        self._metrics = metrics or PoolMetrics(Counters(), pool)
        self._metrics.restart()
        self._open_jobs = OpenJobs(pool, policy.admit)
        #: None: to be read.
        self._recorded: _Recorded | None = None
        # A pool of its own: nothing that is decided waits behind a listing.
        readers = workers or ThreadPoolExecutor(AT_ONCE)
        self._lister = Lister(readers)
        cloud.begin(self._lister)
        interval = options.host_interval
        self._hosts = Hosts(cloud, self._placement, interval, pool, self._lister, wake)
        # A pool of its own: hosts that do not answer must not hold up the requests of other jobs.
        askers = workers or ThreadPoolExecutor(options.concurrency)
        judged = self._metrics.judged
        self._predictions = Predictions(options, store, pool, policy, fence, judged, workers)
        workers = workers or ThreadPoolExecutor(options.concurrency)
        # A pool of its own: a fence command that hangs must not block requests to Nova.
        host_fence = Fence(options, ThreadPoolExecutor(1), self._permit)
        self._outages = Outages(options, host_fence, pool)
        self._observer = Observer(cloud, self._placement, self._hosts, self._outages, readers)
        largest = partial(store.largest_bandwidth, pool)
        self._network = Network(policy, self._placement, largest, pool)
        self._decisions = Decisions(policy, options, self._network)
        self._requests = Requests(workers, askers, self._permit, wake)
        self._drains = Drains(store, cloud, self._hosts, pool, self._requests.tell)
        self._locks = Locks(cloud, self._requests.tell)
        self._shutdowns = Shutdowns(cloud, self._requests.tell)
        self._notices = Notices(cloud, self._requests.tell)
        self._peers = Peers(cloud, self._requests.tell)
        self._arrays = Arrays(store, cloud, pool, self._requests.tell)
        self._surplus = Surplus(cloud, self._requests.tell)
        self._half_restored = HalfRestored(cloud, self._requests.tell)
        self._late_boots = LateBoots(store, cloud, pool, self._requests.tell)
        self._preemptions = Preemptions(options, cloud, self._requests.tell)
        self._upkeep = Upkeep(options, cloud, self._placement, self._hosts)
        self._run_times = RunTimes(store, pool) if options.estimates == HISTORICAL else None
        self._shortages = Shortages()
        self._outcomes: dict[int, list[Outcome]] = {}
        #: When it last polled with success, and since when it has done so without a long break or
        #: an outage.
        self._polled_at = self._polling_since = -math.inf

    def poll(self) -> bool:
        """One round. Returns whether something changed, so that another poll is due at once.

        :raises CloudError, PlacementError: if one of them does not answer; poll again later.
        :raises Deposed: if somebody else sees to the pool by now.
        """
        # Collect answers first: the effect of a later answer may not show in this observation.
        for number, outcomes in self._requests.collect(self._clock()).items():
            self._outcomes.setdefault(number, []).extend(outcomes)
        timed, recorded = self._metrics.timed, self._read_recorded()
        seen = timed("observe", self._observe)(recorded)
        if seen.outage or seen.at > self._polled_at + max(BLIND, 2 * self._options.poll_interval):
            # The time limits of what is under way begin anew.
            self._polling_since = seen.at
        if self._hosts.polled_at == seen.at:
            self._hosts_listed(seen)
        try:
            work = timed("read", self._begin)(seen, recorded)
            self._outages.occupied = work.hosts()
            timed("advance", self._carry_on)(work, recorded)
            timed("write", self._write)(work, recorded)
        except BaseException:
            # What was decided or observed may not have been recorded.
            self._decisions.events.happened(ALL)
            self._open_jobs.forget()
            self._recorded = None
            raise
        # Only now: a poll that fails asks for no step of an action, so its time must not count.
        self._polled_at = seen.at
        self._peers.notes.clear()
        self._outcomes.clear()
        work.log()
        self._send(work)
        self._metrics.polled(work, recorded.places.slots)
        self._look_after(work)
        return work.changed

    def _hosts_listed(self, seen: Observation) -> None:
        """What follows when the hosts were read from Nova."""
        self._metrics.hosts_listed()
        self._drains.follow()
        self._network.publish(seen.hosts)
        for job in unknown_pools.fail(self._store, self._hosts.pools, seen.at):
            run = partial(self._cloud.delete_trust, job)
            self._requests.tell(CloudRequest(RequestKey("trust"), run))

    def _send(self, work: Round) -> None:
        """Make the requests of a poll, which must have been recorded."""
        for action in work.opened:
            if action.state != ActionState.EXPECTED:
                self._requests.forget(action.id)
        for action, requests in work.requests:
            self._requests.make(action.id, requests)
        for message in work.messages:
            self._requests.tell(message)

    def _look_after(self, work: Round) -> None:
        """Do what needs no action, once the poll is recorded: locks, notices, predictions."""
        seen, active, busy = work.seen, work.active, work.busy
        self._arrays.poll(work)
        self._locks.poll(active, seen)
        self._notices.poll(active, busy, seen)
        self._peers.poll(active, busy, seen)
        self._half_restored.poll(active, busy, seen)
        self._surplus.poll(active, seen)
        self._late_boots.poll(active, seen)
        self._preemptions.poll(work.victims, work.stand_alone, seen.at)
        self._predictions.poll(self._decisions.after, work.jobs, seen.at)

    def close(self) -> None:
        """Wait for the requests under way; what they find is not used."""
        self._predictions.close()
        self._requests.close()
        self._upkeep.close()
        self._lister.close()

    def hosts_changed(self) -> None:
        """The next poll also reads the aggregates and services."""
        self._hosts.expire()

    def _permit(self) -> None:
        """Called before each request to Nova, by the workers, and before each write to Placement.

        :raises Deposed: if somebody else sees to the pool by now.
        """
        with self._store.reading() as session:
            self._fence(session)

    def _read_recorded(self) -> _Recorded:
        if self._recorded is None:
            with self._store.reading() as session:
                places = schedule.Places(*schedule.open_places(session, self._pool))
                servers = RecordedServers(session, self._pool)
                dead = DeadHosts(session, self._pool)
                sharing = share(self._options, session, self._pool, self._clock())
                self._recorded = _Recorded(places, servers, dead, sharing)
            self._outages.dead = self._recorded.dead.names
        return self._recorded

    def _observe(self, recorded: _Recorded) -> Observation:
        self._cloud.remember(recorded.servers.job_of)
        now = self._clock()
        if self._drains.read(now):
            # Noted before Nova is asked, which may fail.
            self._decisions.events.happened(Event.FOREGROUND)
        if self._hosts.refresh(now):
            self._decisions.events.happened(Event.FOREGROUND)
        if self._open_jobs.limit_tiers(self._hosts.limited_flavors):
            self._decisions.forget_jobs()
        return self._observer.poll(now, recorded.servers.job_of)

    def _begin(self, seen: Observation, recorded: _Recorded) -> Round:
        env = Environment(
            cloud=self._cloud,
            placement=self._placement,
            attempts=self._options.attempts,
            boot_grace=self._options.boot_grace,
            close=self._hosts.close,
            threshold=self._options.threshold,
            now=self._clock(),
            preemption_grace=self._options.preemption_grace,
            operation_timeout=self._options.operation_timeout,
            preemption_timeout=self._options.preemption_timeout,
            polling_since=self._polling_since,
            user_data=self._store.user_data,
            servers_of=recorded.servers.of,
            each=self._lister.map,
            qos=self._qos,
        )
        with self._store.reading() as session:
            self._fence(session)
            queue = session.get(models.Queue, self._pool)
            jobs, opened = self._open_jobs.read(session), open_actions(session, self._pool)
            stand_alone = preemption.stand_alone(session, seen)
        plain_waiting = self._open_jobs.plain_waiting(seen.servers, self._clock())
        behind_limit = self._open_jobs.behind_array_limit(seen.servers)
        for number in busy_jobs(opened):
            plain_waiting.pop(number, None)
            behind_limit.pop(number, None)
        passive = plain_waiting.keys() | behind_limit.keys()
        active = [job for number, job in jobs.items() if number not in passive]
        mode = queue.mode if queue else QueueMode.ACTIVE
        return Round(
            seen, env, jobs, plain_waiting, behind_limit, active, opened, mode, stand_alone
        )

    def _carry_on(self, work: Round, recorded: _Recorded) -> None:
        if self._upkeep.poll(work):
            self._decisions.events.happened(ALL)
        self._take_answers(work)
        self._stop_walltimes(work)
        self._warn(work)
        work.note(*self._peers.notes)
        hopeless = gates.poll(self._store, work)
        if work.seen.outage:
            # What Nova says about silent hosts may be outdated, and requests that it accepts for
            # them may never be carried out.
            self._hold_up(work, work.seen.outage)
            return
        if work.mode == QueueMode.PAUSED:
            self._hold_up(work, waits.PAUSED())

        self._drop_unwanted(work)

        # 1. Jobs that end, or whose gang is broken.
        self._end(work, hopeless)

        # 2. The next step of each action that is due.
        turns = Turns(work.opened, work.jobs, work.seen, self._options.threshold, work.env.now)
        for action in turns.due():
            # Closed ones were dropped, because an action before them has just failed.
            if action.state == ActionState.EXPECTED:
                self._advance(work, action)
        if turns.dropped:
            self._decisions.events.happened(ALL)

        # 3. A decision about everything that has no open action.
        behind_limit = _unchanged(work.behind_limit)  # by the gates
        if recorded.sharing:
            slots = work.seen.shape_slots
            recorded.sharing.place(work.jobs, slots, work.env.now, behind_limit.keys())
        if self._run_times:
            self._run_times.predict(work.jobs, work.env.now, behind_limit.keys())
            if self._run_times.correct(work.active, work.env.now):
                self._decisions.events.happened(Event.FOREGROUND)
        if work.mode != QueueMode.PAUSED:
            self._decide(work, behind_limit.keys())

        running = [job for job in work.active if job.state == JobState.RUNNING]
        over = {job.number for job in work.active if job.state in OVER}
        work.places = recorded.places.follow(work.seen, work.jobs.keys() - over, running)
        if recorded.sharing:
            recorded.sharing.follow(work.places, work.jobs)
        servers = recorded.servers.follow(work.seen, work.jobs, running)
        work.servers, work.without_servers = servers

    def _decide(self, work: Round, behind_limit: Set[int]) -> None:
        """Ask the policy about everything that has no open action.

        :param behind_limit: as of `Situation`.
        """
        now = work.env.now
        self._shortages.follow(work.active, now)
        others = [job for number, job in work.jobs.items() if number not in behind_limit]
        present = Situation(
            work.jobs,
            work.under_way,
            work.seen,
            now,
            # The outcome of other actions may have changed some of them.
            plain_waiting=_unchanged(work.plain_waiting),
            preemptible=self._preemptions.candidates(work.stand_alone, now),
            begun=self._preemptions.begun,
            prioritised=self._open_jobs.prioritised,
            vacated=self._drains.vacated,
            short_of_quota=self._shortages.waiting(others, now),
            behind_limit=behind_limit,
        )
        work.decided = self._metrics.timed("decide", self._decisions.decide)(present)
        work.victims = self._decisions.victims
        work.changed |= bool(work.decided)

    def _write(self, work: Round, recorded: _Recorded) -> None:
        rows, dead, anew = work.to_write(), self._outages.dead, work.begun_anew()
        news = dead != recorded.dead.names
        if not (rows or work.decided or work.without_servers or news):
            return
        with self._store.transaction() as session:
            if news:
                recorded.dead.record(session, dead)
            if left := work.without_servers:
                session.execute(delete(JobServer).where(JobServer.job.in_(left)))
            # Jobs first: in MariaDB, a record that refers to a job takes a shared lock of its row.
            # To change the row only then is a deadlock with an owner's request that waits for it.
            for of_jobs in (True, False):
                session.add_all(row for row in rows if isinstance(row, Job) is of_jobs)
                session.flush()
            changes.began_anew(session, anew)
            if work.decided:
                same = {"pool": self._pool, "state": ActionState.EXPECTED}
                decided = [record.columns() | same for record in work.decided]
                session.execute(insert(Action), decided)
            self._fence(session, lock=True)

    def _take_answers(self, work: Round) -> None:
        for action in work.opened:
            for outcome in self._outcomes.get(action.id, ()):
                OPERATIONS[action.kind].answered(work.context(action), outcome)

    @staticmethod
    def _stop_walltimes(work: Round) -> None:
        """Keep runs interrupted that could not be repaired in time: no manager was there, say.

        Those that have gone on are not: what they have run since then counts, whatever follows.
        """
        seen = work.seen
        for job in work.active:
            if not job.interrupted or job.state != JobState.RUNNING:
                continue
            if any(server.away for server in seen.gang(job)):
                job.stay_interrupted(seen.at)
            elif seen.whole(job):
                job.go_on(seen.at)

    def _warn(self, work: Round) -> None:
        """Warn jobs, and their guests, that their walltime is about to end."""
        now, before = work.env.now, self._options.walltime_warning
        for job in work.active:
            if reason := warning(job, now, before):
                job.warned_at = now
                work.note(Note(job.number, "warned", reason))
                end = datetime.fromtimestamp(now + (job.walltime or 0.0) - job.ran(now), UTC)
                notice = f"stopped at {end.isoformat(timespec='seconds')}"
                for server in work.seen.gang(job):
                    run = partial(self._cloud.notice, server, notice)
                    work.messages.append(CloudRequest(RequestKey(NOTICE, server.id), run))

    def _hold_up(self, work: Round, reason: Reason) -> None:
        """Drop decided actions that have not begun; the policy decides again after the pause."""
        self._decisions.forget_jobs()
        self._decisions.victims = ()
        ongoing.abandon_all(work.opened, reason, work.env.now)
        attempts = self._options.attempts
        for job in work.jobs.values():
            if job.in_queue and job.failures < attempts:
                job.reason = reason

    def _drop_unwanted(self, work: Round) -> None:
        """Drop starts of jobs that their owners have held or asked to end, that wait for a quota of
        which another job has just been refused, or that may not take the tier any more: their
        owners may change their class while the start is decided."""
        now = work.env.now
        for action in work.opened:
            if action.kind == ActionKind.START and action.begun_at is None:
                job = work.jobs[action.number]
                if asked := job.requested_action:
                    ongoing.drop(action, failures.REQUESTED(action=asked), now)
                elif job.held:
                    ongoing.drop(action, waits.HELD(), now)
                elif refused := self._shortages.of(job, now):
                    ongoing.drop(action, refused.reason, now)
                elif (
                    job.not_before > now or action.planned(StartPlan).tier not in job.allowed_tiers
                ):
                    ongoing.drop(action, job.reason, now)

    def _end(self, work: Round, hopeless: Mapping[int, Reason]) -> None:
        """Jobs that end, or whose gang is broken, or that will never be in the queue."""
        busy = work.busy
        without_action = [
            job
            for job in work.active
            if job.number not in busy and job.state in (JobState.QUEUED, JobState.RUNNING)
        ]
        running = (job for job in without_action if job.state == JobState.RUNNING)
        off = self._shutdowns.poll(running, work.seen, self._hosts.down)
        left, attempts = MOST_ENDS, work.env.attempts
        for job in without_action:
            if job.never_begun and not left:
                continue
            if action := endings(job, work.seen, attempts, off, hopeless):
                left -= job.never_begun
                self._open(work, action)

    def _open(self, work: Round, action: Action) -> None:
        action.pool, action.state = self._pool, ActionState.EXPECTED
        work.opened.append(action)
        work.changed = True

    def _advance(self, work: Round, action: Action) -> None:
        """Take one step; none while its requests, other than questions, are under way."""
        env, jobs = work.env, work.jobs
        if self._requests.waiting(action.id, env.now):
            return
        operation, context = OPERATIONS[action.kind], work.context(action)
        if action.begun_at is None:
            action.begun_at = env.now
            operation.begin(context)
        try:
            step = operation.advance(context)
        except (CloudError, PlacementError) as error:
            LOG.warning("Action %s of job %s is repeated: %s", action.kind, action.job, error)
            return
        if step.state is None:
            if step.freed:
                self._decisions.events.happened(self._decisions.events.caused(action, jobs))
            if step.requests:
                context.ask(request.key for request in step.requests)
                work.requests.append((action, step.requests))
            return
        work.changed = True
        action.state, action.closed_at = step.state, env.now
        if step.state is ActionState.DONE:
            self._decisions.events.happened(self._decisions.events.caused(action, jobs))
            work.note(*operation.close(context))
        else:
            if step.end is None:
                work.note(*operation.undo(context))
            else:
                end = end_by(step.end, action.number, env.now)
                end.reason = action.reason
                self._open(work, end)
            if not step.alone:
                ongoing.abandon(work.opened, action, env.now)
            self._decisions.events.happened(ALL)


def _unchanged(jobs: Mapping[int, Job]) -> dict[int, Job]:
    """The jobs, by number, that this poll has not changed."""
    return {number: job for number, job in jobs.items() if not instance_state(job).modified}
