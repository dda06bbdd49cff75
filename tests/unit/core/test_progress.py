"""How fast jobs advance."""

import testtools
from hypothesis import given

from nova_twotier.core.prediction.sdpn import Full
from nova_twotier.core.progress import Progress
from tests.unit.core.builders import BG, FG, cluster, job
from tests.unit.core.test_cluster import occupied

MODEL = Progress(
    loss=(0.0, 0.04), eff_single=(0.8, 1.0), eff_parallel=(0.4, 0.1, 0.0, 0.8), floor=0.05
)


class TestRates(testtools.TestCase):
    def rates(self, of):
        rates = Full(MODEL).on(of).placed(of.runs.values())
        return {number: round(rate, 9) for number, rate in rates}

    @given(occupied())
    def test_between_zero_and_one(self, drawn):
        made, _outside = drawn
        rates = self.rates(made)
        self.assertEqual(set(made.runs), set(rates))
        for number, rate in rates.items():
            self.assertTrue(0 < rate <= 1, (made.runs[number], rate))

    @given(occupied())
    def test_foreground_loses_at_most_the_loss(self, drawn):
        made, _outside = drawn
        rates = self.rates(made)
        for run in made.running(FG):
            # Nothing disturbs the communication of a job with a bandwidth.
            if not run.job.mbps:
                self.assertIn(rates[run.job.number], (1.0, MODEL.disturbed))

    def test_alone(self):
        made = cluster(2)
        made.start(job(1, 2, cpu=1.0), FG)
        self.assertEqual({1: 1.0}, self.rates(made))

    def test_background_under_an_idle_foreground(self):
        made = cluster(2)
        made.start(job(1, 2, cpu=1.0), BG)
        self.assertEqual({1: 1.0}, self.rates(made))

    def test_shared_slot(self):
        made = cluster(1)
        made.start(job(1, cpu=0.6), FG)
        made.start(job(2, cpu=0.8), BG)
        self.assertEqual({1: 0.98, 2: 0.45}, self.rates(made))  # 0.9 * 0.4 / 0.8

    def test_enough_is_left(self):
        made = cluster(1)
        made.start(job(1, cpu=0.1), FG)
        made.start(job(2, cpu=0.8), BG)
        self.assertEqual(0.9, self.rates(made)[2])

    def test_floor(self):
        made = cluster(1)
        made.start(job(2, cpu=0.5), BG)
        made.start(job(1, cpu=1.0), FG)
        self.assertEqual(0.09, self.rates(made)[2])  # 0.9 * 0.05 / 0.5

    def test_slowest_process(self):
        """One process of two is beside a foreground VM; the other waits for it."""
        made = cluster(1, 1)
        made.start(job(1, cpu=0.5), FG, [0])
        made.start(job(2, 2, cpu=1.0), BG, [0, 1])
        self.assertEqual(0.2, self.rates(made)[2])  # 0.4 * 0.5 / 1.0

    def test_three_tiers(self):
        """What the first background process leaves is for the second."""
        made = cluster(1, tiers=3)
        made.start(job(1, cpu=0.3), FG)
        made.start(job(2, cpu=0.5), BG)
        made.start(job(3, cpu=0.4), BG)
        self.assertEqual({1: 0.98, 2: 0.9, 3: 0.45}, self.rates(made))  # 0.9 * 0.2 / 0.4

    def test_idle_process(self):
        made = cluster(1)
        made.start(job(1, cpu=0.9), FG)
        made.start(job(2, cpu=0.0), BG)
        self.assertEqual(0.9, self.rates(made)[2])
