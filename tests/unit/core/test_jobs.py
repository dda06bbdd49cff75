"""A job checks what it is made of, in whatever order its utilisations are."""

import math

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.jobs import InvalidJob, Job

good = st.floats(0, 1)
bad = st.sampled_from((math.nan, math.inf, -math.inf, -1e-9, 1.0000001))


class TestUtilisations(testtools.TestCase):
    @given(st.lists(good, min_size=1, max_size=6), st.booleans())
    def test_the_hottest_is_dispatched_first(self, cpu, descending):
        cpu = sorted(cpu, reverse=True) if descending else cpu
        made = Job(1, len(cpu), 0.0, tuple(cpu))
        self.assertEqual(max(cpu), made.hottest)
        order = made.dispatch or range(len(cpu))
        self.assertEqual(sorted(cpu, reverse=True), [cpu[process] for process in order])

    @given(st.lists(good, max_size=5), bad, st.integers(0, 5), st.booleans())
    def test_what_is_no_share_of_a_cpu_is_refused(self, cpu, wrong, at, descending):
        cpu = sorted(cpu, reverse=True) if descending else cpu
        cpu.insert(at, wrong)
        refused = self.assertRaises(InvalidJob, Job, 1, len(cpu), 0.0, tuple(cpu))
        self.assertIn(f"cpu is {wrong}", str(refused))

    @given(st.lists(good, max_size=6), st.integers(1, 6))
    def test_one_for_each_process(self, cpu, size):
        if len(cpu) != size:
            refused = self.assertRaises(InvalidJob, Job, 1, size, 0.0, tuple(cpu))
            self.assertIn(f"{len(cpu)} values for {size} processes", str(refused))
