"""The ways of preemption: shelved with a notice, suspended in place, begun anew; and back again."""

import dataclasses
from unittest import mock

from novaclient import exceptions as nova_exc

from nova_twotier.cloud.boot_errors import boot_refused
from nova_twotier.cloud.errors import CloudError, NotYet, UnfitFlavor
from nova_twotier.core.reasons import Effect, failures, waits
from nova_twotier.db.plans import EvictPlan, StartPlan
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import ActionKind, ActionState, JobState, Preemption
from nova_twotier.ledger import claims
from nova_twotier.ledger.placement import Conflict, StaleGeneration
from tests.unit.manager.builders import BG, BY_NINE, FAILS, FG, action, job, seen, servers
from tests.unit.manager.operation_case import OperationCase


def eviction(one, mode="shelve", begun_at=100.0, **begun):
    plan = EvictPlan(BY_NINE, Preemption(mode))
    return action(ActionKind.EVICT, one, plan, begun_at=begun_at, **begun)


def start(one, **begun):
    return action(ActionKind.START, one, StartPlan(FG, "immediate"), **begun)


class TestShelve(OperationCase):
    def setUp(self):
        super().setUp()
        self.one = job(state=JobState.PREEMPTING, run_before=5.0, run_since=90.0)
        self.gang = servers(self.one)

    def step(self, record, look, now):
        return self.advance(record, self.one, look, now, preemption_grace=30.0)

    def test_the_guests_are_told_first(self):
        record = eviction(self.one)
        self.step(record, seen(self.gang), 100.0)
        text = "preempted at 1970-01-01T00:02:10+00:00"
        self.assertEqual([("notice", server, text) for server in self.gang], self.calls)
        for server in self.gang:
            self.answer(record, f"notice {server.id}")
        self.cloud.reset_mock()
        self.step(record, seen(self.gang), 129.0)
        self.assertEqual([], self.calls)
        self.step(record, seen(self.gang), 130.0)
        self.assertEqual([("shelve", server) for server in self.gang], self.calls)

    def test_who_has_saved_is_shelved_at_once(self):
        """When the guests of all its servers have said so on their consoles."""
        self.one.checkpoint, self.one.report_token = True, "t0ken"
        record = eviction(self.one, attempts={f"notice {each.id}": 1 for each in self.gang})
        report = "twotier-saved t0ken 1970-01-01T00:02:10+00:00"
        first, second = self.gang
        self.step(record, seen(self.gang), 101.0)
        self.assertEqual([("require_report", each, report) for each in self.gang], self.calls)
        self.answer(record, f"report {first.id}")
        self.answer(record, f"report {second.id}", NotYet("it has not"))
        self.cloud.reset_mock()
        self.step(record, seen(self.gang), 103.0)
        self.assertEqual([("require_report", second, report)], self.calls)
        self.answer(record, f"report {second.id}")
        self.cloud.reset_mock()
        self.step(record, seen(self.gang), 105.0)
        self.assertEqual([("shelve", server) for server in self.gang], self.calls)

    def test_a_console_that_cannot_be_read_says_nothing(self):
        self.one.checkpoint, self.one.report_token = True, "t0ken"
        record = eviction(self.one, attempts={f"notice {each.id}": 1 for each in self.gang})
        for server in self.gang:
            self.answer(record, f"report {server.id}", CloudError("no console", 404))
        self.step(record, seen(self.gang), 129.0)
        self.assertEqual([], self.calls)
        self.step(record, seen(self.gang), 130.0)
        self.assertEqual([("shelve", server) for server in self.gang], self.calls)

    def test_what_cannot_be_told_does_not_hold_it_up(self):
        record = eviction(self.one)
        self.step(record, seen(self.gang), 100.0)
        for server in self.gang:
            self.answer(record, f"notice {server.id}", CloudError("no", 403))
        self.cloud.reset_mock()
        self.step(record, seen(self.gang), 131.0)
        self.assertEqual([("shelve", server) for server in self.gang], self.calls)

    def test_guests_that_know_their_peers_forget_them_first(self):
        """In one request with the notice if there is one, and once: it holds nothing up."""
        self.one.peers = True
        changes = {"twotier_env": mock.ANY, "twotier_peers": ""}
        record = eviction(self.one)
        self.advance(record, self.one, seen(self.gang), 100.0)
        told = [("set_metadata", server, changes) for server in self.gang]
        self.assertEqual(told, self.calls)
        self.cloud.reset_mock()
        for server in self.gang:
            self.answer(record, f"forget {server.id}", CloudError("no", 503))
        self.advance(record, self.one, seen(self.gang), 101.0)
        shelved = [("shelve", server) for server in self.gang]
        self.assertEqual(shelved, self.calls)

        self.cloud.reset_mock()
        record = eviction(self.one)
        self.step(record, seen(self.gang), 100.0)
        changes["twotier_notice"] = "preempted at 1970-01-01T00:02:10+00:00"
        told = [("set_metadata", server, changes) for server in self.gang]
        self.assertEqual(told, self.calls)
        self.cloud.reset_mock()
        self.step(record, seen(self.gang), 130.0)
        self.assertEqual(shelved, self.calls)

    def test_guests_that_end_while_they_are_told_have_ended(self):
        self.one.peers = True
        record = eviction(self.one, attempts={f"forget {self.gang[0].id}": 1})
        step = self.advance(record, self.one, seen(servers(self.one, "SHUTOFF")), 101.0)
        self.assertIs(ActionState.FAILED, step.state)

    def test_who_ends_in_the_time_of_grace_has_ended(self):
        record = eviction(self.one, attempts={f"notice {self.gang[0].id}": 1})
        step = self.step(record, seen(servers(self.one, "SHUTOFF")), 110.0)
        self.assertIs(ActionState.FAILED, step.state)
        self.assertEqual(JobState.RUNNING, self.one.state)

    def test_who_goes_off_when_it_is_shelved_has_not(self):
        """Whether Nova took the request is not known."""
        record = eviction(self.one, attempts={f"save {server.id}": 0 for server in self.gang})
        step = self.step(record, seen(servers(self.one, "SHUTOFF")), 140.0)
        self.assertIsNone(step.state)

    def test_the_run_ends_when_it_is_preempted(self):
        gang = servers(self.one, "SHELVED_OFFLOADED", hosts=(None,))
        self.finish(eviction(self.one), self.one, seen(gang), 200.0, preemption_grace=30.0)
        self.assertEqual((15.0, None), (self.one.run_before, self.one.run_since))
        self.assertEqual((True, 1), (self.one.saved, self.one.evictions))

    def test_who_is_shelved_in_part_does_not_run(self):
        """Its walltime does not run on until it is shelved as a whole, or goes on."""
        up = self.gang[0]
        away = servers(self.one, "SHELVED_OFFLOADED", hosts=(None,))[1]
        refused = {f"save {up.id}": 3}
        for begun_at, now in ((100.0, 180.0), (182.0, 260.0)):
            record = eviction(self.one, begun_at=begun_at, attempts=refused)
            step = self.advance(record, self.one, seen([up, away]), now)
            self.assertIs(ActionState.FAILED, step.state)
            self.assertEqual(15.0, self.one.ran(now))
        self.assertEqual((260.0, 264.0), (now, self.one.not_before))
        self.assertEqual(JobState.RUNNING, self.one.state)
        self.assertEqual((15.0, 17.0), (self.one.ran(264.0), self.one.ran(266.0)))

    def test_who_is_not_shelved_at_all_runs_on(self):
        record = eviction(self.one, attempts={f"save {server.id}": 3 for server in self.gang})
        self.advance(record, self.one, seen(self.gang), 180.0)
        self.assertEqual((JobState.RUNNING, 95.0), (self.one.state, self.one.ran(180.0)))


class TestRequeue(OperationCase):
    def setUp(self):
        super().setUp()
        self.one = job(state=JobState.PREEMPTING, run_before=5.0, run_since=90.0, warned_at=91.0)
        self.record = eviction(self.one, "requeue")

    def test_its_servers_are_deleted(self):
        gang = servers(self.one)
        step = self.advance(self.record, self.one, seen(gang))
        self.assertEqual([("delete", server) for server in gang], self.calls)
        self.assertIsNone(step.state)

    def test_it_begins_anew(self):
        [note] = self.finish(self.record, self.one, seen())
        self.assertEqual(
            ("killed", "preempted by job 9, begins anew"), (note.kind, str(note.reason))
        )
        self.assertEqual(100.0, self.one.discarded_at)
        self.assertEqual((JobState.QUEUED, None), (self.one.state, self.one.tier))
        self.assertEqual(
            (False, 0.0, None), (self.one.saved, self.one.ran(200.0), self.one.warned_at)
        )
        self.assertEqual((1, 0), (self.one.evictions, self.one.requeues))

    def test_who_has_just_ended_is_not_killed(self):
        step = self.advance(self.record, self.one, seen(servers(self.one, "SHUTOFF")))
        self.assertEqual((ActionState.FAILED, []), (step.state, self.calls))


class TestSuspend(OperationCase):
    def setUp(self):
        super().setUp()
        self.one = job(state=JobState.PREEMPTING)
        self.record = eviction(self.one, "suspend")
        self.vacated = self.patched("vacate")

    def patched(self, name):
        patch = mock.patch.object(claims, name)
        self.addCleanup(patch.stop)
        return patch.start()

    def test_what_runs_is_suspended(self):
        on, off = servers(self.one)[0], servers(self.one, "SHUTOFF")[1]
        self.advance(self.record, self.one, seen([on, off]))
        self.assertEqual([("suspend", on)], self.calls)
        self.vacated.assert_not_called()

    def test_then_its_slots_are_given_back(self):
        gang = servers(self.one, "SUSPENDED")
        look = seen(gang)
        self.finish(self.record, self.one, look)
        self.vacated.assert_called_once_with(
            self.placement, look.hosts, [server.id for server in gang], map
        )
        self.assertTrue(self.one.saved)

    def test_a_host_that_is_down_is_told_of(self):
        step = self.advance(self.record, self.one, seen(servers(self.one), down="a"))
        self.assertIs(ActionState.FAILED, step.state)
        self.assertIn("is down", str(self.notes[0].reason))


class TestSuspendedInPart(OperationCase):
    """One server is suspended, and the other one does not get there."""

    def setUp(self):
        super().setUp()
        self.one = job(state=JobState.PREEMPTING)
        self.asleep = servers(self.one, "SUSPENDED")[0]

    def second(self, status="ACTIVE", task=None):
        return servers(self.one, status, task)[1]

    def step(self, record, *gang, now=101.0):
        self.cloud.reset_mock()
        limits = {"operation_timeout": 60.0, "preemption_timeout": 60.0}
        return self.advance(record, self.one, seen([*gang]), now, **limits)

    def test_refused(self):
        """The first one goes on, then the job does, and is left alone for a while."""
        up = self.second()
        record = eviction(self.one, "suspend", attempts={f"save {up.id}": 3})
        self.assertIsNone(self.step(record, self.asleep, up).state)
        self.assertEqual([("resume", self.asleep)], self.calls)
        self.answer(record, f"undo {self.asleep.id}")
        waking = dataclasses.replace(self.asleep, task="resuming")
        self.assertIsNone(self.step(record, waking, up).state)
        self.assertEqual([], self.calls)
        awake = dataclasses.replace(self.asleep, status="ACTIVE")
        self.assertIs(ActionState.FAILED, self.step(record, awake, up).state)
        self.assertIn(f"server {up.id} does not suspend, it is ACTIVE", record.reason)
        self.assertEqual((JobState.RUNNING, 103.0), (self.one.state, self.one.not_before))

    def test_never_done(self):
        """As long as there is time, nothing is taken back; then its work is lost."""
        stuck = self.second(task="suspending")
        record = eviction(self.one, "suspend", attempts={f"reset {stuck.id}": 1})
        self.assertIsNone(self.step(record, self.asleep, stuck, now=159.0).state)
        self.assertEqual([], self.calls)
        self.step(record, self.asleep, stuck, now=160.0)
        self.assertEqual([("delete", self.asleep), ("delete", stuck)], self.calls)

    def test_one_that_does_not_wake_up_either(self):
        record = eviction(
            self.one, "suspend", undoing=FAILS, attempts={f"undo {self.asleep.id}": 3}
        )
        step = self.step(record, self.asleep, self.second())
        self.assertEqual((ActionState.FAILED, []), (step.state, self.calls))

    def test_nor_ever_tells(self):
        waking = dataclasses.replace(self.asleep, task="resuming")
        record = eviction(self.one, "suspend", undoing=FAILS)
        self.assertIsNone(self.step(record, waking, self.second(), now=219.0).state)
        step = self.step(record, waking, self.second(), now=220.0)
        self.assertIs(ActionState.FAILED, step.state)


class TestResume(OperationCase):
    def setUp(self):
        super().setUp()
        self.one = job(state=JobState.RESTORING, saved=True)
        self.gang = servers(self.one, "SUSPENDED", hosts=("a", "b"))
        self.seats = {self.gang[0].id: "a", self.gang[1].id: "b"}

    def patched(self, name, **options):
        patch = mock.patch.object(claims, name, **options)
        self.addCleanup(patch.stop)
        return patch.start()

    def test_slots_first_and_all_at_once(self):
        seat = self.patched("seat")
        look = seen(self.gang)
        self.advance(start(self.one), self.one, look)
        seat.assert_called_once_with(self.placement, look.hosts, self.seats, self.one.tier, map)
        self.assertEqual([("resume", server) for server in self.gang], self.calls)

    def test_no_slots_there(self):
        self.patched("seat", side_effect=Conflict("no room on host a in fg"))
        vacated = self.patched("vacate")
        record = start(self.one)
        step = self.advance(record, self.one, seen(self.gang), now=100.0)
        self.assertIs(ActionState.FAILED, step.state)
        self.assertEqual([], self.calls)
        self.assertTrue(vacated.called)
        self.assert_only_operators_read("host a", record, self.one)
        self.assertIn(
            "no slots are free for it on the hosts where it is suspended", str(self.one.reason)
        )
        self.assertEqual((True, JobState.QUEUED), (self.one.saved, self.one.state))
        self.assertGreater(self.one.not_before, 100.0)

    def test_somebody_who_was_faster_is_no_reason(self):
        self.patched("seat", side_effect=StaleGeneration("409"))
        record = start(self.one)
        self.assertRaises(StaleGeneration, self.advance, record, self.one, seen(self.gang))
        self.assertIsNone(record.progress.undoing)

    def test_all_or_none(self):
        """One that does not come back takes the other with it."""
        self.patched("seat")
        self.patched("vacate")
        up = dataclasses.replace(self.gang[0], status="ACTIVE")
        record = start(self.one, was_suspended=True, attempts={f"restore {self.gang[1].id}": 3})
        self.advance(record, self.one, seen([up, self.gang[1]]))
        self.assertEqual([("suspend", up)], self.calls)
        step = self.advance(record, self.one, seen(self.gang))
        self.assertIs(ActionState.FAILED, step.state)
        self.assertTrue(self.one.saved)

    def test_over_when_all_are_up(self):
        gang = servers(self.one, hosts=("a", "b"))
        [note] = self.finish(start(self.one, was_suspended=True), self.one, seen(gang), 200.0)
        self.assertEqual("restored", note.kind)
        self.assertEqual((False, 200.0), (self.one.saved, self.one.run_since))


class TestRestored(OperationCase):
    def test_the_notice_is_taken_back(self):
        one = job(state=JobState.RESTORING, saved=True)
        gang = [dataclasses.replace(server, notice="preempted at ...") for server in servers(one)]
        record = start(one)
        self.advance(record, one, seen(gang))
        self.assertEqual([("notice", server, None) for server in gang], self.calls)
        for server in gang:
            self.answer(record, f"notice {server.id}")
        self.finish(record, one, seen(gang))

    def test_what_is_lost_is_left_to_the_next_look(self):
        one = job(state=JobState.RESTORING, saved=True)
        gang = [servers(one)[0], servers(one, "ERROR", hosts=(None,))[1]]
        step = self.advance(start(one), one, seen(gang))
        self.assertEqual((ActionState.FAILED, []), (step.state, self.calls))
        self.assertEqual((JobState.QUEUED, True), (one.state, one.saved))


class TestRefused(OperationCase):
    """Nova does not take a boot."""

    QUOTA = "Nova refused boot: Quota exceeded for cores, ram: Requested 2, 64, but ... (HTTP 403)"

    def refuse(self, error, **values):
        one = job(**{"state": JobState.STARTING, "started_at": 1.0, **values})
        record = start(one)
        self.advance(record, one, seen(), now=100.0)
        self.answer(record, "boot", error)
        return one, record

    def test_a_quota_that_is_too_small_is_waited_for_with_that_reason(self):
        reason = waits.QUOTA_TOO_SMALL(resource="cores", limit=1)
        one, record = self.refuse(CloudError(self.QUOTA, 403, reason))
        self.advance(record, one, seen(), now=101.0)
        self.assertEqual((JobState.QUEUED, 0), (one.state, one.failures))
        self.assertEqual(reason, one.reason)
        self.assertEqual(103.0, one.not_before)

    def test_quota_is_waited_for(self):
        one, record = self.refuse(CloudError(self.QUOTA, 403))
        step = self.advance(record, one, seen(), now=101.0)
        self.assertIs(ActionState.FAILED, step.state)
        self.assertEqual(waits.QUOTA(resources="cores, ram"), one.reason)
        self.assertEqual((JobState.QUEUED, 0), (one.state, one.failures))
        self.assertEqual(103.0, one.not_before)
        self.assertTrue(step.alone)

    def test_the_pause_grows_and_the_event_comes_once(self):
        one, record = self.refuse(CloudError(self.QUOTA, 403))
        self.advance(record, one, seen(), now=101.0)
        [note] = self.notes
        self.assertEqual("not started", note.kind)
        pauses = []
        for now in (200.0, 300.0, 400.0, 500.0, 600.0, 700.0):
            record = start(one)
            self.begin(record, one)
            self.advance(record, one, seen(), now=now)
            self.answer(record, "boot", CloudError(self.QUOTA, 403))
            self.advance(record, one, seen(), now=now)
            self.assertEqual([], self.notes)
            pauses.append(one.not_before - now)
        self.assertEqual([4.0, 8.0, 16.0, 32.0, 60.0, 60.0], pauses)

    def test_who_made_room_for_it_does_not_leave_again_at_once(self):
        one, pauses = job(state=JobState.STARTING), []
        for now in (100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0):
            record = start(one)
            record.plan = StartPlan(FG, "immediate", freed=1)
            self.begin(record, one)
            self.advance(record, one, seen(), now=now)
            self.answer(record, "boot", CloudError(self.QUOTA, 403))
            self.advance(record, one, seen(), now=now)
            pauses.append(one.not_before - now)
        self.assertEqual([60.0, 120.0, 240.0, 480.0, 960.0, 1800.0, 1800.0], pauses)

    def test_quota_at_an_unshelve(self):
        one = job(state=JobState.RESTORING, saved=True)
        gang = [servers(one)[0], servers(one, "SHELVED_OFFLOADED", hosts=(None,))[1]]
        record = start(one)
        self.advance(record, one, seen(gang))
        self.answer(record, f"restore {gang[1].id}", CloudError(self.QUOTA, 403))
        self.cloud.reset_mock()
        self.advance(record, one, seen(gang))
        self.assertEqual([("shelve", gang[0])], self.calls)

    def test_a_server_that_was_unshelved_in_vain(self):
        """Whoever asks for it again looks up first whether it was for quota."""
        one = job(state=JobState.RESTORING, saved=True)
        gang = servers(one, "SHELVED_OFFLOADED", hosts=(None, None))
        record = start(one)
        for again in ({}, {"again": True}):
            self.cloud.reset_mock()
            self.advance(record, one, seen(gang))
            for server in gang:
                self.cloud.unshelve.assert_any_call(server, **again)
                self.answer(record, f"restore {server.id}")

    def test_a_flavor_that_is_none_is_the_end(self):
        reason = failures.UNFIT_FLAVOR(flavor="big", wanted="resources:CUSTOM_TWOTIER_SLOT")
        one, record = self.refuse(UnfitFlavor(str(reason), 400, reason))
        self.advance(record, one, seen(), now=101.0)
        self.assertEqual((3, reason.led_to(Effect.NOT_STARTED)), (one.failures, one.reason))

    def test_a_request_that_nova_will_never_take_is_the_end(self):
        error = boot_refused(nova_exc.BadRequest(400, "Invalid key_name provided."))
        one, record = self.refuse(error)
        self.advance(record, one, seen(), now=101.0)
        reason = failures.NOVA_REFUSED(status=400, text="Invalid key_name provided.")
        self.assertEqual((3, reason.led_to(Effect.NOT_STARTED)), (one.failures, one.reason))

    def test_what_nova_does_not_let_it_do_is_told_and_tried_again(self):
        error = boot_refused(nova_exc.Forbidden(403, "Policy does not allow it."))
        one, record = self.refuse(error)
        self.advance(record, one, seen(), now=101.0)
        self.assertEqual(1, one.failures)
        told = "did not start: Nova refused its servers (HTTP 403): Policy does not allow it."
        self.assertEqual(told, str(one.reason))

    def test_a_quota_is_no_refusal(self):
        text = "Quota exceeded for cores: Requested 2, but already used 4 of 4 cores"
        one, record = self.refuse(boot_refused(nova_exc.Forbidden(403, text)))
        self.advance(record, one, seen(), now=101.0)
        self.assertEqual((0, waits.QUOTA(resources="cores")), (one.failures, one.reason))

    def test_others_are_tried_again(self):
        one, record = self.refuse(CloudError("Nova refused boot: image 1b2c not found", 404))
        self.advance(record, one, seen(), now=101.0)
        self.assertEqual(1, one.failures)
        self.assert_only_operators_read("1b2c", record, one)
        self.assertIn("check its flavor, image, networks and key", str(one.reason))

    def test_what_passes_does_not_count(self):
        one, record = self.refuse(CloudError("Nova refused boot: 503", 503))
        self.cloud.reset_mock()
        # It may be at it still, as long after the answer as after a request.
        step = self.advance(record, one, seen(), now=109.0)
        self.assertEqual((None, []), (step.state, self.calls))
        self.advance(record, one, seen(), now=111.0)
        self.assertEqual([("boot", one, "dXNlcg==")], self.calls)
        self.assertEqual({RequestKey("boot"): 0}, record.progress.attempts)

    def test_a_host_that_goes_down_meanwhile(self):
        one = job(state=JobState.STARTING)
        gang = servers(one, "BUILD", task="spawning")
        self.advance(start(one, attempts={"boot": 1}, booted_at=99.0), one, seen(gang, down="a"))
        self.assertEqual([("delete", server) for server in gang], self.calls)


class TestTier(OperationCase):
    def test_a_suspended_gang_is_seated_in_the_wanted_tier(self):
        one = job(state=JobState.RESTORING, saved=True, tier=BG)
        with mock.patch.object(claims, "seat") as seat:
            self.advance(start(one), one, seen(servers(one, "SUSPENDED")))
        self.assertEqual(BG, seat.call_args.args[3])
