"""What processes use of their CPU, and what the scheduler is told of it."""

import random

import numpy
import testtools
from hypothesis import example, given
from hypothesis import strategies as st

from nova_twotier.core.slots import THRESHOLD
from nova_twotier.sim.workloads.utilisation import CHUNK, InvalidUtilisation, Utilisation

SIZES = st.lists(st.integers(1, 40), max_size=20)
ERRORS = st.one_of(st.none(), st.floats(0, 1))


def draw(utilisation, sizes, seed=1):
    return list(utilisation.draw(sizes, numpy.random.default_rng(seed)))


class TestDraw(testtools.TestCase):
    @given(SIZES, ERRORS, st.booleans(), st.floats(0, 1), st.floats(0, 1), st.integers(0, 99))
    def test_every_process_has_a_known_and_a_true_value(self, sizes, error, closing, a, b, seed):
        utilisation = Utilisation(min(a, b), max(a, b), error, closing)
        jobs = draw(utilisation, sizes, seed)
        self.assertEqual(sizes, [len(known) for known, _ in jobs])
        for known, true in jobs:
            self.assertEqual(len(known), len(true))
            self.assertEqual(sorted(known, reverse=True), list(known))
            self.assertTrue(all(0 <= value <= 1 for value in known))
            if len(true) == 1:
                self.assertEqual((1.0,), true)
            else:
                self.assertTrue(all(min(a, b) <= value <= max(a, b) for value in true))

    @given(SIZES)
    def test_without_error_both_are_one_object(self, sizes):
        self.assertTrue(all(known is true for known, true in draw(Utilisation(), sizes)))

    @given(SIZES, ERRORS)
    @example([3, 1, 2] * 3000, 0.1)  # more jobs than are sorted at once
    def test_true_values_depend_on_the_seed_and_not_on_the_error(self, sizes, error):
        exact = draw(Utilisation(), sizes)
        told = draw(Utilisation(error=error), sizes)
        self.assertEqual(
            [true for _, true in exact], [tuple(sorted(true, reverse=True)) for _, true in told]
        )

    def test_later_jobs_change_nothing(self):
        # More than is drawn at once.
        sizes = [CHUNK // 3, 5, CHUNK // 2, 7, CHUNK, 3]
        for error in (0.0, 0.2, None):
            utilisation = Utilisation(error=error)
            jobs = draw(utilisation, sizes)
            self.assertEqual(jobs[:2], draw(utilisation, sizes[:2]))
            self.assertEqual(jobs[:5], draw(utilisation, sizes[:5]))

    def test_a_generator_of_the_standard_library(self):
        jobs = [list(Utilisation().draw([3, 1], random.Random(seed))) for seed in (5, 5, 6)]
        self.assertEqual(jobs[0], jobs[1])
        self.assertNotEqual(jobs[0], jobs[2])

    def test_values_are_uniform(self):
        ((known, _),) = draw(Utilisation(0.2, 1.0), [100_000])
        self.assertAlmostEqual(0.6, numpy.mean(known), 2)
        self.assertAlmostEqual(0.8 / 12**0.5, numpy.std(known), 2)


class TestKnown(testtools.TestCase):
    def test_estimates_are_off_by_up_to_the_error(self):
        ((known, true),) = draw(Utilisation(0.4, 1.0, error=0.2), [50_000])
        known, true = numpy.array(known), numpy.array(true)
        below = known < 1
        ratio = known[below] / true[below]
        self.assertTrue(0.8 <= ratio.min() < 0.801)
        self.assertTrue(1.199 < ratio.max() <= 1.2 + 1e-9)
        self.assertTrue((true[~below] >= 1 / 1.2).all())
        # Uniform where the cap at 1 does not matter.
        self.assertAlmostEqual(1.0, ratio[true[below] < 0.8].mean(), 2)

    def test_a_single_process_is_known_to_use_its_slot(self):
        for utilisation in (Utilisation(error=0.5), Utilisation(error=None)):
            self.assertEqual([((1.0,), (1.0,))], draw(utilisation, [1]))

    def test_nothing_known_but_what_closes_a_slot(self):
        ((known, true),) = draw(Utilisation(error=None), [1000])
        hot = [value >= THRESHOLD for value in true]
        self.assertEqual([1.0 if is_hot else 0.7 for is_hot in hot], list(known))
        self.assertTrue(0 < sum(hot) < 200)
        cool = true[sum(hot) :]
        self.assertNotEqual(sorted(cool, reverse=True), list(cool))

    def test_nothing_known_at_all(self):
        one, many = draw(Utilisation(error=None, closing=False), [1, 3])
        self.assertEqual(((0.7,), (1.0,)), one)
        self.assertEqual((0.7,) * 3, many[0])


class TestRange(testtools.TestCase):
    def test_average(self):
        found = Utilisation.averaging(0.6, error=0.1)
        self.assertAlmostEqual(0.2, found.lowest)
        self.assertEqual((1.0, 0.1), (found.highest, found.error))
        self.assertEqual([((1.0,) * 4,) * 2], draw(Utilisation.averaging(1.0), [4]))

    def test_what_cannot_be(self):
        for wrong in ((-0.1, 1.0), (0.5, 0.4), (0.5, 1.1), (0.4, 1.0, -0.1), (0.4, 1.0, 1.1)):
            self.assertRaises(InvalidUtilisation, Utilisation, *wrong)
        for mean in (0.4, 1.1):
            self.assertRaises(InvalidUtilisation, Utilisation.averaging, mean)
