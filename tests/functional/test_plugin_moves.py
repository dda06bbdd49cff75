"""Operations that come to the scheduler with the request of the boot."""

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

    def test_rebuild_where_no_slot_is_free(self):
        """With another image the scheduler is asked, but not for a slot."""
        self.boot(2, hints={"twotier:tier": "fg"})
        self.boot(hints={"twotier:tier": "bg"}, expect="ERROR")
        other = self.glance.image2["id"]
        self.act(self.server, "rebuild", imageRef=other)
        self.assertEqual((self.old, BG), self.claim_of(self.server))
        self.assertEqual((2, 1), self.totals())
        self.assertEqual(other, self.api.get_server(self.server["id"])["image"]["id"])
