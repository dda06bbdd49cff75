"""Intervals hold as often as they say, and follow the errors of their queue."""

import math
import random

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.prediction.calibration import KEEP, LEAST, Calibration, Interval

seconds = st.floats(0, 1e6)


def play(rng, count, error, calibration=None):
    """Predictions whose outcomes are off by what `error` draws; returns how many intervals held."""
    calibration = calibration or Calibration()
    held = told = 0
    for _each in range(count):
        made, ahead = rng.uniform(0, 1e6), rng.uniform(60, 1e5)
        actual = made + ahead * error(rng)
        interval = calibration.interval(made, made + ahead)
        if interval is not None:
            told += 1
            held += interval.holds(actual)
        calibration.learn(made, made + ahead, actual, interval)
    return held, told, calibration


class TestCoverage(testtools.TestCase):
    def test_holds_for_80_percent(self):
        for error in (
            lambda rng: rng.uniform(0.2, 3),
            lambda rng: rng.lognormvariate(-1, 2),
            lambda rng: rng.choice((1, 1, 1, 1, 1, 10)),
        ):
            held, told, calibration = play(random.Random(1), 3000, error)
            self.assertEqual(3000 - LEAST, told)
            self.assertGreater(held / told, 0.76)
            self.assertAlmostEqual(held / told, calibration.coverage, delta=0.1)

    def test_is_not_wider_than_needed(self):
        held, told, _calibration = play(random.Random(1), 3000, lambda rng: rng.uniform(0.2, 3))
        self.assertLess(held / told, 0.84)

    def test_follows_a_queue_that_changes(self):
        rng = random.Random(1)
        _held, _told, calibration = play(rng, 1000, lambda rng: rng.uniform(0.9, 1.1))
        play(rng, KEEP, lambda rng: rng.uniform(2, 4), calibration)
        held, told, _calibration = play(rng, 1000, lambda rng: rng.uniform(2, 4), calibration)
        self.assertGreater(held / told, 0.75)


class TestCalibration(testtools.TestCase):
    def known(self, *ratios):
        calibration = Calibration()
        for ratio in ratios:
            calibration.learn(0, 1e6, 1e6 * ratio, None)
        return calibration

    def test_says_nothing_with_few_errors(self):
        self.assertIsNone(Calibration().interval(0, 100))
        self.assertIsNone(self.known(*[1] * (LEAST - 1)).interval(0, 100))
        self.assertIsNotNone(self.known(*[1] * LEAST).interval(0, 100))
        self.assertTrue(math.isnan(Calibration().coverage))

    def test_leaves_out_a_tenth_of_the_next_ranks_at_each_end(self):
        for count, beyond in ((18, 0), (19, 1), (28, 1), (29, 2), (199, 19), (200, 19)):
            ratios = [10 ** (2 * index / (count - 1) - 1) for index in range(count)]
            low, high = self.known(*ratios).interval(0, 1e6)
            self.assertAlmostEqual(1e6 * ratios[beyond], low, delta=1, msg=count)
            self.assertAlmostEqual(1e6 * ratios[-1 - beyond], high, delta=1, msg=count)

    def test_corrects_by_the_median_error(self):
        self.assertEqual(500, Calibration().corrected(0, 500))
        calibration = self.known(0.5, 0.5, 0.5, 4, 0.1)
        self.assertAlmostEqual(1e6 + 5e5, calibration.corrected(1e6, 2e6), delta=1e3)

    def test_never_is_neither_learned_nor_bounded(self):
        calibration = self.known(*[1] * LEAST)
        before = calibration.state()
        calibration.learn(0, math.inf, 10, None)
        self.assertEqual(before, calibration.state())
        self.assertIsNone(calibration.interval(0, math.inf))
        self.assertEqual(math.inf, calibration.corrected(0, math.inf))

    @given(st.lists(st.tuples(seconds, seconds), min_size=LEAST, max_size=40), seconds, seconds)
    def test_interval_holds_the_prediction_and_begins_after_it_was_made(self, past, made, ahead):
        calibration = Calibration()
        for expected, actual in past:
            calibration.learn(0, expected, actual, None)
        low, high = calibration.interval(made, made + ahead)
        self.assertLessEqual(made, low)
        self.assertLessEqual(low, made + ahead)
        self.assertLessEqual(made + ahead, high)

    @given(st.lists(st.tuples(seconds, seconds, st.booleans()), max_size=2 * KEEP))
    def test_state_makes_an_equal_one_and_is_bounded(self, past):
        calibration = Calibration()
        for expected, actual, told in past:
            calibration.learn(0, expected, actual, Interval(0, expected) if told else None)
        twin = Calibration(*calibration.state())
        self.assertEqual(calibration.state(), twin.state())
        self.assertEqual(calibration.interval(5, 50), twin.interval(5, 50))
        self.assertLessEqual(max(map(len, twin.state())), KEEP)
