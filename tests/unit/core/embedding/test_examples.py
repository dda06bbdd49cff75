"""What tells the algorithms apart, on networks small enough to follow by hand."""

import testtools

from nova_twotier.core import embedding
from nova_twotier.core.embedding import Embedding, Rejection, Request, State, Topology

RACKS = {"a1": "core/a", "a2": "core/a", "b1": "core/b", "b2": "core/b"}


def embed(name, state, size, mbps):
    return embedding.get(name)(Request(size, mbps), state)


class TestFigure3(testtools.TestCase):
    """Symmetry 2018, figure 3, as section 4.1 tells it: hosts of two slots, three of them idle."""

    def state(self):
        hosts = [f"h{number}" for number in range(6)]
        tree = Topology.from_paths(dict.fromkeys(hosts, "switch"), dict.fromkeys(hosts, 100))
        used = ("h0", "h2", "h3")
        return State(
            tree, 2, free=dict.fromkeys(used, 1), residual=dict.fromkeys(used, 50), max_mbps=60
        )

    def idle_and_accepted(self, name):
        """Idle hosts after (3, 10 Mbit/s), and how many of three (2, 60 Mbit/s) fit then."""
        state = self.state()
        state.reserve(embed(name, state, 3, 10))
        idle = state.free.count(2)
        accepted = 0
        for _request in range(3):
            answer = embed(name, state, 2, 60)
            if isinstance(answer, Embedding):
                state.reserve(answer)
                accepted += 1
        return idle, accepted

    def test_adaba_and_best_fit_leave_the_idle_hosts(self):
        self.assertEqual((3, 3), self.idle_and_accepted("adaba"))
        self.assertEqual((3, 3), self.idle_and_accepted("best-fit"))

    def test_greedy_leaves_one(self):
        self.assertEqual((1, 1), self.idle_and_accepted("greedy"))

    def test_first_fit_leaves_two(self):
        self.assertEqual((2, 2), self.idle_and_accepted("first-fit"))


class TestAdaBa(testtools.TestCase):
    def setUp(self):
        super().setUp()
        tree = Topology.from_paths(dict.fromkeys("abcd", "core"), dict.fromkeys("abcd", 1000))
        self.state = State(tree, 8, free={"a": 5, "b": 2, "c": 8, "d": 4}, max_mbps=800)

    def test_free_slots_by_bandwidth(self):
        """Figure 2: 2 free slots suit 200 of at most 800 Mbit/s best, 8 suit 800."""
        for mbps, host in ((10, "b"), (200, "b"), (400, "d"), (500, "a"), (800, "c")):
            self.assertEqual({host: 2}, embed("adaba", self.state, 2, mbps).vms, mbps)

    def test_a_larger_request_is_the_largest_itself(self):
        self.assertEqual({"c": 2}, embed("adaba", self.state, 2, 5000).vms)
        self.assertEqual(800, self.state.max_mbps)

    def test_hosts_of_several_sizes(self):
        """The largest bandwidth suits 3 free slots of 6 (weight 13.5) better than 5 of 5 (12.5)."""
        tree = Topology.from_paths({"a": "core", "b": "core"}, {})
        state = State(tree, {"a": 5, "b": 6}, free={"b": 3}, max_mbps=100)
        for mbps in (100, 1000):
            self.assertEqual({"b": 2}, embed("adaba", state, 2, mbps).vms)

    def test_equal_weights_by_order(self):
        """At 450 Mbit/s, 4 and 5 free slots are equally far from 4.5."""
        self.assertEqual({"a": 2}, embed("adaba", self.state, 2, 450).vms)

    def test_nothing_was_ever_asked_for(self):
        state = State(self.state.topology, 8, free={"a": 5, "b": 2, "c": 8, "d": 4})
        self.assertEqual({"b": 2}, embed("adaba", state, 2, 0).vms)

    def test_more_below_a_link_may_need_less(self):
        """Six of eight VMs pass a link that is too narrow for four."""
        tree = Topology.from_paths({"a": "core", "b": "core"}, {"a": 200, "b": 200})
        answer = embed("adaba", State(tree, {"a": 6, "b": 4}), 8, 100)
        self.assertEqual(({"a": 6, "b": 2}, {"a": 200, "b": 200}), (answer.vms, answer.mbps))


class TestLocality(testtools.TestCase):
    def setUp(self):
        super().setUp()
        rates = {**dict.fromkeys(RACKS, 1000), "core/a": 300, "core/b": 300}
        self.tree = Topology.from_paths(RACKS, rates)

    def test_the_first_switch_with_room(self):
        state = State(self.tree, 4, free={"a1": 1})
        for name in embedding.ALGORITHMS:
            answer = embed(name, state, 6, 100)
            self.assertEqual("core/b", answer.switch, name)
            self.assertEqual({"b1", "b2"}, set(answer.vms), name)

    def test_nothing_above_the_virtual_switch(self):
        """The links up from the racks could take none of it."""
        state = State(self.tree, 4, residual={"core/a": 0, "core/b": 0})
        for name in embedding.ALGORITHMS:
            answer = embed(name, state, 6, 300)
            self.assertEqual("core/a", answer.switch, name)
            self.assertLessEqual(set(answer.mbps), {"a1", "a2"}, name)

    def test_across_racks(self):
        """All but three, or three, pass the link between a rack and the other."""
        state = State(self.tree, {"a1": 12, "a2": 1, "b1": 6, "b2": 1}, closed=["a2", "b2"])
        for name in embedding.ALGORITHMS:
            answer = embed(name, state, 15, 100)
            self.assertEqual({"a1": 12, "b1": 3}, answer.vms, name)
            self.assertEqual("core", answer.switch, name)
            expected = {"a1": 300, "b1": 300, "core/a": 300, "core/b": 300}
            self.assertEqual(expected, answer.mbps, name)

    def test_links_are_tested_while_vms_are_placed(self):
        """Line 14: a rack that takes twelve of fifteen is refused the first six, and so all."""
        state = State(self.tree, 6, free={"b2": 0})
        self.assertIsInstance(embed("adaba", state, 15, 100), Rejection)
        answer = embed("oktopus", state, 15, 100)
        self.assertEqual({"a1": 6, "a2": 6, "b1": 3}, answer.vms)


class TestOktopus(testtools.TestCase):
    def test_a_host_for_all_comes_first(self):
        """Wherever it is; the virtual switch is the one above it, and no link carries anything."""
        state = State(Topology.from_paths(RACKS, {}), 4, free={"a1": 2, "a2": 3})
        answer = embed("oktopus", state, 4, 1000)
        self.assertEqual(({"b1": 4}, "core/b", {}), (answer.vms, answer.switch, answer.mbps))

    def test_the_first_host_whatever_came_and_went(self):
        state = State(Topology.from_paths(RACKS, {}), {"a1": 2, "a2": 4, "b1": 5, "b2": 4})
        for name in ("a2", "b2"):
            held = Embedding(Request(1, 0), {name: 1}, "core", {})
            state.reserve(held)
            state.release(held)
        self.assertEqual({"a2": 4}, embed("oktopus", state, 4, 100).vms)

    def test_children_in_order(self):
        """Rack a takes what its link lets through, not all that its hosts hold."""
        tree = Topology.from_paths(RACKS, {"core/a": 300})
        answer = embed("oktopus", State(tree, {"a1": 2, "a2": 2, "b1": 4, "b2": 2}), 9, 100)
        self.assertEqual({"a1": 2, "a2": 1, "b1": 4, "b2": 2}, answer.vms)

    def test_a_rack_takes_less_than_its_link_lets_through(self):
        """Seven of the ten VMs would pass the link of rack b, but not that of its only host."""
        paths = {"a1": "core/a", "b1": "core/b", "c1": "core/c"}
        state = State(
            Topology.from_paths(paths, {"b1": 200, "core/b": 300}), {"a1": 3, "b1": 9, "c1": 5}
        )
        self.assertEqual({"a1": 3, "b1": 2, "c1": 5}, embed("oktopus", state, 10, 100).vms)


class TestGreedy(testtools.TestCase):
    def test_spreads_over_the_links(self):
        """A second VM in the first rack would make its link the most occupied one."""
        hosts = {f"{rack}{number}": f"core/{rack}" for rack in "abc" for number in (1, 2)}
        tree = Topology.from_paths(hosts, dict.fromkeys([*hosts, *hosts.values()], 1000))
        answer = embed("greedy", State(tree, 1), 4, 100)
        self.assertEqual({"a1": 1, "a2": 1, "b1": 1, "c1": 1}, answer.vms)
        self.assertEqual(200, answer.mbps["core/a"])

    def test_looks_again_when_fewer_are_left(self):
        """Two of six VMs occupy a link less than three, also on a host that has room for three."""
        tree = Topology.from_paths(dict.fromkeys("abc", "core"), dict.fromkeys("abc", 1000))
        answer = embed("greedy", State(tree, {"a": 4, "b": 3, "c": 2}), 6, 100)
        self.assertEqual({"a": 4, "b": 2}, answer.vms)

    def test_counts_what_others_reserved(self):
        tree = Topology.from_paths(dict.fromkeys("abc", "core"), {"a": 1000, "b": 1000, "c": 200})
        answer = embed("greedy", State(tree, 1, residual={"a": 800}), 2, 100)
        self.assertEqual({"a": 1, "b": 1}, answer.vms)
        answer = embed("greedy", State(tree, 1, residual={"a": 500}), 2, 100)
        self.assertEqual({"b": 1, "c": 1}, answer.vms)
