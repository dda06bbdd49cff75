"""Which intervals show a window of the history of pools."""

import itertools

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.db import utilisation
from nova_twotier.db.utilisation import COARSEST, DAY, FINEST, HOUR, KEPT, MINUTE

NOW = 1_790_000_123.5


class TestWindow(testtools.TestCase):
    def window(self, last, points=400, until=0.0):
        end = NOW - until
        return utilisation.window(end - last, end, points, NOW)

    def test_the_ranges_of_the_board(self):
        for last, width, step in (
            (HOUR, MINUTE, MINUTE),
            (DAY, 5 * MINUTE, MINUTE),
            (7 * DAY, 30 * MINUTE, 10 * MINUTE),
            (30 * DAY, 2 * HOUR, HOUR),
            (366 * DAY, DAY, HOUR),
        ):
            found = self.window(last)
            self.assertEqual((width, step), (found.width, found.step), last)

    def test_old_times_have_the_intervals_that_are_kept(self):
        for until, width in ((2 * DAY, 10 * MINUTE), (14 * DAY, 10 * MINUTE), (16 * DAY, HOUR)):
            self.assertEqual(width, self.window(HOUR, until=until).width, until)

    @given(
        last=st.floats(1.0, 100 * 366 * DAY),
        until=st.floats(0.0, 400 * DAY),
        points=st.integers(2, 2000),
    )
    def test_it_covers_the_span_with_no_more_than_was_asked_for(self, last, until, points):
        end = NOW - until
        begin = max(0.0, end - last)
        found = utilisation.window(begin, end, points, NOW)
        self.assertTrue(found.begin <= begin < end <= found.end)
        self.assertLess(found.end - found.begin - 2 * found.width, end - begin)
        count, rest = divmod(found.end - found.begin, found.width)
        self.assertEqual((0, 0), (rest, found.begin % found.width))
        self.assertTrue(1 <= count <= points)
        self.assertEqual(0, found.width % found.step)
        self.assertIn(found.step, KEPT)
        self.assertTrue(found.step == COARSEST or begin >= NOW - KEPT[found.step])

    def test_each_resolution_joins_those_of_the_finer_one(self):
        steps = sorted(KEPT)
        self.assertEqual(FINEST, steps[0])
        for finer, coarser in itertools.pairwise(steps):
            self.assertEqual(0, coarser % finer)
            self.assertLess(KEPT[finer], KEPT[coarser])
