"""Embedding algorithms for experiments only."""

import testtools

from nova_twotier.core.embedding import Embedding, Request, State, Topology, reserved
from nova_twotier.sim import rivals


class TestRivals(testtools.TestCase):
    """Two edge switches of three hosts each."""

    def setUp(self):
        super().setUp()
        paths = {f"{edge}{number}": f"core/{edge}" for edge in "xy" for number in range(3)}
        rates = dict.fromkeys(paths, 100) | {"core/x": 200, "core/y": 200}
        self.topology = Topology.from_paths(paths, rates)

    def hosts(self, name, request, **state):
        answer = rivals.get(name)(request, State(self.topology, 4, max_mbps=100, **state))
        return answer.vms if isinstance(answer, Embedding) else answer

    def test_best_fit_begins_with_the_fullest_host_of_all(self):
        free = {"x0": 3, "y2": 1}
        self.assertEqual(
            {"x0": 1, "y2": 1}, self.hosts("best-fit-anywhere", Request(2, 10), free=free)
        )
        self.assertEqual({"x0": 2}, self.hosts("best-fit", Request(2, 10), free=free))

    def test_greedy_spreads(self):
        found = self.hosts("greedy-anywhere", Request(4, 50))
        self.assertEqual({"x0": 1, "x1": 1, "x2": 1, "y0": 1}, found)
        self.assertEqual({"x0": 4}, self.hosts("adaba", Request(4, 50)))

    def test_any_place_where_adaba_finds_none(self):
        self.assertIs(reserved.embed, rivals.get("adaba-or-exact"))
