"""The hyper-Erlang model of Jann et al., its fit and its files."""

import collections
import json
import math
import pathlib
import tempfile

import numpy
import testtools

from nova_twotier.sim.workloads import jann97
from nova_twotier.sim.workloads.hyper_erlang import HyperErlang
from nova_twotier.sim.workloads.jann97 import InvalidModel, Jann97, Range
from nova_twotier.sim.workloads.workload import Submission, Workload, describe

#: Least orders of their moments, with branches near enough for a sample to tell both rates.
INTERARRIVAL = HyperErlang(1, 2e-3, 2e-4, 0.8)
RUNTIME = HyperErlang(3, 1e-2, 5e-3, 0.5)


def model(**options):
    return Jann97((Range(1, 1, INTERARRIVAL, RUNTIME, {1: 5}),), **options)


def cv(erlang):
    """The coefficient of variation (standard deviation / mean) by its parameters."""
    n, shares = erlang.order, (erlang.probability, 1 - erlang.probability)
    rates = tuple(zip(shares, (erlang.rate1, erlang.rate2), strict=True))
    mean = sum(share * n / rate for share, rate in rates)
    square = sum(share * n * (n + 1) / rate**2 for share, rate in rates)
    return math.sqrt(square - mean**2) / mean


class TestHyperErlang(testtools.TestCase):
    def test_mean_and_variation(self):
        # One branch of n stages: mean n / rate, CV 1 / sqrt(n).
        erlang = HyperErlang(4, 0.5, 0.5, 1.0)
        self.assertAlmostEqual(8, erlang.mean)
        self.assertAlmostEqual(0.5, cv(erlang))
        # The figures of the refit's first range.
        serial = HyperErlang(4, 6.80433212375898e-3, 1.1862632588792789e-4, 0.6114679759268401)
        self.assertAlmostEqual(13460.5, serial.mean, 1)
        self.assertAlmostEqual(1.4315, cv(serial), 4)

    def test_samples_have_the_moments(self):
        values = RUNTIME.sample(200_000, numpy.random.default_rng(1))
        self.assertTrue(math.isclose(RUNTIME.mean, values.mean(), rel_tol=0.02))
        self.assertTrue(math.isclose(cv(RUNTIME), values.std() / values.mean(), rel_tol=0.02))

    def test_the_match_has_the_values_moments(self):
        values = numpy.random.default_rng(1).lognormal(3, 1, 1000)
        found = HyperErlang.matching(values)
        self.assertAlmostEqual(1, found.mean / values.mean())
        self.assertAlmostEqual(1, cv(found) / (values.std() / values.mean()))

    def test_values_that_hardly_vary_have_one_branch(self):
        found = HyperErlang.matching([100, 100, 100])
        self.assertAlmostEqual(100, found.mean)
        self.assertEqual(1.0, found.probability)

    def test_no_values(self):
        for values in ([], [0, 0]):
            self.assertRaises(ValueError, HyperErlang.matching, values)


class TestStatistics(testtools.TestCase):
    """Against samples of the refit: 20,000 jobs, noisy by some percent."""

    def test_ctc(self):
        found = describe(Jann97(largest=322).generate(40_000, 1, nodes=322))
        self.assertAlmostEqual(0.415, found["serial_fraction"], delta=0.015)
        self.assertAlmostEqual(0.885, found["below_20_fraction"], delta=0.015)
        self.assertAlmostEqual(10_750, found["average_runtime_seconds"], delta=400)
        self.assertAlmostEqual(1.67, found["runtime_cv"], delta=0.05)
        self.assertAlmostEqual(360, found["average_interarrival_seconds"], delta=25)

    def test_sizes_inside_ranges(self):
        mean = {
            sizes: describe(Jann97(sizes=sizes, largest=322).generate(40_000, 1, nodes=322))
            for sizes in jann97.SIZES
        }
        for sizes, wanted in {"empirical": 10.7, "uniform": 9.9, "top": 12.4}.items():
            self.assertAlmostEqual(wanted, mean[sizes]["average_size"], delta=1)

    def test_no_job_is_larger_than_the_cluster_or_the_largest(self):
        for sizes in jann97.SIZES:
            for largest, nodes in ((256, 320), (256, 100), (6, 320), (1, 320)):
                made = Jann97(sizes=sizes, largest=largest).generate(2000, 1, nodes)
                self.assertEqual((2000, nodes), (len(made.jobs), made.nodes))
                self.assertTrue(max(job.size for job in made.jobs) <= min(largest, nodes))

    def test_the_seed_decides(self):
        jobs = [Jann97().generate(100, seed).jobs for seed in (3, 3, 4)]
        self.assertEqual(jobs[0], jobs[1])
        self.assertNotEqual(jobs[0], jobs[2])


class TestFit(testtools.TestCase):
    def test_the_fit_of_a_sample_is_about_its_model(self):
        (found,) = jann97.fit(model().generate(100_000, 1)).ranges
        for wanted, fitted in ((INTERARRIVAL, found.interarrival), (RUNTIME, found.runtime)):
            self.assertEqual(wanted.order, fitted.order)
            self.assertTrue(math.isclose(wanted.rate1, fitted.rate1, rel_tol=0.05), fitted)
            self.assertTrue(math.isclose(wanted.rate2, fitted.rate2, rel_tol=0.05), fitted)
            self.assertAlmostEqual(wanted.probability, fitted.probability, delta=0.02)

    def test_ranges_and_sizes_are_those_of_the_jobs(self):
        sizes = [1, 2, 3, 3, 4, 7] * 4
        jobs = [Submission(n, n * n, size, 5.0 * n, 9) for n, size in enumerate(sizes, 1)]
        fitted = jann97.fit(Workload("w", 8, jobs))
        ends = [(found.lowest, found.highest) for found in fitted.ranges]
        self.assertEqual([(1, 1), (2, 2), (3, 4), (5, 7)], ends)
        self.assertEqual({3: 8, 4: 4}, fitted.ranges[2].sizes)
        drawn = collections.Counter(job.size for job in fitted.generate(500, 1).jobs)
        self.assertEqual({1, 2, 3, 4, 7}, set(drawn))

    def test_ranges_of_ones_own(self):
        jobs = [Submission(n, n * n, 1 + n % 6, 5.0 * n, 9) for n in range(1, 60)]
        fitted = jann97.fit(Workload("w", 8, jobs), [(1, 5), (6, 8), (9, 20)])
        ends = [(found.lowest, found.highest) for found in fitted.ranges]
        self.assertEqual([(1, 5), (6, 8)], ends)

    def test_what_cannot_be_fitted(self):
        few = Workload.of("w", 8, [0, 5], [1, 1], [60, 70])
        error = self.assertRaises(InvalidModel, jann97.fit, few)
        self.assertEqual("w: no range of sizes has 3 jobs", str(error))
        at_once = Workload.of("w", 8, [0] * 4, [1] * 4, [60] * 4)
        error = self.assertRaises(InvalidModel, jann97.fit, at_once)
        self.assertEqual("range 1 to 1: there is no time above 0 to fit", str(error))


class TestFiles(testtools.TestCase):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = pathlib.Path(directory.name) / "model.json"

    def test_what_is_saved_is_loaded(self):
        for wanted in (Jann97(), model(), model(sizes="uniform", largest=7)):
            wanted.save(self.path)
            self.assertEqual(wanted, Jann97.load(self.path))
        self.assertEqual("top", Jann97.load(self.path, sizes="top").sizes)

    def test_large_jobs_of_a_fit_are_there_when_it_is_loaded(self):
        jobs = [Submission(n, n * n, 200 + n % 100, 5.0 * n, 9) for n in range(1, 300)]
        fitted = jann97.fit(Workload("w", 320, jobs))
        fitted.save(self.path)
        self.assertEqual(fitted, Jann97.load(self.path))
        self.assertGreater(
            max(job.size for job in Jann97.load(self.path).generate(500, 1).jobs), 256
        )

    def test_a_file_of_an_older_release_has_the_largest_job_of_its_ranges(self):
        model().save(self.path)
        ranges = json.loads(self.path.read_text())["ranges"]
        ranges.append(ranges[0] | {"lowest": 2, "highest": 300, "sizes": {"290": 3}})
        self.path.write_text(json.dumps({"ranges": ranges}))
        self.assertEqual(300, Jann97.load(self.path).largest)

    def test_other_files_are_refused(self):
        model().save(self.path)
        saved = json.loads(self.path.read_text())
        changes = ({"largest": "x"}, {"largest": 0}, {"sizes": "best"}, {"other": 1})
        wrong = [json.dumps(saved | change) for change in changes]
        for text in (
            "",
            "[]",
            "{}",
            '{"ranges": [1]}',
            '{"ranges": [{"lowest": 1}]}',
            "\0",
            *wrong,
        ):
            self.path.write_text(text)
            error = self.assertRaises(InvalidModel, Jann97.load, self.path)
            self.assertTrue(str(error).startswith(f"{self.path}: is not a model of Jann 1997"))

    def test_no_such_way_to_draw_sizes(self):
        self.assertRaises(InvalidModel, Jann97, sizes="best")
