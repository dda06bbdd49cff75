"""When a manager leads, looks, waits and stops."""

import itertools
import threading
import types
from unittest import mock

import fixtures
import testtools
from oslo_db.exception import DBError
from sqlalchemy import select
from tooz import ToozError

from nova_twotier.cloud.errors import CloudError
from nova_twotier.db import queue_policy, terms
from nova_twotier.db.models import Queue, Utilisation
from nova_twotier.db.terms import Deposed
from nova_twotier.db.utilisation import MINUTE
from nova_twotier.ledger.placement import PlacementUnavailable
from nova_twotier.manager.loop import LONGEST, STARTING, Loop
from tests.new_databases import new_store
from tests.unit.manager.test_metrics import GAUGES

LEASE = 10.0


class Clock:
    """Time passes while somebody waits, and not otherwise."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class FakeEvent:
    """A `threading.Event` whose waiters do not wait: the clock goes on.

    :param during: called while somebody waits, with the time at the end of the wait.
    """

    def __init__(self, clock, during=lambda _end: None):
        self._clock, self._during = clock, during
        self._set = False

    def set(self):
        self._set = True

    def clear(self):
        self._set = False

    def is_set(self):
        return self._set

    def wait(self, seconds):
        if not self._set:
            self._during(self._clock.now + seconds)
        if not self._set:
            self._clock.now += seconds
        return self._set


class FakeCandidate:
    """Stands as it is told: an answer, or an error, for each time; in the end it leads."""

    pool = "default"

    def __init__(self, clock, answers=()):
        self._clock = clock
        self.answers = list(answers)
        self.stood, self.closed, self.resigned = [], False, []
        self.deposed, self.led_by = False, "other:1"

    def stand(self):
        self.stood.append(self._clock.now)
        answer = self.answers.pop(0) if self.answers else True
        if isinstance(answer, Exception):
            raise answer
        return answer

    def leader(self):
        return self.led_by

    def polled(self):
        self.polls = getattr(self, "polls", 0) + 1

    def fence(self, _session, lock=False):
        if self.deposed:
            self.deposed = False
            raise Deposed("pool default is led by other:1 since")

    def resign(self):
        self.resigned.append(self._clock.now)

    def close(self):
        self.closed = True


class LoopTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(format="%(levelname)s %(message)s"))
        self.clock = Clock()
        self.candidate = FakeCandidate(self.clock)
        self.options = types.SimpleNamespace(policy="fcfs", poll_interval=1.0, watch_interval=0.25)
        #: Times of the looks, and what each of them does; a loop stops after the last.
        self.looks, self.script = [], []
        self.engines, self.hosts_read = [], []
        self.during, self.event = lambda _end: None, 1
        self.listener = types.SimpleNamespace(
            start=lambda *_calls: self.calls.append("listen"),
            stop=lambda: self.calls.append("deaf"),
        )
        self.calls = []
        self.store = new_store(self)
        self.useFixture(fixtures.MockPatchObject(self.store, "last_event", lambda: self.event))
        terms.begin(self.store, "default", "me:1")
        self.loop = Loop(
            self.candidate,
            self.store,
            self.engine,
            self.listener,
            LEASE,
            self.options,
            self.clock,
            wall=self.clock,
        )
        # The loop's own clockwork, at the test's pace.
        for name in ("_stopping", "_woken"):
            setattr(self.loop, name, FakeEvent(self.clock, lambda end: self.during(end)))

    def engine(self, policy, fence, wake, clock):
        engine = types.SimpleNamespace(
            poll=lambda: self.poll(engine),
            hosts_changed=lambda: self.hosts_read.append(self.clock.now),
            close=lambda: self.calls.append("close"),
            policy=policy,
            wake=wake,
            clock=clock,
        )
        self.engines.append(engine)
        return engine

    def poll(self, engine):
        self.looks.append(self.clock.now)
        if not self.script:
            self.loop.stop()
            return False
        answer = self.script.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer(engine) if callable(answer) else answer

    def run_script(self, *script):
        self.script = list(script)
        self.loop.run()
        self.assertTrue(self.candidate.closed)


class TestPolling(LoopTestCase):
    def test_looks_at_intervals(self):
        self.run_script(False, False)
        self.assertEqual([0.0, 1.0, 2.0], self.looks)

    def test_looks_at_once_after_a_change(self):
        self.run_script(True, True, False)
        self.assertEqual([0.0, 0.0, 0.0, 1.0], self.looks)

    def test_news_in_the_database(self):
        def during(end):
            self.event = 2 if end >= 1.5 else 1

        self.during = during
        self.run_script(False, False)
        self.assertEqual([0.0, 1.0, 1.5], self.looks)

    def test_news_during_a_look(self):
        def submitted(_engine):
            self.event = 2
            return False

        self.run_script(submitted, False)
        self.assertEqual([0.0, 0.25, 1.25], self.looks)

    def test_woken(self):
        def during(end):
            if end == 0.5:
                self.loop.wake()

        self.during = during
        self.run_script(False, False)
        # After a moment in which more may come.
        self.assertEqual([0.0, 0.3, 1.3], [round(at, 2) for at in self.looks])
        self.assertEqual([], self.hosts_read)

    def test_woken_by_an_answer_during_a_look(self):
        def answered(engine):
            engine.wake()
            return False

        self.run_script(answered, False)
        self.assertEqual([0.0, 0.05, 1.05], [round(at, 2) for at in self.looks])

    def test_woken_for_hosts(self):
        def change(_engine):
            self.loop.wake_for_hosts()
            return False

        self.run_script(False, change, False)
        self.assertEqual([0.0, 1.0, 1.05, 2.05], [round(at, 2) for at in self.looks])
        self.assertEqual([1.05], self.hosts_read)


class TestSlowPolls(LoopTestCase):
    """Nova, which answers slowly, is left time for other things."""

    def slow(self, seconds):
        def poll(_engine):
            self.clock.now += seconds
            return False

        return poll

    def test_there_are_fewer_of_them(self):
        self.run_script(*(self.slow(seconds) for seconds in (0.25, 0.8, 1.3, 3.0)))
        self.assertEqual([0.0, 1.25, 7.05, 18.35, 31.35], [round(at, 2) for at in self.looks])

    def test_none_leads_to_a_very_long_pause(self):
        self.run_script(self.slow(100.0))
        self.assertEqual([0.0, 100.0 + LONGEST], self.looks)

    def test_news_waits_for_as_long_as_the_poll_took(self):
        def during(end):
            self.event = 2 if end > 2.0 else 1

        self.during = during
        self.run_script(self.slow(2.0))
        self.assertEqual([0.0, 4.0], self.looks)

    def test_who_is_stopped_does_not_wait(self):
        def during(_end):
            self.event = 2
            self.loop.stop()

        self.during = during
        self.run_script(self.slow(2.0), False)
        self.assertEqual([0.0], self.looks)


class TestTrouble(LoopTestCase):
    def test_is_said_once_and_tried_again(self):
        down = CloudError("Nova does not answer\nSELECT secret")
        self.run_script(down, down, False, down)
        self.assertEqual([0.0, 1.0, 2.0, 3.0, 4.0], self.looks)
        self.assertEqual(2, self.log.output.count("Nova does not answer. Trying again every 1 s."))
        self.assertNotIn("SELECT", self.log.output)

    def test_a_cloud_that_is_still_starting_is_no_error(self):
        down = CloudError("503 of Placement")
        self.run_script(down, down, False, down)
        self.assertEqual(["INFO", "ERROR"], self.levels("503"))

    def test_but_it_is_after_a_minute(self):
        down = CloudError("503 of Placement")
        self.run_script(*[down] * (int(STARTING) + 10))
        self.assertEqual(["INFO", "ERROR"], self.levels("503"))

    def test_refused_credentials_are_tried_again_after_longer_and_longer_pauses(self):
        refused = [
            CloudError("Keystone refused the credentials of [nova]", 401),
            PlacementUnavailable("Keystone refused the credentials of [placement]", 401),
        ]
        self.run_script(*refused[:1] * 8, False, *refused[1:] * 2, CloudError("503"), False)
        pauses = [after - before for before, after in itertools.pairwise(self.looks)]
        self.assertEqual([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0], pauses[:8])
        self.assertEqual([1.0, 1.0, 2.0, 1.0, 1.0], pauses[8:])
        self.assertEqual(["ERROR"], self.levels("of [nova]. Trying again after pauses of up to 60"))
        self.assertEqual(["ERROR"], self.levels("of [placement]. Trying again after pauses"))
        self.assertEqual(["INFO"] * 2, self.levels("Nova and Placement answer"))

    def test_the_first_poll_says_that_it_works(self):
        self.run_script(False, False)
        self.assertEqual(["INFO"], self.levels("the queue of pool default works"))

    def levels(self, text):
        """The log levels of the messages with a text."""
        return [line.split()[0] for line in self.log.output.splitlines() if text in line]

    def test_what_nobody_expects_ends_the_loop(self):
        self.assertRaises(ZeroDivisionError, self.run_script, ZeroDivisionError())
        self.assertTrue(self.candidate.closed)
        self.assertIn("close", self.calls)


class TestHangs(LoopTestCase):
    """What hangs shows in the log, as another thread sees it: nothing is raised."""

    DATABASE = "WARNING [database] has not answered for 30 s: pool default waits for it"
    BUSY = "WARNING The manager of pool default has been busy for 120 s without a pause: Nova, "
    WORKS = "INFO Nova and Placement answer: the queue of pool default works"

    def setUp(self):
        super().setUp()
        self.opened_at, self.logged_before = None, len(self.log.output)
        self.useFixture(fixtures.MockPatchObject(self.store, "waited", self.waited))

    def waited(self):
        return 0.0 if self.opened_at is None else self.clock.now - self.opened_at

    def look_for(self, seconds):
        """Let another thread look, once a second."""
        for _second in range(seconds):
            self.clock.now += 1.0
            self.loop.report_hang()

    def hanging(self, seconds, database=False):
        def poll(_engine):
            self.opened_at = self.clock.now if database else None
            self.look_for(seconds)
            self.opened_at = None
            return False

        return poll

    def said(self):
        lines = self.log.output[self.logged_before :].splitlines()
        return [line for line in lines if " policy of " not in line]

    def test_the_database_hangs_in_a_poll(self):
        self.run_script(False, self.hanging(29, True), self.hanging(100, True), False)
        self.assertEqual([self.WORKS, self.DATABASE, self.WORKS], self.said())

    def test_each_hang_is_said(self):
        self.run_script(*2 * [self.hanging(45, True), False])
        self.assertEqual(2 * [self.DATABASE, self.WORKS], self.said())

    def test_what_ends_in_an_error_that_is_repeated_is_said_once(self):
        def lost(_engine):
            self.hanging(60, True)(_engine)
            raise DBError("Lost connection")

        self.run_script(False, lost, lost, lost, False)
        error = "ERROR [database]: Lost connection. Trying again every 1 s."
        self.assertEqual([self.WORKS, self.DATABASE, error, self.WORKS], self.said())

    def test_the_database_hangs_when_there_is_other_trouble(self):
        def refused(_engine):
            raise CloudError("no")

        self.run_script(refused, self.hanging(45, True), False)
        self.assertIn(self.DATABASE, self.said())
        self.assertEqual(self.WORKS, self.said()[-1])

    def test_others_hang_in_a_poll(self):
        self.run_script(False, self.hanging(119), self.hanging(200), False)
        self.assertEqual([self.WORKS, self.WORKS], [self.said()[0], self.said()[2]])
        self.assertEqual(3, len(self.said()))
        self.assertTrue(self.said()[1].startswith(self.BUSY), self.said())

    def test_polls_without_a_pause_are_no_hang(self):
        def poll(_engine):
            self.look_for(100)
            return True

        self.run_script(poll, poll, poll, False)
        self.assertEqual([self.WORKS], self.said())

    def test_a_pause_is_no_hang(self):
        self.options.poll_interval = self.options.watch_interval = 500.0
        self.during = lambda _end: self.look_for(200)
        self.run_script(False)
        self.assertEqual([self.WORKS], self.said())

    def test_a_session_of_others_is_no_hang_of_a_loop_that_is_quick(self):
        self.opened_at = -100.0
        self.run_script(lambda _engine: self.look_for(29), False)
        self.assertEqual([self.WORKS], self.said())

    def test_who_stands_by_says_when_it_goes_on(self):
        stand = self.candidate.stand

        def hang():
            if len(self.candidate.stood) == 1:
                self.opened_at = self.clock.now
                self.look_for(40)
                self.opened_at = None
            return stand()

        self.candidate.stand = hang
        self.candidate.answers = [False, False, False]
        self.run_script(False)
        standing = "INFO Standing by: pool default is led by other:1"
        self.assertEqual([standing, self.DATABASE, standing, self.WORKS], self.said())

    def test_after_the_end_nothing_hangs(self):
        self.run_script(False)
        self.look_for(500)
        self.assertEqual([self.WORKS], self.said())


class TestLeading(LoopTestCase):
    def test_stands_by_twice_a_lease(self):
        self.candidate.answers = [False, False, False]
        self.run_script(False)
        self.assertEqual([0.0, 5.0, 10.0, 15.0], self.candidate.stood)
        self.assertEqual([15.0, 16.0], self.looks)
        self.assertEqual(1, self.log.output.count("Standing by: pool default is led by other:1"))

    def test_stands_by_for_whom_its_database_does_not_know(self):
        """A leader that has just begun, or one with the same locks and another database."""
        self.candidate.answers, self.candidate.led_by = [False, False], ""
        self.run_script(False)
        self.assertIn("is led by a process that this database does not know", self.log.output)
        self.assertEqual(1, self.log.output.count("same [database]connection"))

    def test_service_does_not_answer(self):
        self.candidate.answers = [ToozError("no etcd"), ToozError("no etcd")]
        self.run_script(False)
        self.assertEqual([10.0, 11.0], self.looks)
        self.assertEqual(1, self.log.output.count("no etcd. Trying again every 5 s."))

    def test_deposed_before_a_look(self):
        def replaced(_engine):
            self.candidate.deposed = True
            return False

        self.candidate.answers = [True, False]
        self.run_script(replaced, False)
        # It does not look, stands by, and begins anew with another engine.
        self.assertEqual([0.0, 6.0, 7.0], self.looks)
        self.assertEqual([0.0, 1.0, 6.0], self.candidate.stood)
        self.assertEqual(2, len(self.engines))
        self.assertIn("No longer the leader: pool default is led by other:1", self.log.output)

    def test_deposed_in_mid_look(self):
        self.candidate.answers = [True, False]
        self.run_script(Deposed("replaced"))
        self.assertEqual([0.0, 5.0], self.looks)
        self.assertEqual(2, len(self.engines))

    def test_gives_the_lead_up_when_its_requests_are_answered(self):
        self.run_script(False)
        self.assertEqual(["listen", "close", "deaf"], self.calls)
        self.assertEqual([1.0], self.candidate.resigned)

    def test_listens_only_while_it_leads(self):
        self.candidate.answers = [False, True, False]
        self.run_script(Deposed("replaced"), False)
        self.assertEqual(["listen", "close", "deaf"] * 2, self.calls)

    def test_another_policy(self):
        """The options were read again."""

        def changed(_engine):
            self.options.policy = "easy"
            return False

        self.run_script(changed, False)
        self.assertEqual(["fcfs", "easy"], self.policies())
        self.assertEqual([0.0], self.candidate.stood)

    def policies(self):
        return [engine.policy for engine in self.engines]

    def choose(self, policy):
        """A poll during which an operator chooses a policy."""

        def chosen(_engine):
            queue_policy.choose(self.store, "default", policy)
            return False

        return chosen

    def test_a_policy_that_an_operator_chose(self):
        self.run_script(self.choose("easy"), self.choose("cmbf"), self.choose(None), False)
        self.assertEqual(["fcfs", "easy", "cmbf", "fcfs"], self.policies())
        # Each takes over at the next poll, and the answers to the last one are waited for.
        self.assertEqual([0.0, 1.0, 2.0, 3.0, 4.0], self.looks)
        self.assertEqual(4, self.calls.count("close"))
        self.assertEqual([0.0], self.candidate.stood)

    def test_the_policy_in_use_is_recorded(self):
        used = []

        def look(_engine):
            with self.store.reading() as session:
                used.append(queue_policy.in_use(session, "default"))
            return self.choose("easy")(_engine)

        self.run_script(look, look)
        self.assertEqual(["fcfs", "easy"], used)

    def test_the_next_leader_uses_what_was_chosen(self):
        self.candidate.answers = [True, False]
        queue_policy.choose(self.store, "default", "cmbf")
        self.run_script(False, Deposed("replaced"), False)
        self.assertEqual(["cmbf", "cmbf"], self.policies())

    def test_other_pools_have_their_own(self):
        queue_policy.choose(self.store, "gpu", "cmbf")
        self.run_script(False)
        self.assertEqual(["fcfs"], self.policies())

    def test_a_policy_of_a_later_release_is_not_used(self):
        queue_policy.choose(self.store, "default", "cmbf")
        with self.store.transaction() as session:
            session.get(Queue, "default").policy = "clairvoyant"
        self.run_script(False, False)
        self.assertEqual(["fcfs"], self.policies())
        said = "Pool default was set to policy clairvoyant, which this release does not have"
        self.assertEqual(1, self.log.output.count(said))

    def test_the_database_does_not_answer(self):
        refusal = mock.Mock(side_effect=[DBError("gone"), DBError("gone"), None])
        transaction = self.store.transaction

        def begin():
            refusal()
            self.store.transaction = transaction
            return transaction()

        self.store.transaction = begin
        self.run_script(False)
        self.assertEqual([2.0, 3.0], self.looks)
        self.assertEqual(1, self.log.output.count("[database]: gone. Trying again every 1 s."))


class TestStop(LoopTestCase):
    def test_does_not_wait_for_the_next_look(self):
        # A database in memory is that of one thread.
        store = new_store(
            self, f"sqlite:///{self.useFixture(fixtures.TempDir()).path}/queue.sqlite"
        )
        loop = Loop(
            self.candidate,
            store,
            self.engine,
            self.listener,
            LEASE,
            types.SimpleNamespace(policy="fcfs", poll_interval=60.0, watch_interval=60.0),
        )
        looked = threading.Event()
        self.script = [lambda _engine: looked.set()]
        thread = threading.Thread(target=loop.run)
        thread.start()
        self.assertTrue(looked.wait(60))
        loop.stop()
        thread.join(60)
        self.assertFalse(thread.is_alive())
        self.assertEqual(1, len(self.looks))


class TestHistory(LoopTestCase):
    def test_a_sample_a_minute_between_polls(self):
        shown = self.loop._metrics
        self.useFixture(fixtures.MockPatchObject(shown, "refresh", lambda: GAUGES))
        self.options.poll_interval = 20.0
        self.run_script(*6 * [False])
        self.assertEqual(7, len(self.looks))
        query = select(Utilisation.at).where(Utilisation.step == MINUTE).order_by(Utilisation.at)
        with self.store.reading() as session:
            self.assertEqual([0, 60, 120], session.scalars(query).all())
