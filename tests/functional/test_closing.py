"""Closed slots: Placement itself refuses what they withhold, with our filter or without it."""

from unittest import mock

from nova_twotier.filters.tier_filter import TierFilter
from nova_twotier.ledger import tree
from tests.functional.base import BG, FG, TwoTierTestCase


class TestClosing(TwoTierTestCase):
    HOSTS = 2
    SLOTS = 1

    def close(self, *slots):
        for host, count in zip(self.tiers, slots, strict=True):
            tree.set_closed(self.ledger, host, count)

    def test_refuses_until_reopened(self):
        self.close(1, 0)
        _job, [server] = self.boot_job(BG, 1)
        self.assertEqual({FG: [0, 0], BG: [0, 1]}, self.usage())
        self.boot(1, job=self.admit(BG, 1), expect="ERROR")
        self.boot(1, job=self.admit(BG, 1), host="host0", expect="ERROR")

        self.close(1, 1)
        self.assertEqual(("host1", BG), self.claim_of(server))
        self.settle(server)
        self.boot_job(FG, 2)
        self.assertEqual({FG: [1, 1], BG: [0, 1]}, self.usage())

        self.close(0, 1)
        self.live_migrate(server)
        self.assertEqual(("host0", BG), self.claim_of(server))
        self.boot(1, job=self.admit(BG, 1), expect="ERROR")
        self.close(0, 0)
        self.boot_job(BG, 1)
        self.assertEqual({FG: [1, 1], BG: [1, 1]}, self.usage())

    def test_refuses_without_the_filter(self):
        """`az:host` skips all filters; what is left for the background VM is a closed place."""
        self.close(1, 0)
        self.boot(1, job=self.admit(FG, 1), host="host0")
        job = self.admit(BG, 1)
        self.boot(1, job=job, availability_zone="nova:host0", expect="ERROR")
        self.assertEqual({FG: [1, 0], BG: [0, 0]}, self.usage())
        self.close(0, 0)
        self.boot(1, job=job, availability_zone="nova:host0")
        self.assertEqual({FG: [1, 0], BG: [1, 0]}, self.usage())

    def test_refuses_what_the_filter_has_passed(self):
        """A slot that closes between the scheduler's read and its claim."""
        job = self.admit(BG, 1)
        original = TierFilter.filter_all
        passed = []

        def filter_then_close(plugin, hosts, spec):
            kept = list(original(plugin, hosts, spec))
            passed.append({host.host for host in kept})
            self.close(1, 1)
            return kept

        with mock.patch.object(TierFilter, "filter_all", filter_then_close):
            self.boot(1, job=job, expect="ERROR")
        self.assertEqual({"host0", "host1"}, passed[0])
        self.assertEqual((0, 0), self.totals())
