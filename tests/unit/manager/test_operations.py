"""One poll at an action: what it requests next, and when it is over. No cloud is asked."""

import dataclasses
from unittest import mock

import fixtures

from nova_twotier.cloud.errors import CloudError, Unsent
from nova_twotier.core.reasons import waits
from nova_twotier.db.plans import EvictPlan, MigratePlan, StartPlan, SwapPlan, TierChange
from nova_twotier.db.states import ActionKind, ActionState, JobState
from nova_twotier.ledger import claims
from nova_twotier.ledger.placement import Conflict
from nova_twotier.manager import endings
from tests.unit.manager.builders import (
    BG,
    BY_NINE,
    FG,
    action,
    job,
    seen,
    servers,
    unmanaged_claim,
)
from tests.unit.manager.operation_case import OperationCase


class TestSwap(OperationCase):
    def test_a_conflict_is_told_without_what_is_of_others(self):
        secret = "VM 1b2c of host compute7"
        one = job(tier=BG)
        change = TierChange(one.number, one.uuid, 2, FG, ())
        record = action(ActionKind.SWAP, plan=SwapPlan((change,)))
        logged = self.useFixture(fixtures.FakeLogger())
        with mock.patch.object(claims, "swap", side_effect=Conflict(secret)):
            step = self.advance(record, one, seen(servers(one)))
        self.assertIs(ActionState.FAILED, step.state)
        self.assert_only_operators_read(secret, record, one)
        self.assertIn("taken meanwhile", str(self.notes[0].reason))
        self.assertIn(secret, logged.output)


class TestFaults(OperationCase):
    """Nova's texts name hosts: operators read them, owners that a server is in ERROR."""

    FAULT = "Build failed on compute7"

    def gang(self, one):
        up, other = servers(one)
        return [up, dataclasses.replace(other, status="ERROR", fault=self.FAULT)]

    def test_of_what_is_evicted_or_migrated(self):
        for kind in (ActionKind.EVICT, ActionKind.MIGRATE):
            one = job()
            record = action(kind, one)
            self.advance(record, one, seen(self.gang(one)))
            self.assert_only_operators_read(self.FAULT, record, one)
            self.assertIn("is in ERROR", str(self.notes[0].reason))

    def test_of_what_is_started(self):
        one = job(state=JobState.STARTING)
        record = action(
            ActionKind.START, one, StartPlan(FG, "immediate"), attempts={"boot": 1}, booted_at=95.0
        )
        self.advance(record, one, seen(self.gang(one)))
        self.advance(record, one, seen())
        self.assert_only_operators_read(self.FAULT, record, one)
        self.assertIn("is in ERROR", str(one.reason))

    def test_of_what_runs(self):
        one = job()
        end = endings.endings(one, seen(self.gang(one)), 3, {})
        self.assertNotIn(self.FAULT, end.plan.reason)
        self.advance(end, one, seen(self.gang(one)))
        self.assertIn(self.FAULT, end.reason)


class TestEvict(OperationCase):
    def test_shelves_what_is_neither_shelved_nor_busy(self):
        one = job(size=3, state=JobState.PREEMPTING)
        up, busy, away = (
            servers(one)[0],
            servers(one, task="shelving")[1],
            servers(one, "SHELVED_OFFLOADED", hosts=(None,))[2],
        )
        step = self.advance(
            action(ActionKind.EVICT, one, EvictPlan(BY_NINE)), one, seen([up, busy, away])
        )
        self.assertEqual([("shelve", up)], self.calls)
        self.assertIsNone(step.state)

    def test_a_job_that_has_just_ended_is_left_alone(self):
        one = job(state=JobState.PREEMPTING)
        record = action(ActionKind.EVICT, one, EvictPlan(BY_NINE))
        step = self.advance(record, one, seen(servers(one, "SHUTOFF")))
        self.assertEqual((ActionState.FAILED, []), (step.state, self.calls))

    def test_over_when_all_are_offloaded(self):
        one = job(state=JobState.PREEMPTING)
        gang = servers(one, "SHELVED_OFFLOADED", hosts=(None,))
        step = self.advance(action(ActionKind.EVICT, one, EvictPlan(BY_NINE)), one, seen(gang))
        self.assertIs(ActionState.DONE, step.state)

    def test_gives_up_after_as_many_attempts_as_allowed(self):
        one = job(state=JobState.PREEMPTING)
        gang = servers(one)
        record = action(
            ActionKind.EVICT, one, EvictPlan(BY_NINE), attempts={f"save {gang[0].id}": 3}
        )
        step = self.advance(record, one, seen(gang))
        self.assertIs(ActionState.FAILED, step.state)
        self.assertIn("does not shelve, it is ACTIVE", record.reason)


class TestMigrate(OperationCase):
    def record(self, one, **begun):
        return action(ActionKind.MIGRATE, one, MigratePlan({1: "b"}, {1: "a"}), **begun)

    def test_first_to_the_host_of_the_plan(self):
        one = job(tier=FG)
        gang = servers(one)
        look = seen([gang[0]], [gang[1]], tiers=[FG, BG])
        look = self.joined(look, gang)
        self.advance(self.record(one), one, look)
        self.assertEqual([("live_migrate", gang[1], "b")], self.calls)

    def test_then_anywhere(self):
        one = job(tier=FG)
        gang = servers(one)
        look = self.joined(seen([gang[0]], [gang[1]], tiers=[FG, BG]), gang)
        self.advance(self.record(one, attempts={f"migrate {gang[1].id}": 1}), one, look)
        self.assertEqual([("live_migrate", gang[1], None)], self.calls)

    def test_over_when_it_holds_a_slot_of_the_tier(self):
        one = job(tier=FG)
        step = self.advance(self.record(one), one, seen(servers(one, hosts=("a", "b"))))
        self.assertIs(ActionState.DONE, step.state)
        self.assertEqual([], self.calls)

    def test_not_over_before_nova_has_freed_what_it_left(self):
        """But others on that host are not waited for, nor for long."""
        one = job(tier=FG)
        left = unmanaged_claim("a")
        look = seen(servers(one, hosts=("a", "b")), unmanaged=[left])
        record = self.record(one)
        self.cloud.unmanaged.return_value = None
        self.assertIsNone(self.advance(record, one, look, now=100.0).state)
        self.assertIsNone(self.advance(record, one, look, now=109.0).state)
        self.assertIs(ActionState.DONE, self.advance(record, one, look, now=110.0).state)
        self.cloud.unmanaged.return_value = mock.sentinel.a_vm_without_a_job
        self.assertIs(ActionState.DONE, self.advance(self.record(one), one, look).state)
        self.cloud.unmanaged.return_value = None
        elsewhere = seen(servers(one, hosts=("a", "b")), unmanaged=[unmanaged_claim("b")])
        self.assertIs(ActionState.DONE, self.advance(self.record(one), one, elsewhere).state)

    @staticmethod
    def joined(look, gang):
        look.servers[gang[0].job] = gang
        return look


class TestStart(OperationCase):
    def record(self, one, **begun):
        return action(ActionKind.START, one, StartPlan(FG, "immediate"), **begun)

    def test_admits_then_boots_the_whole_gang_at_once(self):
        one = job(size=3, state=JobState.STARTING)
        self.advance(self.record(one), one, seen())
        self.assertEqual([("boot", one, "dXNlcg==")], self.calls)
        [(url, body)] = [call[1] for call in self.placement.method_calls if call[0] == "post"]
        self.assertEqual("/allocations", url)
        self.assertEqual([one.uuid], list(body))

    def test_no_other_request_may_boot_it(self):
        """Neither of another project nor of its owner: its entry says which one may."""
        one = job(state=JobState.STARTING, project_id="demo")
        self.cloud.boot_request = "req-of-the-manager"
        self.advance(self.record(one), one, seen())
        [body] = [call[1][1] for call in self.placement.method_calls if call[0] == "post"]
        entry = body[one.uuid]
        self.assertEqual(("demo", "req-of-the-manager"), (entry["project_id"], entry["user_id"]))

    def test_only_the_first_boot_of_a_job_is_told_that_it_is(self):
        """An earlier one may have made its server group, whoever asked for it and whatever came of
        it."""

        def first(begun=None, **values):
            one = job(state=JobState.STARTING, **values)
            self.cloud.reset_mock()
            self.advance(self.record(one, **(begun or {})), one, seen())
            return self.cloud.boot.call_args.kwargs.get("first", False)

        self.assertTrue(first())
        for begun in ({"attempts": {"boot": 0}}, {"attempts": {"boot": 1}}):
            self.assertFalse(first(begun), begun)
        for name in ("runs", "failures", "setbacks", "requeues"):
            self.assertFalse(first(**{name: 1}), name)
        for name in ("started_at", "discarded_at"):
            self.assertFalse(first(**{name: 50.0}), name)

    def test_a_job_that_begins_anew_has_been_booted_before(self):
        """Also one that never ran, and was asked to begin anew while its start failed."""
        one = job(state=JobState.STARTING, failures=2)
        one.begin_anew(99.0)
        self.advance(self.record(one), one, seen())
        self.assertNotIn("first", self.cloud.boot.call_args.kwargs)

    def test_waits_for_a_request_whose_answer_it_may_not_have_seen(self):
        one = job(state=JobState.STARTING)
        begun = {"attempts": {"boot": 1}, "booted_at": 95.0}
        self.advance(self.record(one, **begun), one, seen(), now=104.0)
        self.assertEqual([], self.calls)
        self.advance(self.record(one, **begun), one, seen(), now=106.0)
        self.assertEqual([("boot", one, "dXNlcg==")], self.calls)

    def test_what_an_earlier_start_has_booted_late_is_deleted_and_no_failure(self):
        one = job(state=JobState.STARTING, failures=1)
        whole = servers(one, "ERROR", hosts=(None,))
        for late in (whole, whole[:1], servers(one, "BUILD", "scheduling", hosts=(None,), count=1)):
            self.cloud.reset_mock()
            record = self.record(one)
            self.advance(record, one, seen(late))
            self.assertEqual([("delete", server) for server in late], self.calls)
            going = [dataclasses.replace(server, task="deleting") for server in late]
            self.advance(record, one, seen(going))
            self.assertEqual(len(late), len(self.calls))
            self.advance(record, one, seen())
            self.assertEqual(("boot", one, "dXNlcg=="), self.calls[-1])
            self.assertIsNone(record.progress.undoing)

    def test_what_an_earlier_start_has_booted_late_into_the_other_tier_is_no_failure(self):
        one = job(state=JobState.STARTING, failures=1)
        record, late = self.record(one), servers(one)
        self.advance(record, one, seen(late, tiers=[BG]))
        self.assertEqual([("delete", server) for server in late], self.calls)
        self.advance(record, one, seen())
        self.assertEqual(("boot", one, "dXNlcg=="), self.calls[-1])
        self.assertIsNone(record.progress.undoing)
        # What is where it is to be is used.
        self.assertIs(ActionState.DONE, self.advance(self.record(one), one, seen(late)).state)

    def test_waits_as_long_as_there_are_more_of_them(self):
        """Nova makes the servers of a large job one by one, for longer than a client waits."""
        one = job(size=4, state=JobState.STARTING)
        record = self.record(one, attempts={"boot": 0}, booted_at=95.0)
        gang = servers(one, "BUILD", "scheduling", hosts=(None,))
        for count, now in ((1, 104.0), (1, 113.0), (3, 113.5), (3, 123.0)):
            self.advance(record, one, seen(gang[:count]), now=now)
            self.assertIsNone(record.progress.undoing, now)
        self.advance(record, one, seen(gang[:3]), now=124.0)
        self.assertEqual("Nova made 3 of 4 servers", str(record.progress.undoing))
        self.assertEqual([("delete", server) for server in gang[:3]], self.calls)

    def test_a_quota_that_others_used_up_meanwhile(self):
        """Nova counts again when the servers have their hosts: that is no fault of the job."""
        one = job(state=JobState.STARTING)
        fault = "Quota exceeded for instances: Requested 2, but already used 3 of 3 instances"
        gang = [
            dataclasses.replace(each, fault=fault) for each in servers(one, "ERROR", hosts=(None,))
        ]
        record = self.record(one, attempts={"boot": 1}, booted_at=95.0)
        self.advance(record, one, seen(gang))
        self.assertEqual([("delete", server) for server in gang], self.calls)
        step = self.advance(record, one, seen())
        self.assertEqual((ActionState.FAILED, True), (step.state, step.alone))
        self.assertEqual(waits.QUOTA(resources="instances"), one.reason)
        self.assertEqual((JobState.QUEUED, 0, 1), (one.state, one.failures, one.setbacks))

    def test_does_not_wait_for_a_request_that_was_not_taken(self):
        one = job(state=JobState.STARTING)
        for error, asked in (
            (CloudError("slow down", 429), True),
            (Unsent("Keystone does not answer"), True),
            (CloudError("?", 504), False),
        ):
            self.cloud.reset_mock()
            record = self.record(one, attempts={"boot": 0}, booted_at=95.0)
            self.answer(record, "boot", error)
            self.advance(record, one, seen(), now=104.0)
            self.assertEqual(asked, bool(self.calls), error)

    def test_a_server_in_error_takes_the_gang_down(self):
        one = job(state=JobState.STARTING)
        gang = [servers(one)[0], servers(one, "ERROR", hosts=(None,))[1]]
        record = self.record(one, attempts={"boot": 1}, booted_at=95.0)
        self.advance(record, one, seen(gang))
        self.assertEqual([("delete", server) for server in gang], self.calls)
        self.assertIn("is in ERROR", str(record.progress.undoing))
        step = self.advance(record, one, seen())
        self.assertIs(ActionState.FAILED, step.state)

    def test_its_owner_need_not_wait_for_nova(self):
        one = job(state=JobState.STARTING)
        gang = servers(one, "BUILD", "scheduling", hosts=(None,))
        self.assertIsNone(
            self.advance(self.record(one, attempts={"boot": 1}), one, seen(gang)).state
        )
        one.requested_action = "cancel"
        self.advance(self.record(one, attempts={"boot": 1}), one, seen(gang))
        self.assertEqual([("delete", server) for server in gang], self.calls)

    def test_restores_only_what_is_away(self):
        one = job(state=JobState.RESTORING, saved=True)
        gang = [servers(one)[0], servers(one, "SHELVED_OFFLOADED", hosts=(None,))[1]]
        self.advance(self.record(one), one, seen(gang))
        self.assertEqual([("unshelve", gang[1])], self.calls)

    def test_all_or_none_is_restored(self):
        one = job(state=JobState.RESTORING, saved=True)
        gang = [servers(one)[0], servers(one, "SHELVED_OFFLOADED", hosts=(None,))[1]]
        record = self.record(one, attempts={f"restore {gang[1].id}": 3})
        self.advance(record, one, seen(gang))
        self.assertEqual([("shelve", gang[0])], self.calls)
        step = self.advance(record, one, seen(servers(one, "SHELVED_OFFLOADED", hosts=(None,))))
        self.assertIs(ActionState.FAILED, step.state)
        self.assertTrue(one.saved)

    def test_over_when_all_are_up_in_the_tier(self):
        one = job(state=JobState.STARTING)
        gang = servers(one)
        self.assertIs(ActionState.DONE, self.advance(self.record(one), one, seen(gang)).state)

    def test_a_gang_in_the_wrong_tier_is_taken_back(self):
        one = job(state=JobState.STARTING)
        gang = servers(one)
        self.advance(self.record(one), one, seen(gang, tiers=[BG]))
        self.assertEqual([("delete", server) for server in gang], self.calls)
