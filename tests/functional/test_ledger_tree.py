"""The provider tree on real Placement: made once, changed only where it differs."""

from nova_twotier.ledger import claims, names, tree
from nova_twotier.ledger.placement import Conflict
from tests.functional.ledger_case import BG, FG, LedgerTestCase


class TestTree(LedgerTestCase):
    TIERS = 3

    def test_twice_changes_nothing(self):
        before = self.generations()
        self.assertEqual(
            {"host0", "host1", "twotier-jobs"}
            | {f"host{n}_twotier_{tier}" for n in (0, 1) for tier in ("fg", "bg")},
            set(before),
        )
        tree.prepare(self.ledger)
        self.sync(self.SLOTS, self.TIERS)
        self.assertEqual(before, self.generations())

    def test_children(self):
        for tier, places in ((FG, 2), (BG, 4)):
            provider = self.tiers[0].provider[tier]
            entry = self.ledger.get(f"/resource_providers/{provider}")
            self.assertEqual(self.roots[0], entry["parent_provider_uuid"])
            traits = self.ledger.get(f"/resource_providers/{provider}/traits")["traits"]
            pool = names.pool_trait(names.jobs_uuid())
            self.assertEqual({names.TRAIT[tier], names.size_trait(places), pool}, set(traits))
            found = self.ledger.get(f"/resource_providers/{provider}/inventories")["inventories"]
            totals = {name: inventory["total"] for name, inventory in found.items()}
            self.assertEqual({names.SLOT: places, names.CPU: 100 * places}, totals)

    def test_hosts_in_any_order(self):
        """Each gets what it would get alone; one that Placement refuses is left out."""
        for number in range(2, 6):
            self.make_host(f"host{number}")
        shapes = {f"host{number}": tree.Shape(4, 2) for number in range(6)}
        self.ledger.post("/resource_providers", {"name": names.child_name("host3", FG)})
        hosts = tree.sync_hosts(
            self.ledger, shapes, each=lambda function, items: map(function, sorted(items)[::-1])
        )
        self.assertEqual([name for name in shapes if name != "host3"], [h.name for h in hosts])
        before = self.generations()
        self.assertEqual(hosts, tree.sync_hosts(self.ledger, shapes))
        self.assertEqual(before, self.generations(), "nothing was left to do")

    def test_host_without_provider_is_left_out(self):
        shape = tree.Shape(1, 2)
        hosts = tree.sync_hosts(self.ledger, {"host0": shape, "host9": shape})
        self.assertEqual(["host0"], [host.name for host in hosts])

    def test_growing(self):
        tree.set_closed(self.ledger, self.tiers[0], 1)
        self.tiers = self.sync(5, 2)
        self.assertEqual((5, 0), self.inventory(0, FG))
        self.assertEqual((5, 2), self.inventory(0, BG))
        tree.set_closed(self.ledger, self.tiers[0], 1)
        self.assertEqual((5, 1), self.inventory(0, BG))

    def test_shrinking_below_use(self):
        vms = {tier: [self.claim(0, tier) for _ in range(2)] for tier in (FG, BG)}
        before = self.held()
        claims.set_cpu_points(
            self.ledger, self.tiers, {vm: 80 for each in vms.values() for vm in each}
        )
        self.tiers = self.sync(1, 2)
        self.assertEqual((1, 0), self.inventory(0, FG))
        self.assertEqual(before, self.held(), "VMs stay")
        for tier in (FG, BG):
            self.assertRaises(Conflict, self.claim, 0, tier)
        # They can still be exchanged, leave, and only the last of them leaves room.
        front, back = vms[FG][0], vms[BG][0]
        swaps = [
            claims.Swap(self.admit(FG, 1), 1, BG, (front,)),
            claims.Swap(self.admit(BG, 1), 1, FG, (back,)),
        ]
        claims.swap(self.ledger, self.tiers, swaps, "project", "user")
        self.assertEqual({FG: [2, 0], BG: [2, 0]}, self.usage())
        self.ledger.delete(f"/allocations/{front}")
        self.assertRaises(Conflict, self.claim, 0, BG)
        self.ledger.delete(f"/allocations/{vms[BG][1]}")
        self.claim(0, BG)
        self.assertEqual({FG: [2, 0], BG: [1, 0]}, self.usage())

    def test_giving_up_the_background(self):
        """K = 1 while background VMs run: they stay, and no new one comes."""
        vm = self.claim(0, BG)
        claims.set_cpu_points(self.ledger, self.tiers, {vm: 40})
        self.tiers = self.sync(2, 1)
        self.assertEqual(("host0", BG), self.held()[vm])
        for host in range(self.HOSTS):
            self.assertRaises(Conflict, self.claim, host, BG)
        before = self.generations()
        self.tiers = self.sync(2, 1)
        tree.set_closed(self.ledger, self.tiers[0], 0)
        self.assertEqual(before, self.generations())
        self.ledger.delete(f"/allocations/{vm}")
        self.tiers = self.sync(2, 1)
        self.assertEqual((0, 0), self.inventory(0, BG))
        self.tiers = self.sync(2, 2)
        self.assertEqual((2, 0), self.inventory(0, BG))
        self.claim(0, BG)
