"""Servers that are off are started again, once each."""

import dataclasses

from nova_twotier.cloud.errors import CloudError
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import ActionKind, ActionState
from tests.unit.manager.builders import action, job, seen, servers
from tests.unit.manager.operation_case import OperationCase


class TestPowerOn(OperationCase):
    def setUp(self):
        super().setUp()
        self.one = job(run_since=1.0)
        self.on, self.off = servers(self.one)[0], servers(self.one, "SHUTOFF")[1]
        self.record = action(ActionKind.POWER_ON, self.one, begun_at=90.0)

    def step(self, *gang, **limits):
        return self.advance(self.record, self.one, seen(gang), **limits)

    def test_what_is_off_is_started(self):
        self.assertIsNone(self.step(self.on, self.off).state)
        self.assertEqual([("start", self.off)], self.calls)

    def test_it_is_over_when_nova_is_done(self):
        self.step(self.on, self.off)
        self.answer(self.record, f"start {self.off.id}")
        starting = dataclasses.replace(self.off, task="powering-on")
        self.assertIsNone(self.step(self.on, starting).state)
        notes = self.finish(self.record, self.one, seen([self.on, servers(self.one)[1]]))
        self.assertEqual(["started again"], [note.kind for note in notes])
        self.assertEqual(
            "its servers were started again: a server was off: its host rebooted",
            str(self.one.reason),
        )

    def test_one_that_is_off_again_is_not_started_twice(self):
        """It had ended, or does not come up: who looks at it next finds out."""
        self.step(self.on, self.off)
        self.answer(self.record, f"start {self.off.id}")
        self.assertIs(ActionState.DONE, self.step(self.on, self.off).state)
        self.assertEqual(1, len(self.calls))

    def test_a_refusal_counts(self):
        """As often as that may be, the job begins anew."""
        self.step(self.on, self.off)
        self.answer(self.record, f"start {self.off.id}", CloudError("vm_state error", 409))
        progress = self.record.progress
        self.assertEqual(("vm_state error", None), (progress.refusal.detail, progress.undoing))
        step = self.step(self.on, self.off)
        self.assertIs(ActionState.FAILED, step.state)
        self.assertEqual(1, self.one.failures)
        self.assertGreater(self.one.not_before, 100.0)
        self.assert_only_operators_read("vm_state error", self.record, self.one)

    def test_nova_may_stop_it_first(self):
        self.step(self.on, self.off)
        self.answer(self.record, f"stop {self.off.id}", CloudError("vm_state stopped", 409))
        self.assertIsNone(self.record.progress.refusal)

    def test_what_passes_is_tried_again(self):
        self.step(self.on, self.off)
        self.answer(self.record, f"start {self.off.id}", CloudError("503", 503))
        self.step(self.on, self.off)
        self.assertEqual(2, len(self.calls))

    def test_it_gives_way_to_its_owner_and_to_what_is_broken(self):
        self.one.requested_action = "cancel"
        self.assertIs(ActionState.FAILED, self.step(self.on, self.off).state)
        self.one.requested_action = None
        self.assertIs(ActionState.FAILED, self.step(self.on).state)
        self.assertEqual([], self.calls)

    def test_not_for_ever(self):
        """Not before the request was looked for that Nova seems to have lost."""
        starting = dataclasses.replace(self.off, task="powering-on")
        limits = {"operation_timeout": 10.0}
        self.assertIsNone(self.step(self.on, starting, now=99.0, **limits).state)
        self.assertEqual([], self.calls)
        self.assertIsNone(self.step(self.on, starting, now=100.0, **limits).state)
        self.assertEqual([("reset_if_lost", starting)], self.calls)
        self.answer(self.record, f"reset {self.off.id}")
        for now, state in ((109.0, None), (110.0, ActionState.FAILED)):
            step = self.step(self.on, starting, now=now, **limits)
            self.assertEqual(state, step.state)
        self.assertEqual(1, len(self.calls))
        self.assertNotIn(RequestKey("start", self.off.id), self.record.progress.attempts)

    def test_what_no_reset_helps_ends_sooner(self):
        busy = dataclasses.replace(self.on, task="image_uploading")
        for now, state in ((99.0, None), (100.0, ActionState.FAILED)):
            step = self.step(busy, self.off, now=now, operation_timeout=10.0)
            self.assertEqual(state, step.state)

    def test_what_was_reset_is_off_although_it_counts_as_running(self):
        for key in (f"start {self.off.id}", f"reset {self.off.id}"):
            self.answer(self.record, key)
        posing = dataclasses.replace(self.off, status="ACTIVE", power_state=4)
        self.assertIsNone(self.step(self.on, posing).state)
        self.answer(self.record, f"stop {self.off.id}")
        self.assertIsNone(self.step(self.on, self.off).state)
        self.answer(self.record, f"start {self.off.id}")
        self.assertEqual([("stop", posing), ("start", self.off)], self.calls)
        up = dataclasses.replace(self.off, status="ACTIVE", power_state=1)
        self.assertIs(ActionState.DONE, self.step(self.on, up).state)
