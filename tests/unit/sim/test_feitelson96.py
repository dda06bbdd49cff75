"""The surrogate of Feitelson's model."""

import collections

import testtools

from nova_twotier.sim.workloads.feitelson96 import Feitelson96
from nova_twotier.sim.workloads.workload import describe


def expected_runtime(model):
    """What jobs of a model run on average (seconds), from its parameters."""
    total = work = 0.0
    for size in range(1, model.largest + 1):
        power = size > 1 and size & (size - 1) == 0
        weight = size**-model.order * (model.power_of_two if power else 1)
        short = model.short_serial - model.short_decline * size / model.largest
        total += weight
        work += weight * (short * model.short + (1 - short) * model.long)
    return model.unit * work / total


class TestStatistics(testtools.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.found = describe(Feitelson96().generate(40_000, 1))

    def assert_near(self, wanted, name, tolerance):
        found = self.found[name]
        self.assertTrue(abs(found - wanted) <= tolerance, f"{name} is {found}, not {wanted}")

    def test_sizes(self):
        # Repetitions have no variance to speak of: fractions move by points.
        self.assert_near(0.175, "serial_fraction", 0.04)
        self.assert_near(0.66, "power_of_two_fraction", 0.05)
        self.assert_near(7.5, "average_size", 1.5)
        self.assertTrue(self.found["maximum_size"] <= 256)

    def test_runtimes(self):
        self.assertAlmostEqual(2500, expected_runtime(Feitelson96()), -1)
        self.assert_near(2500, "average_runtime_seconds", 150)
        self.assertTrue(1.4 < self.found["runtime_cv"] < 2)
        self.assertTrue(0 < self.found["size_runtime_correlation"] < 0.15)

    def test_load(self):
        self.assert_near(0.7, "load", 0.15)


class TestGenerate(testtools.TestCase):
    def test_the_seed_decides(self):
        jobs = [Feitelson96().generate(100, seed).jobs for seed in (3, 3, 4)]
        self.assertEqual(jobs[0], jobs[1])
        self.assertNotEqual(jobs[0], jobs[2])

    def test_as_many_jobs_as_asked_for_within_the_nodes(self):
        for nodes in (1, 5, 100):
            made = Feitelson96().generate(50, 1, nodes)
            self.assertEqual((50, nodes), (len(made.jobs), made.nodes))
            self.assertTrue(all(job.size <= nodes for job in made.jobs))
            self.assertTrue(all(job.estimate == job.runtime > 0 for job in made.jobs))

    def test_the_unit_is_that_of_run_times(self):
        one = Feitelson96(unit=1).generate(50, 1)
        ten = Feitelson96(unit=10).generate(50, 1)
        for short, long in zip(one.jobs, ten.jobs, strict=True):
            self.assertAlmostEqual(10, long.runtime / short.runtime)

    def test_a_repetition_arrives_when_the_run_before_ends(self):
        made = Feitelson96().generate(5000, 1)
        ends = collections.Counter(
            (job.size, round(job.arrival + job.runtime, 3)) for job in made.jobs
        )
        repeated = sum((job.size, round(job.arrival, 3)) in ends for job in made.jobs)
        # Of all runs, those that are not the first: 1 - zeta(2.5) / zeta(1.5).
        self.assertTrue(0.38 < repeated / len(made.jobs) < 0.56, repeated / len(made.jobs))
