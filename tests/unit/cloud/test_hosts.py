"""When the manager looks at aggregates, and what it says again of hosts that changed."""

import logging
import threading
import types
from concurrent import futures

import fixtures
import testtools

from nova_twotier.cloud.compute_hosts import ComputeHost
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.hosts import BLIND, Hosts
from nova_twotier.cloud.listing import Lister
from nova_twotier.core.actions import Tier
from nova_twotier.ledger.placement import PlacementError
from nova_twotier.ledger.tree import Shape, TierHost
from tests.executors import Held

INTERVAL = 10.0


def tier_host(name, slots=2, leaving=False, pool="default"):
    shape = Shape(slots, 2, pool=pool)
    return TierHost(name, shape, {tier: f"{name}-{tier}" for tier in Tier}, leaving)


class HostsCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.prepared = []
        self.syncs = []
        self.closings = []
        self.logger = self.useFixture(fixtures.FakeLogger())
        self.tree, self.wrong = [], []
        for name, fake in (
            ("prepare", lambda _placement, pools: self.prepared.append(pools)),
            ("sync_hosts", self.sync),
            ("set_closed", lambda _placement, host, n: self.closings.append((host.name, n))),
        ):
            self.useFixture(fixtures.MonkeyPatch(f"nova_twotier.ledger.tree.{name}", fake))
        self.found = {}
        self.flavors = {}
        #: By what the default flavor pins VMs to CPUs of their own.
        self.pinned = []
        self.cloud = types.SimpleNamespace(
            check=lambda: self.pinned,
            hosts=lambda: self.found,
            limited_flavors=lambda: self.flavors,
        )
        self.hosts = Hosts(self.cloud, None, INTERVAL)
        self.now = 0.0

    def sync(self, _placement, shapes, each=map, tell=None):
        self.syncs.append(shapes)
        self.each = each
        for text in self.wrong:
            tell(logging.ERROR, text)
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


class TestHosts(HostsCase):
    def test_flavors_are_read_with_the_hosts(self):
        self.poll("ab")
        self.assertEqual({}, self.hosts.limited_flavors)
        self.flavors = {"low": (Tier.BG,)}
        self.hosts.refresh(self.now + 1)
        self.assertEqual({}, self.hosts.limited_flavors)
        self.assertFalse(self.poll("ab"), "the hosts are as they were")
        self.assertEqual({"low": (Tier.BG,)}, self.hosts.limited_flavors)

    def test_a_default_flavor_that_pins_vms(self):
        """A flavor that pins VMs to CPUs is named at the start, unless all hosts have one tier."""
        words = "VMs of [manager]flavor have CPUs of their own (hw:cpu_policy=dedicated), and"
        one_tier = TierHost("a", Shape(2, 1), {Tier.FG: "a-fg"})
        for pinned, hosts, times in (
            (["hw:cpu_policy=dedicated"], "ab", 1),
            (["hw:cpu_policy=dedicated"], [one_tier], 0),
            ([], "ab", 0),
        ):
            self.pinned = pinned
            self.hosts = Hosts(self.cloud, None, INTERVAL)
            self.logger.reset_output()
            self.poll(hosts)
            self.poll(hosts)
            self.assertEqual(times, self.logger.output.count(words))

    def test_several_hosts_enter_the_ledger_at_the_same_time(self):
        threads = futures.ThreadPoolExecutor(3)
        self.addCleanup(threads.shutdown)
        self.hosts = Hosts(self.cloud, None, INTERVAL, lister=Lister(threads))
        self.poll("abc")
        together = threading.Barrier(3, timeout=60)
        self.assertEqual([0, 1, 2], sorted(self.each(lambda _host: together.wait(), "abc")))

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

    def test_what_is_wrong_is_logged_once_while_a_host_is_leaving(self):
        self.poll("ab")
        leaving = tier_host("b", leaving=True)
        said = []
        for self.wrong in (["c is 50 % full"], ["c is 50 % full", "d is long"], [], ["d is long"]):
            self.poll(["a", leaving])
            said.append([self.logger.output.count(text) for text in ("c is 50 % full", "d is")])
        self.assertEqual([[1, 0], [1, 1], [1, 1], [1, 2]], said)

    def test_closes_again_what_changed(self):
        self.poll("ab")
        self.hosts.close({"a": 1, "b": 0})
        self.hosts.close({"a": 1, "b": 0})
        self.assertEqual([("a", 1), ("b", 0)], self.closings)
        self.poll(["a", tier_host("b", 4)])
        self.hosts.close({"a": 1, "b": 0})
        self.assertEqual([("b", 0)], self.closings[2:])


class TestHostsMeanwhile(HostsCase):
    """What happens while Nova lists its hosts."""

    def setUp(self):
        super().setUp()
        self.held, self.wakes = Held(), []
        lister = Lister(self.held)
        wake = lambda: self.wakes.append(self.now)  # noqa: E731
        self.hosts = Hosts(self.cloud, None, INTERVAL, lister=lister, wake=wake)
        self.poll("ab")

    def enabled(self):
        self.now += 1
        self.hosts.refresh(self.now)
        return self.hosts.enabled

    def test_the_first_poll_waits(self):
        self.assertEqual(({"a", "b"}, []), (self.hosts.enabled, self.held.waiting))

    def test_later_ones_do_not(self):
        self.assertFalse(self.poll("ab", disabled="b"))
        self.assertFalse(self.poll("ab", disabled="b"))
        self.assertEqual(({"a", "b"}, 1), (self.hosts.enabled, len(self.held.waiting)))
        self.held.run()
        self.assertEqual({"a"}, self.enabled())
        self.assertEqual(self.now, self.hosts.polled_at)
        self.assertEqual({"a"}, self.enabled())
        self.assertEqual(self.now - 1, self.hosts.polled_at)
        self.assertEqual([], self.wakes)

    def test_news_that_came_meanwhile_are_read_once_more(self):
        self.poll("ab")
        self.hosts.expire()
        self.enabled()
        self.held.run()
        self.poll("ab", disabled="b")
        self.assertEqual({"a", "b"}, self.enabled() | {"b"})
        self.assertEqual(1, len(self.held.waiting))
        self.held.run()
        self.assertEqual([self.now], self.wakes)
        self.assertEqual({"a"}, self.enabled())

    def test_what_was_read_before_a_drain_does_not_count(self):
        """It would show the nova-compute as it was before the drain disabled it."""
        self.poll("ab", disabled="b")
        self.hosts.expire(drop=True)
        self.held.run()
        self.assertEqual({"a", "b"}, self.enabled())
        self.held.run()
        self.assertEqual({"a"}, self.enabled())

    def fail(self, error=None):
        """Nova does not list the hosts for now."""

        def hosts():
            raise error or CloudError("timed out")

        self.cloud.hosts = hosts

    def recover(self):
        self.cloud.hosts = lambda: self.found

    def test_the_known_ones_stay_while_nova_does_not_list_them(self):
        """It is asked again at the usual interval, and each failure is told once."""
        self.fail()
        before = self.now
        for failures in (1, 2):
            self.poll("ab", disabled="b")
            self.held.run()
            self.assertEqual({"a", "b"}, self.enabled())
            self.assertEqual({"a", "b"}, self.enabled())
            self.assertEqual((before, []), (self.hosts.polled_at, self.held.waiting))
            said = "The hosts stay as they were known at 1970-01-01T00:00:10+00:00: timed out"
            self.assertEqual(failures, self.logger.output.count(said))
        self.recover()
        self.poll("ab", disabled="b")
        self.held.run()
        self.assertEqual({"a"}, self.enabled())
        self.assertEqual((self.now, []), (self.hosts.polled_at, self.wakes))

    def test_news_that_could_not_be_listed_wakes_later(self):
        self.fail()
        self.hosts.expire()
        self.enabled()
        self.held.run()
        self.assertEqual([self.now], self.wakes)
        self.enabled()
        self.recover()
        self.poll("ab", disabled="b")
        self.held.run()
        self.assertEqual(2, len(self.wakes))
        self.assertEqual({"a"}, self.enabled())
        self.poll("ab")
        self.held.run()
        self.assertEqual(2, len(self.wakes), "it is no news any more")

    def test_news_after_a_failure_is_listed_at_once(self):
        self.fail()
        self.poll("ab", disabled="b")
        self.held.run()
        self.enabled()
        self.recover()
        self.hosts.expire(drop=True)
        self.enabled()
        self.held.run()
        self.assertEqual({"a"}, self.enabled())

    def test_errors_that_are_not_novas(self):
        self.fail(ZeroDivisionError())
        self.poll("ab")
        self.held.run()
        self.assertRaises(ZeroDivisionError, self.enabled)

    def test_who_has_known_none_cannot_go_on(self):
        self.hosts = Hosts(self.cloud, None, INTERVAL)
        self.fail()
        for _poll in range(2):
            self.assertRaises(CloudError, self.enabled)

    def test_what_was_down_before_a_long_failure_is_down_since_now(self):
        """Nobody knows whether it was up meanwhile."""
        down = ComputeHost(self.found["a"].shape, enabled=False, up=False)

        def listed():
            self.now += INTERVAL
            self.found["a"] = down
            self.hosts.refresh(self.now)
            self.held.run()
            self.enabled()

        listed()
        since = self.now
        self.fail()
        while self.now < since + BLIND:
            self.assertFalse(self.hosts.is_blind(self.now))
            listed()
            self.assertEqual({"a": since}, self.hosts.down)
        self.assertTrue(self.hosts.is_blind(self.now))
        self.recover()
        listed()
        self.assertEqual({"a": self.now}, self.hosts.down)
        self.assertFalse(self.hosts.is_blind(self.now))

    def test_many_are_closed_at_the_same_time(self):
        """Whatever Placement did not take is written again, and nothing else."""
        with futures.ThreadPoolExecutor(2) as executor:
            self.hosts = Hosts(self.cloud, None, INTERVAL, lister=Lister(executor))
            self.poll("abc")
            closed, refused = {"a": 1, "b": 0, "c": 2}, {"b"}

            def set_closed(_placement, host, count):
                if host.name in refused:
                    raise PlacementError("no")
                self.closings.append((host.name, count))

            self.useFixture(fixtures.MonkeyPatch("nova_twotier.ledger.tree.set_closed", set_closed))
            self.assertRaises(PlacementError, self.hosts.close, closed)
            refused.clear()
            self.hosts.close(closed)
            self.assertEqual({*closed.items()}, {*self.closings})
            self.assertEqual(1, self.closings.count(("a", 1)))
            before = len(self.closings)
            self.hosts.close(closed)
            self.assertEqual(before, len(self.closings))

    def test_down_since_a_poll_knows_it(self):
        self.found["a"] = ComputeHost(self.found["a"].shape, enabled=False, up=False)
        self.now += INTERVAL
        self.hosts.refresh(self.now)
        self.held.run()
        self.enabled()
        self.assertEqual({"a": self.now}, self.hosts.down)
