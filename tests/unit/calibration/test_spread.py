"""Medians and the intervals around them."""

import random

import testtools

from nova_twotier.calibration.spread import Spread, spread


class TestSpread(testtools.TestCase):
    def test_few_values_have_their_range(self):
        self.assertEqual(Spread(3, 1, 9), spread([9, 1, 3, 2, 4]))

    def test_many_values_leave_out_the_extremes(self):
        self.assertEqual(Spread(5, 2, 8), spread(range(1, 10)))
        self.assertEqual(Spread(50.5, 41, 60), spread(range(1, 101)))

    def test_one_value(self):
        self.assertEqual(Spread(7, 7, 7), spread([7]))

    def test_the_interval_holds_the_true_median_as_often_as_it_says(self):
        rng = random.Random(1)
        for count in (5, 7, 12):
            held = sum(
                spread([rng.expovariate(1) for _each in range(count)]).holds(0.6931)
                for _trial in range(2000)
            )
            self.assertGreater(held / 2000, 0.91, count)
