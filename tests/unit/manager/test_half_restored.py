"""Servers that run although their job waits, saved."""

import dataclasses
from unittest import mock

from nova_twotier.core.reasons import waits
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.states import ActionKind, JobState
from nova_twotier.manager.half_restored import RETRY_AFTER
from tests.executors import OneByOne
from tests.unit.manager import builders
from tests.unit.manager.engine_case import PollCase


class TestHalfRestored(PollCase):
    def setUp(self):
        super().setUp()
        self.options = {"operation_timeout": 100.0}
        self.engine = self.make_engine(workers=OneByOne())

    def waiting(self, **values):
        """A saved job that does not start for now."""
        job = builders.job(state=JobState.QUEUED, saved=True, tier=None, held=True, **values)
        with self.store.transaction() as session:
            session.add(job)
        return job

    def half(self, job, status="SHELVED_OFFLOADED", **values):
        away = None if status == "SHELVED_OFFLOADED" else "a"
        return [
            builders.servers(job, **values)[0],
            builders.servers(job, status, hosts=(away,))[1],
        ]

    def test_they_are_saved_as_the_others_are(self):
        for status, act in (("SHELVED_OFFLOADED", "shelve"), ("SUSPENDED", "suspend")):
            gang = self.half(self.waiting(), status)
            self.poll(gang)
            getattr(self.cloud, act).assert_called_once_with(gang[0])
            self.poll(gang)
            self.now += RETRY_AFTER
            self.poll(gang)
            self.assertEqual(2, getattr(self.cloud, act).call_count)

    def test_not_while_nova_is_busy_with_them(self):
        self.poll(self.half(self.waiting(), task="unshelving"))
        self.cloud.shelve.assert_not_called()

    def test_nor_in_an_outage(self):
        gang = self.half(self.waiting())
        look = builders.seen(gang, at=self.now)
        self.engine.seen = dataclasses.replace(look, outage=waits.OUTAGE())
        self.engine.poll()
        self.cloud.shelve.assert_not_called()

    def test_nor_if_all_of_them_run(self):
        self.poll(builders.servers(self.waiting()))
        self.cloud.shelve.assert_not_called()

    def test_after_a_restart_that_was_given_up(self):
        """The image store is away: neither does one come back, nor is the other shelved again."""
        job = self.waiting()
        gang = self.half(job)
        plan = StartPlan(builders.FG, "immediate")
        start = builders.action(
            ActionKind.START, job, plan, begun_at=self.now, attempts={f"restore {gang[1].id}": 3}
        )
        start.id, start.pool, start.created_at = None, "default", self.now
        with self.store.transaction() as session:
            row = session.merge(job)
            row.state, row.tier = JobState.RESTORING, builders.FG
            session.add(start)
        while self.opened():
            self.poll(gang)
            self.now += 20
            self.cloud.shelve.reset_mock()
        self.assertEqual(JobState.QUEUED, self.store.job(job.number).state)
        self.now += RETRY_AFTER
        self.poll(gang)
        self.assertEqual([mock.call(gang[0])], self.cloud.shelve.call_args_list)
