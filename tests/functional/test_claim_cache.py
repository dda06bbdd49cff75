"""Claims that are followed by reading what has changed, on real Placement."""

import contextlib
import random
from unittest import mock

import fixtures

from nova_twotier.ledger import claim_cache, claims, tree
from nova_twotier.ledger.claims import Swap
from nova_twotier.ledger.placement import Conflict, PlacementError
from tests.executors import OneByOne
from tests.functional.ledger_case import BG, FG, PROJECT, USER, LedgerTestCase


class Counted:
    """A client that counts the providers that are read."""

    def __init__(self, client):
        self._client = client
        self.read = 0

    def get(self, url):
        self.read += url.endswith("/allocations")
        return self._client.get(url)


class HoldingsTestCase(LedgerTestCase):
    def setUp(self):
        super().setUp()
        self.counted = Counted(self.ledger)
        self.cache = claim_cache.ClaimCache(self.counted)
        #: Hosts of the VMs that Nova does nothing with.
        self.settled = {}

    def poll(self):
        """How many providers are read to see what there is."""
        self.counted.read = 0
        found = self.cache.poll(self.tiers, dict(self.settled))
        self.assertEqual(claims.read_claims(self.ledger, self.tiers), found)
        return self.counted.read

    def settle(self, *vms):
        for vm in vms:
            self.settled[vm] = self.held()[vm][0]


class TestReads(HoldingsTestCase):
    HOSTS = 4

    def test_what_has_changed(self):
        vms = [self.claim(host, tier) for host in range(2) for tier in (FG, BG)]
        self.settle(*vms)
        self.assertEqual(8, self.poll())
        self.assertEqual(1, self.poll(), "one, in its turn")
        new = self.claim(3, FG)
        self.assertLessEqual(self.poll(), 2)
        self.assertLessEqual(self.poll(), 2, "again, as long as Nova is at it")
        self.settle(new)
        self.assertEqual(1, self.poll())

    def test_hosts_come_and_go(self):
        self.settle(self.claim(0, FG))
        self.poll()
        there = self.tiers
        self.tiers = there[1:]
        self.assertLessEqual(self.poll(), 1)
        self.tiers = there
        self.poll()
        self.ledger.delete(f"/resource_providers/{there[3].provider[BG]}")
        self.poll()
        self.poll()
        self.tiers = ()
        self.assertEqual(0, self.poll())

    def test_each_provider_now_and_then(self):
        """Somebody takes the claim of a VM away, and Nova knows nothing of it."""
        vm = self.claim(2, BG)
        self.settle(vm)
        self.poll()
        self.delete(vm)
        with mock.patch.object(claim_cache, "RENEWAL", 4):
            for _poll in range(4):
                found = self.cache.poll(self.tiers, dict(self.settled))
        self.assertEqual({}, found)


class TestManyAtOnce(TestReads):
    """The same, where more than one provider counts as many."""

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch(f"{claim_cache.__name__}.MANY", 2))
        self.cache = claim_cache.ClaimCache(self.counted, OneByOne())

    def test_after_an_error_all_is_read(self):
        vm = self.claim(0, FG)
        self.settle(vm)
        get, self.counted.get = self.counted.get, mock.Mock(side_effect=PlacementError("away"))
        self.assertRaises(PlacementError, self.poll)
        self.counted.get = get
        self.assertEqual(8, self.poll())


class TestChanges(HoldingsTestCase):
    SLOTS = 4

    def test_whatever_happens(self):
        """Places are taken, given up, changed: what is known is always what Placement says."""
        rng = random.Random(3)
        job = self.admit(FG, 1)
        for _change in range(16):
            held = self.held()
            self.settled = {vm: host for vm, (host, _tier) in held.items()}
            self.poll()
            vm = rng.choice(sorted(held)) if held else None
            match rng.choice(("claim", "claim", "delete", "swap", "points", "vacate", "close")):
                case "claim":
                    host, tier = rng.randrange(2), rng.choice((FG, BG))
                    with contextlib.suppress(Conflict):
                        self.claim(host, tier)
                case "delete" if vm:
                    self.delete(vm)
                    del self.settled[vm]
                case "swap" if vm:
                    swap = Swap(job, 1, held[vm][1].other, (vm,))
                    with contextlib.suppress(Conflict):
                        claims.swap(self.ledger, self.tiers, [swap], PROJECT, USER)
                case "points" if vm:
                    points = {vm: rng.randrange(100)}
                    claims.set_cpu_points(self.ledger, self.tiers, points)
                case "vacate" if vm:
                    claims.vacate(self.ledger, self.tiers, [vm])
                    del self.settled[vm]
                case "close":
                    tree.set_closed(self.ledger, self.tiers[0], rng.randrange(3))
        self.poll()
