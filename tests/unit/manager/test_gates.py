"""Gates and the engine: who is behind one is in nobody's way, and gains nothing by waiting."""

import sqlalchemy
from sqlalchemy import delete, event

from nova_twotier.core.reasons import failures, waits
from nova_twotier.db.dependencies import Condition, Dependency
from nova_twotier.db.models import Event, Job
from nova_twotier.db.states import ActionKind, JobState, QueueMode
from tests.executors import OneByOne
from tests.unit.manager import builders
from tests.unit.manager.engine_case import PollCase

AFTER, AFTER_OK, AFTER_ANY = Condition
#: Between polls, seconds.
STEP = 10.0


class GateCase(PollCase):
    """Two hosts of four slots each, on which nothing happens but what the test says."""

    def make_engine(self, policy="fcfs", **values):
        return super().make_engine(policy, **{"workers": OneByOne(), **values})

    def submit(self, size=2, **values):
        return self.store.submit(size, [0.5], at=values.pop("at", self.now), **values)

    def after(self, condition, *others, **values):
        given = [Dependency(other.number, condition) for other in others]
        return self.submit(dependencies=given, **values)

    def become(self, job, **values):
        """What happens to a job in another way than by this engine."""
        with self.store.transaction() as session:
            row = session.get(Job, job.number)
            for name, value in values.items():
                setattr(row, name, value)

    def finish(self, job, state=JobState.FINISHED, at=None):
        self.become(job, state=state, finished_at=self.now if at is None else at)

    def look(self, *gangs):
        """A poll, some time after the last."""
        self.now += STEP
        self.poll(*gangs)

    def starts(self):
        return [job for kind, job in self.opened() if kind == ActionKind.START]

    def reason(self, job):
        return self.store.job(job.number).reason


class TestBegin(GateCase):
    def test_it_is_in_the_queue_from_then_on(self):
        job = self.submit(begin_at=self.now + 15.0)
        self.look()
        self.assertEqual([], self.starts())
        self.assertEqual(waits.BEGIN(begin="1970-01-01T00:01:55Z"), self.reason(job))
        self.look()
        self.assertEqual([job.number], self.starts())
        kept = self.store.job(job.number)
        self.assertEqual((False, 115.0, 100.0), (kept.gated, kept.eligible_at, kept.submitted_at))
        self.assertEqual(["submitted", "eligible"], self.kinds(job))

    def test_those_that_came_meanwhile_are_before_it(self):
        late = self.submit(8, begin_at=self.now + 15.0)
        between = self.submit(8, at=self.now + 14.0)
        for _each in range(2):
            self.look()
        self.assertFalse(self.store.job(late.number).gated)
        self.assertEqual([between.number], self.starts())

    def test_it_holds_up_nobody(self):
        self.submit(8, begin_at=1e6)
        small = self.submit(1)
        self.look()
        self.assertEqual([small.number], self.starts())

    def test_a_time_of_the_past_changes_nothing(self):
        job = self.submit(begin_at=1.0)
        self.assertFalse(job.gated)
        self.assertEqual(self.now, job.eligible_at)

    def test_a_held_job_waits_for_both(self):
        job = self.submit(begin_at=self.now + 5.0, held=True)
        self.look()
        self.assertEqual([], self.starts())
        self.assertEqual(waits.HELD(), self.reason(job))
        self.store.hold(job.number, False)
        self.look()
        self.assertEqual([job.number], self.starts())

    def test_released_before_its_time_it_waits_for_that(self):
        job = self.submit(begin_at=self.now + 15.0, held=True)
        self.store.hold(job.number, False)
        self.look()
        self.assertEqual([], self.starts())
        self.assertEqual("begin", self.reason(job).code.name)

    def test_a_paused_queue_tells_the_truth(self):
        self.store.set_queue_mode("default", QueueMode.PAUSED)
        job = self.submit(begin_at=self.now + 15.0)
        self.look()
        self.assertEqual("begin", self.reason(job).code.name)
        self.look()
        self.assertEqual(waits.PAUSED(), self.reason(job))


class TestDependencies(GateCase):
    def test_what_each_condition_waits_for(self):
        """The states of the other job, and whether the job is let into the queue."""
        started = {"started_at": 50.0, "run_since": 50.0, "state": JobState.RUNNING, "tier": "fg"}
        requeued = {"started_at": 50.0, "state": JobState.QUEUED, "held": True}
        over = {state: {"state": state, "finished_at": 90.0} for state in list(JobState)[-3:]}
        for condition, values, let_in in (
            (AFTER, {"held": True}, False),
            (AFTER, started, True),
            (AFTER, requeued, True),
            *((AFTER, over[state], True) for state in over),
            (AFTER_OK, started, False),
            (AFTER_OK, requeued, False),
            (AFTER_OK, over[JobState.FINISHED], True),
            (AFTER_ANY, started, False),
            *((AFTER_ANY, over[state], True) for state in over),
        ):
            other = self.submit(held=True)
            self.become(other, **values)
            job = self.after(condition, other, held=True)
            self.look()
            self.assertEqual(let_in, not self.store.job(job.number).gated, (condition, values))

    def test_its_place_counts_from_the_last_of_them(self):
        first, second = (self.submit(name=name, held=True) for name in ("one", "two"))
        job = self.after(AFTER_OK, first, second)
        between = self.submit(8, at=self.now + 2.0)
        self.look()
        self.assertEqual("waits for job 1 to finish, and for 1 more", str(self.reason(job)))
        self.finish(first, at=self.now + 1.0)
        self.look()
        self.assertEqual("waits for job 2 to finish", str(self.reason(job)))
        self.assertEqual((111.0, None), tuple(d.met_at for d in self.store.job(3).dependencies))
        self.finish(second, at=self.now + 3.0)
        self.look()
        self.assertEqual(123.0, self.store.job(job.number).eligible_at)
        self.assertEqual([between.number], self.starts())

    def test_what_was_met_before_the_submission_costs_nothing(self):
        other = self.submit(held=True)
        self.finish(other, at=50.0)
        job = self.after(AFTER_OK, other)
        self.look()
        self.assertEqual([job.number], self.starts())
        self.assertEqual(100.0, self.store.job(job.number).eligible_at)

    def test_with_a_time_both_must_hold(self):
        other = self.submit(held=True)
        job = self.after(AFTER_ANY, other, begin_at=self.now + 15.0)
        self.finish(other, JobState.FAILED)
        self.look()
        self.assertEqual("begin", self.reason(job).code.name)
        self.look()
        self.assertEqual([job.number], self.starts())
        self.assertEqual(115.0, self.store.job(job.number).eligible_at)

    def test_one_that_can_never_be_met_cancels_the_job_and_those_after_it(self):
        self.cloud.delete_server_group.return_value = None
        for state in (JobState.FAILED, JobState.CANCELLED):
            other = self.submit(name="solver", held=True)
            job = self.after(AFTER_OK, other)
            last = self.after(AFTER_OK, job)
            cleans_up = self.after(AFTER_ANY, job, held=True)
            self.finish(other, state)
            for _each in range(8):
                self.look()
            for each, cause, its_state in ((job, other, state), (last, job, JobState.CANCELLED)):
                kept = self.store.job(each.number)
                self.assertEqual(JobState.CANCELLED, kept.state)
                expected = failures.DEPENDENCY(cause.number, state=its_state)
                self.assertEqual(expected, kept.reason)
                self.assertEqual(["submitted", "cancelled"], self.kinds(each))
            self.assertFalse(self.store.job(cleans_up.number).gated)

    def test_a_job_whose_records_are_gone_is_over_but_not_known_to_have_finished(self):
        other = self.submit(held=True)
        met, never = self.after(AFTER_ANY, other, held=True), self.after(AFTER_OK, other)
        with self.store.transaction() as session:
            session.execute(delete(Event).where(Event.job == other.number))
            session.execute(delete(Job).where(Job.number == other.number))
        for _each in range(4):
            self.look()
        self.assertFalse(self.store.job(met.number).gated)
        self.assertEqual(JobState.CANCELLED, self.store.job(never.number).state)
        self.assertIn("which is gone", str(self.reason(never)))

    def test_an_array_whose_records_are_gone(self):
        dependencies = [Dependency(99, AFTER_OK, array=True)]
        job = self.submit(dependencies=dependencies, held=True)
        for _each in range(4):
            self.look()
        self.assertEqual(JobState.CANCELLED, self.store.job(job.number).state)
        self.assertEqual(failures.ARRAY_GONE(array=99), self.reason(job))
        self.assertIn("the success of array 99, which is gone", str(self.reason(job)))

    def test_a_job_of_another_pool(self):
        other = self.submit(pool="gpu")
        job = self.after(AFTER_ANY, other)
        self.look()
        self.assertEqual([], self.starts())
        self.finish(other)
        self.look()
        self.assertEqual([job.number], self.starts())

    def test_a_new_manager_goes_on(self):
        first, second = self.submit(held=True), self.submit(held=True)
        job = self.after(AFTER, first, second)
        self.become(first, started_at=1.0)
        self.look()
        self.engine = self.make_engine()
        self.look()
        self.assertEqual([], self.starts())
        self.become(second, started_at=2.0)
        self.engine = self.make_engine()
        self.look()
        self.assertEqual([job.number], self.starts())

    def test_the_job_can_be_cancelled(self):
        job = self.after(AFTER_ANY, self.submit(held=True))
        self.store.request_action(job.number, "cancel")
        for _each in range(3):
            self.look()
        self.assertEqual(JobState.CANCELLED, self.store.job(job.number).state)

    def test_many_jobs_after_one_need_no_query_each(self):
        other = self.submit(pool="gpu")

        def queries(dependents):
            for _each in range(dependents):
                self.after(AFTER_ANY, other)
            self.look()  # It reads them.
            count = []

            def counted(*_args):
                count.append(1)

            event.listen(sqlalchemy.Engine, "before_cursor_execute", counted)
            try:
                self.look()
            finally:
                event.remove(sqlalchemy.Engine, "before_cursor_execute", counted)
            return len(count)

        self.assertEqual(queries(1), queries(200))
        self.finish(other)
        self.look()
        self.assertEqual([], [job for job in self.store.jobs() if job.gated])

    def test_a_policy_learns_of_it_as_of_an_arrival(self):
        """Otherwise it would be decided about when something else happens."""
        running = self.running(size=1)
        gang = builders.servers(running)
        other = self.submit(pool="gpu")
        job = self.after(AFTER_ANY, other)
        for _each in range(3):
            self.look(gang)
        self.finish(other)
        self.look(gang)
        self.assertEqual([job.number], self.starts())
