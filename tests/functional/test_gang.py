"""A job's servers are claimed all in the tier of its entry, or not at all."""

import uuid
from unittest import mock

from keystoneauth1 import exceptions as ksa_exc
from nova import utils as nova_utils
from nova.scheduler.client import report

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
        # The API that would have refused this value came later.
        with nova_utils.temporary_mutation(self.api, microversion="2.85"):
            middle = self.tier_flavor(**{"twotier:tier": "middle"})
        only_bg = self.tier_flavor(**{"twotier:tiers": "bg"})
        wrong = {
            "unknown job": {"job": str(uuid.uuid4())},
            "not a uuid": {"job": "../resource_providers"},
            "tier of the flavor": {"flavor": middle},
            "unknown tier": {"hints": {"twotier:tier": "middle"}},
            "tier that the flavor does not allow": {
                "flavor": only_bg,
                "hints": {"twotier:tier": "fg"},
            },
        }
        for what, request in wrong.items():
            [server] = self.boot(1, expect="ERROR", **request)
            fault = self.fault_of(server)
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

    def test_without_placement(self):
        """A silent Placement ends requests of ours and no others."""
        original = report.SchedulerReportClient.get

        def get(client, url, **kwargs):
            if "CUSTOM_TWOTIER" in url and "limit=" not in url:
                raise ksa_exc.ConnectFailure("no route")
            return original(client, url, **kwargs)

        job = self.admit(FG, 1)
        with mock.patch.object(report.SchedulerReportClient, "get", get):
            [server] = self.boot(1, job=job, expect="ERROR")
            fault = self.fault_of(server)
            self.assertIn("No valid host", fault)
            self.assertNotIn("no route", fault)
            self.boot(1, flavor=self._create_flavor(memory_mb=64, vcpu=1, disk=1, ephemeral=0))
        self.assertEqual((0, 0), self.totals())
        self.boot(1, job=job)


class TestWithoutManager(TwoTierTestCase):
    """A tenant's own gang: a server group, one request for N, and no entry in the ledger."""

    HOSTS = 2
    SLOTS = 2

    def setUp(self):
        super().setUp()
        group = {"name": "gang", "policy": "soft-anti-affinity"}
        self.group = self.api.post_server_groups(group)["id"]
        self.flavor = self.tier_flavor(**{"twotier:tiers": "fg,bg"})

    def test_gang(self):
        hints = {"group": self.group}
        self.boot(3, hints=hints)
        self.assertEqual((3, 0), self.totals())
        background = {**hints, "twotier:tier": "bg"}
        self.boot(3, hints=background, expect="ERROR")
        self.assertEqual((3, 0), self.totals(), "nobody has measured the foreground")
        self.flags(missing_reading="open", group="twotier")
        self.boot(3, hints=background)
        self.assertEqual((3, 3), self.totals())
        before = self.usage()
        for tier in ("fg", "bg"):
            self.boot(2, hints={**hints, "twotier:tier": tier}, expect="ERROR")
            self.assertEqual(before, self.usage())

    def test_hint_stays_with_the_server(self):
        [server] = self.boot(1, hints={"twotier:tier": "bg"})
        for action, status in (("shelve", "SHELVED_OFFLOADED"), ("unshelve", "ACTIVE")):
            self.act(server, action, status)
        self.assertEqual(BG, self.claim_of(server)[1])
        self.live_migrate(server)
        self.assertEqual((0, 1), self.totals())
