"""`ManyNodes` ranks nodes as if it sorted all of them by utilisation each time."""

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core.actions import BG, FG
from nova_twotier.core.cluster import OutOfSlots
from nova_twotier.core.jobs import Job
from nova_twotier.sim.many_nodes import ManyNodes

#: Enough that a sample of them tells where the coolest are.
NODES = 1000

utilisations = st.sampled_from((0.0, 0.3, 0.31, 0.5, 0.95, 0.96, 1.0))


def sorted_afresh(cpu, promised):
    there = [node for node in range(NODES) if cpu[node] < 0.96 and not promised.get(node)]
    return sorted(there, key=lambda node: (cpu[node], node))


class TestCoolest(testtools.TestCase):
    def cluster(self, cpu):
        nodes = ManyNodes(NODES)
        nodes.start(Job(1, NODES, 1.0, tuple(cpu)), FG, range(NODES))
        return nodes

    @settings(max_examples=100, deadline=None)
    @given(
        st.lists(utilisations, min_size=1, max_size=7),
        st.randoms(use_true_random=False),
        st.integers(1, NODES),
        st.dictionaries(st.integers(0, NODES - 1), st.integers(0, 1), max_size=20),
    )
    def test_as_if_sorted_afresh(self, kinds, rng, count, promised):
        cpu = [rng.choice(kinds) for _node in range(NODES)]
        expected = sorted_afresh(cpu, promised)
        cluster = self.cluster(cpu)
        if count > len(expected):
            self.assertRaises(OutOfSlots, cluster.rank, BG, count, promised)
        else:
            self.assertEqual(expected[:count], cluster.rank(BG, count, promised))

    def test_a_sample_that_misleads(self):
        # All nodes of the sample are cool, and all others are not; then the other way round.
        for sampled, others in ((0.1, 0.5), (0.5, 0.1)):
            cpu = [others if node % 16 else sampled for node in range(NODES)]
            cluster = self.cluster(cpu)
            for count in (1, 50, 62, 63, 64, 500, NODES):
                self.assertEqual(sorted_afresh(cpu, {})[:count], cluster.rank(BG, count))

    def test_none_wanted(self):
        cluster = ManyNodes(4)
        self.assertEqual([], cluster.rank(FG, 0))
        self.assertEqual([0, 1], cluster.rank(FG, 2))
