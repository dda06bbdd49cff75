"""Run times of jobs that name none, in the queue manager: from history, and kept."""

import itertools

from sqlalchemy import select

from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState
from tests.executors import OneByOne
from tests.unit.manager import builders
from tests.unit.manager.builders import hosts
from tests.unit.manager.engine_case import PollCase


class TestPredictions(PollCase):
    def setUp(self):
        super().setUp()
        self.now = 10_000.0
        # Beyond those that the database gives to what is submitted in between.
        self.numbers = itertools.count(100, 100)
        self.options = {"estimates": "historical"}
        self.engine = self.make_engine()

    def poll(self, *gangs, **options):
        return super().poll(*gangs, where=hosts("ab", slots=1), **options)

    def submit(self, size=1, **values):
        return self.store.submit(size, [1.0] * size, at=self.now, project_id="p", **values)

    def finished(self, *seconds, size=1, ended=100.0, **values):
        for number, each in enumerate(seconds):
            values = {"project_id": "p", "user_id": "", "state": JobState.FINISHED, **values}
            past = builders.job(
                number=next(self.numbers),
                size=size,
                run_since=None,
                run_before=each,
                finished_at=ended + number,
                **values,
            )
            with self.store.transaction() as session:
                session.add(past)

    def told(self, job):
        row = self.store.job(job.number)
        return row.predicted, row.predicted_from

    def test_the_median_of_similar_finished_jobs(self):
        self.finished(10.0, 500.0, 30.0)
        self.finished(9999.0, state=JobState.FAILED)
        job = self.submit()
        self.poll()
        self.assertEqual((30.0, 3), self.told(job))
        self.assertEqual(30.0, self.store.job(job.number).core.estimate)

    def test_jobs_that_finish_after_the_clock_was_set_back_count(self):
        self.now = 50.0
        self.finished(10.0, 10.0, 10.0)  # at 100 and later, before it was set back
        first = self.submit()
        self.poll()
        self.now = 110.0
        self.finished(*[70.0] * 7)  # the first ones at 100, too
        with self.store.transaction() as session:
            for job in session.scalars(select(Job).where(Job.run_before == 70.0)):
                job.finished_at = 60.0
        second = self.submit()
        self.poll()
        self.assertEqual([(10.0, 3), (70.0, 10)], [self.told(first), self.told(second)])

    def test_an_estimate_of_its_owner_counts(self):
        self.finished(10.0, 20.0, 30.0)
        job = self.submit(estimate=77.0)
        self.poll()
        self.assertEqual((None, None), self.told(job))
        self.assertEqual(77.0, self.store.job(job.number).core.estimate)

    def test_none_counts_as_less_than_a_second(self):
        """EASY would let such jobs pass the head again and again."""
        job = self.submit(estimate=0.0)
        self.assertEqual((0.0, 1.0), (job.estimate, self.store.job(job.number).core.estimate))

    def test_at_most_the_walltime(self):
        self.finished(10.0, 20.0, 30.0)
        job = self.submit(walltime=15.0)
        self.poll()
        self.assertEqual((15.0, 3), self.told(job))

    def test_jobs_of_the_same_walltime_are_the_most_similar(self):
        self.finished(1000.0, 2000.0, 3000.0, walltime=7200.0)
        self.finished(10.0, 20.0, 30.0, walltime=60.0)
        job = self.submit(walltime=7200.0)
        self.poll()
        self.assertEqual((2000.0, 3), self.told(job))

    def test_it_is_fixed_when_the_job_joins_the_queue(self):
        first = self.submit(held=True)
        self.poll()
        self.assertEqual((None, None), self.told(first))
        self.finished(10.0, 20.0, 30.0)
        self.store.hold(first.number, False)
        self.poll()
        self.assertEqual((20.0, 3), self.told(first))
        self.finished(600.0, 700.0, 800.0, 900.0)
        self.engine = self.make_engine()
        self.poll()
        self.assertEqual((20.0, 3), self.told(first))

    def test_without_a_history_there_is_none_later_either(self):
        job = self.submit()
        self.poll()
        self.finished(10.0, 20.0, 30.0)
        self.poll()
        self.assertEqual((None, 0), self.told(job))

    def test_jobs_that_finish_later_count_once_for_those_that_come_then(self):
        self.finished(10.0)
        first = self.submit()
        self.poll()
        self.finished(30.0, 50.0)  # the first of them at the same time as the one before
        second = self.submit()
        self.poll()
        self.assertEqual([(10.0, 1), (30.0, 3)], [self.told(first), self.told(second)])

    def test_a_job_whose_servers_leave_late_counts_once_they_have(self):
        """It has ended before others of which the manager knows: images take their time."""
        self.engine = self.make_engine(workers=OneByOne())
        slow = self.running(number=50, size=1, project_id="p", user_id="", run_before=20.0)
        self.store.request_action(slow.number, "complete")
        self.poll(builders.servers(slow))
        self.now += 300.0
        self.finished(10.0, 30.0, ended=self.now - 50.0)
        jobs = [self.submit()]
        self.poll(builders.servers(slow, task="deleting"))
        self.assertEqual(JobState.ENDING, self.store.job(slow.number).state)
        self.now += 100.0
        for _step in range(3):
            self.poll()
        self.assertEqual(JobState.FINISHED, self.store.job(slow.number).state)
        for _job in range(2):
            jobs.append(self.submit())
            self.poll()
        self.assertEqual([(30.0, 2), (20.0, 3), (20.0, 3)], [self.told(job) for job in jobs])

    def test_off_by_default(self):
        self.options = {}
        self.engine = self.make_engine()
        self.finished(10.0, 20.0, 30.0)
        job = self.submit()
        self.poll()
        self.assertEqual((None, None), self.told(job))


class TestOutrun(PollCase):
    def test_more_is_expected_step_by_step(self):
        job = builders.job(predicted=100.0, predicted_from=3, run_since=1000.0, run_before=0.0)
        self.assertEqual(100.0, job.core.estimate)
        self.assertFalse(job.has_run(99.0))
        self.assertTrue(job.has_run(100.0))
        self.assertEqual(160.0, job.core.estimate)
        self.assertFalse(job.has_run(159.0))
        self.assertTrue(job.has_run(460.0))
        self.assertEqual(1360.0, job.core.estimate)

    def test_a_preempted_job_keeps_what_it_has_outrun(self):
        job = builders.job(predicted=100.0, predicted_from=3, run_since=1000.0, run_before=0.0)
        self.assertEqual(100.0, job.core.estimate)
        job.stop(1100.0)
        self.assertTrue(job.has_run(job.ran(2000.0)))
        self.assertEqual(160.0, job.core.estimate)

    def test_never_beyond_its_walltime(self):
        job = builders.job(predicted=100.0, predicted_from=3, walltime=130.0, run_since=0.0)
        job.has_run(125.0)
        self.assertEqual(130.0, job.core.estimate)

    def test_an_owners_estimate_stays(self):
        job = builders.job(estimate=50.0, predicted=100.0, predicted_from=3, run_since=0.0)
        self.assertFalse(job.has_run(500.0))
        self.assertEqual(50.0, job.core.estimate)
