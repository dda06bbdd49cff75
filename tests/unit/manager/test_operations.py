"""One look at an action: what it requests next, and when it is over. No cloud is asked."""

from unittest import mock

import testtools

from nova_twotier.manager.db.models import ActionKind, ActionState, JobState
from nova_twotier.manager.operations import OPERATIONS
from nova_twotier.manager.operations.operation import Environment
from tests.unit.manager.builders import BG, FG, action, job, seen, servers


class OperationCase(testtools.TestCase):
    """`calls` are the requests to Nova that a step asked for, in order."""

    def setUp(self):
        super().setUp()
        self.cloud = mock.Mock()
        self.placement = mock.Mock()
        self.placement.get.return_value = {"allocations": {}}

    def advance(self, record, one, look, now=100.0):
        env = Environment(
            cloud=self.cloud,
            placement=self.placement,
            attempts=3,
            boot_grace=10.0,
            close=mock.Mock(),
            threshold=0.96,
            now=now,
        )
        step = OPERATIONS[record.kind].advance(record, {one.number: one}, look, env)
        for call in step.calls:
            call.run()
        return step

    @property
    def calls(self):
        return [(call[0], *call[1]) for call in self.cloud.method_calls]


class TestEvict(OperationCase):
    def test_shelves_what_is_neither_shelved_nor_busy(self):
        one = job(size=3, state=JobState.PREEMPTING)
        up, busy, away = (
            servers(one)[0],
            servers(one, task="shelving")[1],
            servers(one, "SHELVED_OFFLOADED", hosts=(None,))[2],
        )
        step = self.advance(action(ActionKind.EVICT, one, {"by": "x"}), one, seen([up, busy, away]))
        self.assertEqual([("shelve", up.id)], self.calls)
        self.assertIsNone(step.state)

    def test_a_job_that_has_just_ended_is_left_alone(self):
        one = job(state=JobState.PREEMPTING)
        record = action(ActionKind.EVICT, one, {"by": "x"})
        step = self.advance(record, one, seen(servers(one, "SHUTOFF")))
        self.assertEqual((ActionState.FAILED, []), (step.state, self.calls))

    def test_over_when_all_are_offloaded(self):
        one = job(state=JobState.PREEMPTING)
        gang = servers(one, "SHELVED_OFFLOADED", hosts=(None,))
        step = self.advance(action(ActionKind.EVICT, one, {"by": "x"}), one, seen(gang))
        self.assertIs(ActionState.DONE, step.state)

    def test_gives_up_after_as_many_attempts_as_allowed(self):
        one = job(state=JobState.PREEMPTING)
        gang = servers(one)
        record = action(ActionKind.EVICT, one, {"by": "x"}, **{gang[0].id: 3})
        step = self.advance(record, one, seen(gang))
        self.assertIs(ActionState.FAILED, step.state)
        self.assertIn("does not shelve, it is ACTIVE", step.reason)


class TestMigrate(OperationCase):
    def record(self, one, **begun):
        return action(ActionKind.MIGRATE, one, {"targets": {"1": "b"}}, **begun)

    def test_first_to_the_host_of_the_plan(self):
        one = job(tier=FG)
        gang = servers(one)
        look = seen([gang[0]], [gang[1]], tiers=[FG, BG])
        look = self.joined(look, gang)
        self.advance(self.record(one), one, look)
        self.assertEqual([("live_migrate", gang[1].id, "b")], self.calls)

    def test_then_anywhere(self):
        one = job(tier=FG)
        gang = servers(one)
        look = self.joined(seen([gang[0]], [gang[1]], tiers=[FG, BG]), gang)
        self.advance(self.record(one, **{gang[1].id: 1}), one, look)
        self.assertEqual([("live_migrate", gang[1].id, None)], self.calls)

    def test_over_when_it_holds_a_slot_of_the_tier(self):
        one = job(tier=FG)
        step = self.advance(self.record(one), one, seen(servers(one, hosts=("a", "b"))))
        self.assertIs(ActionState.DONE, step.state)
        self.assertEqual([], self.calls)

    @staticmethod
    def joined(look, gang):
        look.servers[gang[0].job] = gang
        return look


class TestStart(OperationCase):
    def record(self, one, **begun):
        return action(ActionKind.START, one, {"tier": "fg", "how": "immediate"}, **begun)

    def test_admits_then_boots_the_whole_gang_at_once(self):
        one = job(size=3, state=JobState.STARTING)
        self.advance(self.record(one), one, seen())
        self.assertEqual([("boot", one.uuid, f"tt-{one.number}", 3)], self.calls)
        [(url, body)] = [call[1] for call in self.placement.method_calls if call[0] == "post"]
        self.assertEqual("/allocations", url)
        self.assertEqual([one.uuid], list(body))

    def test_waits_for_a_request_whose_answer_it_may_not_have_seen(self):
        one = job(state=JobState.STARTING)
        begun = {"boot": 1, "at": 95.0}
        self.advance(self.record(one, **begun), one, seen(), now=104.0)
        self.assertEqual([], self.calls)
        self.advance(self.record(one, **begun), one, seen(), now=106.0)
        self.assertEqual([("boot", one.uuid, f"tt-{one.number}", 2)], self.calls)

    def test_a_server_in_error_takes_the_gang_down(self):
        one = job(state=JobState.STARTING)
        gang = [servers(one)[0], servers(one, "ERROR", hosts=(None,))[1]]
        record = self.record(one, boot=1, at=95.0)
        self.advance(record, one, seen(gang))
        self.assertEqual([("delete", server.id) for server in gang], self.calls)
        self.assertIn("is in ERROR", record.begun["undoing"])
        step = self.advance(record, one, seen())
        self.assertIs(ActionState.FAILED, step.state)

    def test_restores_only_what_is_away(self):
        one = job(state=JobState.RESTORING, saved=True)
        gang = [servers(one)[0], servers(one, "SHELVED_OFFLOADED", hosts=(None,))[1]]
        self.advance(self.record(one), one, seen(gang))
        self.assertEqual([("unshelve", gang[1].id)], self.calls)

    def test_all_or_none_is_restored(self):
        one = job(state=JobState.RESTORING, saved=True)
        gang = [servers(one)[0], servers(one, "SHELVED_OFFLOADED", hosts=(None,))[1]]
        record = self.record(one, **{gang[1].id: 3})
        self.advance(record, one, seen(gang))
        self.assertEqual([("shelve", gang[0].id)], self.calls)
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
        self.assertEqual([("delete", server.id) for server in gang], self.calls)


class TestEnd(OperationCase):
    def test_deletes_until_nothing_is_left(self):
        one = job(state=JobState.ENDING)
        gang = [servers(one)[0], servers(one, task="deleting")[1]]
        record = action(ActionKind.END, one, {"then": "finished"})
        self.assertIsNone(self.advance(record, one, seen(gang)).state)
        self.assertEqual([("delete", gang[0].id)], self.calls)
        self.assertIs(ActionState.DONE, self.advance(record, one, seen()).state)
        self.assertIn(("delete_server_group", one.uuid), self.calls)
