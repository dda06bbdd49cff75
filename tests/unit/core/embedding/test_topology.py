"""The tree: from k, and from what an operator says of hosts and links."""

import random

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core import embedding
from nova_twotier.core.embedding import InvalidTopology, Request, State, Topology
from nova_twotier.core.embedding.topology import UNLIMITED
from tests.unit.core.embedding.cases import cases
from tests.unit.core.embedding.verifier import ways


class TestFatTree(testtools.TestCase):
    def rates(self, tree, height):
        first = len(tree.hosts)
        return {
            tree.rate[first + switch] for switch, own in enumerate(tree.height) if own == height
        }

    def test_of_the_paper(self):
        """Symmetry 2018, section 5.1: k = 6 has 6 pods of 3 edge switches with 3 hosts each."""
        tree = Topology.fat_tree(6, 1000)
        self.assertEqual(54, len(tree.hosts))
        self.assertEqual([1] * 18 + [2] * 6 + [3], list(tree.height))
        self.assertEqual({3}, {len(below) for below in tree.children[:-1]})
        self.assertEqual({1000}, set(tree.rate[:54]))
        self.assertEqual({3000}, self.rates(tree, 1))
        self.assertEqual({9000}, self.rates(tree, 2))
        self.assertEqual(("host00", "core/pod0/edge0"), (tree.hosts[0], tree.switches[0]))

    def test_fewer_links_up(self):
        tree = Topology.fat_tree(6, 1000, uplinks=(1, 3))
        self.assertEqual({1000}, self.rates(tree, 1))
        self.assertEqual({3000}, self.rates(tree, 2))

    def test_size(self):
        for k, hosts in ((2, 2), (4, 16), (36, 11_664)):
            self.assertEqual(hosts, len(Topology.fat_tree(k, 1000).hosts))

    def test_stands_in_the_order_of_its_names(self):
        tree = Topology.fat_tree(20, 10)
        self.assertEqual(sorted(tree.hosts), list(tree.hosts))

    def test_refuses(self):
        for k in (0, 3, -2, 2.0):
            wrong = self.assertRaises(InvalidTopology, Topology.fat_tree, k, 1000)
            self.assertIn("an even number of pods", str(wrong))
        wrong = self.assertRaises(InvalidTopology, Topology.fat_tree, 4, 0.5)
        self.assertIn("whole Mbit/s", str(wrong))

    @given(st.integers(0, 2**32))
    @settings(max_examples=20)
    def test_only_links_of_hosts_are_ever_short(self, seed):
        """With joint rates, what is above the hosts changes no answer; but greedy compares it."""
        rng = random.Random(seed)
        whole = Topology.fat_tree(4, 1000)
        paths = {
            host: whole.switches[whole.parent[number]] for number, host in enumerate(whole.hosts)
        }
        bare = Topology.from_paths(paths, dict.fromkeys(whole.hosts, 1000))
        embed = embedding.get(rng.choice(("adaba", "best-fit", "first-fit", "oktopus")))
        states = State(whole, 4), State(bare, 4)
        for _request in range(15):
            request = Request(rng.randint(1, 12), rng.randint(1, 600))
            answers = [embed(request, state) for state in states]
            self.assertEqual(*(getattr(answer, "vms", None) for answer in answers))
            for state, answer in zip(states, answers, strict=True):
                if isinstance(answer, embedding.Embedding):
                    state.reserve(answer)


class TestFromPaths(testtools.TestCase):
    def test_order(self):
        """Hosts before switches, each by name; switches from the lowest up."""
        tree = Topology.from_paths(
            {"b": "core/pod/edge", "c": "core", "a": "core/pod/edge", "d": "core/pod"}, {}
        )
        self.assertEqual(("c", "d", "a", "b"), tree.hosts)
        self.assertEqual(("core/pod/edge", "core/pod", "core"), tree.switches)
        self.assertEqual((1, 2, 3), tree.height)
        self.assertEqual(((2, 4), (1, 4), (0, 4)), tree.span)

    def test_links_that_are_not_counted(self):
        tree = Topology.from_paths({"a": "core/edge", "b": "core/edge"}, {"a": 10, "core/edge": 30})
        self.assertEqual((10, UNLIMITED, 30, UNLIMITED), tree.rate)
        self.assertEqual({"a": 0, "core/edge": 2}, tree.link)
        self.assertEqual(((0, 2), (2,)), tree.ways)

    def test_a_host_without_a_switch_is_linked_to_the_root(self):
        tree = Topology.from_paths({"a": "", "b": "dc/edge"}, {"a": 10})
        self.assertEqual("dc", tree.switches[tree.parent[0]])
        self.assertEqual(("root",), Topology.from_paths({"a": "", "b": ""}, {}).switches)

    def test_several_roots_are_several_trees(self):
        tree = Topology.from_paths({"a": "east/x", "b": "west/x"}, {"east/x": 10})
        answer = embedding.get("adaba")(Request(2, 0), State(tree, 1))
        self.assertEqual(
            "needs 2 slots in one tree of the network: 1 of 1 are free", str(answer.reason)
        )
        closed = embedding.get("adaba")(Request(3, 0), State(tree, 2, closed=["a"]))
        self.assertIn("2 of 2 are free", str(closed.reason))
        empty = embedding.get("adaba")(Request(3, 0), State(tree, {"a": 1, "b": 0}, closed=["a"]))
        self.assertIn("0 of 0 are free", str(empty.reason))

    def test_refuses(self):
        for paths, rates, message in (
            ({}, {}, "no hosts"),
            ({"a": "core//x"}, {}, "host a: switch 'core//x' has an empty step"),
            ({"a": "core/"}, {}, "host a: switch 'core/' has an empty step"),
            ({"a/b": "core"}, {}, "host 'a/b': a name is not empty and has no '/'"),
            ({"": "core"}, {}, "host ''"),
            ({"a": "", "b": "x", "c": "y"}, {}, "host a names no switch, and there are several"),
            ({"a": "core"}, {"b": 1}, "a rate is given for the link up from b, which is not there"),
            ({"a": "core"}, {"core": 1}, "link up from core, which is not there"),
            ({"a": "core"}, {"a": -1}, "the link up from a has the rate -1"),
            ({"a": "core"}, {"a": 1.5}, "the link up from a has the rate 1.5"),
            ({"a": "core"}, {"a": True}, "the link up from a has the rate True"),
        ):
            wrong = self.assertRaises(InvalidTopology, Topology.from_paths, paths, rates)
            self.assertIn(message, str(wrong))

    @given(cases(hosts=7), st.randoms())
    @settings(max_examples=50)
    def test_numbers(self, case, rng):
        """Spans, ways and children say the same as the paths, in whatever order these are given."""
        tree = case.topology()
        shuffled = rng.sample(sorted(case.paths), len(case.paths))
        paths = {host: case.paths[host] for host in shuffled}
        self.assertEqual(tree, Topology.from_paths(paths, case.rates))
        above = ways(case.paths)
        for number, host in enumerate(tree.hosts):
            self.assertEqual(case.paths[host], tree.switches[tree.parent[number]])
            counted = [link for link in (host, *above[host]) if link in case.rates]
            self.assertEqual(counted, [tree.names[node] for node in tree.ways[number]])
        for switch, path in enumerate(tree.switches):
            first, end = tree.span[switch]
            below = {host for host in case.paths if path in above[host]}
            self.assertEqual(below, set(tree.hosts[first:end]))
            farthest = max(above[host].index(path) + 1 for host in below)
            self.assertEqual(farthest, tree.height[switch])
            own = [node for node, parent in enumerate(tree.parent) if parent == switch]
            self.assertEqual(own, sorted(tree.children[switch]))
        self.assertEqual(sorted(tree.height), list(tree.height))
