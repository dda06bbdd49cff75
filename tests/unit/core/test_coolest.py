"""The coolest nodes, whatever has changed since they were asked for last."""

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core.coolest import Coolest

#: Enough for several ranges of utilisation.
NODES = 300

nodes = st.integers(0, NODES - 1)
changes = st.tuples(nodes, st.sampled_from((None, 0.0, 0.3, 0.31, 0.5, 0.99, 1.0)), st.booleans())


def sorted_afresh(cpu, jobs, free, promised):
    there = [node for node in free if jobs[node] is not None and not promised.get(node)]
    return sorted(there, key=lambda node: (cpu[node], node))


class TestCoolest(testtools.TestCase):
    def start(self):
        self.cpu, self.jobs, self.free = [0.5] * NODES, [None] * NODES, set(range(NODES))
        self.coolest = Coolest(self.cpu, self.jobs, self.free)

    def change(self, node, cpu, free):
        if cpu is None:  # its utilisation stays what it was
            self.jobs[node] = None
        else:
            self.jobs[node], self.cpu[node] = 1, cpu
        (self.free.add if free else self.free.discard)(node)
        self.coolest.change([node])

    @settings(max_examples=50, deadline=None)
    @given(
        st.lists(st.tuples(st.lists(changes, max_size=60), st.integers(1, NODES)), max_size=8),
        st.dictionaries(nodes, st.integers(0, 1), max_size=20),
    )
    def test_as_if_sorted_afresh(self, rounds, promised):
        self.start()
        for changed, count in rounds:
            for change in changed:
                self.change(*change)
            expected = sorted_afresh(self.cpu, self.jobs, self.free, promised)
            self.assertEqual(expected[:count], self.coolest.first(count, promised))

    def test_after_more_changes_than_are_kept(self):
        self.start()
        for turn in range(20):
            for node in range(NODES - 200 * (turn > 0)):
                self.change(node, (node * 7 + turn) % 10 / 10, node % 3 > 0)
            expected = sorted_afresh(self.cpu, self.jobs, self.free, {})
            self.assertEqual(expected, self.coolest.first(NODES, {}))
