"""Two-tier requests of tenants, with no queue manager: real Nova and Placement."""

from nova_twotier.ledger import claims, names
from tests.functional.base import BG, FG, TwoTierTestCase

BOTH = {"twotier:tiers": "fg,bg"}


class TestTenants(TwoTierTestCase):
    HOSTS = 2
    SLOTS = 2

    def test_one_read_of_the_hosts(self):
        with self.placement_reads() as reads:
            gang = self.boot(3, flavor=self.tier_flavor(**BOTH), hints={"twotier:tier": "bg"})
        self.assertEqual({BG}, {self.claim_of(server)[1] for server in gang})
        ours = [url for url in reads if "required=CUSTOM_TWOTIER_BG" in url]
        self.assertEqual(1, len(ours), ours)
        entries = {url.rpartition("/")[2] for url in reads if url.startswith("/allocations/")}
        self.assertLessEqual(entries, {server["id"] for server in gang})

    def test_wrong_hints(self):
        """The server says which; nothing stays behind."""
        for hints, told in (
            ({"twotier:tier": "bg"}, "Hint: twotier:tier='bg' is wrong; allowed: fg with flavor "),
            ({"twotier:tier": ["fg", "fg"]}, "Hint: twotier:tier=['fg', 'fg'] is wrong; allowed: "),
            ({"twotier:job": "../usages"}, "Hint: twotier:job='../usages' is wrong; allowed: "),
            ({"twotier:mbps": "much"}, "Hint: twotier:mbps='much' is wrong; allowed: a number"),
            ({"twotier:dispatch": "1,1"}, "Hint: twotier:dispatch='1,1' is wrong; allowed: each "),
            ({"twotier:dispatch": "0,"}, "Hint: twotier:dispatch='0,' is wrong; allowed: each "),
        ):
            [server] = self.boot(hints=hints, expect="ERROR")
            fault = self.api.get_server(server["id"])["fault"]["message"]
            self.assertIn(f"No valid host was found. {told}", fault)
        self.assertEqual((0, 0), self.totals())


class TestThreshold(TwoTierTestCase):
    HOSTS = 2
    SLOTS = 1

    def back(self, **options):
        return self.boot(flavor=self.tier_flavor(**{"twotier:tier": "bg"}), **options)

    def test_background_beside_what_is_known(self):
        """Closed: no reading, and a hot one; open: a cool one, and a slot with no foreground."""
        fronts = self.boot(2)
        self.back(expect="ERROR")
        points = {fronts[0]["id"]: 96, fronts[1]["id"]: 95}
        claims.set_cpu_points(self.ledger, self.tiers, points)
        [server] = self.back()
        self.assertEqual(self.host_of(fronts[1]), self.host_of(server))
        self.back(expect="ERROR")
        self.delete(fronts[:1])
        self.back()
        self.assertEqual((1, 2), self.totals())

    def test_points_that_the_flavor_declares(self):
        """Without a queue manager: Nova's own claim carries them, on the provider of the slot."""
        cool, hot = (self.tier_flavor(**{f"resources:{names.CPU}": n}) for n in ("60", "96"))
        [first] = self.boot(flavor=cool)
        [second] = self.boot(flavor=hot)
        back = {"twotier:tier": "bg", f"resources:{names.CPU}": "30"}
        [server] = self.boot(flavor=self.tier_flavor(**back))
        self.assertEqual(self.host_of(first), self.host_of(server))
        points = {
            vm: (claim.host, claim.tier, claim.cpu_points)
            for vm, [claim] in claims.read_claims(self.ledger, self.tiers).items()
        }
        expected = {
            first["id"]: (self.host_of(first), FG, 60),
            second["id"]: (self.host_of(second), FG, 96),
            server["id"]: (self.host_of(server), BG, 30),
        }
        self.assertEqual(expected, points)
        self.back(expect="ERROR")
        self.settle(server)
        self.delete([first])
        self.assertEqual((1, 1), self.totals())

    def test_points_that_no_vm_can_use(self):
        for points in ("101", "0"):
            self.boot(flavor=self.tier_flavor(**{f"resources:{names.CPU}": points}), expect="ERROR")
        self.assertEqual((0, 0), self.totals())

    def test_missing_reading_is_open(self):
        self.flags(missing_reading="open", group="twotier")
        self.boot(2)
        self.back()
        self.assertEqual((2, 1), self.totals())
