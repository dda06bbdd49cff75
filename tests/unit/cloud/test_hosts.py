"""When the manager looks at aggregates, and what it says again of hosts that changed."""

import types

import fixtures
import testtools

from nova_twotier.cloud.compute_hosts import ComputeHost
from nova_twotier.cloud.hosts import Hosts
from nova_twotier.core.actions import Tier
from nova_twotier.ledger.tree import Shape, TierHost

INTERVAL = 10.0


def tier_host(name, slots=2, leaving=False, pool="default"):
    shape = Shape(slots, 2, pool=pool)
    return TierHost(name, shape, {tier: f"{name}-{tier}" for tier in Tier}, leaving)


class TestHosts(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.prepared = []
        self.syncs = []
        self.closings = []
        self.logger = self.useFixture(fixtures.FakeLogger())
        self.tree = []
        for name, fake in (
            ("prepare", lambda _placement, pools: self.prepared.append(pools)),
            ("sync_hosts", self.sync),
            ("set_closed", lambda _placement, host, n: self.closings.append((host.name, n))),
        ):
            self.useFixture(fixtures.MonkeyPatch(f"nova_twotier.ledger.tree.{name}", fake))
        self.found = {}
        self.flavors = {}
        cloud = types.SimpleNamespace(
            check=lambda: None, hosts=lambda: self.found, limited_flavors=lambda: self.flavors
        )
        self.hosts = Hosts(cloud, None, INTERVAL)
        self.now = 0.0

    def sync(self, _placement, shapes):
        self.syncs.append(shapes)
        return self.tree

    def poll(self, tree, slots=2, disabled=()):
        """The aggregates have what of the tree is not leaving; the next poll is due."""
        self.tree = [tier_host(name, slots) if isinstance(name, str) else name for name in tree]
        self.found = {
            host.name: ComputeHost(host.shape, host.name not in disabled)
            for host in self.tree
            if not host.leaving
        }
        self.now += INTERVAL
        return self.hosts.refresh(self.now)

    def test_flavors_are_read_with_the_hosts(self):
        self.poll("ab")
        self.assertEqual({}, self.hosts.limited_flavors)
        self.flavors = {"low": (Tier.BG,)}
        self.hosts.refresh(self.now + 1)
        self.assertEqual({}, self.hosts.limited_flavors)
        self.assertFalse(self.poll("ab"), "the hosts are as they were")
        self.assertEqual({"low": (Tier.BG,)}, self.hosts.limited_flavors)

    def test_since_when_a_host_is_down(self):
        """Nobody knows what it was while nobody looked."""
        self.poll("ab")
        self.found["a"] = ComputeHost(self.found["a"].shape, enabled=False, up=False)
        for now, since in ((20.0, 20.0), (80.0, 20.0), (140.1, 140.1), (150.1, 140.1)):
            self.hosts.refresh(now)
            self.assertEqual({"a": since}, self.hosts.down)

    def test_only_changes_are_written(self):
        self.assertTrue(self.poll("ab"))
        self.assertFalse(self.poll("ab"))
        self.assertEqual(1, len(self.syncs))
        self.assertTrue(self.poll("ab", slots=3))
        self.assertTrue(self.poll("ab", slots=3, disabled="b"))
        self.assertEqual({"a"}, self.hosts.enabled)

    def test_not_too_often(self):
        self.poll("ab")
        self.found = {}
        self.assertFalse(self.hosts.refresh(self.now + INTERVAL / 2))

    def test_sooner_when_told(self):
        self.poll("ab")
        self.found = {}
        self.hosts.expire()
        self.tree = []
        self.assertTrue(self.hosts.refresh(self.now + INTERVAL / 2))
        self.assertFalse(self.hosts.refresh(self.now + INTERVAL / 2))

    def test_hosts_of_other_pools(self):
        """They are kept in the ledger by whoever looks, but not shown."""
        self.assertTrue(self.poll(["a", tier_host("b", pool="gpu")]))
        self.assertEqual([{"default", "gpu"}], self.prepared)
        self.assertEqual({"a", "b"}, set(self.syncs[0]))
        self.assertEqual(["a"], [host.name for host in self.hosts.tree])
        self.assertEqual({"a"}, self.hosts.enabled)
        self.assertEqual({"default", "gpu"}, self.hosts.pools)
        # What changes there is no news here.
        self.assertFalse(self.poll(["a", tier_host("b", pool="gpu", slots=4)]))
        self.assertFalse(self.poll(["a", tier_host("b", pool="gpu", slots=4)], disabled="b"))
        self.assertEqual(2, len(self.syncs))
        self.assertEqual(1, len(self.prepared))
        # It comes to this pool, and goes again.
        self.assertTrue(self.poll("ab"))
        self.hosts.close({"a": 1, "b": 1})
        self.assertTrue(self.poll(["a", tier_host("b", pool="gpu")]))
        self.assertEqual({"a"}, self.hosts.enabled)
        self.assertTrue(self.poll("ab"))
        self.hosts.close({"a": 1, "b": 1})
        self.assertEqual([("a", 1), ("b", 1), ("b", 1)], self.closings)

    def test_again_while_a_host_is_missing(self):
        self.poll("a")
        self.found["b"] = ComputeHost(Shape(2, 2), True)
        for _poll in range(2):
            self.now += INTERVAL
            self.hosts.refresh(self.now)
        self.assertEqual(3, len(self.syncs))

    def test_again_while_a_host_is_leaving(self):
        self.poll("ab")
        leaving = tier_host("b", leaving=True)
        self.assertTrue(self.poll(["a", leaving]))
        self.assertFalse(self.poll(["a", leaving]))
        self.assertEqual({"a"}, self.hosts.enabled)
        self.assertEqual(("a", "b"), tuple(host.name for host in self.hosts.tree))
        self.assertEqual(1, self.logger.output.count("Host b left"))
        self.assertTrue(self.poll("a"))
        self.assertEqual(4, len(self.syncs))

    def test_closes_again_what_changed(self):
        self.poll("ab")
        self.hosts.close({"a": 1, "b": 0})
        self.hosts.close({"a": 1, "b": 0})
        self.assertEqual([("a", 1), ("b", 0)], self.closings)
        self.poll(["a", tier_host("b", 4)])
        self.hosts.close({"a": 1, "b": 0})
        self.assertEqual([("b", 0)], self.closings[2:])
