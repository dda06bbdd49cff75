"""When a pool has no manager, and how that is said."""

from datetime import UTC, datetime, timedelta

import fixtures
import testtools

from nova_twotier.conf.manager import list_opts
from nova_twotier.db.heartbeats import LONGEST_POLL, heartbeats
from nova_twotier.db.models import Leader
from tests.new_databases import new_store

NOW = datetime(2026, 11, 24, 7, 30, tzinfo=UTC)


class TestHeartbeats(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.store = new_store(
            self, f"sqlite:///{self.useFixture(fixtures.TempDir()).path}/queue.sqlite"
        )

    def beat(self, ago, pool="default"):
        at = None if ago is None else (NOW - ago).timestamp()
        with self.store.transaction() as session:
            session.merge(Leader(pool=pool, name="m", term=1, since=0.0, renewed_at=at))

    def of(self, *pools):
        return heartbeats(self.store, pools, 10, NOW.timestamp())

    def text(self):
        return self.of("default")["default"].text()

    def test_in_time(self):
        for seconds in (0, 29, -5):  # clocks differ a little
            self.beat(timedelta(seconds=seconds))
            self.assertEqual("running", self.text(), seconds)

    def test_missing(self):
        for ago, said in (
            (timedelta(seconds=30), "no manager since 2026-11-24T07:29:30Z"),
            (timedelta(minutes=62), "no manager since 2026-11-24T06:28:00Z"),
            (timedelta(days=365), "no manager since 2025-11-24T07:30:00Z"),
        ):
            self.beat(ago)
            self.assertEqual(said, self.text())

    def test_never(self):
        self.assertEqual("no manager yet", self.text())
        self.beat(None)  # only an earlier release
        self.assertEqual("no manager yet", self.text())

    def test_one_that_hangs_in_a_poll(self):
        for ago, since, said in (
            (119, 600, "running"),
            (120, 600, "the manager has not finished a poll since 2026-11-24T07:28:00Z"),
            (86400, 90000, "the manager has not finished a poll since 2026-11-23T07:30:00Z"),
            (500, 400, "running"),  # that was the leader before
        ):
            at = NOW.timestamp()
            leader = Leader(pool="default", name="m", term=1, renewed_at=at)
            leader.since, leader.polled_at = at - since, at - ago
            with self.store.transaction() as session:
                session.merge(leader)
            self.assertEqual(said, self.text())

    def test_one_that_polls_as_seldom_as_may_be_does_not_hang(self):
        [interval] = [
            each
            for _group, options in list_opts()
            for each in options
            if each.name == "poll_interval"
        ]
        self.assertLess(interval.type.max + 30, LONGEST_POLL)

    def test_each_pool_has_its_own(self):
        self.beat(timedelta(hours=1), "gpu")
        self.beat(timedelta(0))
        self.beat(timedelta(0), "fpga")
        found = self.of("default", "gpu")
        self.assertEqual({"default": False, "gpu": True}, {p: b.missing for p, b in found.items()})
