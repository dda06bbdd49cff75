"""What the log of a standby manager says of the leader."""

import fixtures
import testtools

from nova_twotier.db import terms
from nova_twotier.db.models import Leader
from nova_twotier.manager.standby import LOOKS, Standby
from tests.new_databases import new_store

LEASE = 10.0
NOW = 1_000_000.0
STANDING = "INFO Standing by: pool default is led by a:1"
SILENT = (
    "WARNING Pool default: no manager since 1970-01-12T13:45:00Z, but a:1 still holds the lead, so "
    "that this manager cannot take over. If that process is stopped or hangs, end it"
)


class TestStandby(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(format="%(levelname)s %(message)s"))
        self.store = new_store(self)
        terms.begin(self.store, "default", "a:1")
        self.standby = Standby(self.store, "default", LEASE)

    def beat(self, at):
        with self.store.transaction() as session:
            leader = session.get(Leader, "default")
            leader.renewed_at = at

    def look(self, times=1, leader="a:1", again=False):
        """What the log says of so many looks."""
        before = len(self.log.output)
        for _look in range(times):
            self.standby.follow(leader, NOW, again=again)
        return self.log.output[before:].splitlines()

    def test_a_leader_that_sends_heartbeats(self):
        self.beat(NOW - 1.0)
        self.assertEqual([STANDING], self.look(10))
        self.assertEqual([STANDING], self.look(again=True))
        self.assertEqual([STANDING.replace("a:1", "b:2")], self.look(10, "b:2"))

    def test_one_that_sends_none(self):
        self.beat(NOW - 100.0)
        self.assertEqual([STANDING], self.look(LOOKS - 1))
        self.assertEqual([SILENT], self.look(10))
        self.beat(NOW - 1.0)
        self.assertEqual([STANDING], self.look(10))
        self.beat(NOW - 100.0)
        self.assertEqual([SILENT], self.look(10))

    def test_one_that_has_just_taken_the_lead(self):
        """Managers that start together, long after the last one has ended."""
        self.beat(NOW - 100.0)
        self.assertEqual([STANDING], self.look(LOOKS - 1))
        self.beat(NOW - 1.0)
        self.assertEqual([], self.look(10))

    def test_none_has_ever_sent_any(self):
        self.beat(None)
        self.assertEqual([STANDING], self.look(10))

    def test_looks_are_counted_from_the_end_of_its_own_lead(self):
        self.beat(NOW - 100.0)
        self.look(LOOKS - 1)
        self.standby.lead()
        self.assertEqual([STANDING], self.look(LOOKS - 1))
