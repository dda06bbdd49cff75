"""Operations that come to the scheduler with the request of the boot."""

import fixtures
from nova.scheduler import utils

from tests.functional.base import BG, TwoTierTestCase


class TestMoves(TwoTierTestCase):
    """A server that asked for its tier by a hint keeps it, with all filters and weighers on."""

    HOSTS = 2
    SLOTS = 1

    def setUp(self):
        super().setUp()
        self.flags(adaba_weight_multiplier=1.0, group="twotier")
        self.flavor = self.tier_flavor(**{"twotier:tiers": "fg,bg", "twotier:mbps": "250"})
        hints = {"twotier:tier": "bg", "twotier:mbps": "100"}
        [self.server] = self.boot(hints=hints)
        self.old = self.host_of(self.server)

    def test_every_way(self):
        self.boot(2, hints={"twotier:tier": "fg"})
        self.flags(missing_reading="open", group="twotier")
        self.live_migrate(self.server)
        self.assertNotEqual(self.old, self.host_of(self.server))
        self.assertEqual(BG, self.claim_of(self.server)[1])

        self.act(self.server, "rebuild", imageRef=self.image)
        self.assertEqual(BG, self.claim_of(self.server)[1])

        self.act(self.server, "shelve", "SHELVED_OFFLOADED")
        self.assertEqual((2, 0), self.totals())
        with self.placement_reads() as reads:
            self.act(self.server, "unshelve")
        self.assertEqual(BG, self.claim_of(self.server)[1])
        ours = [url for url in reads if "required=CUSTOM_TWOTIER_BG" in url]
        self.assertEqual(1, len(ours), ours)

    def test_cold_migration(self):
        """A cold migration is reverted, confirmed or fails: the claim is where the server is."""
        self.act(self.server, "migrate", "VERIFY_RESIZE")
        self.assertEqual((0, 2), self.totals())
        self.act(self.server, "revertResize")
        self.assertEqual((self.old, BG), self.claim_of(self.server))
        self.assertEqual((0, 1), self.totals())
        self.act(self.server, "migrate", "VERIFY_RESIZE")
        self.act(self.server, "confirmResize")
        self.poll(lambda: self.totals() == (0, 1), "the old slot is free")
        new = self.host_of(self.server)
        self.assertNotEqual(self.old, new)
        driver = "nova.virt.fake.FakeDriver"
        with fixtures.MonkeyPatch(f"{driver}.migrate_disk_and_power_off", self.fail):
            self.api.post_server_action(self.server["id"], {"migrate": None})
            self.fault_of(self.server)
        self.poll(lambda: self.totals() == (0, 1), "the slot that it did not get to is free")
        self.assertEqual((new, BG), self.claim_of(self.server))

    def test_evacuation(self):
        """It holds both slots until its old host is back."""
        [service] = [
            each["id"]
            for each in self.api.get_services()
            if (each["host"], each["binary"]) == (self.old, "nova-compute")
        ]
        self.computes[self.old].stop()
        self.api.put_service(service, {"forced_down": True})
        self.api.post_server_action(self.server["id"], {"evacuate": {}})
        self.poll(lambda: self.host_of(self.server) != self.old, "it has another host")
        self.settle(self.server, "SHUTOFF")
        self.assertEqual((0, 2), self.totals())
        self.restart_compute_service(self.computes[self.old])
        self.poll(lambda: self.totals() == (0, 1), "the old slot is free")
        self.assertEqual((self.host_of(self.server), BG), self.claim_of(self.server))

    def test_rebuild_where_no_slot_is_free(self):
        """With another image the scheduler is asked, but not for a slot."""
        self.boot(2, hints={"twotier:tier": "fg"})
        self.boot(hints={"twotier:tier": "bg"}, expect="ERROR")
        other = self.glance.image2["id"]
        self.act(self.server, "rebuild", imageRef=other)
        self.assertEqual((self.old, BG), self.claim_of(self.server))
        self.assertEqual((2, 1), self.totals())
        self.assertEqual(other, self.api.get_server(self.server["id"])["image"]["id"])


class TestForgedRebuild(TwoTierTestCase):
    """The hint that Nova gives itself for a rebuild, given by a tenant."""

    HOSTS = 1
    SLOTS = 1
    FORGED = {"_nova_check_type": "rebuild"}

    def pass_hints_on(self):
        """As Nova did before it was fixed (CVE-2026-46448), which keeps such hints to itself."""
        original = utils.build_filter_properties

        def build(hints, *args):
            return original({**(hints or {}), **self.FORGED}, *args)

        name = "nova.scheduler.utils.build_filter_properties"
        return fixtures.MonkeyPatch(name, build)

    def test_refused(self):
        with self.pass_hints_on():
            [server] = self.boot(hints=self.FORGED, expect="ERROR")
        told = "Hint: _nova_check_type is for Nova's own use; leave it out"
        self.assertIn(told, self.fault_of(server))
        self.assertEqual((0, 0), self.totals())

    def test_nova_that_keeps_it_to_itself(self):
        self.boot(hints=self.FORGED)
        self.boot(hints=self.FORGED, expect="ERROR")
        self.assertEqual((1, 0), self.totals())
