"""When predictions are made, and that nothing is written or harmed when one fails."""

import math
import os
import signal

import fixtures
import testtools
from sqlalchemy import event, func, select

from nova_twotier.core import policies
from nova_twotier.core.actions import BG, FG
from nova_twotier.core.cluster import UNMANAGED, Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.snapshot import NONE_AWAY, Snapshot
from nova_twotier.db import predictions, purge, terms, time_shift
from nova_twotier.db.models import Job, PoolPrediction, Prediction
from nova_twotier.db.readers import instant
from nova_twotier.db.states import JobState
from nova_twotier.manager import scene
from nova_twotier.manager.departures import LEAVING, adopt
from nova_twotier.manager.predictions import MOST, Predictions
from tests.executors import OneByOne
from tests.new_databases import new_store
from tests.unit.manager import builders

POOL = "default"


class Later(OneByOne):
    """Stores submitted work and runs it when told to, in place of a thread."""

    def __init__(self):
        self.work = []

    def submit(self, function, *arguments):
        self.work.append(lambda: function(*arguments))

    def do(self):
        work, self.work = self.work, []
        for each in work:
            each()


class TestPredictions(testtools.TestCase):
    """One host with four slots, of which a running job has all; others wait."""

    def setUp(self):
        super().setUp()
        self.logged = self.useFixture(fixtures.FakeLogger())
        directory = self.useFixture(fixtures.TempDir()).path
        self.store = new_store(self, f"sqlite:///{directory}/queue.sqlite")
        self.term = terms.begin(self.store, POOL, "manager")
        self.threads = Later()
        self.errors = []
        self.jobs = {}
        self.running = self.submit(4, estimate=100, state=JobState.RUNNING, tier="fg")
        self.waiting = self.submit(2, estimate=50)

    def submit(self, size, **values):
        number = self.store.submit(size, [0.5], at=0.0, estimate=values.pop("estimate")).number
        with self.store.transaction() as session:
            job = session.get(Job, number)
            for name, value in values.items():
                setattr(job, name, value)
            if job.state == JobState.RUNNING:
                job.started_at = job.run_since = 0.0
        self.jobs[number] = self.store.job(number)
        return number

    def make(self, interval=60.0, estimator="requested", policy="fcfs"):
        options = builders.options(prediction_interval=interval, estimator=estimator)
        made = Predictions(
            options,
            self.store,
            POOL,
            policies.get(policy),
            lambda session, lock=False: terms.require(session, POOL, self.term, lock),
            self.errors.append,
            self.threads,
        )
        self.addCleanup(made.close)
        return made

    def after(self):
        on = Hosts([Host("a", 4, 2)])
        on.start(self.jobs[self.running].core, FG, until=100.0)
        return Snapshot(on, [self.jobs[self.waiting].core])

    def count(self):
        with self.store.reading() as session:
            return session.scalar(select(func.count()).select_from(Prediction))

    def of(self, number):
        with self.store.reading() as session:
            return session.get(Prediction, number)

    def test_when_they_are_due(self):
        made, after = self.make(), self.after()
        made.poll(None, self.jobs, 10.0)
        self.assertEqual([], self.threads.work)
        made.poll(after, self.jobs, 10.0)
        self.assertEqual(1, len(self.threads.work))
        self.assertEqual(0, self.count())  # the poll has not waited
        self.threads.do()
        self.assertEqual(2, self.count())
        for now, state, begun in (
            (69.0, after, 0),  # nothing has been decided since
            (70.0, after, 1),
            (74.0, self.after(), 0),  # something has, but a moment ago
            (125.0, self.after(), 1),
        ):
            made.poll(state, self.jobs, now)
            self.assertEqual(begun, len(self.threads.work), now)
            self.threads.do()

    def test_the_error_of_a_start_is_told_once(self):
        made = self.make()
        made.poll(self.after(), self.jobs, 10.0)
        self.threads.do()
        expected = self.of(self.waiting).first_start
        with self.store.transaction() as session:
            session.get(Job, self.waiting).started_at = expected + 30.0
        for now in (70.0, 130.0):
            self.assertEqual([30.0] if now > 70.0 else [], self.errors)
            made.poll(self.after(), self.jobs, now)
            self.threads.do()
        self.assertEqual([30.0], self.errors)

    def test_none_with_an_interval_of_0(self):
        made = self.make(interval=0.0)
        made.poll(self.after(), self.jobs, 10.0)
        self.assertEqual([], self.threads.work)

    def test_jobs_that_end_while_they_are_predicted(self):
        made = self.make()
        for now in (10.0, 70.0):
            made.poll(self.after(), self.jobs, now)
            if now == 70.0:
                with self.store.transaction() as session:
                    session.get(Job, self.running).state = JobState.CANCELLED
            self.threads.do()
        self.assertNotIn("not predicted", self.logged.output)
        self.assertEqual(10.0, self.of(self.running).made_at)
        self.assertEqual(70.0, self.of(self.waiting).made_at)

    def test_a_deposed_manager_writes_nothing(self):
        made = self.make()
        made.poll(self.after(), self.jobs, 10.0)
        terms.begin(self.store, POOL, "another")
        self.threads.do()
        self.assertEqual(0, self.count())
        with self.store.reading() as session:
            self.assertIsNone(session.get(PoolPrediction, POOL))
        self.assertNotIn("not predicted", self.logged.output)

    def test_a_failure_is_logged_once_and_the_next_prediction_is_made(self):
        made = self.make(estimator="oracle")
        for now in (0.0, 60.0, 120.0):
            made.poll(self.after(), self.jobs, now)
            self.threads.do()
        self.assertEqual(1, self.logged.output.count("were not predicted"), self.logged.output)
        self.assertEqual(0, self.count())

    def test_a_process_that_died_is_begun_anew_with_all_that_was_learned(self):
        # Of fewer than three, the estimates of the jobs themselves count.
        for _past in range(3):
            over = self.submit(1, estimate=100, state=JobState.FINISHED)
            with self.store.transaction() as session:
                job = session.get(Job, over)
                job.started_at, job.finished_at, job.run_before = 0.0, 30.0, 30.0
        made = self.make(estimator="sdpn")
        made.poll(self.after(), self.jobs, 10.0)
        self.threads.do()
        self.assertEqual((30.0, 45.0), (self.of(self.running).finish, self.of(self.waiting).finish))
        made._predictor._process.kill()
        made._predictor._process.wait()
        for now in (70.0, 130.0):
            made.poll(self.after(), self.jobs, now)
            self.threads.do()
        told = self.of(self.waiting)
        self.assertEqual((130.0, 15.0), (told.made_at, told.finish - told.start))

    def test_a_process_that_hangs_before_it_reads_a_question_is_begun_anew(self):
        self.useFixture(fixtures.Timeout(60, gentle=True))
        made = self.make()
        made.poll(self.after(), self.jobs, 10.0)
        self.threads.do()
        os.kill(made._predictor._process.pid, signal.SIGSTOP)
        # A pipe takes 64 KiB that nobody reads.
        job = self.jobs[self.running]
        job.project_id = job.user_id = "x" * 2**16
        with fixtures.MonkeyPatch("nova_twotier.manager.predictor.LONGEST", 0.1):
            made.poll(self.after(), self.jobs, 70.0)
            self.threads.do()
        self.assertIn("no answer within 0.1 s", self.logged.output)
        self.assertEqual(10.0, self.of(self.running).made_at)
        made.poll(self.after(), self.jobs, 130.0)
        self.threads.do()
        self.assertEqual(130.0, self.of(self.running).made_at)

    def test_no_infinite_number_goes_to_the_database(self):
        """MariaDB has none, and its driver refuses them."""
        infinite = []

        def look(_conn, _cursor, statement, parameters, *_rest):
            values = parameters if isinstance(parameters, tuple) else parameters.values()
            infinite.extend((statement, v) for v in values if v in (math.inf, -math.inf))

        with self.store.reading() as session:
            engine = session.get_bind()
        event.listen(engine, "before_cursor_execute", look)
        self.addCleanup(event.remove, engine, "before_cursor_execute", look)
        self.make().poll(self.after(), self.jobs, 10.0)
        self.threads.do()
        self.assertEqual(2, self.count())
        self.assertEqual([], infinite)

    def learned(self):
        with self.store.reading() as session:
            return predictions.last_learned(session, POOL)[1]

    def start(self, number, at):
        with self.store.transaction() as session:
            job = session.get(Job, number)
            job.state, job.tier = JobState.RUNNING, "fg"
            job.started_at = job.run_since = at

    def check_begins_anew(self, **other):
        made = self.make()
        begun, waiting = self.submit(1, estimate=50), self.submit(1, estimate=50)
        after = self.after()
        for number in (begun, waiting):
            after.queue.add(self.jobs[number].core)
        made.poll(after, self.jobs, 10.0)
        self.threads.do()
        self.start(begun, 30.0)
        made.poll(after, self.jobs, 70.0)
        self.threads.do()
        self.assertEqual(1, len(self.learned().starts.state()[0]))
        self.errors.clear()
        self.start(self.waiting, 80.0)
        anew = self.make(**other)
        anew.poll(after, self.jobs, 90.0)
        self.threads.do()
        self.assertEqual(1, len(self.errors))  # users were told so, whoever predicted it
        self.assertEqual(((), ()), self.learned().starts.state())
        told = self.of(waiting)
        self.assertEqual((90.0, told.start), (told.first_made_at, told.first_start))
        with self.store.transaction() as session:
            job = session.get(Job, begun)
            job.state, job.finished_at = JobState.FINISHED, 95.0
        self.start(waiting, 140.0)
        anew.poll(after, self.jobs, 150.0)
        self.threads.do()
        self.assertEqual(1, len(self.learned().starts.state()[0]))
        self.assertEqual(((), ()), self.learned().finishes.state())

    def test_another_estimator_learns_only_from_its_own_predictions(self):
        self.check_begins_anew(estimator="hybrid-li")

    def test_what_was_predicted_under_another_policy_teaches_nothing(self):
        self.check_begins_anew(policy="easy")

    def over(self, finished_at, ran, state=JobState.FINISHED):
        """A job that has ended, or is about to, after so many seconds on its slots."""
        number = self.submit(1, estimate=100, state=state)
        with self.store.transaction() as session:
            job = session.get(Job, number)
            job.started_at, job.finished_at, job.run_before = 0.0, finished_at, ran
        return number

    def predicted_run(self, made, at):
        made.poll(self.after(), self.jobs, at)
        self.threads.do()
        told = self.of(self.waiting)
        return told.finish - told.start

    def test_jobs_that_end_after_the_clock_was_set_back_are_learned_from(self):
        made = self.make(estimator="sdpn")
        for at, ended, expected in (
            (10.0, (9000.0,) * 3, 30.0),  # these ended before it was set back
            (200.0, (150.0,) * 7, 60.0),
        ):
            for finished_at in ended:
                self.over(finished_at, expected)
            self.assertEqual(expected / 2, self.predicted_run(made, at))

    def test_jobs_whose_servers_leave_late_are_learned_from(self):
        """Storing images delays the end of a job until later ones have been learned from."""
        made = self.make(estimator="sdpn")
        for _job in range(3):
            self.over(900.0, 30.0)
        late = [self.over(None, 60.0, state=JobState.ENDING) for _job in range(7)]
        self.assertEqual(15.0, self.predicted_run(made, 1000.0))
        with self.store.transaction() as session:
            for number in late:
                job = session.get(Job, number)
                job.state, job.finished_at = JobState.FINISHED, 400.0
        self.assertEqual([30.0, 30.0], [self.predicted_run(made, at) for at in (1100.0, 1200.0)])

    def test_what_comes_after_the_last_date_never_comes(self):
        """No list with such a time could be shown."""
        for name, value in (("MOST", 4), ("LAST", 1)):
            self.useFixture(fixtures.MonkeyPatch(f"nova_twotier.manager.predictions.{name}", value))
        after = self.after()
        long, longer, never, beyond = (
            self.submit(4, estimate=estimate) for estimate in (1e11, 3e11, 10, 10)
        )
        for number in (long, longer, never, beyond):
            after.queue.add(self.jobs[number].core)
        # The ends have come ten times as late as they were predicted.
        late = {"starts": [[], []], "finishes": [[math.log(10.0)] * 20, []]}
        with self.store.transaction() as session:
            session.add(
                PoolPrediction(
                    pool=POOL,
                    made_at=0.0,
                    valid_until=0.0,
                    estimator="requested",
                    calibration=late,
                )
            )
        self.make().poll(after, self.jobs, 10.0)
        self.threads.do()
        told = self.of(long)
        self.assertEqual((150.0, 1e11 + 150.0), (told.start, told.finish))
        self.assertEqual("9999-12-31T00:00:00Z", instant(told.finish_high))
        told = self.of(longer)
        self.assertEqual((1e11 + 150.0, None), (told.start, told.finish))
        told = self.of(never)
        self.assertEqual((None, None), (told.start, told.finish))
        self.assertIsNone(self.of(beyond))
        with self.store.reading() as session:
            self.assertIsNone(session.get(PoolPrediction, POOL).later_than)

    def test_the_work_of_a_job_that_has_ended_is_kept(self):
        """So another manager, and a snapshot, know it as this one does."""
        made = self.make(estimator="sdpn")
        made.poll(self.after(), self.jobs, 40.0)
        self.threads.do()
        made._rates = {self.running: 0.25}
        with self.store.transaction() as session:
            job = session.get(Job, self.running)
            job.state, job.finished_at, job.run_before = JobState.FINISHED, 60.0, 60.0
        made.poll(self.after(), {self.waiting: self.jobs[self.waiting]}, 100.0)
        self.threads.do()
        told = self.of(self.running)
        self.assertEqual((45.0, 60.0), (told.work, told.ran))

    def test_the_work_of_a_job_that_was_just_being_preempted_is_kept(self):
        """Meanwhile it is neither in the queue nor on slots."""
        made, job = self.make(), self.jobs[self.running]
        made.poll(self.after(), self.jobs, 40.0)
        self.threads.do()
        made._rates = {self.running: 0.25}
        made.poll(self.after(), self.jobs, 80.0)
        self.threads.do()
        idle = Hosts([Host("a", 4, 2)])
        made.poll(Snapshot(idle, [self.jobs[self.waiting].core]), self.jobs, 140.0)
        self.threads.do()
        job.stop(80.0)
        job.state = JobState.QUEUED
        queue = [job.core, self.jobs[self.waiting].core]
        made.poll(Snapshot(idle.copy(), queue), self.jobs, 200.0)
        self.threads.do()
        told = self.of(self.running)
        self.assertEqual((50.0, 80.0), (told.work, told.ran))

    def test_a_job_in_the_background_goes_on_as_slowly_under_another_manager(self):
        below = self.submit(4, estimate=100, state=JobState.RUNNING, tier="bg", cpu=[0.9] * 4)
        after, works = self.after(), []
        after.cluster.start(self.jobs[below].core, BG, until=200.0)
        first, another = (self.make(estimator="sdpn", policy="amcbf") for _manager in range(2))
        for made, at in ((first, 60.0), (first, 120.0), (another, 180.0)):
            made.poll(after, self.jobs, at)
            self.threads.do()
            works.append(self.of(below).work)
        self.assertAlmostEqual(works[1] - works[0], works[2] - works[1])
        self.assertLess(works[0], 60.0)

    def test_only_the_first_of_a_long_queue(self):
        after = self.after()
        number = max(self.jobs)
        more = [
            builders.job(1, JobState.QUEUED, None, number=number + n) for n in range(1, MOST + 5)
        ]
        with self.store.transaction() as session:
            session.add_all(more)
        for job in more:
            self.jobs[job.number] = self.store.job(job.number)
            after.queue.add(self.jobs[job.number].core)
        made = self.make()
        made.poll(after, self.jobs, 10.0)
        self.threads.do()
        self.assertEqual(MOST + 1, self.count())
        with self.store.reading() as session:
            later = session.get(PoolPrediction, POOL).later_than
        self.assertGreater(later, self.of(self.waiting).start)

    def test_servers_of_no_job_stay_and_what_leaves_is_gone(self):
        after = self.after()
        on = Hosts([Host("a", 4, 2)])
        adopt(on, UNMANAGED[FG], "", FG, [(0.5, 0)] * 2)
        adopt(on, LEAVING[FG], "", FG, [(0.5, 0)] * 2)
        after = Snapshot(on, [self.jobs[self.waiting].core])
        taken = scene.take(after, self.jobs, 10.0, 10)
        present = taken.present(policies.get("fcfs"), {})
        self.assertIn(UNMANAGED[FG], present.staying)
        made = self.make()
        made.poll(after, self.jobs, 10.0)
        self.threads.do()
        told = self.of(self.waiting)
        self.assertEqual((10.0, 60.0, None), (told.start, told.finish, told.starts_after))

    def test_in_the_forecast_none_is_on_its_way(self):
        after = self.after()
        after.away = (0.0, 1)
        self.assertEqual(NONE_AWAY, scene.take(after, self.jobs, 10.0, 10).snapshot.away)

    def test_the_work_of_a_job_is_followed(self):
        made = self.make()
        made.poll(self.after(), self.jobs, 40.0)
        self.threads.do()
        told = self.of(self.running)
        self.assertEqual((40.0, 40.0, 100.0), (told.work, told.ran, told.finish))
        # It begins anew: what it has done is lost.
        self.jobs[self.running].run_since = 90.0
        made.poll(self.after(), self.jobs, 100.0)
        self.threads.do()
        told = self.of(self.running)
        self.assertEqual((10.0, 10.0, 190.0), (told.work, told.ran, told.finish))

    def test_a_clock_that_is_set_moves_predictions_of_the_future(self):
        made = self.make()
        made.poll(self.after(), self.jobs, 10.0)
        self.threads.do()
        with self.store.transaction() as session:
            time_shift.shift(session, POOL, 1000.0)
        told = self.of(self.waiting)
        self.assertEqual((1010.0, 1100.0, 1010.0), (told.made_at, told.start, told.first_made_at))
        self.assertIsNone(told.start_low)
        with self.store.reading() as session:
            self.assertEqual(1010.0, session.get(PoolPrediction, POOL).made_at)

    def test_they_are_purged_with_their_job(self):
        made = self.make()
        made.poll(self.after(), self.jobs, 10.0)
        self.threads.do()
        with self.store.transaction() as session:
            job = session.get(Job, self.running)
            job.state, job.finished_at = JobState.FINISHED, 20.0
        self.assertEqual(1, purge.purge(self.store, 30.0, pause=lambda _s: None).jobs)
        self.assertEqual((None, 1), (self.of(self.running), self.count()))
