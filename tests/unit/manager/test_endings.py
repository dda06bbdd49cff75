"""When a job ends, and when its gang is broken."""

import dataclasses

import testtools

from nova_twotier.core.reasons import Effect, failures
from nova_twotier.db.states import ActionKind, JobState
from nova_twotier.manager.endings import endings
from nova_twotier.manager.shutdowns import Shutdown
from nova_twotier.manager.walltimes import warning
from tests.unit.manager.builders import BG, FG, job, seen, servers

NOTHING = {}
NOT_STARTED = failures.INCOMPLETE(effect=Effect.NOT_STARTED, made=1, size=2)


class TestEndings(testtools.TestCase):
    def end_of(self, one, gang, attempts=3, off=NOTHING, **options):
        return endings(one, seen(gang, **options), attempts, off)

    def test_a_job_at_work_goes_on(self):
        one = job()
        self.assertIsNone(self.end_of(one, servers(one)))

    def off(self, one, *shutdowns, **options):
        """What a gang calls for that is off, for these reasons."""
        gang = servers(one, "SHUTOFF")
        known = dict(zip((server.id for server in gang), shutdowns, strict=False))
        return self.end_of(one, gang, off=known, **options)

    def test_all_guests_ended_is_the_end(self):
        action = self.off(job(), Shutdown(), Shutdown(), at=7.0)
        self.assertEqual(ActionKind.END, action.kind)
        self.assertEqual((JobState.FINISHED, 7.0), (action.plan.then, action.plan.at))
        self.assertIsNone(action.plan.exit_status)

    def test_all_off_is_none_while_it_is_not_known_why(self):
        for known in ((), (Shutdown(),)):
            self.assertIsNone(self.off(job(), *known))

    def test_what_was_off_for_another_reason_is_started_again(self):
        action = self.off(job(), Shutdown(), Shutdown(failures.HOST_REBOOTED()))
        self.assertEqual(ActionKind.POWER_ON, action.kind)
        self.assertEqual("a server was off: its host rebooted", str(action.plan.reason))

    def test_so_is_one_beside_others_that_run(self):
        one = job()
        first, second = servers(one)[0], servers(one, "SHUTOFF")[1]
        off = {second.id: Shutdown(failures.HOST_REBOOTED())}
        self.assertEqual(ActionKind.POWER_ON, self.end_of(one, [first, second], off=off).kind)

    def test_what_does_not_come_up_begins_anew(self):
        vain = Shutdown(failures.NOT_UP(), vain=3)
        for known, failed in ((vain, 0), (Shutdown(failures.HOST_REBOOTED()), 3)):
            action = self.off(job(failures=failed), Shutdown(), known)
            self.assertEqual((ActionKind.END, JobState.QUEUED), (action.kind, action.plan.then))
            self.assertEqual(known.cause, action.plan.reason._replace(effect=None))

    def test_the_first_bad_exit_status_fails_the_job(self):
        for statuses, then, status in (
            ((0, 0), JobState.FINISHED, 0),
            ((0, 3), JobState.FAILED, 3),
            ((0, None), JobState.FINISHED, None),
        ):
            action = self.off(job(), *(Shutdown(exit_status=each) for each in statuses))
            self.assertEqual((then, status), (action.plan.then, action.plan.exit_status))

    def test_a_script_that_never_reports_fails_in_the_end(self):
        silent = Shutdown(failures.UNREPORTED(), vain=2, unreported=True)
        self.assertEqual(ActionKind.POWER_ON, self.off(job(), silent, silent).kind)
        silent = dataclasses.replace(silent, vain=3)
        action = self.off(job(), silent, silent)
        self.assertEqual((ActionKind.END, JobState.FAILED), (action.kind, action.plan.then))

    def test_one_of_two_off_is_not(self):
        one = job()
        first, second = servers(one)[0], servers(one, "SHUTOFF")[1]
        self.assertIsNone(self.end_of(one, [first, second]))

    def test_who_asks_for_it_begins_anew_whatever_its_retries(self):
        for values in (
            {},
            {"state": JobState.QUEUED, "tier": None, "saved": True},
            {"state": JobState.QUEUED, "tier": None},
        ):
            one = job(requested_action="requeue", retries=0, **values)
            action = self.end_of(one, servers(one))
            self.assertEqual((ActionKind.END, JobState.QUEUED), (action.kind, action.plan.then))
            self.assertEqual(
                "restarts from the beginning: a user asked to requeue it",
                str(action.plan.reason),
            )

    def test_who_will_never_be_in_the_queue_is_cancelled(self):
        one = job(state=JobState.QUEUED, tier=None)
        reason = failures.DEPENDENCY(7, state="failed")
        action = endings(one, seen(), 3, NOTHING, {one.number: reason})
        self.assertEqual((JobState.CANCELLED, reason), (action.plan.then, action.plan.reason))
        one.requested_action = "complete"
        action = endings(one, seen(), 3, NOTHING, {one.number: reason})
        self.assertEqual(JobState.FINISHED, action.plan.then)

    def test_a_missing_server_restarts_the_job(self):
        one = job()
        action = self.end_of(one, servers(one, count=1))
        self.assertEqual(JobState.QUEUED, action.plan.then)
        self.assertEqual(
            "restarts from the beginning: 1 of its 2 servers are gone", str(action.plan.reason)
        )

    def test_a_gang_across_tiers_is_evicted(self):
        one = job(tier=FG)
        action = self.end_of(one, servers(one), tiers=[BG])
        self.assertEqual(ActionKind.EVICT, action.kind)

    def test_a_gang_on_a_host_of_another_pool_is_evicted(self):
        one = job(pool="gpu")
        gang = servers(one, hosts=("a", "c"))
        # Nobody reads the claims on hosts of other pools.
        without = dataclasses.replace(seen(gang[:1]), servers={one.uuid: gang})
        action = endings(one, without, 3, NOTHING)
        self.assertEqual(ActionKind.EVICT, action.kind)
        self.assertEqual(
            "preempted by the manager: not all of its servers are on hosts of pool gpu",
            str(action.plan.reason),
        )

    def test_a_half_shelved_gang_is_evicted_whole(self):
        one = job()
        up, away = servers(one)[0], servers(one, "SHELVED_OFFLOADED", hosts=(None,))[1]
        action = self.end_of(one, [up, away])
        self.assertEqual((ActionKind.EVICT, True), (action.kind, action.plan.repairs))

    def test_what_is_off_is_not_started_while_others_are_shelved(self):
        """As long as it cannot be shelved, it would boot again and again for nothing."""
        one = job()
        off, away = servers(one, "SHUTOFF")[0], servers(one, "SHELVED_OFFLOADED", hosts=(None,))[1]
        verdicts = {off.id: Shutdown(failures.LEFT_OFF(action="shelve"))}
        action = self.end_of(one, [off, away], off=verdicts)
        self.assertEqual((ActionKind.EVICT, True), (action.kind, action.plan.repairs))

    def test_too_many_servers_restart_the_job(self):
        one = job()
        gang = servers(one)
        twin = dataclasses.replace(gang[0], id="twin")
        action = self.end_of(one, [*gang, twin])
        self.assertEqual(JobState.QUEUED, action.plan.then)
        self.assertIn("3 servers for 2 processes", str(action.plan.reason))

    def test_a_stranger_that_names_the_job_does_not_count(self):
        one = job()
        stranger = dataclasses.replace(servers(one)[0], id="stranger", index=98)
        self.assertIsNone(self.end_of(one, [*servers(one), stranger]))

    def test_saved_work_is_not_given_up(self):
        one = job(size=9, state=JobState.QUEUED, tier=None, saved=True, failures=9, started_at=1.0)
        self.assertIsNone(self.end_of(one, servers(one, "SHELVED_OFFLOADED", hosts=(None,))))

    def test_unless_it_is_gone(self):
        one = job(state=JobState.QUEUED, tier=None, saved=True, started_at=1.0)
        gang = servers(one, "SHELVED_OFFLOADED", hosts=(None,), count=1)
        action = self.end_of(one, gang)
        self.assertEqual(
            (JobState.QUEUED, "restarts from the beginning: 1 of its 2 servers are gone"),
            (action.plan.then, str(action.plan.reason)),
        )

    def test_but_not_while_nova_works_on_it(self):
        one = job(tier=FG)
        self.assertIsNone(self.end_of(one, servers(one, task="migrating"), tiers=[BG]))

    def test_nor_soon_after_that_failed(self):
        one = job(tier=FG)
        one.back_off(100.0)
        self.assertIsNone(self.end_of(one, servers(one), tiers=[BG], at=101.0))
        action = self.end_of(one, servers(one), tiers=[BG], at=one.not_before)
        self.assertEqual(ActionKind.EVICT, action.kind)

    def test_a_gang_that_sleeps_in_part_is_evicted(self):
        one = job()
        up, asleep = servers(one)[0], servers(one, "SUSPENDED")[1]
        action = self.end_of(one, [up, asleep])
        self.assertEqual((ActionKind.EVICT, True), (action.kind, action.plan.repairs))

    def test_larger_than_the_cluster(self):
        """It waits: hosts may come."""
        one = job(size=9, state=JobState.QUEUED, tier=None)
        self.assertIsNone(self.end_of(one, []))

    def test_too_many_failures(self):
        one = job(state=JobState.QUEUED, tier=None, failures=3, reason=NOT_STARTED)
        action = self.end_of(one, [], attempts=3)
        self.assertEqual(
            (JobState.FAILED, NOT_STARTED),
            (action.plan.then, action.plan.reason),
        )

    def test_wishes_go_first(self):
        for action, then in (("complete", JobState.FINISHED), ("cancel", JobState.CANCELLED)):
            one = job(requested_action=action)
            plan = self.end_of(one, servers(one, count=1)).plan
            self.assertEqual((then, False), (plan.then, plan.lost))

    def test_no_more_retries(self):
        for retries, text in (
            (0, "1 of its 2 servers are gone"),
            (1, "1 of its 2 servers are gone, and its retries are used up"),
            (2, "1 of its 2 servers are gone, and its retries are used up"),
        ):
            one = job(retries=retries, requeues=retries)
            action = self.end_of(one, servers(one, count=1))
            self.assertEqual((JobState.FAILED, text), (action.plan.then, str(action.plan.reason)))
            self.assertTrue(action.plan.lost)

    def test_a_host_that_is_down(self):
        one = job()
        gang = servers(one, hosts=("a", "b"))
        self.assertIsNone(self.end_of(one, gang))
        action = self.end_of(one, gang, down=["b"])
        self.assertEqual(
            (
                JobState.QUEUED,
                f"restarts from the beginning: the host of server {gang[1].id} is down",
            ),
            (action.plan.then, str(action.plan.reason)),
        )


class TestWalltime(testtools.TestCase):
    """A job of 60 seconds that ran 20 of them before it was preempted; it runs again since 100."""

    def job(self, **values):
        return job(walltime=60.0, run_before=20.0, run_since=100.0, **values)

    def test_all_its_runs_count(self):
        one = self.job()
        self.assertIsNone(endings(one, seen(servers(one), at=139.0), 3, NOTHING))
        action = endings(one, seen(servers(one), at=140.0), 3, NOTHING)
        self.assertEqual(
            (JobState.FAILED, "ran its walltime of 60 s"),
            (action.plan.then, str(action.plan.reason)),
        )

    def test_it_does_not_run_while_it_waits(self):
        one = job(walltime=60.0, run_before=59.0, state=JobState.QUEUED, tier=None, saved=True)
        gang = servers(one, "SHELVED_OFFLOADED", hosts=(None,))
        self.assertIsNone(endings(one, seen(gang, at=1e6), 3, NOTHING))

    def test_the_warning_comes_once(self):
        one = self.job()
        self.assertIsNone(warning(one, 129.0, before=10.0))
        self.assertEqual(
            "is stopped in 9 s: its walltime is 60 s", str(warning(one, 131.0, before=10.0))
        )
        one.warned_at = 131.0
        self.assertIsNone(warning(one, 132.0, before=10.0))

    def test_nobody_else_is_warned(self):
        unlimited, waiting = job(run_since=0.0), self.job(state=JobState.QUEUED)
        for one in (unlimited, waiting):
            self.assertIsNone(warning(one, 1e6, before=10.0))
