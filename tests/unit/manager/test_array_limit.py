"""Arrays and the engine: how many tasks are in the queue, and when an array is over."""

import contextlib
from unittest import mock

import fixtures
from oslo_db.exception import DBError

from nova_twotier.cloud.errors import CloudError
from nova_twotier.core.reasons import waits
from nova_twotier.db import array_requests, arrays
from nova_twotier.db.dependencies import Condition, Dependency
from nova_twotier.db.models import Array
from nova_twotier.db.selection import Selection
from nova_twotier.db.states import OVER, JobState, QueueMode
from tests.unit.manager import builders
from tests.unit.manager.test_gates import GateCase

OPEN = {each for each in JobState if each not in OVER}


class ArrayCase(GateCase):
    def array(self, indexes="0-5", most=None, **values):
        return self.submit(1, tasks=arrays.Tasks(indexes, most), **values)

    def pause(self):
        """Nothing starts: what happens to jobs is only what the test says."""
        self.store.set_queue_mode("default", QueueMode.PAUSED)

    def tasks(self, array):
        found = [job for job in self.store.jobs() if job.array == array.number]
        return {job.array_index: self.store.job(job.number) for job in found}

    def admitted(self, array):
        """The indexes of the open tasks that are in the queue or run."""
        tasks = self.tasks(array).items()
        return [n for n, job in tasks if job.state in OPEN and not job.gated and not job.held]

    def row(self, array):
        with self.store.reading() as session:
            return arrays.find(session, array.number)


class TestLimit(ArrayCase):
    def test_tasks_come_into_the_queue_in_order_as_others_end(self):
        self.pause()
        array = self.array("1,3,5-9:2,20", 2)
        self.look()
        self.assertEqual([1, 3], self.admitted(array))
        self.assertEqual(waits.ARRAY_LIMIT(limit=2), self.reason(self.tasks(array)[5]))
        self.finish(self.tasks(array)[3], JobState.FAILED)
        self.look()
        self.assertEqual([1, 5], self.admitted(array))
        entered = self.tasks(array)[5]
        self.assertEqual(
            (self.now, ["submitted", "eligible"]), (entered.eligible_at, self.kinds(entered))
        )

    def test_a_new_manager_lets_in_no_more(self):
        array = self.array(most=2)
        self.look()
        self.engine = self.make_engine()
        self.look()
        self.assertEqual([0, 1], self.admitted(array))

    def test_others_are_not_held_up(self):
        self.array(most=1)
        other = self.submit(1)
        self.look()
        self.assertIn(other.number, self.starts())

    def test_held_tasks_take_up_no_room_and_come_back_through_the_gate(self):
        self.pause()
        array = self.array(most=2)
        first = self.tasks(array)[0]
        self.store.hold(first.number, True)
        self.look()
        self.assertEqual([1, 2], self.admitted(array))
        self.store.hold(first.number, False)
        self.look()
        self.assertEqual([1, 2], self.admitted(array))
        self.finish(self.tasks(array)[1])
        self.look()
        # As if it had just arrived: others are before it.
        self.assertEqual([2, 3], self.admitted(array))
        for index in (2, 3, 4):
            self.finish(self.tasks(array)[index])
        self.look()
        self.assertEqual([0, 5], self.admitted(array))

    def test_an_array_that_is_held_and_released(self):
        array = self.array(most=2, held=True)
        self.look()
        self.assertEqual([], self.admitted(array))
        array_requests.ask(self.store, array.number, "release")
        self.look()
        self.assertEqual([0, 1], self.admitted(array))

    def test_the_limit_is_changed(self):
        array = self.array()
        array_requests.change(self.store, array.number, {"most_at_once": 2})
        self.look()
        self.assertEqual([0, 1], self.admitted(array))
        array_requests.change(self.store, array.number, {"most_at_once": 3})
        self.look()
        self.assertEqual(3, len(self.admitted(array)))
        array_requests.change(self.store, array.number, {"most_at_once": None})
        self.look()
        self.assertEqual([0, 1, 2, 3, 4, 5], self.admitted(array))

    def test_another_limit_takes_no_task_its_place_in_the_queue(self):
        self.pause()
        array, began = self.array(most=3), self.now
        self.look()
        entered = self.now
        for most, admitted in ((4, [0, 1, 2, 3]), (2, [0, 1]), (None, [0, 1, 2, 3, 4, 5])):
            array_requests.change(self.store, array.number, {"most_at_once": most})
            self.look()
            self.assertEqual(admitted, self.admitted(array))
            tasks = self.tasks(array)
            self.assertEqual([began] * 2, [tasks[index].eligible_at for index in (0, 1)])
        self.assertLess(entered, tasks[3].eligible_at)

    def test_a_lower_limit_counts_the_tasks_that_run(self):
        self.pause()
        array = self.array(most=4)
        self.look()
        tasks = self.tasks(array)
        for index in (0, 2):
            self.become(tasks[index], state=JobState.RUNNING, started_at=self.now)
        self.store.hold(tasks[1].number, True)
        array_requests.change(self.store, array.number, {"most_at_once": 3})
        self.assertEqual([0, 2, 3], self.admitted(array))

    def test_after_a_time_and_with_a_limit(self):
        array = self.array(most=1, begin_at=self.now + 15.0)
        self.look()
        self.assertEqual([], self.admitted(array))
        self.assertEqual("begin", self.reason(self.tasks(array)[5]).code.name)
        self.look()
        self.assertEqual([0], self.admitted(array))
        self.assertEqual("array-limit", self.reason(self.tasks(array)[5]).code.name)


class TestCancel(ArrayCase):
    def test_many_end_in_several_polls_and_none_of_them_starts(self):
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.manager.open_actions.MOST_ENDS", 3))
        array, limited = self.array("0-6"), self.array("0-4", most=2)
        for each in (array, limited):
            array_requests.ask(self.store, each.number, "cancel")
        other = self.submit(1)
        left = []
        self.engine.seen = builders.seen(at=self.now)
        while self.engine.poll():
            left.append(len(self.store.jobs(selection=Selection(active=True))))
            self.assertEqual([other.number], self.starts())
        self.assertEqual([10, 7, 4, 1], left)
        for task in (*self.tasks(array).values(), *self.tasks(limited).values()):
            self.assertEqual((JobState.CANCELLED, 0), (task.state, task.runs))
            self.assertNotIn("eligible", self.kinds(task))

    def test_what_runs_ends_at_once(self):
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.manager.open_actions.MOST_ENDS", 1))
        array = self.array("0-3")
        last = self.tasks(array)[3]
        self.become(last, state=JobState.RUNNING, tier="fg", run_since=self.now, runs=1)
        array_requests.ask(self.store, array.number, "cancel")
        self.look(builders.servers(last))
        self.assertIn(("end", last.number), self.opened())


class TestDependencies(ArrayCase):
    def after(self, condition, array):
        return self.submit(1, dependencies=[Dependency(array.number, condition, array=True)])

    def test_on_all_tasks(self):
        self.pause()
        array = self.array("0-1")
        started, succeeded, over = (self.after(condition, array) for condition in Condition)
        self.look()
        self.assertEqual("waits for the tasks of array 1 to finish", str(self.reason(succeeded)))
        tasks = self.tasks(array)
        self.become(tasks[0], started_at=50.0)
        self.finish(tasks[1], at=60.0)
        self.look()
        self.assertTrue(self.store.job(over.number).gated)
        self.assertFalse(self.store.job(started.number).gated)
        self.finish(tasks[0], at=70.0)
        self.look()
        [met] = self.store.job(succeeded.number).dependencies
        self.assertEqual(70.0, met.met_at)
        for job in (succeeded, over):
            self.assertFalse(self.store.job(job.number).gated)

    def test_one_task_that_fails_is_enough(self):
        array = self.array("0-3", name="sweep")
        job, any_ = self.after(Condition.SUCCEEDED, array), self.after(Condition.OVER, array)
        self.finish(self.tasks(array)[2], JobState.FAILED)
        for _each in range(3):
            self.look()
        ended = self.store.job(job.number)
        self.assertEqual(JobState.CANCELLED, ended.state)
        self.assertEqual((self.tasks(array)[2].number), ended.reason.by)
        self.assertTrue(self.store.job(any_.number).gated)


class TestEnd(ArrayCase):
    def test_its_user_data_and_trust_are_kept_until_the_last_task_is_over(self):
        array = self.array("0-1", user_data="c2VjcmV0", trust_id="trust")
        array_requests.ask(self.store, array.number, "cancel", [0])
        for _each in range(3):
            self.look()
        tasks = self.tasks(array)
        self.assertEqual((JobState.CANCELLED, JobState.STARTING), (tasks[0].state, tasks[1].state))
        self.assertEqual("c2VjcmV0", self.store.user_data(tasks[1].number))
        self.assertEqual([], self.deleted_trusts())
        array_requests.ask(self.store, array.number, "cancel")
        self.engine = self.make_engine()
        for _each in range(5):
            self.look()
        row = self.row(array)
        self.assertEqual((None, False), (row.user_data, row.finished_at is None))
        self.assertEqual(["trust"], self.deleted_trusts())

    def test_a_trust_that_keystone_does_not_delete_is_tried_again(self):
        array = self.array("0", trust_id="trust")
        self.cloud.delete_trust.side_effect = CloudError("Keystone is down")
        array_requests.ask(self.store, array.number, "cancel")
        for _each in range(4):
            self.look()
        self.assertIsNone(self.row(array).finished_at)
        self.cloud.delete_trust.side_effect = None
        for _each in range(5):
            self.look()
        self.assertIsNotNone(self.row(array).finished_at)

    def test_it_is_closed_although_the_database_failed_when_its_last_task_ended(self):
        """No other job need end before it is looked for again."""
        array = self.array("0", user_data="c2VjcmV0", trust_id="trust")
        self.look()
        array_requests.ask(self.store, array.number, "cancel")
        with mock.patch.object(arrays, "without_open_tasks", side_effect=DBError("it is away")):
            for _each in range(8):
                with contextlib.suppress(DBError):
                    self.look()
        self.assertEqual(JobState.CANCELLED, self.tasks(array)[0].state)
        for _each in range(5):
            self.look()
        row = self.row(array)
        self.assertEqual((None, False), (row.user_data, row.finished_at is None))
        self.assertEqual(["trust"], self.deleted_trusts())

    def deleted_trusts(self):
        asked = [call.args[0] for call in self.cloud.delete_trust.call_args_list]
        return [each.trust_id for each in asked if isinstance(each, Array)]
