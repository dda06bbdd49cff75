"""What preemption frees and keeps, and where a server comes back to."""

from nova_twotier.ledger import claims
from tests.functional.base import BG, FG, TwoTierTestCase


class TestShelve(TwoTierTestCase):
    HOSTS = 2
    SLOTS = 1

    def test_comes_back_in_the_tier_of_the_entry(self):
        job, [server] = self.boot_job(FG, 1)
        claims.set_cpu_points(self.ledger, self.tiers, {server["id"]: 70})
        for tier in (BG, FG):
            self.act(server, "shelve", "SHELVED_OFFLOADED")
            self.assertEqual((0, 0), self.totals())
            self.assertEqual({FG: [0, 0], BG: [0, 0]}, self.usage("CUSTOM_TWOTIER_CPU"))
            self.admit(tier, 1, job)
            self.act(server, "unshelve")
            self.assertEqual(tier, self.claim_of(server)[1])
            self.assertEqual((1, 0) if tier is FG else (0, 1), self.totals())

    def test_stays_shelved_without_room(self):
        job, [server] = self.boot_job(BG, 1)
        self.act(server, "shelve", "SHELVED_OFFLOADED")
        self.boot_job(FG, 2)
        self.admit(FG, 1, job)
        self.api.post_server_action(server["id"], {"unshelve": None})
        self.settle(server, "SHELVED_OFFLOADED")
        self.assertEqual((2, 0), self.totals())
        self.admit(BG, 1, job)
        self.act(server, "unshelve")
        self.assertEqual((2, 1), self.totals())

    def test_deleted_while_shelved(self):
        _job, [server] = self.boot_job(FG, 1)
        self.act(server, "shelve", "SHELVED_OFFLOADED")
        self.delete([server])
        self.assertEqual({"allocations": {}}, self.ledger.get(f"/allocations/{server['id']}"))
        self.assertEqual((0, 0), self.totals())


class TestOnTheHost(TwoTierTestCase):
    HOSTS = 1
    SLOTS = 1

    def test_keeps_its_claim(self):
        """Pause, suspend and stop leave the slot with the server, in the tier it has."""
        job, [server] = self.boot_job(BG, 1)
        self.admit(FG, 1, job)
        pairs = (
            ("pause", "PAUSED", "unpause"),
            ("suspend", "SUSPENDED", "resume"),
            ("os-stop", "SHUTOFF", "os-start"),
        )
        for action, status, back in pairs:
            self.act(server, action, status)
            self.assertEqual((0, 1), self.totals(), action)
            self.act(server, back)
            self.assertEqual(("host0", BG), self.claim_of(server), back)
