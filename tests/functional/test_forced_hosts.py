"""Servers that name their host: forced ones skip the filters, so that only Placement is asked."""

from nova.tests.functional.api import client

from tests.functional.base import BG, FG, TwoTierTestCase

FORCED = {"availability_zone": "nova:host0"}


class TestTraits(TwoTierTestCase):
    """A flavor that requires the trait of a tier gets no slot of the other one."""

    HOSTS = 1
    SLOTS = 1

    def flavor_of(self, tier):
        return self.tier_flavor(
            **{
                "twotier:tier": tier,
                "twotier:tiers": tier,
                f"trait:CUSTOM_TWOTIER_{tier.upper()}": "required",
            }
        )

    def setUp(self):
        super().setUp()
        self.flags(missing_reading="open", group="twotier")

    def tier_of(self, flavor, **options):
        [server] = self.boot(flavor=flavor, **options)
        return self.claim_of(server)[1], server

    def test_without_a_trait_another_tier_may_be_taken(self):
        """The reason for the rest: with the filters passed by, each of the two tiers is used."""
        low = self.tier_flavor(**{"twotier:tier": "bg", "twotier:tiers": "bg"})
        tiers = {self.tier_of(low, **FORCED)[0] for _server in range(2)}
        self.assertEqual({FG, BG}, tiers)

    def test_forced(self):
        for tier in (FG, BG):
            flavor = self.flavor_of(tier)
            self.assertEqual(tier, self.tier_of(flavor, **FORCED)[0])
            self.boot(flavor=flavor, expect="ERROR", **FORCED)
        self.assertEqual((1, 1), self.totals())

    def test_scheduled_and_moved(self):
        """Nor is anything in the way where the filters are asked."""
        for tier in (FG, BG):
            flavor = self.flavor_of(tier)
            found, server = self.tier_of(flavor)
            self.assertEqual(tier, found)
            self.act(server, "shelve", "SHELVED_OFFLOADED")
            self.act(server, "unshelve")
            self.assertEqual(tier, self.claim_of(server)[1])
            self.boot(flavor=flavor, expect="ERROR")

    def test_host_by_its_field(self):
        """Of microversion 2.74: it asks the filters."""
        low = self.tier_flavor(**{"twotier:tier": "bg", "twotier:tiers": "bg"})
        self.assertEqual(BG, self.tier_of(low, host="host0")[0])
        self.boot(flavor=low, host="host0", expect="ERROR")
        jobs_only = self.tier_flavor(**{"twotier:jobs_only": "true"})
        [server] = self.boot(flavor=jobs_only, host="host0", expect="ERROR")
        self.assertIn("is for jobs of the queue manager only", self.fault_of(server))


class TestPolicy(TwoTierTestCase):
    """The rule that doc/operator/plugin.md gives for Nova's policy.yaml."""

    HOSTS = 1
    SLOTS = 1

    def setUp(self):
        super().setUp()
        rules = {"os_compute_api:servers:create:forced_host": "!"}
        self.policy.set_rules(rules, overwrite=False)

    def test_nobody_forces_a_host(self):
        error = self.assertRaises(client.OpenStackApiException, self.boot, **FORCED)
        self.assertEqual(403, error.response.status_code)
        self.assertIn("os_compute_api:servers:create:forced_host", str(error))
        self.assertEqual((0, 0), self.totals())

    def test_the_field_names_it_still(self):
        [server] = self.boot(host="host0")
        self.assertEqual("host0", self.host_of(server))
