"""A job's servers are claimed all in the tier of its entry, or not at all."""

import uuid

from tests.functional.base import BG, FG, TwoTierTestCase


class TestGang(TwoTierTestCase):
    HOSTS = 2
    SLOTS = 4

    def tiers_of(self, servers):
        return {self.claim_of(server)[1] for server in servers}

    def test_tier_of_the_entry(self):
        with self.placement_reads() as reads:
            job, servers = self.boot_job(FG, 3)
        self.assertEqual({FG}, self.tiers_of(servers))
        self.assertEqual((3, 0), self.totals())
        self.assertEqual(1, reads.count(f"/allocations/{job}"))
        ours = [url for url in reads if url.endswith("resources=CUSTOM_TWOTIER_SLOT:1")]
        self.assertEqual(1, len(ours))

        _job, servers = self.boot_job(BG, 5)
        self.assertEqual({BG}, self.tiers_of(servers))
        self.assertEqual((3, 5), self.totals())

    def test_tier_of_the_flavor(self):
        self.boot(1, flavor=self.tier_flavor(**{"twotier:tier": "bg"}))
        self.assertEqual((0, 1), self.totals())
        self.boot(1, flavor=self.tier_flavor(**{"twotier:tier": "fg"}))
        self.assertEqual((1, 1), self.totals())
        self.boot(1)
        self.assertEqual((2, 1), self.totals())

    def test_entry_goes_before_flavor(self):
        job = self.admit(FG, 1)
        self.boot(1, flavor=self.tier_flavor(**{"twotier:tier": "bg"}), job=job)
        self.assertEqual((1, 0), self.totals())

    def test_no_host_for_a_wrong_request(self):
        wrong = {
            "unknown job": {"job": str(uuid.uuid4())},
            "not a uuid": {"job": "../resource_providers"},
            "tier of the flavor": {"flavor": self.tier_flavor(**{"twotier:tier": "middle"})},
        }
        for what, request in wrong.items():
            [server] = self.boot(1, expect="ERROR", **request)
            fault = server["fault"]["message"]
            self.assertEqual("No valid host was found. ", fault[:25], f"{what}: {fault}")
            self.assertEqual((0, 0), self.totals(), what)

    def test_refused_whole(self):
        self.boot_job(FG, 1)
        self.boot_job(BG, 1)
        before = self.usage()
        for tier in (FG, BG):
            job = self.admit(tier, 8)
            self.boot(8, expect="ERROR", job=job)
            self.assertEqual(before, self.usage())
        self.boot_job(FG, 7)
        self.boot_job(BG, 7)
        self.assertEqual({FG: [4, 4], BG: [4, 4]}, self.usage())
