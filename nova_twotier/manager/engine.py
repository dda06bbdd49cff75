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
from functools import partial

from oslo_log import log as logging
from sqlalchemy import delete, insert
from sqlalchemy.orm.attributes import instance_state

from nova_twotier.cloud.hosts import BLIND, Hosts
from nova_twotier.cloud.listing import AT_ONCE, Lister
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.qos import Qos
from nova_twotier.core.policies import Policy
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.core.snapshot import Event
from nova_twotier.db import changes, models
from nova_twotier.db.models import DEFAULT_POOL, Action, Job, JobServer
from nova_twotier.db.open_jobs import OpenJobs
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import OVER, ActionState, JobState, QueueMode
from nova_twotier.db.store import Store, busy_jobs, open_actions
from nova_twotier.ledger.placement import FencedPlacement, Placement
from nova_twotier.manager import gates, ongoing, preemption, schedule, unknown_pools, walltimes
from nova_twotier.manager.aftercare import Aftercare
from nova_twotier.manager.counters import Counters
from nova_twotier.manager.dead_hosts import DeadHosts
from nova_twotier.manager.decision import Decisions
from nova_twotier.manager.drains import Drains
from nova_twotier.manager.events import ALL
from nova_twotier.manager.fair_share import Sharing, share
from nova_twotier.manager.fencing import Fence
from nova_twotier.manager.network import Network
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.observer import Observer
from nova_twotier.manager.open_actions import OpenActions
from nova_twotier.manager.operations.context import Environment
from nova_twotier.manager.operations.operation import CloudRequest
from nova_twotier.manager.outages import Outages
from nova_twotier.manager.pool_metrics import PoolMetrics
from nova_twotier.manager.predictions import Predictions
from nova_twotier.manager.preemption import Preemptions
from nova_twotier.manager.recorded_servers import RecordedServers
from nova_twotier.manager.requests import Requests
from nova_twotier.manager.round import Round
from nova_twotier.manager.run_times import HISTORICAL, RunTimes
from nova_twotier.manager.shortages import Shortages
from nova_twotier.manager.shutdowns import Shutdowns
from nova_twotier.manager.situation import Situation
from nova_twotier.manager.upkeep import Upkeep

LOG = logging.getLogger(__name__)


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
    """One poll at a time: `poll()` observes, carries open actions on, decides, records and acts.

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
        self._shortages = Shortages()
        self._actions = OpenActions(
            pool,
            self._hosts,
            self._decisions.events,
            self._requests,
            Shutdowns(cloud, self._requests.tell),
            self._shortages,
        )
        self._aftercare = Aftercare(store, cloud, pool, self._requests.tell)
        self._preemptions = Preemptions(options, cloud, self._requests.tell)
        self._upkeep = Upkeep(options, cloud, self._placement, self._hosts)
        self._run_times = RunTimes(store, pool) if options.estimates == HISTORICAL else None
        #: When it last polled with success, and since when it has done so without a long break or
        #: an outage.
        self._polled_at = self._polling_since = -math.inf

    def poll(self) -> bool:
        """One round. Returns whether something changed, so that another poll is due at once.

        :raises CloudError, PlacementError: if one of them does not answer; poll again later.
        :raises Deposed: if somebody else sees to the pool by now.
        """
        # Collect answers first: the effect of a later answer may not show in this observation.
        self._actions.collect_answers(self._clock())
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
        self._aftercare.notes.clear()
        work.log()
        self._actions.recorded(work)
        for message in work.messages:
            self._requests.tell(message)
        self._metrics.polled(work, recorded.places.slots)
        self._aftercare.poll(work)
        self._preemptions.poll(work.victims, work.stand_alone, seen.at)
        self._predictions.poll(self._decisions.after, work.jobs, seen.at)
        return work.changed

    def _hosts_listed(self, seen: Observation) -> None:
        """What follows when the hosts were read from Nova."""
        self._metrics.hosts_listed()
        self._drains.follow()
        self._network.publish(seen.hosts)
        for job in unknown_pools.fail(self._store, self._hosts.pools, seen.at):
            run = partial(self._cloud.delete_trust, job)
            self._requests.tell(CloudRequest(RequestKey("trust"), run))

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
        """Advance open actions, then run a scheduling pass; `_write` records what came of it."""
        if self._upkeep.poll(work):
            self._decisions.events.happened(ALL)
        self._actions.take_answers(work)
        walltimes.stop(work)
        walltimes.warn(work, self._cloud, self._options.walltime_warning)
        work.note(*self._aftercare.notes)
        hopeless = gates.poll(self._store, work)
        if work.seen.outage:
            # What Nova says about silent hosts may be outdated, and requests that it accepts for
            # them may never be carried out.
            self._hold_up(work, work.seen.outage)
            return
        if work.mode == QueueMode.PAUSED:
            self._hold_up(work, waits.PAUSED())

        self._actions.drop_unwanted(work)
        self._actions.open_ends(work, hopeless)
        self._actions.advance(work)

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

    def _hold_up(self, work: Round, reason: Reason) -> None:
        """Drop decided actions that have not begun; the policy decides again after the pause."""
        self._decisions.forget_jobs()
        self._decisions.victims = ()
        ongoing.abandon_all(work.opened, reason, work.env.now)
        attempts = self._options.attempts
        for job in work.jobs.values():
            if job.in_queue and job.failures < attempts:
                job.reason = reason


def _unchanged(jobs: Mapping[int, Job]) -> dict[int, Job]:
    """The jobs, by number, that this poll has not changed."""
    return {number: job for number, job in jobs.items() if not instance_state(job).modified}
