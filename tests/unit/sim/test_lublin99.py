"""The model of Lublin and Feitelson against the authors' generator.

The figures are those of 20,000 jobs of the reference, and as noisy; arrivals are the noisiest.
"""

import collections
import math

import ddt
import numpy
import testtools

from nova_twotier.sim.workloads.lublin99 import TYPES, Lublin99
from nova_twotier.sim.workloads.workload import describe

REFERENCE = {
    "type0": {
        "size": 12.26,
        "serial": 0.2427,
        "powers": (0.1137, 0.1520, 0.1412, 0.1376, 0.0331, 0.0338, 0.0158),
        "runtime": (4314, 2.03),
        "quantiles": (4, 19, 104, 6783, 14433, 34346),
        "logarithm": (5.436, 2.957),
        "correlation": 0.166,
        "gap": 931,
    },
    "type1": {
        "size": 8.85,
        "serial": 0.1764,
        "powers": (0.1213, 0.2354, 0.1537, 0.0940, 0.0739, 0.0072, 0.0027),
        "runtime": (1665, 4.21),
        "quantiles": (2, 6, 18, 93, 980, 32694),
        "logarithm": (3.506, 2.412),
        "correlation": 0.142,
        "gap": 530,
    },
}


@ddt.ddt
class TestReference(testtools.TestCase):
    JOBS = 40_000

    def assert_near(self, wanted, found, relative=0.0, absolute=0.0):
        near = math.isclose(wanted, found, rel_tol=relative, abs_tol=absolute)
        self.assertTrue(near, f"{found} is not near {wanted}")

    @ddt.data(*REFERENCE)
    def test_sizes(self, kind):
        wanted = REFERENCE[kind]
        made = Lublin99(TYPES[kind], largest=128).generate(self.JOBS, 1, nodes=128)
        counts = collections.Counter(job.size for job in made.jobs)
        found = describe(made)
        self.assertEqual(128, max(counts))
        self.assert_near(wanted["size"], found["average_size"], relative=0.04)
        self.assert_near(wanted["serial"], found["serial_fraction"], absolute=0.012)
        for exponent, share in enumerate(wanted["powers"], start=1):
            self.assert_near(share, counts[2**exponent] / self.JOBS, absolute=0.009)

    @ddt.data(*REFERENCE)
    def test_runtimes(self, kind):
        wanted = REFERENCE[kind]
        made = Lublin99(TYPES[kind], largest=128).generate(self.JOBS, 1, nodes=128)
        found = describe(made)
        mean, cv = wanted["runtime"]
        self.assert_near(mean, found["average_runtime_seconds"], relative=0.2)
        self.assert_near(cv, found["runtime_cv"], relative=0.1)
        logarithms = numpy.log([job.runtime for job in made.jobs])
        self.assert_near(wanted["logarithm"][0], logarithms.mean(), absolute=0.12)
        self.assert_near(wanted["logarithm"][1], logarithms.std(), absolute=0.1)
        for percent, value in zip((5, 25, 50, 75), wanted["quantiles"], strict=False):
            quantile = found[f"p{percent}_runtime_seconds"]
            self.assert_near(value, quantile, relative=0.15, absolute=1)
        self.assert_near(wanted["quantiles"][5], found["p99_runtime_seconds"], relative=0.05)
        self.assert_near(wanted["correlation"], found["size_runtime_correlation"], absolute=0.025)
        self.assertTrue(all(job.runtime == int(job.runtime) >= 1 for job in made.jobs))

    @ddt.data(*REFERENCE)
    def test_arrivals(self, kind):
        made = Lublin99(TYPES[kind], largest=128).generate(self.JOBS, 1, nodes=128)
        found = describe(made)
        self.assert_near(REFERENCE[kind]["gap"], found["average_interarrival_seconds"], 0.12)
        self.assertTrue(5 < found["interarrival_cv"] < 9)

    def test_days_are_busier_than_nights(self):
        made = Lublin99(largest=128).generate(self.JOBS, 1, nodes=128)
        hours = collections.Counter(int(job.arrival) // 3600 % 24 for job in made.jobs)
        day, night = (sum(hours[hour] for hour in range(*ends)) for ends in ((9, 18), (0, 6)))
        self.assertTrue(day / 9 > 4 * night / 6, hours)


class TestGenerate(testtools.TestCase):
    def test_the_seed_decides(self):
        jobs = [Lublin99().generate(100, seed).jobs for seed in (3, 3, 4)]
        self.assertEqual(jobs[0], jobs[1])
        self.assertNotEqual(jobs[0], jobs[2])

    def test_sizes_reach_up_to_the_machine(self):
        for nodes, largest in ((1, 1), (3, 3), (100, 100), (320, 256)):
            made = Lublin99().generate(3000, 1, nodes)
            self.assertEqual((3000, nodes), (len(made.jobs), made.nodes))
            self.assertEqual(largest, max(job.size for job in made.jobs))
