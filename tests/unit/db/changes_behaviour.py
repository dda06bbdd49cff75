"""What owners change of their jobs, on whatever database: run by a test case for each of them."""

import time
from concurrent import futures
from unittest import mock

from sqlalchemy import event

from nova_twotier.core.jobs import InvalidJob
from nova_twotier.db import changes, purge
from nova_twotier.db.dependencies import Condition, Dependency
from nova_twotier.db.models import Action, Job
from nova_twotier.db.open_jobs import OpenJobs
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.states import OVER, ActionKind, JobState
from nova_twotier.db.store import NoSuchJob, NotStarted

#: Long enough for another thread to ask for what it wants.
MOMENT = 0.2


class ChangesBehaviour:
    """Tests of `self.store`, a new one for each."""

    def become(self, job, **values):
        with self.store.transaction() as session:
            row = session.get(Job, job.number)
            for name, value in values.items():
                setattr(row, name, value)

    def change(self, job, may_extend=False, **new):
        return changes.change(self.store, job.number, new, may_extend)

    def said(self, job):
        return [(each.kind, each.detail) for each in self.store.events(job.number)][1:]

    def test_a_job_that_ends_while_its_owner_asks_for_something(self):
        """It stays as it is: nothing is recorded after its end."""
        for ask in (
            lambda number: self.store.hold(number, True),
            lambda number: self.store.request_action(number, "cancel"),
        ):
            number = self.store.submit(1, [1.0]).number
            with futures.ThreadPoolExecutor(1) as pool:
                with self.store.transaction() as session:
                    job = session.get(Job, number)
                    job.state, job.finished_at = JobState.FINISHED, 5.0
                    session.flush()
                    asked = pool.submit(ask, number)
                    futures.wait([asked], MOMENT)
                told = asked.result(30)
            self.assertEqual(JobState.FINISHED, told.state)
            self.assertEqual((False, None), (told.held, told.requested_action))
            self.assertEqual(["submitted"], [each.kind for each in self.store.events(number)])

    # What keeps a job out of the queue

    def test_when_a_job_may_begin_is_kept(self):
        first = self.store.submit(1, [1.0], at=5.0)
        given = (
            Dependency(first.number, Condition.SUCCEEDED),
            Dependency(first.number, Condition.STARTED, 7.25),
        )
        number = self.store.submit(
            1, [1.0], at=5.0, begin_at=1790000000.123456, dependencies=given
        ).number
        job = self.store.job(number)
        self.assertEqual(
            (1790000000.123456, given, True), (job.begin_at, job.dependencies, job.gated)
        )
        self.assertFalse(job.plain_waiting or job.in_queue)
        kept = self.store.job(first.number)
        self.assertEqual((None, (), False), (kept.begin_at, kept.dependencies, kept.gated))
        self.assertTrue(kept.plain_waiting and kept.in_queue)

    def test_a_release_does_not_open_gates(self):
        job = self.store.submit(1, [1.0], at=5.0, begin_at=1e12, held=True)
        self.assertTrue(self.store.hold(job.number, False).gated)

    def test_a_purge_keeps_what_others_wait_for(self):
        jobs = [self.store.submit(1, [1.0], at=1.0) for _each in range(3)]
        met, awaited, _other = jobs
        self.store.submit(
            1,
            [1.0],
            dependencies=[
                Dependency(met.number, Condition.OVER, 2.0),
                Dependency(awaited.number, Condition.OVER),
            ],
        )
        for job in jobs:
            self.become(job, state=JobState.FINISHED, finished_at=2.0)
        for dry_run in (True, False):
            self.assertEqual(2, purge.purge(self.store, 3.0, dry_run, pause=lambda _s: None).jobs)
        self.assertEqual([awaited.number], [job.number for job in self.store.jobs()][:-1])

    def test_a_purge_keeps_what_others_begin_to_wait_for_meanwhile(self):
        jobs = [self.store.submit(1, [1.0], at=1.0) for _each in range(4)]
        for job in jobs:
            self.become(job, state=JobState.FINISHED, finished_at=2.0)
        self.store.submit(1, [1.0])
        late = Dependency(jobs[2].number, Condition.SUCCEEDED)

        def pause(_seconds):
            if len(self.store.jobs()) == 4:
                self.store.submit(1, [1.0], dependencies=[late])

        with mock.patch.object(purge, "BATCH", 1):
            self.assertEqual(3, purge.purge(self.store, 3.0, pause=pause).jobs)
        self.assertEqual(jobs[2].number, self.store.jobs()[0].number)

    def test_a_purge_reads_once_what_jobs_wait_for(self):
        """Not for each batch: thousands may wait, and nobody else writes meanwhile."""
        jobs = [self.store.submit(1, [1.0], at=1.0) for _each in range(4)]
        for job in jobs:
            self.become(job, state=JobState.FINISHED, finished_at=2.0)
        for _each in range(3):
            awaited = Dependency(jobs[0].number, Condition.SUCCEEDED)
            self.store.submit(1, [1.0], dependencies=[awaited])
        asked = []

        def listen(_connection, _cursor, statement, *_):
            asked.append(statement)

        event.listen(self.store._engine, "before_cursor_execute", listen)
        with mock.patch.object(purge, "BATCH", 1):
            self.assertEqual(3, purge.purge(self.store, 3.0, pause=lambda _s: None).jobs)
        event.remove(self.store._engine, "before_cursor_execute", listen)
        self.assertEqual(1, len([each for each in asked if "dependencies" in each]))

    # Changes

    def test_what_changes_is_kept_and_told(self):
        job = self.store.submit(1, [1.0], "before", 60.0)
        self.change(job, name="after", estimate=None, walltime=90.5, priority=-3)
        kept = self.store.job(job.number)
        self.assertEqual(
            ("after", None, 90.5, -3), (kept.name, kept.estimate, kept.walltime, kept.priority)
        )
        told = (
            "name: after, before: before; estimate: none, before: 60 s; "
            "walltime: 90.5 s, before: none; priority: -3, before: 0"
        )
        self.assertEqual([("changed", told)], self.said(job))

    def test_what_is_the_same_is_no_change(self):
        job = self.store.submit(1, [1.0], "name", 60.0)
        revision = self.store.job(job.number).revision
        self.change(job, name="name", estimate=60.0, priority=0)
        self.assertEqual([], self.said(job))
        self.assertEqual(revision, self.store.job(job.number).revision)

    def test_mistakes(self):
        job = self.store.submit(1, [1.0])
        self.assertRaises(InvalidJob, self.change, job, name="\u2028")
        self.assertRaises(NoSuchJob, changes.change, self.store, 99, {"priority": 1}, True)
        self.assertRaises(NoSuchJob, changes.requeue, self.store, 99)

    def test_a_job_that_is_over_stays_as_it_is(self):
        for state in OVER:
            job = self.store.submit(1, [1.0], "name")
            self.become(job, state=state, finished_at=1.0)
            self.assertEqual(state, self.change(job, name="other").state)
            self.assertEqual(state, changes.requeue(self.store, job.number).state)
            kept = self.store.job(job.number)
            self.assertEqual(("name", None), (kept.name, kept.requested_action))

    def test_who_waits_may_have_any_walltime(self):
        job = self.store.submit(1, [1.0], walltime=60.0)
        for walltime in (3600.0, None, 60.0, 0.5):
            self.assertEqual(walltime, self.change(job, walltime=walltime).walltime)

    def test_who_has_slots_gets_a_longer_one_only_by_permission(self):
        for state in set(JobState) - {JobState.QUEUED, *OVER}:
            job = self.store.submit(1, [1.0], walltime=3600.0)
            self.become(job, state=state, run_since=time.time(), warned_at=1.0)
            for walltime in (3601.0, None):
                error = self.assertRaises(changes.Extension, self.change, job, walltime=walltime)
                self.assertEqual(3600.0, error.walltime)
            self.assertEqual(1800.0, self.change(job, walltime=1800.0).walltime)
            self.assertEqual(7200.0, self.change(job, True, walltime=7200.0).walltime)
            self.assertIsNone(self.store.job(job.number).warned_at)
            self.assertIsNone(self.change(job, True, walltime=None).walltime)
            # One that had none, or has none any more, is not extended by getting one.
            self.assertEqual(9e6, self.change(job, walltime=9e6).walltime)

    def test_so_does_one_that_is_about_to_start(self):
        job = self.store.submit(1, [1.0], walltime=60.0)
        with self.store.transaction() as session:
            plan = StartPlan("fg", "backfilled")
            session.add(
                Action(kind=ActionKind.START, phase=4, job=job.number, plan=plan, created_at=1.0)
            )
        self.assertRaises(changes.Extension, self.change, job, walltime=61.0)

    def test_a_walltime_is_longer_than_the_job_has_run(self):
        job = self.store.submit(1, [1.0], walltime=3600.0)
        self.become(job, run_before=600.0, saved=True)
        told = str(self.assertRaises(InvalidJob, self.change, job, walltime=600.0))
        self.assertEqual("walltime: the job has run for 600 s; give more, or cancel it", told)
        self.assertEqual(601.0, self.change(job, walltime=601.0).walltime)

    def test_the_manager_knows_who_has_a_priority(self):
        first, second = (self.store.submit(1, [1.0]) for _each in range(2))
        jobs = OpenJobs("default")

        def prioritised():
            with self.store.reading() as session:
                jobs.read(session)
            return jobs.prioritised

        self.assertEqual(set(), prioritised())
        for job in (first, second):
            self.change(job, priority=1)
        self.assertEqual({first.number, second.number}, prioritised())
        self.change(first, priority=0)
        self.become(second, state=JobState.FINISHED, finished_at=1.0)
        self.assertEqual(set(), prioritised())

    # Requeue

    def test_who_has_started_can_begin_anew(self):
        for values in (
            {"state": JobState.STARTING},
            {"state": JobState.RUNNING},
            {"state": JobState.PREEMPTING},
            {"saved": True},
        ):
            job = self.store.submit(1, [1.0])
            self.become(job, **values)
            for _twice in range(2):
                changes.requeue(self.store, job.number)
            self.assertEqual("requeue", self.store.job(job.number).requested_action)
            self.assertEqual([("asked to requeue", "")], self.said(job))

    def test_who_has_not_cannot(self):
        job = self.store.submit(1, [1.0])
        self.assertRaises(NotStarted, changes.requeue, self.store, job.number)

    def test_who_is_about_to_end_cannot(self):
        ending, cancelled = (self.store.submit(1, [1.0]) for _each in range(2))
        self.become(ending, state=JobState.ENDING)
        self.become(cancelled, state=JobState.RUNNING, requested_action="cancel")
        for job in (ending, cancelled):
            self.assertRaises(changes.Ending, changes.requeue, self.store, job.number)
