"""Closed slots: Placement itself refuses what they withhold, with our filter or without it."""

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
