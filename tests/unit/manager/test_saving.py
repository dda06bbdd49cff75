"""Guests that could not be saved: tried again in time, and started again in the end."""

import dataclasses

from nova_twotier.db.plans import EvictPlan
from nova_twotier.db.states import ActionKind, ActionState, JobState
from nova_twotier.manager.operations.evict import REPAIRS
from nova_twotier.manager.operations.gang import FIRST_PAUSE
from tests.unit.manager.builders import BY_NINE, FAILS, action, job, seen, servers
from tests.unit.manager.operation_case import OperationCase


class TestSaving(OperationCase):
    def setUp(self):
        super().setUp()
        self.begin_with_another()

    def begin_with_another(self):
        self.one = job(size=1, state=JobState.PREEMPTING)
        [self.server] = servers(self.one)
        self.record = action(ActionKind.EVICT, self.one, EvictPlan(BY_NINE), begun_at=100.0)

    def at(self, now, status="ACTIVE", task=None):
        self.cloud.reset_mock()
        self.gang = servers(self.one, status, task)
        step = self.advance(self.record, self.one, seen(self.gang), now)
        for name, server in self.calls:
            purpose = "save" if name == "shelve" else "undo"
            self.answer(self.record, f"{purpose} {server.id}")
        return step

    def asked(self):
        return [name for name, _server in self.calls]

    def tried(self, until):
        """Seconds at which it was shelved, when each time the upload of its image fails."""
        times = []
        for now in range(100, until):
            self.at(float(now), "SHUTOFF" if times else "ACTIVE")
            if "shelve" in self.asked():
                times.append(now)
        return times

    def test_attempts_are_further_and_further_apart(self):
        first, second, third = self.tried(300)
        self.assertGreaterEqual(second - first, FIRST_PAUSE / 2)
        self.assertGreaterEqual(third - second, FIRST_PAUSE)

    def test_not_all_at_the_same_time(self):
        times = set()
        for _job in range(5):
            self.begin_with_another()
            times.add(self.tried(200)[1])
        self.assertGreater(len(times), 1)

    def test_then_the_guest_is_started_again(self):
        """The action is over when it runs, so that nobody takes it for finished."""
        key = f"save {self.server.id}"
        self.record = action(
            ActionKind.EVICT, self.one, EvictPlan(BY_NINE), begun_at=100.0, attempts={key: 3}
        )
        self.assertIsNone(self.at(200.0, "SHUTOFF").state)
        self.assertEqual(["start"], self.asked())
        self.assertIsNone(self.at(201.0, "SHUTOFF", "powering-on").state)
        self.assertEqual([], self.asked())
        self.assertIs(ActionState.FAILED, self.at(202.0).state)
        self.assertEqual(JobState.RUNNING, self.one.state)

    def test_not_a_guest_that_had_ended_before(self):
        self.record = action(
            ActionKind.EVICT,
            self.one,
            EvictPlan(BY_NINE),
            begun_at=100.0,
            attempts={f"save {self.server.id}": 3},
            off=(self.server.id,),
        )
        self.assertIs(ActionState.FAILED, self.at(200.0, "SHUTOFF").state)
        self.assertEqual([], self.asked())


class TestInPart(OperationCase):
    """A job that was saved in part, whose other servers Nova does not save either."""

    def ran(self, setbacks):
        """Seconds that it has run, an hour after that was tried once more."""
        one = job(state=JobState.PREEMPTING, run_since=90.0, setbacks=setbacks)
        up, away = servers(one)
        gang = [up, dataclasses.replace(away, status="SHELVED_OFFLOADED", host=None)]
        tried = {f"save {up.id}": 3}
        record = action(ActionKind.EVICT, one, EvictPlan(BY_NINE), begun_at=100.0, attempts=tried)
        self.assertIs(ActionState.FAILED, self.advance(record, one, seen(gang), 200.0).state)
        if one.interrupted:
            one.stay_interrupted(3800.0)
        return one.ran(3800.0)

    def test_its_walltime_does_not_run_on(self):
        self.assertEqual(10.0, self.ran(REPAIRS - 1))

    def test_it_does_in_the_end_since_it_keeps_its_slots(self):
        self.assertEqual(3710.0, self.ran(REPAIRS))


class TestRestoreUndone(OperationCase):
    """What came back is shelved again, because the others did not come back."""

    def test_attempts_are_further_and_further_apart(self):
        one = job(size=1, state=JobState.RESTORING, saved=True)
        record = action(ActionKind.START, one, begun_at=100.0, undoing=FAILS)
        times = []
        for now in range(100, 300):
            self.cloud.reset_mock()
            self.advance(record, one, seen(servers(one)), float(now))
            for _name, server in self.calls:
                self.answer(record, f"undo {server.id}")
                times.append(now)
        first, second, third, *_later = times
        self.assertGreaterEqual(second - first, FIRST_PAUSE / 2)
        self.assertGreaterEqual(third - second, FIRST_PAUSE)
