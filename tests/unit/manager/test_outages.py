"""Which silent hosts are dead, and which are so many that it must be something else."""

import fixtures
import testtools

from nova_twotier.cloud.compute_hosts import ComputeHost
from nova_twotier.ledger.shape import Shape
from nova_twotier.manager.outages import Outages
from tests.unit.manager.builders import options

GRACE, INTERVAL, WINDOW = 60.0, 10.0, 120.0


class FakeFence:
    """Fences all hosts but those in `alive`."""

    def __init__(self):
        self.alive, self.back, self.running = set(), set(), False

    def fenced(self, host, _now):
        return host not in self.alive

    def forget(self, hosts):
        self.back = set(hosts)


class OutageCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        limits = {
            "host_down_grace": GRACE,
            "dead_host_interval": INTERVAL,
            "outage_window": WINDOW,
            "outage_share": 1 / 3,
        }
        self.fence = FakeFence()
        self.outages = Outages(options(**limits), self.fence, "default")
        #: Since when hosts are down, when they were last heard of, and who says so besides.
        self.down, self.heard, self.forced = {}, {}, set()
        self.pools = dict.fromkeys("abcdefghi", "default")

    def judge(self, now, fresh=True):
        hosts = {
            name: ComputeHost(
                pool and Shape(2, 2, pool=pool),
                enabled=True,
                up=name not in self.down,
                forced_down=name in self.forced,
                heard_at=self.heard.get(name),
            )
            for name, pool in self.pools.items()
        }
        self.outages.judge(hosts, self.down, now, fresh)
        return set(self.outages.dead)

    def falls_silent(self, names, at):
        self.down |= dict.fromkeys(names, at)
        self.heard |= dict.fromkeys(names, at - 60.0)


class TestSingleDeaths(OutageCase):
    def test_after_the_grace(self):
        self.falls_silent("a", 100.0)
        self.assertEqual(set(), self.judge(100.0 + GRACE - 1))
        self.assertEqual({"a"}, self.judge(100.0 + GRACE))
        self.down.clear()
        self.assertEqual(set(), self.judge(300.0))
        self.assertIn("a", self.fence.back)

    def test_one_after_the_other(self):
        self.falls_silent("abc", 100.0)
        self.assertEqual({"a"}, self.judge(200.0))
        self.assertEqual({"a"}, self.judge(200.0 + INTERVAL - 1))
        self.assertEqual({"a", "b"}, self.judge(200.0 + INTERVAL))

    def test_not_before_it_is_fenced(self):
        self.falls_silent("ab", 100.0)
        self.fence.alive = {"a"}
        self.assertEqual({"b"}, self.judge(200.0), "the next one does not wait for it")
        self.fence.alive = set()
        self.assertEqual({"a", "b"}, self.judge(300.0))

    def test_one_is_fenced_after_the_other(self):
        self.falls_silent("ab", 100.0)
        self.fence.alive, self.fence.running = {"a"}, True
        self.assertEqual(set(), self.judge(200.0))

    def test_only_by_what_was_just_read(self):
        self.falls_silent("a", 100.0)
        self.assertEqual(set(), self.judge(200.0, fresh=False))
        self.assertEqual({"a"}, self.judge(201.0))

    def test_an_operators_word_holds_at_once(self):
        self.falls_silent("abc", 100.0)
        self.fence.alive, self.forced = {"a", "b", "c"}, {"a", "b", "c"}
        self.assertEqual({"a", "b", "c"}, self.judge(100.0))

    def test_the_only_host(self):
        self.pools = {"a": "default"}
        self.falls_silent("a", 100.0)
        self.assertEqual({"a"}, self.judge(100.0 + GRACE))


class TestOutage(OutageCase):
    def test_many_at_once_are_none_dead(self):
        self.falls_silent("abcd", 100.0)
        for now in (100.0, 100.0 + GRACE, 1e6):
            self.assertEqual(set(), self.judge(now))
            self.assertIn("hosts went down together", str(self.outages.reason))
        self.assertEqual(1, self.log.output.count("Outage in pool default"))
        self.assertIn("The 4 hosts: a, b, c, d", self.log.output)

    def test_those_that_are_not_back_get_the_same_time_once_more(self):
        self.falls_silent("abcd", 100.0)
        self.judge(500.0)
        for name in "abc":
            del self.down[name]
        self.assertEqual(set(), self.judge(510.0))
        self.assertIsNone(self.outages.reason)
        self.assertEqual(set(), self.judge(499.0 + GRACE))
        self.assertEqual({"d"}, self.judge(500.0 + GRACE))

    def test_what_operators_do_to_silent_hosts_parts_them_not(self):
        """Nova dates a service anew when it is disabled."""
        self.falls_silent("abcd", 100.0)
        self.judge(100.0)
        for place, name in enumerate("abcd"):
            self.heard[name] = 200.0 + place * (WINDOW + 1)
        self.assertEqual(set(), self.judge(1000.0))
        self.assertIn("hosts went down together", str(self.outages.reason))

    def test_an_operator_says_that_some_are_dead(self):
        self.falls_silent("abcd", 100.0)
        self.judge(500.0)
        self.forced = {"a", "b"}
        self.assertEqual({"a", "b"}, self.judge(501.0))
        self.assertIsNone(self.outages.reason, "two of the seven others")

    def test_deaths_that_lie_apart_are_none(self):
        """Also for a manager that was not there to see them: Nova says when it last heard of
        whom."""
        for place, name in enumerate("abcde"):
            self.falls_silent(name, 1000.0)
            self.heard[name] = 1000.0 - (1 + place) * (WINDOW + 1)
        found = [len(self.judge(2000.0 + step * INTERVAL)) for step in range(5)]
        self.assertEqual([1, 2, 3, 4, 5], found)
        self.assertIsNone(self.outages.reason)

    def test_those_that_are_dead_do_not_count(self):
        for name in "abcdef":
            self.falls_silent(name, 1000.0)
            self.heard[name] = 1000.0 - (1 + ord(name)) * (WINDOW + 1)
        for step in range(6):
            self.judge(2000.0 + step * INTERVAL)
        self.falls_silent("g", 3000.0)
        self.assertEqual(7, len(self.judge(3000.0 + GRACE)))
        self.falls_silent("hi", 4000.0)
        self.judge(4000.0)
        self.assertIn("hosts went down together", str(self.outages.reason))

    def test_hosts_that_nova_never_heard_of_may_be_any(self):
        self.falls_silent("abcd", 100.0)
        self.heard.clear()
        self.judge(500.0)
        self.assertIn("hosts went down together", str(self.outages.reason))

    def test_small_pools_are_seen_together(self):
        """Of one host each: the share of all of them tells."""
        self.pools = {name: f"pool{name}" for name in "abcdefg"} | {"h": "default"}
        self.falls_silent("bcdh", 100.0)
        self.assertEqual(set(), self.judge(500.0))
        self.assertIn("hosts went down together", str(self.outages.reason))

    def test_hosts_without_slots_do_not_count(self):
        """There are so many of them that the others' share is small, and they may go down alone."""
        self.pools |= {f"plain{number}": None for number in range(100)}
        self.falls_silent(list(self.pools)[9:], 100.0)
        self.assertEqual(set(), self.judge(500.0))
        self.assertIsNone(self.outages.reason)
        self.falls_silent("abcd", 100.0)
        self.assertEqual(set(), self.judge(1000.0))
        self.assertIn("The 4 hosts: a, b, c, d", self.log.output)

    def test_hosts_that_left_the_pool_count_while_jobs_are_on_them(self):
        self.pools |= {"a": None, "b": None} | dict.fromkeys("cdjklmn", "gpu")
        self.falls_silent("abcd", 100.0)
        self.assertEqual(set(), self.judge(500.0))
        self.assertIsNone(self.outages.reason, "none of them is ours")
        self.outages.occupied = {"b", "c"}
        self.assertEqual({"b"}, self.judge(500.0))
        self.outages.occupied = {"a", "b", "c", "d"}
        self.judge(501.0)
        self.assertIn("The 3 hosts: a, c, d", self.log.output)
        # One that was dead is so even when nobody is on it any more.
        self.outages.occupied = set()
        self.assertEqual({"b"}, self.judge(502.0))

    def test_other_pools_deaths_are_theirs(self):
        self.pools["b"] = "gpu"
        self.falls_silent("b", 100.0)
        self.assertEqual(set(), self.judge(500.0))
        self.assertIsNone(self.outages.reason)
