"""The loop of a pool: stand by, lead, poll, wait for news."""

import threading
import time
from collections.abc import Callable

from oslo_log import log as logging
from sqlalchemy.orm import Session
from tooz import ToozError

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.notifications import Listener
from nova_twotier.core import policies
from nova_twotier.db import queue_policy, time_shift
from nova_twotier.db.heartbeats import LONGEST_POLL
from nova_twotier.db.store import DATABASE_ERRORS, HANGS, Store
from nova_twotier.db.terms import Deposed
from nova_twotier.ledger.placement import PlacementError
from nova_twotier.ledger.retry import LOGIN_PAUSE, LoginBackoff
from nova_twotier.manager.clock import SteadyClock, since_boot
from nova_twotier.manager.counters import Counters
from nova_twotier.manager.election import Candidate, brief
from nova_twotier.manager.engine import Engine
from nova_twotier.manager.pool_metrics import PoolMetrics
from nova_twotier.manager.standby import Standby
from nova_twotier.manager.utilisation import Utilisation

LOG = logging.getLogger(__name__)

#: Passing errors: the loop tries again.
TROUBLE = (CloudError, PlacementError, ToozError, *DATABASE_ERRORS)
#: Seconds to wait after the first news, so that one poll serves all that arrive together.
GATHER = 0.05
#: The pause after a poll is so many times as long as the poll was longer than this, in seconds, if
#: there is no news: listing servers takes Nova time in which it boots none.
TIMES, QUICK = 10.0, 0.3
#: The longest pause, in seconds, that a slow poll leads to.
LONGEST = 10.0
#: Seconds after the start in which it is no error if the cloud does not answer yet: its services
#: may be starting, too.
STARTING = 60.0


class Loop:
    """Tries to lead a pool, and runs its queue while it leads.

    Every term has an engine of its own, which trusts nothing seen in an earlier term.

    :param store: of this pool, so that only its own sessions tell that it waits for the database.
    :param engine: makes an engine: `engine(policy, fence, wake, clock)`.
    :param listener: wakes the loop while it leads.
    :param lease: seconds; a standby tries to lead twice in that time.
    :param options: group `[manager]`; it may change at run time.
    :param clock: seconds since any origin; cannot be set.
    :param wall: seconds since the epoch; may be set.
    :param metrics: of the pool.
    """

    def __init__(
        self,
        candidate: Candidate,
        store: Store,
        engine: Callable[..., Engine],
        listener: Listener,
        lease: float,
        options,
        clock: Callable[[], float] = since_boot,
        wall: Callable[[], float] = time.time,
        *,
        metrics: PoolMetrics | None = None,
    ):
        self._candidate = candidate
        self._store = store
        self._engine = engine
        self._listener = listener
        self._lease = lease
        self._options = options
        self._clock, self._wall = clock, wall
        self._metrics = metrics or PoolMetrics(Counters(), candidate.pool)
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._hosts_changed = threading.Event()
        #: The last trouble that was logged, and whether that was while the cloud may be starting.
        self._trouble = ("", False)
        self._began, self._polled = clock(), False
        self._backoff = LoginBackoff()
        #: The policy to use, as last read.
        self._policy = ""
        self._standby = Standby(store, candidate.pool, lease)
        #: What the log said last of a hang, which nothing has ended since; empty if nothing hangs.
        self._hang = ""
        #: Since when the loop is at work, without a pause; None in a pause.
        self._busy_since: float | None = None
        #: The last shift of recorded times, until the database has said that it was committed.
        self._shift: time_shift.Attempt | None = None

    def run(self) -> None:
        """Run until `stop` is called; unexpected errors are raised."""
        try:
            while not self._stopping.is_set():
                self._busy_since = self._clock()
                if self._stand():
                    self._lead()
                else:
                    self._rest(self._stopping, self._lease / 2)
        finally:
            self._candidate.close()
            self._busy_since = None

    def stop(self) -> None:
        """Finish the poll in progress, then give up the lead."""
        self._stopping.set()
        self._woken.set()

    def wake(self) -> None:
        """Poll at once: something has happened."""
        self._woken.set()

    def wake_for_hosts(self) -> None:
        """Poll at once, with the hosts: aggregates or compute services have changed."""
        self._hosts_changed.set()
        self._woken.set()

    def report_hang(self) -> None:
        """Log once that the loop hangs; for another thread, as the loop itself cannot then."""
        since = self._busy_since
        if since is None:
            return
        pool, busy = self._candidate.pool, self._clock() - since
        if min(busy, self._store.waited()) >= HANGS:
            said = f"[database] has not answered for {HANGS:g} s: pool {pool} waits for it"
        elif busy >= LONGEST_POLL:
            said = (
                f"The manager of pool {pool} has been busy for {LONGEST_POLL:g} s without a pause: "
                "Nova, Placement, the message bus or [coordination]backend_url is slow, or hangs"
            )
        else:
            return
        if said != self._hang:
            self._hang = said
            LOG.warning(said)

    def _rest(self, event: threading.Event, seconds: float) -> bool:
        """Wait until an event is set; returns False if it was not."""
        self._busy_since = None
        happened = event.wait(seconds)
        self._busy_since = self._clock()
        return happened

    def _stand(self) -> bool:
        try:
            leads = self._candidate.stand()
            if leads:
                self._standby.lead()
            else:
                again = bool(self._trouble[0] or self._hang)
                self._standby.follow(self._candidate.leader(), self._wall(), again=again)
        except TROUBLE as error:
            self._report(error, self._lease / 2)
            return False
        self._trouble, self._hang = ("", False), ""
        return leads

    def _lead(self) -> None:
        clock, self._shift = SteadyClock(self._wall, self._clock), None
        self._metrics.lead()
        candidate = self._candidate
        history = Utilisation(self._store, candidate.pool, candidate.fence, self._metrics)
        try:
            self._listener.start(self.wake, self.wake_for_hosts)
            while not self._stopping.is_set():
                if self._keep_time(clock) and self._choose_policy():
                    self._use(self._policy, clock, history)
        except Deposed as error:
            LOG.warning("No longer the leader: %s", error)
        finally:
            self._listener.stop()
            self._metrics.resign()
            self._candidate.resign()

    def _keep_time(self, clock: SteadyClock) -> bool:
        """Shift all recorded times if the wall clock was set; returns False if that failed."""
        step = clock.follow()
        if step or self._shift:
            pool = self._candidate.pool
            try:
                with self._store.transaction() as session:
                    led_since = time_shift.led_since(session, pool)
                    if self._shift and self._shift.was_made(led_since):
                        step = self._shift.seconds
                    else:
                        self._shift = time_shift.Attempt(led_since, step)
                        time_shift.shift(session, pool, step)
                    self._candidate.fence(session, lock=True)
            except TROUBLE as error:
                self._pause(error)
                return False
            self._shift = None
            clock.jump(step)
            LOG.warning(
                "The wall clock was set by %+.1f s: run times and time limits of pool %s are not "
                "affected",
                step,
                pool,
            )
        return True

    def _choose_policy(self) -> bool:
        """Read which policy to use, and record that it is used; returns False if that failed."""
        pool = self._candidate.pool
        try:
            with self._store.transaction() as session:
                self._policy = self._wanted(session)
                queue_policy.record_use(session, pool, self._policy)
                self._candidate.fence(session, lock=True)
        except TROUBLE as error:
            self._pause(error)
            return False
        LOG.info("The policy of pool %s is %s", pool, self._policy)
        return True

    def _wanted(self, session: Session) -> str:
        """The policy that an operator chose at run time, else that of the configuration."""
        configured = self._options.policy
        chosen = queue_policy.chosen(session, self._candidate.pool)
        if chosen is None or chosen in policies.POLICIES:
            return chosen or configured
        if self._policy != configured:
            LOG.error(
                "Pool %s was set to policy %s, which this release does not have; using %s",
                self._candidate.pool,
                chosen,
                configured,
            )
        return configured

    def _use(self, policy: str, clock: SteadyClock, history: Utilisation) -> None:
        """Poll until the policy changes or the wall clock is set: engines keep times in memory."""
        engine = self._engine(policy, self._candidate.fence, self.wake, clock)
        try:
            while not (self._stopping.is_set() or policy != self._policy or clock.follow()):
                self._poll(engine, history)
        finally:
            # Wait for Nova's answers before another leader sends requests.
            engine.close()

    def _poll(self, engine: Engine, history: Utilisation) -> None:
        """Poll once, then wait until the next poll."""
        self._woken.clear()
        self._busy_since = self._clock()
        try:
            with self._store.reading() as session:
                self._candidate.fence(session)
                before, self._policy = self._policy, self._wanted(session)
            if self._policy != before:
                return
            seen = self._store.last_event()
            if self._hosts_changed.is_set():
                self._hosts_changed.clear()
                engine.hosts_changed()
            began = self._clock()
            again = engine.poll()
            took = self._clock() - began
            LOG.debug("Polled for %.3f s", took)
            self._candidate.polled()
            self._recover()
            self._metrics.show()
            history.poll(self._wall())
            if not again:
                self._wait(seen, took)
        except TROUBLE as error:
            self._pause(error)

    def _wait(self, seen: int, took: float) -> None:
        """Wait until the next poll is due, or until Nova or the database has news.

        :param seen: the last event before the poll.
        :param took: seconds that the poll took.
        """
        began = self._clock()
        pause = min(TIMES * (took - QUICK), LONGEST)
        end = began + max(self._options.poll_interval, pause)
        while (left := end - self._clock()) > 0:
            news = self._rest(self._woken, min(left, self._options.watch_interval))
            if news or self._store.last_event() != seen:
                rest = began + min(took, pause) - self._clock()
                self._rest(self._stopping, max(rest, GATHER if news else 0.0))
                return

    def _pause(self, error: Exception) -> None:
        """Report passing trouble, and wait until it is time to try again."""
        self._rest(self._stopping, self._report(error, self._options.poll_interval))

    def _report(self, error: Exception, pause: float) -> float:
        """Log an error once, not at every retry; a moment after the start it is none yet.

        :param pause: seconds between two attempts.
        :return: seconds until the next attempt; more and more while credentials are refused.
        """
        login = isinstance(error, CloudError | PlacementError) and error.login
        starting = not login and not self._polled and self._clock() < self._began + STARTING
        trouble = brief(error), starting  # without the SQL that follows
        if trouble != self._trouble:
            level = logging.INFO if starting else logging.ERROR
            every = f"after pauses of up to {LOGIN_PAUSE:g} s" if login else f"every {pause:g} s"
            LOG.log(level, "%s Trying again %s.", _sentence(error), every)
        self._trouble = trouble
        if login:
            return self._backoff.next(pause)
        self._backoff.reset()
        return pause

    def _recover(self) -> None:
        """Say that a poll succeeded, if it is the first one or the last one failed."""
        if self._trouble[0] or self._hang or not self._polled:
            LOG.info("Nova and Placement answer: the queue of pool %s works", self._candidate.pool)
        self._trouble, self._hang, self._polled = ("", False), "", True
        self._backoff.reset()


def _sentence(error: Exception) -> str:
    """An error as a sentence that says where it comes from: a database names only its driver."""
    said = brief(error)
    if isinstance(error, DATABASE_ERRORS):
        said = f"[database]: {said}"
    return said if said[-1] in ".?!" else f"{said}."
