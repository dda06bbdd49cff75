"""The history of jobs as a trace, read back by the simulator."""

import random

import testtools

from nova_twotier.core.qos import Qos
from nova_twotier.db import history
from nova_twotier.db.states import JobState
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads import swf
from nova_twotier.sim.workloads.workload import Workload
from tests.unit.manager import builders


def job(number, submitted, started=None, finished=None, state=JobState.FINISHED, **values):
    defaults = {"estimate": None, "project_id": "", "user_id": "", "qos": Qos.NORMAL}
    return builders.job(
        number=number,
        state=state,
        submitted_at=submitted,
        started_at=started,
        finished_at=finished,
        **{**defaults, **values},
    )


def read(jobs, processors=None):
    return swf.parse(history.swf(jobs, processors), "history")


def fields(one):
    """The record of the only job, also of one that is none for the simulator."""
    return list(history.swf([one]))[-1].split()


class TestRecords(testtools.TestCase):
    def test_a_job_that_finished(self):
        trace = read([job(7, 1000.0, 1030.0, 1100.0, size=4, estimate=99.5)])
        [record] = trace.records
        self.assertEqual(
            (7, 0, 30, 70, 4, 4, 100, 1),
            (
                record.number,
                record.submit,
                record.wait,
                record.run,
                record.allocated,
                record.requested,
                record.requested_time,
                record.status,
            ),
        )

    def test_status_and_what_is_unknown(self):
        """Submit, wait, run, processors, those asked for, time asked for, status."""
        places = (1, 2, 3, 4, 7, 8, 10)
        for state, started, finished, expected in (
            (JobState.FINISHED, 5.0, 9.0, "0 5 4 2 2 -1 1"),
            (JobState.FAILED, 5.0, 9.0, "0 5 4 2 2 -1 0"),
            (JobState.FAILED, None, 9.0, "0 -1 -1 -1 2 -1 0"),
            (JobState.CANCELLED, 5.0, 9.0, "0 5 4 2 2 -1 5"),
            (JobState.CANCELLED, None, 9.0, "0 -1 -1 -1 2 -1 5"),
            (JobState.RUNNING, 5.0, None, "0 5 -1 2 2 -1 -1"),
            (JobState.QUEUED, None, None, "0 -1 -1 -1 2 -1 -1"),
        ):
            words = fields(job(1, 0.0, started, finished, state))
            self.assertEqual(18, len(words))
            self.assertEqual(expected, " ".join(words[place] for place in places), state)

    def test_what_never_ran_is_no_job_for_the_simulator(self):
        trace = read([job(1, 0.0, 1.0, 2.0), job(2, 3.0, state=JobState.QUEUED)])
        self.assertEqual(([1], 1), ([record.number for record in trace.records], trace.left_out))

    def test_users_projects_and_names_are_numbers(self):
        owners = (("ann", "x", "a"), ("bob", "x", ""), ("ann", "y", "b"), ("", "", "a"))
        jobs = [
            job(number, float(number), 9.0, 10.0, user_id=user, project_id=project, name=name)
            for number, (user, project, name) in enumerate(owners)
        ]
        self.assertEqual(
            [(1, 1, 1), (2, 1, -1), (1, 2, 2), (-1, -1, 1)],
            [(record.user, record.group, record.executable) for record in read(jobs).records],
        )
        self.assertNotIn("ann", "\n".join(history.swf(jobs)))

    def test_rounding_keeps_the_order_of_instants(self):
        """A job that starts in the instant in which another ends does so in the trace."""
        chance = random.Random(5)
        for _ in range(200):
            first, span, run = chance.uniform(1e9, 2e9), chance.uniform(0, 9), chance.uniform(0, 9)
            end = first + span + run
            one, two = read(
                [job(1, first, first + span, end), job(2, first, end, end + run)]
            ).records
            self.assertEqual(one.submit + one.wait + one.run, two.submit + two.wait)
            self.assertLessEqual(abs(one.run - run), 1)


class TestHeader(testtools.TestCase):
    def test_it_says_what_the_trace_is(self):
        trace = read([job(1, 1790000000.75, 1790000060.0, 1790003600.0)], processors=32)
        self.assertEqual(
            ("2.2", "1", "Yes", "1790000000", "32"),
            tuple(
                trace.header(key)
                for key in ("Version", "MaxJobs", "Preemption", "UnixStartTime", "MaxProcs")
            ),
        )
        self.assertEqual("Mon Sep 21 14:13:20 UTC 2026", trace.header("StartTime"))
        self.assertEqual("Mon Sep 21 15:13:20 UTC 2026", trace.header("EndTime"))
        notes = [comment for comment in trace.comments if comment.startswith("Note:")]
        self.assertTrue(any("5 cancelled" in note for note in notes))
        self.assertEqual(1, trace.records[0].submit)

    def test_without_jobs(self):
        trace = read([])
        self.assertEqual(
            ((), "0", None), (trace.records, trace.header("MaxJobs"), trace.header("UnixStartTime"))
        )

    def test_without_processors_the_largest_job_is_the_cluster(self):
        trace = read([job(1, 0.0, 1.0, 2.0, size=3), job(2, 0.0, 1.0, 2.0, size=5)])
        self.assertEqual((None, 5), (trace.header("MaxProcs"), trace.processors))


class TestReplay(testtools.TestCase):
    def test_the_simulator_takes_the_classes(self):
        jobs = [
            job(number, float(number), 10.0 + number, 20.0 + number, qos=qos)
            for number, qos in enumerate((Qos.SCAVENGER, Qos.NORMAL, Qos.URGENT), 1)
        ]
        trace = read(jobs)
        self.assertEqual({1: "urgent", 2: "normal", 3: "scavenger"}, trace.queues)
        self.assertEqual([3, 2, 1], [record.queue for record in trace.records])
        simulated = simulate(Workload.from_swf(trace), Scenario("amcbf", qos="trace"))
        self.assertEqual(["scavenger", "normal", "urgent"], simulated.jobs["qos"].to_list())
        self.assertEqual("bg", simulated.jobs["tier"][0])

    def test_the_simulator_takes_it_for_a_workload(self):
        jobs = [
            job(1, 100.0, 100.5, 160.0, size=4, estimate=50.0),
            job(2, 110.0, 170.0, 200.0, size=2, estimate=40.0),
        ]
        workload = Workload.from_swf(read(jobs, processors=8))
        self.assertEqual(8, workload.nodes)
        self.assertEqual(
            [(1, 0, 4, 60), (2, 10, 2, 30)],
            [(each.number, each.arrival, each.size, each.runtime) for each in workload.jobs],
        )
