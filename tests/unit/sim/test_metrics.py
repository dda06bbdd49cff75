"""The metrics of the papers, on frames small enough for the head."""

import math

import testtools

from nova_twotier.sim import metrics
from tests.unit.sim.result_builders import jobs, result


class TestPerJob(testtools.TestCase):
    def test_definitions(self):
        frame = metrics.per_job(jobs({"arrival": 5.0, "runtime": 20.0, "finish": 75.0}))
        wait, response, slowdown, bounded = frame[list(metrics.QUANTITIES)].iloc[0]
        self.assertEqual((50, 70, 3.5, 3.5), (wait, response, slowdown, bounded))

    def test_bounded_slowdown_of_a_short_job_is_below_one(self):
        frame = metrics.per_job(jobs({"runtime": 2.0, "finish": 4.0}))
        self.assertEqual(2.0, frame["slowdown"].iloc[0])
        self.assertEqual(0.4, frame["bounded_slowdown"].iloc[0])

    def test_job_of_runtime_0_has_no_slowdown(self):
        frame = metrics.per_job(jobs({"runtime": 0.0, "finish": 30.0}))
        self.assertTrue(math.isnan(frame["slowdown"].iloc[0]))
        self.assertEqual(3.0, frame["bounded_slowdown"].iloc[0])


class TestSummary(testtools.TestCase):
    def test_row(self):
        frame = jobs(
            {"arrival": 0.0, "size": 4, "runtime": 100.0, "finish": 100.0, "swaps": 1},
            {"arrival": 10.0, "size": 2, "runtime": 50.0, "finish": 150.0, "migrations": 2},
            {"arrival": 20.0, "size": 1, "runtime": 0.0, "finish": 100.0, "kills": 1},
            {"arrival": 100.0, "size": 4, "runtime": 100.0, "finish": 300.0, "evictions": 1},
        )
        row = metrics.summarise(
            result(frame, busy=600.0, policy="cmcbf", seed=7, left_out=[(9, 5, "too large")])
        )
        expected = {
            "policy": "cmcbf",
            "workload": "t",
            "nodes": 4,
            "load": 900 / 400,
            "seed": 7,
            "jobs": 4,
            "rejected": 1,
            "average_wait_seconds": 67.5,
            "maximum_wait_seconds": 100.0,
            "p50_wait_seconds": 85.0,
            "p90_wait_seconds": 97.0,
            "average_response_seconds": 130.0,
            "maximum_response_seconds": 200.0,
            # (1 + 2.8 + 2) / 3: the job of runtime 0 is left out.
            "average_slowdown": 5.8 / 3,
            "maximum_slowdown": 2.8,
            # (1 + 2.8 + 8 + 2) / 4
            "average_bounded_slowdown": 3.45,
            "maximum_bounded_slowdown": 8.0,
            "migrations_per_job": 0.5,
            "evictions_per_job": 0.25,
            "kills_per_job": 0.25,
            "swaps_per_job": 0.25,
            "utilisation": 600 / (300 * 4),
            "allocation_share": 900 / (300 * 4),
            "makespan_seconds": 300.0,
            "accept_rate": 0.8,
            "accept_rate_one_host": 1.0,
        }
        for name, value in expected.items():
            if isinstance(value, float):
                self.assertAlmostEqual(value, row[name], 9, name)
            else:
                self.assertEqual(value, row[name], name)

    def test_columns(self):
        row = metrics.summarise(result(jobs({})))
        self.assertEqual(metrics.columns(None), list(row))

    def test_without_a_job_nothing_has_a_value(self):
        row = metrics.summarise(result(jobs(), span=0.0, left_out=[(1, 9, "too large")]))
        self.assertEqual((0, 1), (row["jobs"], row["rejected"]))
        self.assertEqual((0.0, 0.0), (row["makespan_seconds"], row["accept_rate"]))
        without = [name for name in metrics.names() if math.isnan(row[name])]
        self.assertEqual(set(metrics.names()) - {"makespan_seconds", "accept_rate"}, set(without))
