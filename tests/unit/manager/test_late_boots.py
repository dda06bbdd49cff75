"""Servers that Nova makes when their job is over already."""

import dataclasses

from sqlalchemy import Engine, event

from nova_twotier.db.states import JobState
from nova_twotier.manager.late_boots import RETRY_AFTER, LateBoots
from tests.executors import OneByOne
from tests.unit.manager import builders
from tests.unit.manager.engine_case import PollCase

BEFORE, AFTER = "1970-01-01T00:01:29Z", "1970-01-01T00:01:31Z"


class TestLateBoots(PollCase):
    def setUp(self):
        super().setUp()
        self.engine = self.make_engine(workers=OneByOne())

    def over(self, **values):
        """A job that ended at 90 s."""
        job = builders.job(state=JobState.CANCELLED, tier=None, finished_at=90.0, **values)
        with self.store.transaction() as session:
            session.add(job)
        return job

    def made(self, job, status, created=AFTER, **values):
        gang = builders.servers(job, status, hosts=(None,))
        return [dataclasses.replace(server, created=created, **values) for server in gang]

    def deleted(self):
        found = [call.args[0].id for call in self.cloud.delete.call_args_list]
        self.cloud.delete.reset_mock()
        return found

    def test_they_are_deleted_whatever_became_of_them(self):
        """Also of a job that was to keep its servers: these came too late."""
        for status in ("BUILD", "ACTIVE", "ERROR"):
            job = self.over(keep_servers=status == "ACTIVE")
            gang = self.made(job, status)
            self.poll(gang)
            self.assertEqual([server.id for server in gang], self.deleted())

    def test_those_without_a_slot_of_a_job_that_waits_again(self):
        """What has one may be its gang, if the database was restored from a backup."""
        for status, deleted in (("ERROR", 2), ("ACTIVE", 0)):
            job = builders.job(state=JobState.QUEUED, tier=None, held=True)
            with self.store.transaction() as session:
                session.add(job)
            self.poll(self.made(job, status))
            self.assertEqual(deleted, len(self.deleted()), status)

    def test_again_if_that_does_not_show(self):
        gang = self.made(self.over(), "ERROR")
        times = []
        for self.now in (100.0, 101.0, 100.0 + RETRY_AFTER):
            self.poll(gang)
            times.append(len(self.deleted()))
        self.assertEqual([2, 0, 2], times)

    def test_whatever_was_there_before_is_left_alone(self):
        """Such as the servers that a job keeps, when their owner has unshelved them."""
        self.poll(self.made(self.over(keep_servers=True), "ACTIVE", BEFORE))
        self.assertEqual([], self.deleted())

    def test_so_is_what_was_kept_whatever_the_clocks_say(self):
        """Nova's may be ahead of the manager's; and what came as the job ended is kept, too."""
        for status in ("SHELVED", "SHELVED_OFFLOADED"):
            self.poll(self.made(self.over(keep_servers=True), status))
            self.assertEqual([], self.deleted())

    def test_so_is_what_works_without_a_slot(self):
        """Such as what its owner has restored from a backup, with the metadata of a server."""
        job = self.over()
        made = [dataclasses.replace(each, host="a") for each in self.made(job, "ACTIVE")]
        look = builders.seen(made, at=self.now)
        self.engine.seen = dataclasses.replace(look, claims={})
        self.engine.poll()
        self.assertEqual([], self.deleted())
        self.poll(made)
        self.assertEqual(2, len(self.deleted()))

    def test_so_are_those_of_others(self):
        """Whoever names the job without being its owner, and the jobs of other leaders."""
        self.poll(self.made(self.over(), "ACTIVE", owner=("p", "u")))
        self.poll(self.made(self.over(pool="other"), "ERROR"))
        self.poll(self.made(builders.job(), "ERROR"))
        self.assertEqual([], self.deleted())

    def test_nothing_long_is_read_of_their_jobs(self):
        """Jobs that keep their servers may be many, with 64 KiB of user data each."""
        gang = self.made(self.over(keep_servers=True, user_data="x" * 1000), "ACTIVE", BEFORE)
        asked = []
        record = lambda _c, _cursor, statement, *_rest: asked.append(statement)  # noqa: E731
        event.listen(Engine, "before_cursor_execute", record)
        self.addCleanup(event.remove, Engine, "before_cursor_execute", record)
        late = LateBoots(self.store, self.cloud, "default", tell=self.fail)
        late.poll([], builders.seen(gang, at=self.now))
        self.assertTrue(any("job.finished_at" in statement for statement in asked))
        self.assertEqual([], [statement for statement in asked if "user_data" in statement])

    def test_a_job_that_ends_while_it_is_booted(self):
        job = self.store.submit(2, [0.5], at=1)
        for _poll in range(2):
            self.poll()
        self.cloud.boot.assert_called_once()
        self.store.request_action(job.number, "cancel")
        for _poll in range(4):
            self.now += 10
            self.poll()
        self.assertEqual(JobState.CANCELLED, self.store.job(job.number).state)
        self.poll(self.made(self.store.job(job.number), "ERROR", "1970-01-01T00:02:30Z"))
        self.assertEqual(2, len(self.deleted()))
