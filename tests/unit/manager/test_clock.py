"""The wall clock is set while jobs run: nothing ends, or goes on, because of that."""

import contextlib
import types
from unittest import mock

import fixtures
import testtools
from oslo_db.exception import DBConnectionError

from nova_twotier.core import policies
from nova_twotier.db import terms
from nova_twotier.db.states import JobState
from nova_twotier.db.terms import Deposed
from nova_twotier.manager.clock import TOLERANCE, SteadyClock
from nova_twotier.manager.engine import Engine
from nova_twotier.manager.loop import Loop
from tests.new_databases import new_store
from tests.unit.manager import builders
from tests.unit.manager.test_loop import LEASE, Clock, FakeCandidate, FakeEvent

EPOCH = 1e9
HOUR = 3600.0
WALLTIME = 100.0


class TestSteadyClock(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.ahead, self.steady = EPOCH, Clock()
        self.clock = SteadyClock(lambda: self.ahead + self.steady.now, self.steady)

    def test_is_the_wall_clock(self):
        self.steady.now = 7.0
        self.assertEqual(0.0, self.clock.follow())
        self.assertEqual(EPOCH + 7.0, self.clock())

    def test_follows_little_changes_and_no_great_ones(self):
        for change in (0.5, -0.5, TOLERANCE, -TOLERANCE):
            self.ahead += change
            self.assertEqual(0.0, self.clock.follow())
            self.assertEqual(self.ahead, self.clock())
        for change in (HOUR, -HOUR, 2 * TOLERANCE):
            before = self.clock()
            self.ahead += change
            for _again in range(2):
                self.assertEqual(change, self.clock.follow())
                self.assertEqual(before, self.clock())
            self.clock.jump(change)
            self.assertEqual(0.0, self.clock.follow())
            self.assertEqual(self.ahead, self.clock())

    def test_a_process_that_is_paused_while_it_reads_the_clocks(self):
        def wall():
            self.steady.now += HOUR
            return self.ahead + self.steady.now - HOUR / 2

        clock = SteadyClock(lambda: self.ahead + self.steady.now, self.steady)
        clock._wall = wall
        self.assertEqual(0.0, clock.follow())


class Seeing(Engine):
    """Sees the servers of one job, always at work."""

    gang = ()

    def _observe(self, _recorded):
        return builders.seen(self.gang, at=self._clock())


class TestWallClockIsSet(testtools.TestCase):
    """A job that may run for `WALLTIME`, from the time at which the manager starts."""

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.store = new_store(self)
        self.ahead, self.clock = EPOCH, Clock()
        self.job = builders.job(walltime=WALLTIME, run_since=EPOCH, started_at=EPOCH)
        with self.store.transaction() as session:
            session.add(self.job)
        self.candidate = FakeCandidate(self.clock)
        listener = types.SimpleNamespace(start=lambda *_calls: None, stop=lambda: None)
        self.options = builders.options(policy="fcfs", poll_interval=1.0, watch_interval=1.0)
        self.loop = Loop(
            self.candidate,
            self.store,
            self.engine,
            listener,
            LEASE,
            self.options,
            self.clock,
            wall=lambda: self.ahead + self.clock.now,
        )
        for name in ("_stopping", "_woken"):
            setattr(self.loop, name, FakeEvent(self.clock, self.pass_time))
        self.steps, self.polled = {}, lambda: None

    def engine(self, _policy, fence, wake, clock):
        engine = Seeing(
            self.options, self.store, mock.Mock(), mock.Mock(), policies.get("fcfs"), clock
        )
        engine.gang = builders.servers(self.job)
        poll = engine.poll

        def poll_once():
            self.polled()
            again = poll()
            job = self.store.job(self.job.number)
            if job.state != JobState.RUNNING or self.clock.now > 2 * HOUR:
                self.loop.stop()
            return again

        engine.poll = poll_once
        return engine

    def pass_time(self, end):
        for at in [at for at in self.steps if at <= end]:
            self.ahead += self.steps.pop(at)

    def ends_on_time(self):
        self.loop.run()
        self.assertEqual({}, self.steps)
        self.assertIn(self.clock.now - WALLTIME, (0.0, 1.0, 2.0))

    def test_it_is_not(self):
        self.ends_on_time()
        self.assertNotIn("wall clock", self.log.output)

    def test_forward(self):
        self.steps = {40.0: HOUR}
        self.ends_on_time()
        self.assertIn("The wall clock was set by +3600.0 s: run times", self.log.output)

    def test_backward(self):
        self.steps = {40.0: -HOUR}
        self.ends_on_time()
        self.assertIn("The wall clock was set by -3600.0 s: run times", self.log.output)

    def test_there_and_back(self):
        self.steps = {30.0: HOUR, 60.0: -HOUR, 80.0: -2 * HOUR}
        self.ends_on_time()

    def test_in_mid_poll(self):
        self.steps = {50.0: HOUR}
        self.polled = lambda: self.pass_time(self.clock.now)
        self.ends_on_time()

    def test_what_was_recorded_is_shown_by_the_new_clock(self):
        self.steps = {40.0: HOUR}
        self.ends_on_time()
        job = self.store.job(self.job.number)
        self.assertEqual(EPOCH + HOUR, job.run_since)
        self.assertEqual(EPOCH, job.started_at)

    def test_a_leader_that_was_replaced_changes_nothing(self):
        self.steps = {40.0: HOUR}

        def fence(_session, lock=False):
            if lock:
                self.candidate.answers = [False]
                self.loop.stop()
                raise Deposed("pool default is led by other:1 since")

        self.candidate.fence = fence
        self.loop.run()
        self.assertEqual(EPOCH, self.store.job(self.job.number).run_since)

    def drop_connection(self, after):
        """Lose the connection at the commit of the first shift, before or `after` it is done."""
        terms.begin(self.store, "default", "me:1")
        commit, lost = self.store.transaction, []

        def fence(session, lock=False):
            if lock and self.ahead != EPOCH and not lost:
                lost.append(session)
                if not after:
                    raise DBConnectionError

        @contextlib.contextmanager
        def transaction():
            with commit() as session:
                yield session
            if session in lost:
                lost[:] = [None]
                raise DBConnectionError

        self.candidate.fence = fence
        self.useFixture(fixtures.MockPatchObject(self.store, "transaction", transaction))

    def lose_connection(self, steps, after):
        """The times are shifted once, whether that was committed or not."""
        self.drop_connection(after)
        self.steps = dict(steps)
        self.ends_on_time()
        run_since = self.store.job(self.job.number).run_since
        self.assertEqual(EPOCH + sum(steps.values()), run_since)

    def test_the_connection_is_lost_before_the_commit(self):
        self.lose_connection({40.0: HOUR}, after=False)

    def test_the_connection_is_lost_after_the_commit(self):
        self.lose_connection({40.0: HOUR}, after=True)

    def test_and_the_clock_is_set_again_before_it_is_back(self):
        self.lose_connection({40.0: HOUR, 40.5: -2 * HOUR}, after=True)

    def test_or_set_back(self):
        self.lose_connection({40.0: HOUR, 40.5: -HOUR}, after=True)

    def test_or_set_back_although_nothing_was_committed(self):
        self.lose_connection({40.0: HOUR, 40.5: -HOUR}, after=False)
