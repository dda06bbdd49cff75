"""Loss, efficiency, gain and verdict of made-up turns."""

import testtools

from nova_twotier.calibration.points import Verdict, points
from nova_twotier.core.progress import Progress
from tests.unit.calibration import builders
from tests.unit.calibration.builders import BOUNDS


class TestPoint(testtools.TestCase):
    def test_numbers(self):
        found = builders.point(0.6, loss=0.02, progress=0.3, jitter=0)
        self.assertAlmostEqual(0.02, found.loss.median)
        self.assertAlmostEqual(0.3 / 0.4, found.efficiency.median)
        # Two foreground processes lose 2 % of 0.6 CPUs each.
        self.assertAlmostEqual(0.3 - 2 * 0.02 * 0.6, found.gain.median)
        self.assertAlmostEqual(0.03, found.foreign)
        self.assertEqual((5, 0), (found.trials, found.dropped))

    def test_the_simulator_predicts_what_was_measured(self):
        found = builders.point(0.6, progress=0.3, jitter=0)
        rate, _burn = Progress().background([0.4], [1.0], found.efficiency.median)
        self.assertAlmostEqual(0.3, rate)

    def test_a_busy_foreground_leaves_the_floor(self):
        found = builders.point(1.0, progress=0.02, jitter=0)
        self.assertAlmostEqual(0.5, found.efficiency.median)

    def test_verdicts(self):
        for expected, utilisation, loss, progress, jitter in (
            (Verdict.WORTH, 0.5, 0.01, 0.4, 0.01),
            (Verdict.NOT_WORTH, 0.98, 0.05, 0.01, 0.001),
            (Verdict.UNDECIDED, 0.98, 0.01, 0.02, 0.01),
        ):
            found = builders.point(utilisation, loss, progress, jitter)
            self.assertEqual(expected, found.verdict)
            self.assertTrue(found.valid)

    def references(self, **changes):
        """A point whose last reference differs."""
        turns = list(builders.turns(0.5, [0.01] * 5, [0.4] * 5))
        [found] = points([*turns[:-2], *builders.alone(5, 0.5, **changes)], BOUNDS)
        return found

    def test_a_reference_that_drifts(self):
        found = self.references(front=40.0)
        self.assertEqual(Verdict.DRIFT, found.verdict)
        self.assertFalse(found.valid)
        self.assertEqual((4, 1), (found.trials, found.dropped))
        self.assertAlmostEqual(10 / 45, found.drift)

    def test_a_reference_without_a_step(self):
        found = self.references(front=0.0)
        self.assertEqual((4, 2.0), (found.trials, found.drift))

    def test_a_reference_that_had_to_wait(self):
        found = self.references(waited=0.2)
        self.assertEqual(Verdict.FOREIGN, found.verdict)
        self.assertEqual(0.2, found.waited)

    def test_enough_other_repetitions_make_up_for_it(self):
        turns = list(builders.turns(0.5, [0.01] * 6, [0.4] * 6))
        [found] = points([*turns[:-2], *builders.alone(6, 0.5, front=40.0)], BOUNDS)
        self.assertEqual(Verdict.WORTH, found.verdict)
        self.assertEqual((5, 1), (found.trials, found.dropped))

    def test_points_are_told_apart(self):
        turns = [
            *builders.turns(0.5, [0.01] * 5, [0.4] * 5),
            *builders.turns(0.9, [0.01] * 5, [0.1] * 5),
            *builders.turns(0.5, [0.01] * 5, [0.4] * 5, layout="spread"),
        ]
        self.assertEqual(
            [("single", 0.5), ("single", 0.9), ("spread", 0.5)],
            [(each.layout, each.nominal) for each in points(turns, BOUNDS)],
        )
