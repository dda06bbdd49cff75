"""Operations that Nova or Placement never gets done with come to an end."""

import dataclasses
from unittest import mock

from nova_twotier.core.reasons import Effect, changes, failures
from nova_twotier.db.plans import EndPlan, EvictPlan, MigratePlan, StartPlan, SwapPlan, TierChange
from nova_twotier.db.states import ActionKind, ActionState, JobState, Preemption
from nova_twotier.ledger import claims
from nova_twotier.ledger.placement import PlacementError, StaleGeneration
from nova_twotier.manager.operations.context import LEFT_BEHIND
from tests.unit.manager.builders import (
    BG,
    BY_NINE,
    FAILS,
    FG,
    action,
    hosts,
    job,
    seen,
    servers,
    unmanaged_claim,
)
from tests.unit.manager.operation_case import OperationCase

LIMIT = 60.0


class LimitCase(OperationCase):
    """Actions that began at 100, and may take until 160."""

    def setUp(self):
        super().setUp()
        patch = mock.patch.object(claims, "vacate")
        self.addCleanup(patch.stop)
        self.vacated = patch.start()

    def step(self, record, one, look, now, **limits):
        self.cloud.reset_mock()
        return self.advance(record, one, look, now, operation_timeout=LIMIT, **limits)

    def assert_given_up(self, record, one, look, told, **limits):
        """At the end of its time, not before."""
        self.assertIsNone(self.step(record, one, look, 159.0, **limits).state)
        self.assertIs(ActionState.FAILED, self.step(record, one, look, 160.0, **limits).state)
        self.assertEqual(f"not over after 60 s: {told}", record.reason)
        [note] = self.notes
        self.assertEqual(record.reason, str(note.reason))
        self.assertGreater(one.not_before, 160.0)


class TestEvict(LimitCase):
    def test_a_server_that_nova_is_never_done_with(self):
        one = job(state=JobState.PREEMPTING)
        up, stuck = servers(one)[0], servers(one, task="shelving")[1]
        record = action(ActionKind.EVICT, one, EvictPlan(BY_NINE, repairs=True), begun_at=100.0)
        self.assert_given_up(
            record, one, seen([up, stuck]), f"server {stuck.id} is ACTIVE (shelving)"
        )
        self.assertEqual(JobState.RUNNING, one.state)

    def test_the_time_of_grace_comes_before(self):
        one = job(state=JobState.PREEMPTING)
        look = seen(servers(one, task="shelving"))
        record = action(ActionKind.EVICT, one, EvictPlan(BY_NINE, repairs=True), begun_at=70.0)
        told = f"server {one.number}/0 is ACTIVE (shelving)"
        self.assert_given_up(record, one, look, told, preemption_grace=30.0)

    def test_a_delete_that_takes_for_ever(self):
        one = job(state=JobState.PREEMPTING)
        plan = EvictPlan(BY_NINE, Preemption.REQUEUE)
        record = action(ActionKind.EVICT, one, plan, begun_at=100.0)
        look = seen(servers(one, task="deleting"))
        self.assertIsNone(self.step(record, one, look, 159.0).state)
        step = self.step(record, one, look, 160.0)
        self.assertIs(ActionState.FAILED, step.state)
        told = f"server {one.number}/0 is ACTIVE (deleting)"
        self.assertEqual(f"not over after 60 s: {told}", record.reason)
        because = BY_NINE.led_to(Effect.LOST)
        self.assertEqual(EndPlan(JobState.QUEUED, because, 160.0, preempted=True), step.end)

    def test_success_ends_the_row_of_setbacks(self):
        one = job(state=JobState.PREEMPTING, setbacks=5)
        look = seen(servers(one, "SHELVED_OFFLOADED", hosts=(None,)))
        self.finish(action(ActionKind.EVICT, one, EvictPlan(BY_NINE)), one, look)
        self.assertEqual(0, one.setbacks)


class TestEscalation(LimitCase):
    """Who may not be saved in time loses its work, and nobody waits for it any more."""

    PATIENCE = 40.0

    def stuck(self, kind, task, looked_for=True, **values):
        """
        :param looked_for: it is known by now that nova-compute got the request.
        """
        self.one = job(state=JobState.PREEMPTING, **values)
        self.gang = servers(self.one, task=task)
        plan = MigratePlan({0: "b"}, {0: "a"}) if kind is ActionKind.MIGRATE else EvictPlan(BY_NINE)
        attempts = {f"reset {server.id}": 1 for server in self.gang} if looked_for else {}
        self.record = action(kind, self.one, plan, begun_at=100.0, attempts=attempts)

    def at(self, now, look=None, **limits):
        tiers = [BG] if self.record.kind is ActionKind.MIGRATE and look is None else None
        look = seen(self.gang, tiers=tiers) if look is None else look
        return self.step(
            self.record, self.one, look, now, preemption_timeout=self.PATIENCE, **limits
        )

    @property
    def deleted(self):
        return [call[1].id for call in self.calls if call[0] == "delete"]

    def test_a_guest_that_does_not_stop(self):
        self.stuck(ActionKind.EVICT, "shelving")
        self.at(139.0)
        self.assertEqual([], self.calls)
        self.at(140.0)
        self.assertEqual([server.id for server in self.gang], self.deleted)
        [note] = self.finish(self.record, self.one, seen(), 150.0, preemption_timeout=self.PATIENCE)
        told = "begins anew: its state could not be saved within 40 s"
        self.assertEqual(("killed", f"preempted by job 9, {told}"), (note.kind, str(note.reason)))
        self.assertEqual(f"preempted by job 9, {told}", str(self.one.reason))
        self.assertEqual((JobState.QUEUED, False), (self.one.state, self.one.saved))

    def test_a_request_that_was_lost_is_looked_for_while_there_is_time(self):
        for kind, task, grace in (
            (ActionKind.EVICT, "shelving", 0.0),
            (ActionKind.EVICT, "suspending", 20.0),
            (ActionKind.MIGRATE, "migrating", 0.0),
        ):
            self.stuck(kind, task, looked_for=False)
            self.at(119.0 + grace, preemption_grace=grace)
            self.assertEqual([], self.calls)
            self.at(120.0 + grace, preemption_grace=grace)
            asked = [call[1] for call in self.calls if call[0] == "reset_if_lost"]
            self.assertEqual(self.gang, asked)

    def test_an_owner_who_has_it_imaged_all_the_time(self):
        self.stuck(ActionKind.EVICT, "image_uploading")
        self.at(140.0)
        self.assertEqual([server.id for server in self.gang], self.deleted)

    def test_who_saves_its_work_itself_has_twice_as_long(self):
        self.stuck(ActionKind.EVICT, "shelving", checkpoint=True)
        self.at(179.0)
        self.assertEqual([], self.calls)
        self.at(180.0)
        self.assertEqual([server.id for server in self.gang], self.deleted)

    def test_what_is_saved_at_the_last_moment_is_kept(self):
        self.stuck(ActionKind.EVICT, "shelving")
        self.at(139.0)
        saved = seen(servers(self.one, "SHELVED_OFFLOADED", hosts=(None,)))
        self.assertIs(ActionState.DONE, self.at(140.0, saved).state)
        self.assertEqual([], self.calls)

    def test_the_notice_comes_before(self):
        self.stuck(ActionKind.EVICT, "shelving")
        self.at(159.0, preemption_grace=20.0)
        self.assertEqual([], self.deleted)
        self.at(160.0, preemption_grace=20.0)
        self.assertEqual([server.id for server in self.gang], self.deleted)

    def test_the_time_that_nobody_looked_does_not_count(self):
        self.stuck(ActionKind.EVICT, "shelving")
        self.at(180.0, polling_since=150.0)
        self.assertEqual([], self.calls)

    def test_nova_does_not_delete_it_either(self):
        """What is left is for its end, which is none of a failure."""
        for kind, task, told in (
            (ActionKind.EVICT, "shelving", changes.SAVE_TIMEOUT(9, seconds=40.0)),
            (ActionKind.MIGRATE, "migrating", changes.MOVE_TIMEOUT(seconds=40.0)),
        ):
            self.stuck(kind, task)
            self.at(140.0)
            self.gang = servers(self.one, task="deleting")
            self.assertIsNone(self.at(199.0).state)
            step = self.at(200.0)
            self.assertIs(ActionState.FAILED, step.state)
            self.assertEqual(EndPlan(JobState.QUEUED, told, 200.0, preempted=True), step.end)
            self.assertEqual(JobState.PREEMPTING, self.one.state)

    def test_a_migration_is_forced_then_given_up(self):
        self.stuck(ActionKind.MIGRATE, "migrating")
        self.at(119.0)
        self.assertEqual([], self.calls)
        self.at(120.0)
        self.assertEqual([("force_migration", self.gang[0])], self.calls)
        self.answer(self.record, f"force {self.gang[0].id}")
        self.at(139.0)
        self.assertEqual([], self.calls)
        self.at(140.0)
        self.assertEqual([server.id for server in self.gang], self.deleted)
        [note] = self.finish(self.record, self.one, seen(), 150.0, preemption_timeout=self.PATIENCE)
        told = "begins anew: it could not be migrated within 40 s"
        self.assertEqual(("killed", told), (note.kind, str(note.reason)))
        self.assertEqual((JobState.QUEUED, None), (self.one.state, self.one.tier))
        self.assertEqual(150.0, self.one.discarded_at)


class TestSwap(LimitCase):
    def record(self, one):
        change = TierChange(one.number, one.uuid, 2, FG, ())
        return action(ActionKind.SWAP, plan=SwapPlan((change,)), begun_at=100.0)

    def test_who_was_overtaken_tries_again(self):
        """So does who got another error; but not for ever."""
        for error in (StaleGeneration("409"), PlacementError("500")):
            one = job(tier=BG)
            record = self.record(one)
            with mock.patch.object(claims, "swap", side_effect=error):
                look = seen(servers(one))
                self.assertRaises(type(error), self.step, record, one, look, 159.0)
                self.assertIs(ActionState.FAILED, self.step(record, one, look, 160.0).state)
            self.assertEqual(162.0, one.not_before)


class TestStart(LimitCase):
    def record(self, one, **begun):
        plan = StartPlan(FG, "immediate")
        return action(ActionKind.START, one, plan, begun_at=100.0, **begun)

    def test_a_server_that_does_not_come_up(self):
        one = job(state=JobState.STARTING)
        up, stuck = servers(one)[0], servers(one, "BUILD", "networking")[1]
        record = self.record(one, attempts={"boot": 1})
        self.assertEqual([], self.step(record, one, seen([up, stuck]), 159.0).requests)
        self.step(record, one, seen([up, stuck]), 160.0)
        self.assertEqual([("delete", up), ("delete", stuck)], self.calls)
        self.assertIs(ActionState.FAILED, self.step(record, one, seen(), 161.0).state)
        told = f"did not start: not over after 60 s: server {stuck.id} is BUILD (networking)"
        self.assertEqual((JobState.QUEUED, 1, told), (one.state, one.failures, str(one.reason)))

    def test_its_owner_sees_why_while_it_is_undone(self):
        one = job(state=JobState.STARTING)
        self.step(
            self.record(one, attempts={"boot": 1}), one, seen(servers(one, task="spawning")), 160.0
        )
        self.assertIn("did not start: not over after 60 s", str(one.reason))

    def test_deletes_are_repeated(self):
        """Once in that time, however long Nova is at it."""
        one = job(state=JobState.STARTING)
        gang = servers(one, task="deleting")
        deleted = {f"delete {server.id}": 1 for server in gang}
        record = self.record(one, undoing=FAILS, attempts=deleted)
        deletes = []
        for now in (150.0, 160.0, 161.0, 219.0, 220.0):
            deletes.append(len(self.step(record, one, seen(gang), now).requests))
            for call in self.calls:
                self.answer(record, f"delete {call[1].id}")
        self.assertEqual([0, 2, 0, 0, 2], deletes)

    def test_a_restore_that_cannot_be_undone(self):
        """What is up stays, and the job waits for the next attempt with that."""
        one = job(state=JobState.RESTORING, saved=True)
        up, stuck = servers(one)[0], servers(one, "SHELVED_OFFLOADED", "unshelving")[1]
        record = self.record(one, undoing=FAILS)
        self.step(record, one, seen([up, stuck]), 219.0)
        self.assertEqual([("shelve", up)], self.calls)
        step = self.step(record, one, seen([up, stuck]), 220.0)
        self.assertIs(ActionState.FAILED, step.state)
        self.assertEqual((JobState.QUEUED, True), (one.state, one.saved))

    def test_a_request_to_save_it_again_that_was_lost_is_looked_for(self):
        one = job(state=JobState.RESTORING, saved=True)
        away, hangs = (
            servers(one, "SHELVED_OFFLOADED", hosts=(None,))[0],
            servers(one, task="shelving")[1],
        )
        record = self.record(one, undoing=FAILS)
        for now, asked in ((159.0, []), (160.0, [("reset_if_lost", hangs)])):
            self.step(record, one, seen([away, hangs]), now)
            self.assertEqual(asked, self.calls)


class TestCrowded(LimitCase):
    """Nova found no hosts: because somebody else was faster, or for another reason."""

    FAULT = "No valid host was found. There are not enough hosts available."

    def start(self, **look):
        one = job(state=JobState.STARTING, tier=FG)
        failed = [
            dataclasses.replace(server, fault=self.FAULT)
            for server in servers(one, "ERROR", hosts=(None,))
        ]
        plan = StartPlan(FG, "immediate")
        record = action(ActionKind.START, one, plan, begun_at=100.0, attempts={"boot": 1})
        look = {"where": hosts("ab", slots=1), **look}
        self.step(record, one, seen(failed, **look), 101.0)
        self.assertIs(ActionState.FAILED, self.step(record, one, seen(**look), 102.0).state)
        return one

    def test_by_strangers(self):
        one = self.start(unmanaged=[unmanaged_claim("b")])
        self.assertEqual((0, 1, 104.0), (one.failures, one.setbacks, one.not_before))
        self.assertEqual(failures.SLOTS_TAKEN(effect=Effect.NOT_STARTED), one.reason)

    def test_by_nobody(self):
        one = self.start(unmanaged=[unmanaged_claim("b", BG)])
        self.assertEqual((1, 0), (one.failures, one.setbacks))
        self.assertIn("No valid host was found", str(one.reason))


class TestLeftBehind(LimitCase):
    """Nova has deleted a server, or taken it off its host, and not its claim."""

    def assert_vacated(self, record, one, look, vms, **known):
        for now in (100.0, 100.0 + LEFT_BEHIND - 1):
            self.assertIsNone(self.advance(record, one, look, now, **known).state)
        self.vacated.assert_not_called()
        self.assertIsNone(self.advance(record, one, look, 100.0 + LEFT_BEHIND, **known).state)
        self.vacated.assert_called_once_with(self.placement, look.hosts, vms, map)

    def test_deleted(self):
        one = job(state=JobState.PREEMPTING)
        gone = unmanaged_claim()
        plan = EvictPlan(BY_NINE, Preemption.REQUEUE)
        record = action(ActionKind.EVICT, one, plan, attempts={f"delete {gone.vm}": 1})
        self.assert_vacated(record, one, seen(unmanaged=[gone, unmanaged_claim()]), [gone.vm])

    def test_deleted_by_somebody_else(self):
        """It was recorded as a server of the job."""
        one, left = job(state=JobState.ENDING), unmanaged_claim()
        record = action(
            ActionKind.END,
            one,
            EndPlan(JobState.CANCELLED, failures.REQUESTED(action="cancel"), 100.0),
        )
        look = seen(unmanaged=[left, unmanaged_claim()])
        recorded = {one.number: [left.vm]}
        self.assert_vacated(record, one, look, [left.vm], servers_of=recorded.__getitem__)

    def test_offloaded(self):
        one = job(state=JobState.PREEMPTING)
        gang = servers(one, "SHELVED_OFFLOADED", hosts=(None,))
        left = dataclasses.replace(unmanaged_claim(), vm=gang[0].id)
        saved = {f"save {server.id}": 1 for server in gang}
        record = action(ActionKind.EVICT, one, EvictPlan(BY_NINE), attempts=saved)
        self.assert_vacated(record, one, seen(gang, unmanaged=[left]), [left.vm])
