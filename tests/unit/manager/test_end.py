"""What is left of a job that ends: nothing, or its servers without slots."""

import dataclasses

from nova_twotier.cloud.errors import CloudError, Undecided
from nova_twotier.core.reasons import Effect, failures
from nova_twotier.db.plans import EndPlan
from nova_twotier.db.states import ActionKind, ActionState, JobState
from tests.unit.manager.builders import FAILS, action, job, seen, servers
from tests.unit.manager.operation_case import OperationCase


def end(one, then=JobState.FINISHED, reason=None, **begun):
    return action(ActionKind.END, one, EndPlan(then, reason, 90.0), **begun)


class TestEnd(OperationCase):
    def test_deletes_until_nothing_is_left(self):
        one = job(state=JobState.ENDING, run_since=40.0)
        gang = [servers(one)[0], servers(one, task="deleting")[1]]
        record = end(one)
        self.assertIsNone(self.advance(record, one, seen(gang)).state)
        self.assertEqual([("delete", gang[0])], self.calls)
        self.assertIsNone(self.advance(record, one, seen()).state)
        self.assertIn(("delete_server_group", one), self.calls)
        self.answer(record, "group")
        self.finish(record, one, seen())
        self.assertEqual((90.0, 50.0), (one.finished_at, one.ran(99.0)))

    def test_nothing_is_asked_for_what_never_began(self):
        """Whatever has been tried may have left something."""
        never = {"state": JobState.ENDING, "tier": None}
        one = job(**never, array=1, trust_id="t1")
        self.finish(end(one, JobState.CANCELLED), one, seen())
        self.assertEqual(([], []), (self.calls, self.placement.method_calls))
        for tried in (
            {"failures": 1},
            {"setbacks": 1},
            {"runs": 1},
            {"started_at": 1.0},
            {"discarded_at": 1.0},
        ):
            one = job(**never, **tried)
            self.advance(end(one, JobState.CANCELLED), one, seen())
            self.assertIn(("delete_server_group", one), self.calls)
            self.assertTrue(self.placement.get.called)
            self.placement.reset_mock()

    def test_a_delete_that_died_with_its_host_is_repeated(self):
        one = job(state=JobState.ENDING)
        gang = servers(one, task="deleting", hosts=("a", "b"))
        self.advance(end(one), one, seen(gang, down="b"))
        self.assertEqual([("delete", gang[1])], self.calls)

    def test_whoever_begins_anew_has_lost_its_work(self):
        one = job(state=JobState.ENDING, saved=True, run_before=7.0, run_since=40.0)
        record = end(one, JobState.QUEUED, FAILS.led_to(Effect.RESTARTED), attempts={"group": 1})
        self.finish(record, one, seen())
        self.assertEqual((JobState.QUEUED, 1), (one.state, one.requeues))
        self.assertEqual((False, 0.0, None), (one.saved, one.ran(99.0), one.finished_at))
        self.assertEqual(100.0, one.discarded_at)

    def test_whoever_fails_with_its_servers_has_lost_its_work(self):
        for lost, discarded_at in ((True, 100.0), (False, None)):
            one = job(state=JobState.ENDING, run_since=40.0)
            plan = EndPlan(JobState.FAILED, FAILS, 90.0, lost=lost)
            self.finish(action(ActionKind.END, one, plan, attempts={"group": 1}), one, seen())
            self.assertEqual(discarded_at, one.discarded_at)

    def test_who_asked_to_begin_anew_has_done_so(self):
        """It is no retry. What was asked for meanwhile is done next."""
        reason = failures.REQUESTED(action="requeue").led_to(Effect.RESTARTED)
        for asked, left in (("requeue", None), ("cancel", "cancel")):
            one = job(state=JobState.ENDING, saved=True, run_before=7.0, requested_action=asked)
            self.finish(end(one, JobState.QUEUED, reason, attempts={"group": 1}), one, seen())
            self.assertEqual((JobState.QUEUED, 0), (one.state, one.requeues))
            self.assertEqual((False, 0.0), (one.saved, one.run_before))
            self.assertEqual(left, one.requested_action)

    def test_its_trust_goes_with_it(self):
        for then, lent in ((JobState.CANCELLED, True), (JobState.QUEUED, False)):
            one = job(state=JobState.ENDING, trust_id="t1")
            self.cloud.reset_mock()
            self.advance(end(one, then), one, seen())
            self.assertEqual(lent, ("delete_trust", one) in self.calls)


class TestKeep(OperationCase):
    def setUp(self):
        super().setUp()
        self.one = job(size=3, state=JobState.ENDING, keep_servers=True)

    def gang(self, *statuses, locked=False):
        return [
            dataclasses.replace(
                server,
                status=status,
                locked=locked,
                host=None if status == "SHELVED_OFFLOADED" else "a",
            )
            for server, status in zip(servers(self.one), statuses, strict=True)
        ]

    def test_they_are_shelved(self):
        """What cannot be is deleted: it would hold its slot."""
        gang = self.gang("SHUTOFF", "ACTIVE", "ERROR")
        self.advance(end(self.one), self.one, seen(gang))
        self.assertEqual(
            [("shelve", gang[0]), ("shelve", gang[1]), ("delete", gang[2])], self.calls
        )

    def test_then_they_are_their_owners(self):
        gang = self.gang(*["SHELVED_OFFLOADED"] * 3, locked=True)
        record = end(self.one)
        self.advance(record, self.one, seen(gang))
        self.assertEqual([("unlock", server) for server in gang], self.calls)
        for server in gang:
            self.answer(record, f"unlock {server.id}")
        self.cloud.reset_mock()
        self.finish(record, self.one, seen(gang))
        self.assertEqual([], self.calls)

    def test_not_when_it_begins_anew(self):
        gang = self.gang("ACTIVE", "ACTIVE", "ERROR")
        self.advance(end(self.one, JobState.QUEUED), self.one, seen(gang))
        self.assertEqual([("delete", server) for server in gang], self.calls)

    def test_what_is_on_its_way_is_not_deleted(self):
        """Nova says SHELVED for a moment, before the server leaves its host."""
        gang = [
            dataclasses.replace(server, task=task)
            for server, task in zip(
                self.gang("SHELVED", "SHELVED", "SHELVED_OFFLOADED"),
                ("shelving_offloading", None, "shelving_offloading"),
                strict=True,
            )
        ]
        step = self.advance(end(self.one), self.one, seen(gang))
        self.assertEqual(([], None), (self.calls, step.state))

    def test_a_request_to_shelve_that_was_lost_is_looked_for(self):
        [lost, *rest] = self.gang("SHUTOFF", *["SHELVED_OFFLOADED"] * 2)
        lost = dataclasses.replace(lost, task="shelving")
        limits = {"preemption_timeout": 100.0, "operation_timeout": 60.0}
        for now, calls in ((29.0, []), (30.0, [("reset_if_lost", lost)])):
            self.advance(end(self.one), self.one, seen([lost, *rest]), now, **limits)
            self.assertEqual(calls, self.calls)

    def test_so_is_one_from_before_the_end(self):
        """The job would end for ever, on its slot. Of a kept server, only the disk counts."""
        for status, task in (
            ("SHUTOFF", "powering-on"),
            ("ACTIVE", "suspending"),
            ("SUSPENDED", "resuming"),
        ):
            [lost, *rest] = self.gang(status, *["SHELVED_OFFLOADED"] * 2)
            lost, record = dataclasses.replace(lost, task=task), end(self.one)
            limits = {"preemption_timeout": 100.0, "operation_timeout": 60.0}
            for now, calls in ((29.0, []), (30.0, ["reset_if_lost"]), (9e4, [])):
                self.cloud.reset_mock()
                self.advance(record, self.one, seen([lost, *rest]), now, **limits)
                self.assertEqual([(call, lost) for call in calls], self.calls, (task, now))
                for _call in calls:
                    self.cloud.reset_if_lost.assert_called_once_with(lost, memory=False)
                    self.answer(record, f"reset {lost.id}")

    def test_what_nobody_will_bring_back_is_kept_as_it_is(self):
        """It has its image, and no slot; to delete it would delete the image, too."""
        limits = {"preemption_timeout": 100.0, "operation_timeout": 60.0}
        [lost, *rest] = self.gang(*["SHELVED_OFFLOADED"] * 3, locked=True)
        rest = [dataclasses.replace(server, locked=False) for server in rest]
        lost, record = dataclasses.replace(lost, task="unshelving"), end(self.one)
        for error, now, calls in (
            (None, 29.0, []),
            (Undecided("it is on its way"), 30.0, ["require_lost"]),
            (CloudError("not for you", 403), 60.0, ["require_lost"]),
            (None, 9e4, ["require_lost"]),
            (None, 9e4, ["unlock"]),
        ):
            self.cloud.reset_mock()
            self.advance(record, self.one, seen([lost, *rest]), now, **limits)
            self.assertEqual([(call, lost) for call in calls], self.calls, now)
            for call in calls:
                purpose = "stays" if call == "require_lost" else call
                self.answer(record, f"{purpose} {lost.id}", error)
        self.finish(record, self.one, seen([lost, *rest]), 9e4, **limits)

    def test_one_after_a_task_that_took_long_is_looked_for(self):
        """To look at that task was no mistake, and is not all."""
        [busy, *rest] = self.gang("ACTIVE", *["SHELVED_OFFLOADED"] * 2)
        limits, record = {"operation_timeout": 60.0}, end(self.one)
        for task, calls in (
            ("migrating", ["reset_if_lost"]),
            ("migrating", []),
            (None, ["shelve"]),
            ("shelving", ["reset_if_lost"]),
            ("shelving", []),
        ):
            self.cloud.reset_mock()
            server = dataclasses.replace(busy, task=task)
            self.advance(record, self.one, seen([server, *rest]), 59.0, **limits)
            self.assertEqual([(call, server) for call in calls], self.calls, task)
            for call in calls:
                self.answer(record, f"{'save' if call == 'shelve' else 'reset'} {busy.id}")

    def test_a_second_one_that_was_lost_is_looked_for_as_well(self):
        [lost, *rest] = self.gang("ACTIVE", *["SHELVED_OFFLOADED"] * 2)
        lost = dataclasses.replace(lost, task="shelving")
        limits = {"preemption_timeout": 100.0, "operation_timeout": 60.0}
        for saved, reset, calls in ((1, 2, []), (2, 2, ["reset_if_lost"]), (2, 3, [])):
            self.cloud.reset_mock()
            record = end(self.one, attempts={f"save {lost.id}": saved, f"reset {lost.id}": reset})
            self.advance(record, self.one, seen([lost, *rest]), 59.0, **limits)
            self.assertEqual([(call, lost) for call in calls], self.calls)

    def test_a_migration_that_waits_to_be_confirmed_is(self):
        """Then the server can be shelved; and if Nova never confirms it, the job ends without."""
        moved, *rest = self.gang("VERIFY_RESIZE", *["SHELVED_OFFLOADED"] * 2)
        record = end(self.one)
        self.advance(record, self.one, seen([moved, *rest]), 1.0, operation_timeout=60.0)
        self.assertEqual([("confirm_resize", moved)], self.calls)
        self.answer(record, f"confirm {moved.id}")
        for status, now, calls in (
            ("VERIFY_RESIZE", 59.0, []),
            ("ACTIVE", 59.0, ["shelve"]),
            ("VERIFY_RESIZE", 60.0, []),
            ("VERIFY_RESIZE", 61.0, ["delete"]),
        ):
            self.cloud.reset_mock()
            found = dataclasses.replace(moved, status=status)
            self.advance(record, self.one, seen([found, *rest]), now, operation_timeout=60.0)
            self.assertEqual([(call, found) for call in calls], self.calls)

    def test_what_boots_from_a_rescue_disk_boots_from_its_own_again(self):
        """Then it can be shelved; and if Nova does not do that, the job ends without."""
        rescued, *rest = self.gang("RESCUE", *["SHELVED_OFFLOADED"] * 2)
        record = end(self.one)
        for status, task, now, calls in (
            ("RESCUE", "rebooting", 0.0, []),
            ("RESCUE", None, 1.0, ["unrescue"]),
            ("RESCUE", "unrescuing", 30.0, []),
            ("RESCUE", None, 60.0, []),
            ("ACTIVE", None, 60.0, ["shelve"]),
            ("RESCUE", None, 61.0, ["delete"]),
        ):
            self.cloud.reset_mock()
            found = dataclasses.replace(rescued, status=status, task=task)
            self.advance(record, self.one, seen([found, *rest]), now, operation_timeout=60.0)
            self.assertEqual([(call, found) for call in calls], self.calls, now)
            if calls == ["unrescue"]:
                self.answer(record, f"unrescue {rescued.id}")

    def test_a_migration_that_takes_long_is_confirmed_as_well(self):
        """A large disk may be copied for longer than an operation may take."""
        moved, *rest = self.gang("VERIFY_RESIZE", *["SHELVED_OFFLOADED"] * 2)
        going = dataclasses.replace(moved, status="RESIZE", task="resize_migrating")
        record = end(self.one)
        for server, now, calls in (
            (going, 500.0, []),
            (moved, 501.0, ["confirm_resize"]),
            (moved, 560.0, []),
            (moved, 561.0, ["delete"]),
        ):
            self.cloud.reset_mock()
            self.advance(record, self.one, seen([server, *rest]), now, operation_timeout=60.0)
            self.assertEqual([(call, server) for call in calls], self.calls, now)
            if calls == ["confirm_resize"]:
                self.answer(record, f"confirm {moved.id}")

    def test_what_does_not_shelve_is_given_up(self):
        gang = self.gang("ACTIVE", *["SHELVED_OFFLOADED"] * 2)
        step = self.advance(end(self.one, attempts={f"save {gang[0].id}": 3}), self.one, seen(gang))
        self.assertEqual(([("delete", gang[0])], None), (self.calls, step.state))
        self.assertIsNot(ActionState.DONE, step.state)

    def test_an_owner_cannot_keep_the_slot_by_making_images(self):
        """Nova shelves no server of which an image is made, and its lock does not prevent that."""
        kept, *rest = self.gang("ACTIVE", *["SHELVED_OFFLOADED"] * 2)
        for task, now, calls in (
            ("image_uploading", 239.0, []),
            ("image_uploading", 240.0, ["delete"]),
            ("shelving_image_uploading", 240.0, []),
        ):
            self.cloud.reset_mock()
            busy = dataclasses.replace(kept, task=task)
            self.advance(end(self.one), self.one, seen([busy, *rest]), now, operation_timeout=60.0)
            self.assertEqual([(call, busy) for call in calls], self.calls)

    def test_an_image_that_takes_long_is_not_the_end_of_its_server(self):
        """One that was asked for, and that no nova-compute makes, is."""
        kept, *rest = self.gang("ACTIVE", *["SHELVED_OFFLOADED"] * 2)
        for task, stored_since, calls in (
            ("image_pending_upload", 239.0, []),
            ("image_pending_upload", 241.0, ["delete"]),
            ("image_uploading", 239.0, []),
            # Its disk may have been copied for a while before.
            ("image_uploading", 299.0, []),
            ("image_uploading", 301.0, ["delete"]),
            ("image_snapshot_pending", 0.0, ["delete"]),
            ("image_backup", 0.0, ["delete"]),
        ):
            self.cloud.reset_mock()
            busy = dataclasses.replace(kept, task=task, updated_at=stored_since)
            self.advance(end(self.one), self.one, seen([busy, *rest]), 9e4, operation_timeout=60.0)
            self.assertEqual([(call, busy) for call in calls], self.calls)

    def test_what_is_on_a_dead_host_is_deleted(self):
        """Nobody would ever shelve it, and the job would end for ever, on its slot."""
        gone, *rest = self.gang("ACTIVE", *["SHELVED_OFFLOADED"] * 2)
        for task in (None, "shelving", "deleting"):
            dead = dataclasses.replace(gone, task=task)
            self.cloud.reset_mock()
            self.advance(end(self.one), self.one, seen([dead, *rest], down="a"))
            self.assertEqual([("delete", dead)], self.calls)

    def test_a_delete_that_takes_too_long_is_repeated(self):
        lost, *rest = self.gang("ERROR", *["SHELVED_OFFLOADED"] * 2)
        lost = dataclasses.replace(lost, task="deleting")
        record = end(self.one, attempts={f"delete {lost.id}": 1})
        for now, calls in ((59.0, []), (60.0, [("delete", lost)])):
            self.advance(record, self.one, seen([lost, *rest]), now, operation_timeout=60.0)
            self.assertEqual(calls, self.calls)
