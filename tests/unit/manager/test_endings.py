"""When a job ends, and when its gang is broken."""

import dataclasses

import testtools

from nova_twotier.manager.db.models import ActionKind, JobState
from nova_twotier.manager.endings import endings
from tests.unit.manager.builders import BG, FG, job, seen, servers


class TestEndings(testtools.TestCase):
    def end_of(self, one, gang, attempts=3, **options):
        return endings(one, seen(gang, **options), attempts)

    def test_a_job_at_work_goes_on(self):
        one = job()
        self.assertIsNone(self.end_of(one, servers(one)))

    def test_all_servers_off_is_the_end(self):
        one = job()
        action = self.end_of(one, servers(one, "SHUTOFF"), at=7.0)
        self.assertEqual(ActionKind.END, action.kind)
        self.assertEqual((JobState.FINISHED, 7.0), (action.plan["then"], action.plan["at"]))

    def test_one_of_two_off_is_not(self):
        one = job()
        first, second = servers(one)[0], servers(one, "SHUTOFF")[1]
        self.assertIsNone(self.end_of(one, [first, second]))

    def test_a_missing_server_restarts_the_job(self):
        one = job()
        action = self.end_of(one, servers(one, count=1))
        self.assertEqual(JobState.QUEUED, action.plan["then"])
        self.assertEqual(
            "restarts from the beginning: 1 of its 2 servers are gone", action.plan["reason"]
        )
        self.assertEqual(1, one.failures)

    def test_a_gang_across_tiers_is_evicted(self):
        one = job(tier=FG)
        action = self.end_of(one, servers(one), tiers=[BG])
        self.assertEqual(ActionKind.EVICT, action.kind)

    def test_a_half_shelved_gang_is_evicted_whole(self):
        one = job()
        up, away = servers(one)[0], servers(one, "SHELVED_OFFLOADED", hosts=(None,))[1]
        action = self.end_of(one, [up, away])
        self.assertEqual((ActionKind.EVICT, True), (action.kind, action.plan["mend"]))

    def test_too_many_servers_restart_the_job(self):
        one = job()
        gang = servers(one)
        twin = dataclasses.replace(gang[0], id="twin")
        action = self.end_of(one, [*gang, twin])
        self.assertEqual(JobState.QUEUED, action.plan["then"])
        self.assertIn("3 servers for 2 processes", action.plan["reason"])

    def test_a_stranger_that_names_the_job_does_not_count(self):
        one = job()
        stranger = dataclasses.replace(servers(one)[0], id="stranger", index=98)
        self.assertIsNone(self.end_of(one, [*servers(one), stranger]))

    def test_saved_work_is_not_given_up(self):
        one = job(size=9, state=JobState.QUEUED, tier=None, saved=True, failures=9, started_at=1.0)
        self.assertIsNone(self.end_of(one, []))

    def test_but_not_while_nova_works_on_it(self):
        one = job(tier=FG)
        self.assertIsNone(self.end_of(one, servers(one, task="migrating"), tiers=[BG]))

    def test_larger_than_the_cluster(self):
        one = job(size=9, state=JobState.QUEUED, tier=None)
        action = self.end_of(one, [])
        self.assertEqual(JobState.FAILED, action.plan["then"])
        self.assertEqual(
            "needs 9 slots, the cluster has 8: submit it with fewer", action.plan["reason"]
        )

    def test_nothing_is_too_large_for_a_cluster_not_seen_yet(self):
        one = job(size=9, state=JobState.QUEUED, tier=None)
        self.assertIsNone(self.end_of(one, [], where=()))

    def test_too_many_failures(self):
        one = job(state=JobState.QUEUED, tier=None, failures=3, reason="did not start: no disk")
        action = self.end_of(one, [], attempts=3)
        self.assertEqual(
            (JobState.FAILED, "did not start: no disk"),
            (action.plan["then"], action.plan["reason"]),
        )

    def test_wishes_go_first(self):
        for wish, then in (("complete", JobState.FINISHED), ("cancel", JobState.CANCELLED)):
            one = job(wish=wish)
            self.assertEqual(then, self.end_of(one, servers(one, count=1)).plan["then"])
