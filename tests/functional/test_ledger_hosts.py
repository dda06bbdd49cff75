"""Hosts that join, change and leave while VMs run on them, on real Placement."""

from nova_twotier.ledger import claims, names, providers, tree
from nova_twotier.ledger.placement import Conflict, Placement, PlacementError
from tests.functional.ledger_case import BG, FG, LedgerTestCase, Overtaken


class Counting(Placement):
    """Counts the requests that a client makes."""

    def __init__(self, client):
        self._adapter = client._adapter
        self.requests = []

    def _request(self, method, url, body=None):
        self.requests.append(f"{method} {url}")
        return super()._request(method, url, body)


class Dying(Placement):
    """Its process dies after so many writes."""

    def __init__(self, client, writes):
        self._adapter = client._adapter
        self.writes = writes

    def put(self, url, body=None):
        if not self.writes and "/traits/" not in url:
            raise KeyboardInterrupt
        self.writes -= "/traits/" not in url
        return super().put(url, body)


class TestLeaving(LedgerTestCase):
    def provider_names(self):
        return set(self.generations())

    def test_unused_host(self):
        tree.set_closed(self.ledger, self.tiers[1], 1)
        [left] = self.sync(2, 2, hosts=[0])
        self.assertEqual("host0", left.name)
        self.assertEqual(
            {"host0", "host0_twotier_fg", "host0_twotier_bg", "host1", "twotier-jobs"},
            self.provider_names(),
        )

    def test_host_with_vms(self):
        vms = [self.claim(1, FG), self.claim(1, BG)]
        self.tiers = self.sync(2, 2, hosts=[0])
        self.assertEqual([False, True], [host.leaving for host in self.tiers])
        self.assertEqual(tree.Shape(2, 2), self.tiers[1].shape)
        self.assertEqual({vms[0]: ("host1", FG), vms[1]: ("host1", BG)}, self.held())
        for tier in (FG, BG):
            self.assertRaises(Conflict, self.claim, 1, tier)
        # What is there may still be exchanged, and its CPU points said.
        jobs = [self.admit(FG, 1), self.admit(BG, 1)]
        swaps = [
            claims.Swap(job, 1, tier, (vm,))
            for job, vm, tier in zip(jobs, vms, (BG, FG), strict=True)
        ]
        claims.swap(self.ledger, self.tiers, swaps, "project", "user")
        claims.set_cpu_points(self.ledger, self.tiers, {vms[0]: 80})
        self.assertEqual(80, self.points(vms[0]))
        tree.set_closed(self.ledger, self.tiers[1], 0)
        before = self.generations()
        self.assertEqual(self.tiers, self.sync(2, 2, hosts=[0]))
        self.assertEqual(before, self.generations())
        self.assertRaises(Conflict, self.claim, 1, BG)
        # Both tiers stay until the last VM has left.
        self.delete(vms[0])
        self.assertEqual(2, len(self.sync(2, 2, hosts=[0])))
        self.assertIn("host1_twotier_bg", self.provider_names())
        self.delete(vms[1])
        self.assertEqual(1, len(self.sync(2, 2, hosts=[0])))
        self.assertNotIn("host1_twotier_fg", self.provider_names())

    def test_coming_back(self):
        vm = self.claim(1, FG)
        tree.set_closed(self.ledger, self.tiers[1], 1)
        self.sync(2, 2, hosts=[0])
        self.assertRaises(Conflict, self.claim, 1, FG)
        self.tiers = self.sync(2, 2)
        self.assertEqual([False, False], [host.leaving for host in self.tiers])
        self.assertEqual({vm: ("host1", FG)}, self.held())
        for tier, room in ((FG, 1), (BG, 2)):
            for _place in range(room):
                self.claim(1, tier)
            self.assertRaises(Conflict, self.claim, 1, tier)

    def test_coming_back_in_another_shape(self):
        self.claim(1, FG)
        self.sync(2, 2, hosts=[0])
        self.tiers = self.sync(1, 3)
        self.assertEqual((1, 0), self.inventory(1, FG))
        self.assertEqual((2, 0), self.inventory(1, BG))
        self.assertRaises(Conflict, self.claim, 1, FG)

    def test_coming_back_after_all_was_gone(self):
        self.sync(2, 2, hosts=[])
        self.assertEqual({"host0", "host1", "twotier-jobs"}, self.provider_names())
        self.tiers = self.sync(2, 2)
        self.claim(1, BG)
        self.assertEqual({FG: [0, 0], BG: [0, 1]}, self.usage())

    def test_claims_of_a_host_that_somebody_else_took_away(self):
        """The manager's tree is as old as its last poll at the aggregates."""
        vm = self.claim(0, FG)
        self.sync(2, 2, hosts=[0])
        self.assertEqual({vm: ("host0", FG)}, self.held())


class TestChanging(LedgerTestCase):
    def test_growing_after_shrinking_below_use(self):
        vms = [self.claim(0, FG) for _ in range(2)]
        self.tiers = self.sync(1, 2)
        self.assertRaises(Conflict, self.claim, 0, FG)
        self.tiers = self.sync(3, 2)
        vms.append(self.claim(0, FG))
        self.assertRaises(Conflict, self.claim, 0, FG)
        self.assertEqual(set(vms), set(self.held()))

    def test_background_given_up_and_taken_up_again(self):
        """Also while a VM is there all the time, no place stays withheld."""
        vm = self.claim(0, BG)
        self.tiers = self.sync(2, 1)
        self.assertRaises(Conflict, self.claim, 0, BG)
        self.tiers = self.sync(2, 2)
        self.assertEqual((2, 0), self.inventory(0, BG))
        self.claim(0, BG)
        self.assertEqual({FG: [0, 0], BG: [2, 0]}, self.usage())
        self.assertIn(vm, self.held())

    def test_points_without_room(self):
        """A host shrunk below its use has fewer points than its VMs use: the others get theirs."""
        vms = [self.claim(0, FG) for _ in range(2)]
        other = self.claim(1, FG)
        self.tiers = self.sync(1, 2)
        points = dict.fromkeys([*vms, other], 70)
        claims.set_cpu_points(self.ledger, self.tiers, points)
        self.assertEqual(70, self.points(other))
        self.assertEqual([0, 70], sorted(self.points(vm) for vm in vms))

    def test_mends_what_was_changed_by_hand(self):
        provider = self.tiers[0].provider[FG]
        url = f"/resource_providers/{provider}/inventories"
        current = self.ledger.get(url)
        self.ledger.put(
            f"{url}/{names.SLOT}",
            {"resource_provider_generation": current["resource_provider_generation"], "total": 9},
        )
        tree.sync_hosts(self.ledger, {host.name: host.shape for host in self.tiers}, thorough=True)
        self.assertEqual((2, 0), self.inventory(0, FG))

    def test_thorough_with_a_size_that_there_was_not(self):
        tree.sync_hosts(self.ledger, {"host0": tree.Shape(3, 2)}, thorough=True)
        self.assertEqual((3, 0), self.inventory(0, FG))

    def test_a_name_too_long_for_what_is_named_after_it(self):
        """The others are not kept waiting for it."""
        longest = "h" * names.LONGEST_HOST
        for name in (longest, f"{longest}h"):
            self.make_host(name)
        shape = tree.Shape(2, 2, uplinks=(1000,))
        shapes = dict.fromkeys(("host0", longest, f"{longest}h"), shape)
        found = tree.sync_hosts(self.ledger, shapes)
        self.assertEqual([longest, "host0"], [host.name for host in found if not host.leaving])


class TestRequests(LedgerTestCase):
    def requests(self, slots, hosts=None):
        ledger = Counting(self.ledger)
        shape = tree.Shape(slots, 2, "core/r1", (100, 1000))
        hosts = range(len(self.roots)) if hosts is None else hosts
        tree.sync_hosts(ledger, {f"host{number}": shape for number in hosts})
        return ledger.requests

    def test_unchanged_hosts_cost_nothing(self):
        self.requests(2)
        few = self.requests(2)
        self.roots += [self.make_host(f"host{number}") for number in range(2, 6)]
        self.requests(2)
        self.assertEqual(few, self.requests(2))
        # All providers; and who is of size 2 (children), 100 (hosts' links), 1000 (the switch's),
        # and of the pool.
        self.assertEqual(9, len(few), few)

    def test_a_joining_host(self):
        self.requests(2)
        before = len(self.requests(2))
        self.roots.append(self.make_host("host2"))
        children_and_link = 3
        made = self.requests(2)[before:]
        self.assertLessEqual(len(made), 5 * children_and_link, made)

    def test_a_changed_host(self):
        self.requests(2)
        before = len(self.requests(2))
        tree.sync_hosts(self.ledger, {})
        self.requests(2)
        changed = self.requests(3)
        self.assertLessEqual(len(changed) - before, 5 * 2 * self.HOSTS, changed)

    def test_one_host_does_not_stop_the_others(self):
        """Somebody has taken the name of its provider."""
        self.ledger.post("/resource_providers", {"name": "host2_twotier_bg"})
        self.roots += [self.make_host("host2"), self.make_host("host3")]
        shape = tree.Shape(2, 2)
        hosts = tree.sync_hosts(self.ledger, {f"host{number}": shape for number in range(4)})
        self.assertEqual(["host0", "host1", "host3"], [host.name for host in hosts])


class TestInterrupted(LedgerTestCase):
    """A sync that dies on the way, or meets others, leaves nothing that the next one believes."""

    def expect(self, slots, tiers):
        self.tiers = self.sync(slots, tiers)
        self.assertEqual([(slots, 0)] * 2, [self.inventory(host, FG) for host in (0, 1)])
        background = slots * (tiers - 1)
        self.assertEqual([(background, 0)] * 2, [self.inventory(host, BG) for host in (0, 1)])
        before = self.generations()
        self.sync(slots, tiers)
        self.assertEqual(before, self.generations())

    def interrupt(self, hosts, slots, tiers):
        """Sync anew for each number of writes before its death, and come back to what was."""
        shape = tree.Shape(slots, tiers)
        for writes in range(40):
            ledger = Dying(self.ledger, writes)
            try:
                tree.sync_hosts(ledger, {f"host{number}": shape for number in hosts})
            except KeyboardInterrupt:
                self.expect(2, 2)
            else:
                self.expect(2, 2)
                return writes
        raise AssertionError("does not end")

    def test_change(self):
        self.assertGreater(self.interrupt((0, 1), 3, 3), 8)

    def test_leaving(self):
        vms = [self.claim(0, FG), self.claim(0, BG)]
        self.assertGreater(self.interrupt((1,), 2, 2), 2)
        self.assertEqual(set(vms), set(self.held()))

    def test_giving_up_the_background(self):
        self.claim(0, BG)
        self.assertGreater(self.interrupt((0, 1), 2, 1), 4)

    def test_claims_meanwhile(self):
        """Claims make the sync's reads old: it reads again, and both effects stay."""
        vms = []
        ledger = Overtaken(self.ledger, lambda _n: vms.append(self.claim(0, FG)), times=2)
        tree.sync_hosts(ledger, {f"host{number}": tree.Shape(3, 2) for number in (0, 1)})
        self.assertEqual(set(vms), set(self.held()))
        self.expect(3, 2)

    def test_two_writers_of_one_provider(self):
        """Both close slots: the later wins, and its inventory is whole."""
        ledger = Overtaken(
            self.ledger, lambda _n: tree.set_closed(self.ledger, self.tiers[0], 2), times=1
        )
        tree.set_closed(ledger, self.tiers[0], 1)
        self.assertEqual((2, 1), self.inventory(0, BG))

    def test_two_who_make_the_same_host(self):
        self.sync(2, 2, hosts=[])
        ledger = Overtaken(self.ledger, lambda _n: self.sync(2, 2), times=9)
        tree.sync_hosts(ledger, {f"host{number}": tree.Shape(2, 2) for number in (0, 1)})
        self.expect(2, 2)

    def test_refusal_is_not_repeated(self):
        self.assertRaises(
            PlacementError, providers.create, self.ledger, providers.Provider("no uuid", "x", "", 1)
        )
