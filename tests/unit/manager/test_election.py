"""One leader a pool, and what becomes of one that does not know that it was replaced."""

import pathlib
import threading
import time
import types

import fixtures
import testtools
from sqlalchemy import delete
from tooz import ToozError

from nova_twotier.conf import ConfigError
from nova_twotier.db import terms
from nova_twotier.db.heartbeats import heartbeats
from nova_twotier.db.models import Leader
from nova_twotier.manager import election
from nova_twotier.manager.election import Candidate, Led
from tests.new_databases import new_store


class ElectionTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        directory = self.useFixture(fixtures.TempDir()).path
        self.options = types.SimpleNamespace(backend_url=f"file://{directory}/new", lease=10)
        self.store = new_store(self, f"sqlite:///{directory}/twotier.sqlite")

    def candidate(self, name, pool="default"):
        candidate = Candidate(self.options, self.store, pool, name)
        self.addCleanup(candidate.close)
        return candidate

    def leads(self, candidate):
        """Whether the database lets a candidate act."""
        try:
            with self.store.transaction() as session:
                candidate.fence(session)
                candidate.fence(session, lock=True)
        except terms.Deposed:
            return False
        return True


class TestCandidates(ElectionTestCase):
    def test_one_leads_and_the_next_one_follows(self):
        first, second = self.candidate("first"), self.candidate("second")
        self.assertTrue(first.stand())
        self.assertFalse(second.stand())
        self.assertEqual("first", second.leader())
        self.assertFalse(self.leads(second))
        first.resign()
        self.assertTrue(second.stand())
        self.assertEqual("second", first.leader())
        self.assertEqual([False, True], [self.leads(each) for each in (first, second)])
        self.assertIn("second leads pool default, term 2", self.log.output)

    def test_files_that_cannot_be_written_are_named(self):
        candidate = self.candidate("only")
        self.options.backend_url = "file:///dev/null/files"
        error = self.assertRaises(ToozError, candidate.stand)
        self.assertIn("the coordination files cannot be used: ", str(error))
        self.assertIn("'/dev/null/files'", str(error))
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.options.backend_url = f"file://{directory}"
        self.assertTrue(candidate.stand())
        candidate.close()
        [lock] = directory.glob("twotier-*")
        lock.unlink()
        lock.mkdir()
        error = self.assertRaises(ToozError, candidate.stand)
        self.assertIn(str(lock), str(error))

    def test_again_after_resigning(self):
        candidate = self.candidate("only")
        for _term in range(3):
            self.assertTrue(candidate.stand())
            self.assertTrue(self.leads(candidate))
            candidate.resign()
            candidate.resign()

    def test_pools_have_leaders_of_their_own(self):
        """Also where their names differ by case, or look like paths."""
        for pool in ("default", "gpu", "GPU", "a.b"):
            self.assertTrue(self.candidate("one", pool).stand(), pool)
            self.assertFalse(self.candidate("two", pool).stand(), pool)

    def test_of_many_at_once_one_leads(self):
        candidates = [self.candidate(str(number)) for number in range(8)]
        start = threading.Barrier(len(candidates))
        leading = []

        def stand(candidate):
            start.wait()
            if candidate.stand():
                leading.append(candidate)

        threads = [threading.Thread(target=stand, args=(each,)) for each in candidates]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        [leader] = leading
        self.assertTrue(self.leads(leader))

    def test_without_the_database_nobody_leads(self):
        first, second = self.candidate("first"), self.candidate("second")
        fails = fixtures.MockPatchObject(terms, "begin", side_effect=OSError("no database"))
        with fails:
            self.assertRaises(OSError, first.stand)
        self.assertTrue(second.stand())


class TestReplaced(ElectionTestCase):
    """A leader whose lock is gone, as after a pause of its process or of the lock's service."""

    def setUp(self):
        super().setUp()
        self.old, self.new = self.candidate("old"), self.candidate("new")
        self.old.stand()

    def replace(self):
        terms.begin(self.store, "default", "new")

    def test_may_not_begin(self):
        self.replace()
        with self.store.transaction() as session:
            error = self.assertRaises(terms.Deposed, self.old.fence, session)
        self.assertIn("pool default is led by new", str(error))

    def test_may_not_end_what_it_began(self):
        """It was paused between its first poll and its commit."""
        begun, replaced = threading.Event(), threading.Event()

        def poll():
            with self.store.reading() as session:  # leaves the database to others meanwhile
                self.old.fence(session)
                session.rollback()
                begun.set()
                replaced.wait(60)
                self.old.fence(session, lock=True)

        def follow():
            begun.wait(60)
            self.replace()
            replaced.set()

        thread = threading.Thread(target=follow)
        thread.start()
        self.assertRaises(terms.Deposed, poll)
        thread.join()

    def test_each_transaction_changes_the_leaders_row(self):
        """That is what two nodes of a Galera cluster compare."""
        renewals = set()
        for _transaction in range(3):
            with self.store.transaction() as session:
                self.old.fence(session, lock=True)
            with self.store.reading() as session:
                leader = session.get(Leader, "default")
            self.assertLessEqual(leader.since, leader.renewed_at)
            renewals.add(leader.renewed_at)
        self.assertEqual(3, len(renewals))

    def test_of_a_pool_that_the_database_does_not_know(self):
        with self.store.transaction() as session:
            session.execute(delete(Leader))
            error = self.assertRaises(terms.Deposed, self.old.fence, session, lock=True)
        self.assertIn("without a leader in the database", str(error))

    def test_resigns_and_stands_again(self):
        self.replace()
        self.old.resign()
        self.assertTrue(self.old.stand())
        self.assertTrue(self.leads(self.old))


class TestHeartbeats(ElectionTestCase):
    """What the database says about the manager of a pool."""

    def setUp(self):
        super().setUp()
        self.options.lease = 0.03
        self.before = set(threading.enumerate())
        connect = "nova_twotier.manager.election.connect"
        self.useFixture(fixtures.MonkeyPatch(connect, lambda *_: FakeCoordinator()))

    def heartbeat(self, **changes):
        return heartbeats(self.store, ["default"], lease=10, **changes)["default"]

    def assert_beats(self):
        first = self.heartbeat().at
        for _attempt in range(1000):
            if self.heartbeat().at > first:
                return
            time.sleep(0.01)
        self.fail("there was no further heartbeat")

    def await_last_beat(self):
        """A beat may have been under way when the lead was given up."""
        for thread in set(threading.enumerate()) - self.before:
            thread.join(60)
            self.assertFalse(thread.is_alive())

    def assert_silent(self):
        first = self.heartbeat()
        time.sleep(0.1)  # ten beats
        self.assertEqual(first.at, self.heartbeat().at)

    def test_while_it_leads(self):
        candidate = self.candidate("only")
        candidate.stand()
        self.assertFalse(self.heartbeat().missing)
        self.assert_beats()
        candidate.resign()
        self.await_last_beat()
        self.assert_silent()

    def test_the_database_is_away_for_a_while(self):
        candidate = self.candidate("only")
        candidate.stand()
        warning = "Could not renew the lead of pool default: no database"
        with fixtures.MockPatchObject(terms, "_renewal", side_effect=OSError("no database")):
            for _attempt in range(6000):
                if warning in self.log.output:
                    break
                time.sleep(0.01)
            time.sleep(0.1)  # more beats that fail
        self.assert_beats()
        self.assertEqual(1, self.log.output.count(warning), self.log.output)

    def test_one_that_was_replaced_sends_none(self):
        self.candidate("old").stand()
        terms.begin(self.store, "default", "new")
        self.assert_silent()

    def test_who_only_keeps_managers_out_sends_none(self):
        with election.alone(self.options, self.store, ["default"], "repair"):
            self.assertEqual("no manager yet", self.heartbeat().text())
        manager = self.candidate("manager")
        manager.stand()
        manager.resign()
        self.await_last_beat()
        last = self.heartbeat().at
        with election.alone(self.options, self.store, ["default"], "repair"):
            time.sleep(0.05)
            self.assertEqual(last, self.heartbeat().at)


class FakeCoordinator:
    """One whose service fails when told to."""

    def __init__(self):
        self.fails = False
        self.beats = threading.Event()
        self.stopped = False

    def get_lock(self, _name):
        return types.SimpleNamespace(acquire=lambda blocking: self.answer(), release=self.answer)

    def heartbeat(self):
        self.beats.set()
        return self.answer()

    def stop(self):
        self.stopped = True
        self.answer()

    def answer(self):
        if self.fails:
            raise ToozError("nobody answers")
        return True


class TestService(ElectionTestCase):
    """What happens while the service that holds the locks does not answer."""

    def setUp(self):
        super().setUp()
        self.made = []
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.manager.election.connect", self.connect))

    def connect(self, _options, _name):
        self.made.append(FakeCoordinator())
        return self.made[-1]

    def test_beats_while_it_leads(self):
        self.options.lease = 0.03
        candidate = self.candidate("only")
        candidate.stand()
        [coordinator] = self.made
        self.assertTrue(coordinator.beats.wait(60))
        coordinator.fails = True
        for _beat in range(2):  # it goes on
            coordinator.beats.clear()
            self.assertTrue(coordinator.beats.wait(60))
        coordinator.fails = False
        candidate.resign()
        self.assertIn("Could not renew the lead of pool default: nobody answers", self.log.output)

    def test_connects_anew_after_trouble(self):
        candidate = self.candidate("only")
        candidate.stand()
        self.made[0].fails = True
        candidate.resign()
        self.assertTrue(self.made[0].stopped)
        self.assertIn("Could not release the lead of pool default: nobody answers", self.log.output)
        self.assertTrue(candidate.stand())
        self.assertEqual(2, len(self.made))

    def test_does_not_lead_while_it_does_not_answer(self):
        candidate = self.candidate("only")
        candidate.stand()
        candidate.resign()
        self.made[0].fails = True
        self.assertRaises(ToozError, candidate.stand)
        self.assertTrue(candidate.stand())


class TestBackends(ElectionTestCase):
    def test_unknown_ones_are_named_without_passwords(self):
        for url in ("nope://me:secret@host/", "", "zookeeper://me:secret@host"):
            self.options.backend_url = url
            error = self.assertRaises(ConfigError, self.candidate("only").stand)
            self.assertIn("[coordination]backend_url: tooz cannot use", str(error))
            self.assertNotIn("secret", str(error))


class TestAlone(ElectionTestCase):
    def alone(self, *pools):
        return election.alone(self.options, self.store, pools, "repair")

    def test_keeps_managers_from_leading(self):
        manager = self.candidate("manager", "gpu")
        with self.alone("default", "gpu"):
            self.assertFalse(manager.stand())
        self.assertTrue(manager.stand())

    def test_a_manager_keeps_it_out(self):
        self.candidate("manager", "gpu").stand()
        error = self.assertRaises(Led, self.alone("default", "gpu").__enter__)
        self.assertEqual("pool gpu is led by manager; stop it first", str(error))
        self.assertTrue(self.candidate("another").stand(), "the other pool is free again")

    def test_without_a_database(self):
        with election.alone(self.options, None, ["default"], "repair"):
            self.assertFalse(self.candidate("manager").stand())
