"""Workloads, their loads and their statistics."""

import math
import subprocess
import sys

import testtools
from hypothesis import assume, given
from hypothesis import strategies as st

from nova_twotier.sim.workloads import swf
from nova_twotier.sim.workloads.workload import InvalidWorkload, Submission, Workload, describe

JOBS = st.lists(
    st.builds(
        Submission,
        number=st.integers(1, 10**6),
        arrival=st.floats(0, 1e7),
        size=st.integers(1, 512),
        runtime=st.floats(1, 1e6),
        estimate=st.just(0.0),
    ),
    min_size=1,
    max_size=20,
    unique_by=lambda job: job.number,
)


def job(number=1, arrival=0, size=1, runtime=60, estimate=None):
    return Submission(number, arrival, size, runtime, runtime if estimate is None else estimate)


def workload(*jobs, nodes=8):
    return Workload("w", nodes, jobs)


class TestJobs(testtools.TestCase):
    def test_users_are_of_the_jobs_that_name_one(self):
        found = workload(job(1)._replace(user=7), job(2), job(3)._replace(user=0))
        self.assertEqual({1: 7, 3: 0}, found.users)

    @given(JOBS)
    def test_jobs_are_by_arrival_then_number(self, jobs):
        found = [(job.arrival, job.number) for job in workload(*jobs).jobs]
        self.assertEqual(sorted((job.arrival, job.number) for job in jobs), found)

    def assert_refused(self, text, *jobs, nodes=8):
        error = self.assertRaises(InvalidWorkload, Workload, "w", nodes, jobs)
        self.assertEqual(text, str(error))

    def test_no_jobs(self):
        self.assert_refused("w: trace has no jobs")

    def test_no_nodes(self):
        self.assert_refused("w: nodes is 0; it must be from 1 to 1000000", job(), nodes=0)

    def test_same_number_twice(self):
        self.assert_refused("w: job 2 is there twice", job(1), job(2), job(2, 5))

    def test_size(self):
        text = "w: job 1 has size {}; it must be 1 to 1000000 processes"
        for size in (0, -1, 2.0, 10**7):
            self.assert_refused(text.format(size), job(size=size))

    def test_times(self):
        for wrong in (-1, math.inf, math.nan, 1e12):
            text = f"w: job 1 has {{}} {wrong}; it must be 0 to 1e+11 seconds"
            self.assert_refused(text.format("arrival"), job(arrival=wrong))
            self.assert_refused(text.format("runtime"), job(runtime=wrong, estimate=1))
            self.assert_refused(text.format("estimate"), job(estimate=wrong))

    def test_columns(self):
        made = Workload.of("w", 8, [0, 5], [1, 2], [60, 70])
        self.assertEqual((job(1, 0, 1, 60), job(2, 5, 2, 70)), made.jobs)

    def test_head(self):
        jobs = workload(job(1, 5), job(2, 3), job(3, 4))
        self.assertEqual([2, 3], [job.number for job in jobs.head(2).jobs])
        self.assertEqual(jobs, jobs.head(9))
        self.assertRaises(InvalidWorkload, jobs.head, 0)


class TestLoad(testtools.TestCase):
    def test_load_is_work_by_what_the_nodes_can_do(self):
        jobs = workload(job(1, 100, 2, 60), job(2, 150, 4, 20), job(3, 200, 1, 0), nodes=4)
        self.assertEqual((120 + 80) / (4 * 100), jobs.load)

    def test_jobs_at_once_have_no_load(self):
        self.assertTrue(math.isnan(workload(job(1), job(2)).load))

    def test_jobs_larger_than_the_machine_are_no_load(self):
        fitting = job(2, 100, 2, 60), job(3, 200, 4, 20)
        jobs = workload(job(1, 0, 5, 900), *fitting, job(4, 900, 9, 50), nodes=4)
        self.assertEqual((120 + 80) / (4 * 100), jobs.load)
        self.assertAlmostEqual(0.8, workload(*jobs.scaled(0.8).jobs[1:3], nodes=4).load)
        alone = workload(job(1, 0, 5), job(2, 9, 5), job(3, 5), nodes=4)
        self.assertTrue(math.isnan(alone.load))
        error = self.assertRaises(InvalidWorkload, alone.scaled, 0.5)
        self.assertIn("the jobs of up to 4 processes arrive at once", str(error))
        self.assertTrue(math.isnan(workload(job(1, 0, 5), job(2, 9, 5), nodes=4).load))

    @given(JOBS, st.floats(0.01, 4))
    def test_scaled_to_a_load(self, jobs, load):
        before = workload(*jobs, nodes=512)
        assume(before.span > 1)
        after = before.scaled(load)
        self.assertTrue(math.isclose(load, after.load, rel_tol=1e-6))
        self.assertEqual(before.jobs[0].arrival, after.jobs[0].arrival)

        def but_arrival(found):
            return {job.number: job._replace(arrival=0) for job in found.jobs}

        self.assertEqual(but_arrival(before), but_arrival(after))

    def test_loads_that_cannot_be(self):
        jobs = workload(job(1), job(2, 5))
        for load in (0, -1, math.inf, math.nan):
            self.assertRaises(InvalidWorkload, jobs.scaled, load)
        self.assertRaises(InvalidWorkload, workload(job(1), job(2)).scaled, 0.5)
        idle = workload(job(1, runtime=0), job(2, 5, runtime=0))
        self.assertRaises(InvalidWorkload, idle.scaled, 0.5)


class TestTraces(testtools.TestCase):
    TRACE = swf.parse(
        [
            "; MaxProcs: 100",
            "1 0 0 60 4 -1 -1 4 120 -1 1 -1 -1 -1 -1 -1 -1 -1",
            "2 1 0 60 -1 -1 -1 6 30 -1 0 -1 -1 -1 -1 -1 -1 -1",
            "3 2 0 0 1 -1 -1 1 -1 -1 5 -1 -1 -1 -1 -1 -1 -1",
            "4 3 0 -1 1 -1 -1 1 -1 -1 5 -1 -1 -1 -1 -1 -1 -1",
        ],
        "t.swf",
    )

    def test_jobs_of_a_trace(self):
        found = Workload.from_swf(self.TRACE, name="t")
        self.assertEqual(("t", 100), (found.name, found.nodes))
        wanted = (job(1, 0, 4, 60, 120), job(2, 1, 6, 60, 60), job(3, 2, 1, 0, 0))
        self.assertEqual(wanted, found.jobs)

    def test_other_nodes(self):
        self.assertEqual(5, Workload.from_swf(self.TRACE, 5).nodes)

    def test_a_trace_without_jobs(self):
        empty = swf.parse(["; a comment"], "t.swf")
        error = self.assertRaises(InvalidWorkload, Workload.from_swf, empty, name="t")
        self.assertEqual("t: trace has no jobs", str(error))
        aborted = swf.parse([f"{n} 0 0 -1 4 -1 -1 4 {'-1 ' * 10}" for n in (1, 2)], "t.swf")
        error = self.assertRaises(InvalidWorkload, Workload.from_swf, aborted, name="t")
        why = "left out 2 records without a run time (field 4) or processors (5 and 8)"
        self.assertEqual(f"t: trace has no jobs: {why}", str(error))

    def test_records_that_are_left_out_are_remarked(self):
        said = "t: left out 1 record without a run time (field 4) or processors (5 and 8)"
        self.assertEqual((said,), Workload.from_swf(self.TRACE, name="t").remarks)
        self.assertEqual((said,), Workload.from_swf(self.TRACE, 5, name="t").remarks)

    @given(JOBS)
    def test_to_a_trace_and_back(self, jobs):
        jobs = [job._replace(estimate=job.runtime * 2) for job in jobs]
        wanted = workload(*jobs, nodes=99)
        self.assertEqual(wanted, Workload.from_swf(wanted.to_swf(), name="w"))


class TestDescribe(testtools.TestCase):
    def test_statistics(self):
        jobs = [job(1, 0, 1, 10), job(2, 10, 2, 20), job(3, 30, 3, 30), job(4, 60, 32, 40, 80)]
        found = describe(workload(*jobs, nodes=64))
        self.assertEqual((4, 64), (found["jobs"], found["nodes"]))
        self.assertEqual(1420 / (64 * 60), found["load"])
        self.assertEqual(0.25, found["serial_fraction"])
        self.assertEqual(0.5, found["power_of_two_fraction"])
        self.assertEqual(0.75, found["below_20_fraction"])
        self.assertEqual((9.5, 32), (found["average_size"], found["maximum_size"]))
        self.assertEqual(25, found["average_runtime_seconds"])
        self.assertAlmostEqual(math.sqrt(125) / 25, found["runtime_cv"])
        self.assertEqual((10, 20, 40), tuple(found[f"p{p}_runtime_seconds"] for p in (5, 50, 99)))
        self.assertEqual(20, found["average_interarrival_seconds"])
        self.assertEqual((35, 4), (found["average_estimate_seconds"], found["distinct_estimates"]))
        self.assertAlmostEqual(470 / math.sqrt(677 * 500), found["size_runtime_correlation"])

    def test_one_job_has_no_spread(self):
        found = describe(workload(job()))
        without = {name for name, value in found.items() if math.isnan(value)}
        gaps = {"average_interarrival_seconds", "interarrival_cv"}
        self.assertEqual({"load", "size_runtime_correlation"} | gaps, without)
        self.assertEqual(0, found["runtime_cv"])

    def test_scaling_changes_arrivals_only(self):
        jobs = workload(job(1, 0, 1, 10), job(2, 10, 2, 20), job(3, 30, 3, 30))
        before, after = describe(jobs), describe(jobs.scaled(jobs.load / 2))
        same = [name for name in before if before[name] == after[name]]
        changed = {"load", "average_interarrival_seconds"}
        self.assertEqual(changed, {name for name in before if name not in same})


class TestImport(testtools.TestCase):
    def test_traces_need_no_extra(self):
        # The demo replays traces without the simulator's extra.
        code = (
            "import sys; sys.modules['numpy'] = None; "
            "import nova_twotier.sim.workloads.workload, nova_twotier.sim.workloads.swf"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        self.assertEqual((0, b""), (done.returncode, done.stderr))
