"""Run times from history, and what becomes of them when a job outruns its own."""

import math

import testtools

from nova_twotier.core.prediction import run_times
from nova_twotier.core.prediction.history import History
from tests.unit.core.builders import job


def history(*seconds, size=2, estimate=None, user="ann"):
    known = History()
    for number, each in enumerate(seconds, 1):
        known.add(job(number, size, estimate=estimate), user, each)
    return known


class TestSimilar(testtools.TestCase):
    NEW = job(9, 2)

    def test_nothing_is_known_of_a_first_job(self):
        self.assertIsNone(run_times.similar(History(), self.NEW, "ann"))

    def test_the_median_and_how_many_jobs_say_so(self):
        found = run_times.similar(history(30.0, 10.0, 500.0), self.NEW, "ann")
        self.assertEqual((30.0, 3), found)

    def test_a_quantile(self):
        known = history(*map(float, range(1, 11)))
        self.assertEqual(9.0, run_times.similar(known, self.NEW, "ann", 0.8).seconds)
        self.assertEqual(10.0, run_times.similar(known, self.NEW, "ann", 0.999).seconds)

    def test_others_count_if_the_user_is_new(self):
        self.assertEqual((20.0, 3), run_times.similar(history(10.0, 20.0, 30.0), self.NEW, "bob"))

    def test_never_above_what_was_asked_for(self):
        asks = job(9, 2, estimate=15.0)
        self.assertEqual(15.0, run_times.similar(history(10.0, 20.0, 30.0), asks, "ann").seconds)

    def test_a_short_history_says_less_than_the_user(self):
        """With fewer than three past jobs; whoever gave no estimate is told what there is."""
        asks = job(9, 2, estimate=600.0)
        for known, told in (
            ((), None),
            ((10.0,), None),
            ((10.0, 20.0), None),
            ((10.0, 20.0, 30.0), (20.0, 3)),
        ):
            past = history(*known, estimate=600.0)
            self.assertEqual(told, run_times.similar(past, asks, "ann"), known)
        self.assertEqual((20.0, 2), run_times.similar(history(10.0, 20.0), self.NEW, "ann"))

    def test_only_longer_ones(self):
        """Of enough past jobs, the one that ran longer than this has by now counts."""
        asks = job(9, 2, estimate=600.0)
        past = history(10.0, 20.0, 30.0, estimate=600.0)
        self.assertEqual([30.0], run_times.of_similar(past, asks, "ann", beyond=25.0))

    def test_jobs_that_took_no_time_count(self):
        self.assertEqual(0.0, run_times.similar(history(0.0, 0.0, 30.0), self.NEW, "ann").seconds)


class TestCorrected(testtools.TestCase):
    def test_as_predicted_until_then(self):
        self.assertEqual(100.0, run_times.corrected(100.0, began=1000.0, now=1099.0))

    def test_step_by_step(self):
        """An outrun prediction is raised by a minute, then five, then fifteen (Tsafrir 2007)."""
        for ran, expected in ((100.0, 160.0), (160.0, 460.0), (459.0, 460.0), (460.0, 1360.0)):
            self.assertEqual(expected, run_times.corrected(100.0, began=50.0, now=50.0 + ran))

    def test_always_beyond_now(self):
        for exponent in range(60):
            ran = 1.5**exponent
            self.assertGreater(run_times.corrected(10.0, began=0.0, now=ran), ran)

    def test_no_more_than_asked_for(self):
        for ran in (100.0, 130.0, 1e9):
            self.assertEqual(130.0, run_times.corrected(100.0, 0.0, ran, most=130.0))

    def test_no_end_is_known_after_the_last_step(self):
        self.assertEqual(math.inf, run_times.corrected(100.0, 0.0, 1e7))
