"""Trusts: made for a job with its owner's token, and taken back if there is no job."""

import threading
from unittest import mock

from oslo_db.exception import DBConnectionError
from sqlalchemy import select, update

from nova_twotier.api.sweeping import SWEEP
from nova_twotier.cloud.trusts import NoTrust, TrustError
from nova_twotier.db import submissions
from nova_twotier.db.models import Submission
from nova_twotier.db.states import JobState, QueueMode
from nova_twotier.db.store import Store
from nova_twotier.db.submissions import LAPSED
from tests.unit.api.case import OTHER, ApiCase, KeystoneCase


class LendingCase(KeystoneCase):
    def setUp(self):
        super().setUp()
        self.token = self.token_for("member", "reader", project_id="demo")
        self.addCleanup(self.wait_for_sweep)

    @staticmethod
    def wait_for_sweep():
        for thread in threading.enumerate():
            if thread.name == SWEEP:
                thread.join(60)

    def pass_time(self):
        """Whatever is being submitted takes too long."""
        with self.store.transaction() as session:
            session.execute(update(Submission).values(since=Submission.since - LAPSED - 1))


class TestLending(LendingCase):
    OPTIONS = KeystoneCase.OPTIONS.replace(
        "[keystone_authtoken]", "max_jobs_per_project = 1\n[keystone_authtoken]"
    )

    def ask_for_a_job(self, **body):
        return self.ask("POST", "/v1/jobs", self.token, json={"size": 1, **body})

    def test_a_job_has_one(self):
        job = self.submit(self.token)
        self.assertEqual([(self.token, "alice", "demo")], self.trusts.made)
        self.assertEqual("trust-1", self.store.find(job["uuid"]).trust_id)
        self.assertEqual([], self.trusts.deleted)

    def test_it_is_nobodys_business(self):
        answer = self.ask_for_a_job()
        path = f"/v1/jobs/{answer.json['uuid']}"
        for answered in (answer, self.get(path, self.token), self.get("/v1/jobs", self.token)):
            self.assertNotIn("trust", answered.text)

    def test_it_bears_the_jobs_name(self):
        job = self.submit(self.token)
        self.assertEqual({"trust-1": job["uuid"]}, self.trusts.there)

    def test_no_job_no_trust(self):
        job = self.submit(self.token)
        self.store.set_queue_mode("default", QueueMode.DRAINING)
        self.change(job, state=JobState.FINISHED)
        self.refused(409, "queue.draining", self.ask_for_a_job())
        self.assertEqual(["trust-2"], self.trusts.deleted)
        self.assertEqual(set(), self.submissions())

    def test_no_room_no_trust(self):
        self.submit(self.token)
        self.refused(403, "quota.exceeded", self.ask_for_a_job())
        self.assertEqual(1, len(self.trusts.made))
        self.assertEqual(set(), self.submissions())

    def test_no_room_while_another_job_is_being_submitted(self):
        create = self.trusts.create

        def create_slowly(*args):
            self.trusts.create = create
            self.refused(403, "quota.exceeded", self.ask_for_a_job())
            return create(*args)

        self.trusts.create = create_slowly
        self.submit(self.token)
        self.assertEqual((1, 1), (len(self.store.jobs()), len(self.trusts.made)))

    def test_none_for_a_wrong_request(self):
        self.refused(400, "request.invalid", self.ask_for_a_job(size=0))
        self.assertEqual([], self.trusts.made)

    def test_refused(self):
        self.trusts.refusal = NoTrust("Keystone refused it: see http://keystone.test")
        [detail] = self.refused(403, "trust.refused", self.ask_for_a_job())
        self.assertIn("the roles that a job needs (member)", detail)
        self.assertNotIn("keystone.test", detail)
        self.assertIn("keystone.test", self.logged.output)
        self.assertEqual([], self.store.jobs())
        self.assertEqual(set(), self.submissions())

    def test_keystone_is_down(self):
        self.trusts.refusal = TrustError("nobody at http://keystone.test")
        [detail] = self.refused(503, "service.unavailable", self.ask_for_a_job())
        self.assertEqual("Keystone does not answer; try again later", detail)
        self.assertIn("nobody at http://keystone.test", self.logged.output)
        self.assertEqual([], self.store.jobs())
        # It counts no more, although there may be a trust.
        self.trusts.refusal = None
        self.submit(self.token)

    def test_the_database_is_down(self):
        """Nobody knows whether the job was stored: its trust stays, to be swept if it was not."""
        lost = mock.Mock(side_effect=DBConnectionError("gone"))
        with mock.patch.object(Store, "submit", lost):
            self.refused(503, "service.unavailable", self.ask_for_a_job())
        self.assertEqual((["trust-1"], []), (list(self.trusts.there), self.trusts.deleted))
        self.pass_time()
        self.submit(self.token)
        self.wait_for_sweep()
        self.assertEqual(["trust-1"], self.trusts.deleted)

    def test_it_takes_so_long_that_it_is_given_up(self):
        create = self.trusts.create

        def create_slowly(*args):
            trust = create(*args)
            self.pass_time()
            submissions.sweep(self.store, self.trusts)
            return trust

        self.trusts.create = create_slowly
        self.refused(503, "service.unavailable", self.ask_for_a_job())
        self.assertEqual(([], {}), (self.store.jobs(), self.trusts.there))

    def submissions(self):
        with self.store.reading() as session:
            return set(session.scalars(select(Submission.uuid)))


class TestSweep(LendingCase):
    """Which trusts go when a job is submitted after the API had ended in the middle of another."""

    def end_in_the_middle(self):
        """The API is killed after Keystone has made the trust; returns what the job would be."""
        uuid = submissions.begin(self.store, "demo", 1, lambda *_counts: None)
        self.trusts.there[f"of {uuid}"] = uuid
        return uuid

    def test_one_without_a_job(self):
        uuid = self.end_in_the_middle()
        self.pass_time()
        self.submit(self.token)
        self.wait_for_sweep()
        self.assertEqual([f"of {uuid}"], self.trusts.deleted)
        self.submit(self.token)
        self.wait_for_sweep()
        self.assertEqual(1, len(self.trusts.deleted))

    def test_no_submission_waits_for_it(self):
        """Keystone is slow in it; meanwhile no second one begins."""
        uuid = self.end_in_the_middle()
        self.pass_time()
        answered, asked = threading.Event(), []
        given = self.trusts.given

        def given_slowly():
            asked.append(answered.wait(60))
            return given()

        self.trusts.given = given_slowly
        for _each in range(3):
            self.submit(self.token)
        answered.set()
        self.wait_for_sweep()
        self.assertEqual(([True], [f"of {uuid}"]), (asked, self.trusts.deleted))

    def test_without_a_thread_it_comes_later(self):
        uuid = self.end_in_the_middle()
        self.pass_time()
        with mock.patch("nova_twotier.api.sweeping.threading") as threads:
            threads.Thread.return_value.start.side_effect = RuntimeError("can't start new thread")
            self.submit(self.token)
        self.submit(self.token)
        self.wait_for_sweep()
        self.assertEqual([f"of {uuid}"], self.trusts.deleted)

    def test_not_while_the_job_may_come(self):
        self.end_in_the_middle()
        self.submit(self.token)
        self.wait_for_sweep()
        self.assertEqual([], self.trusts.deleted)

    def test_nothing_of_others(self):
        kept = self.submit(self.token)
        over = self.submit(self.token)
        self.trusts.there |= {"heat's": None, "another region's": OTHER}
        self.change(over, state=JobState.FINISHED)
        uuid = self.end_in_the_middle()
        self.pass_time()
        would = submissions.sweep(self.store, self.trusts, dry_run=True)
        self.assertEqual({over["uuid"], uuid}, {each.job for each in would})
        self.assertEqual([], self.trusts.deleted)
        self.assertEqual(would, submissions.sweep(self.store, self.trusts))
        self.assertEqual({kept["uuid"], None, OTHER}, set(self.trusts.there.values()))

    def test_trouble_with_it_keeps_no_job_out(self):
        self.end_in_the_middle()
        self.pass_time()
        with mock.patch.object(self.trusts, "given", side_effect=TrustError("nobody")):
            self.submit(self.token)
            self.wait_for_sweep()
        self.assertIn("Trusts without jobs are left in Keystone: nobody", self.logged.output)


class TestWithoutKeystone(ApiCase):
    def test_no_trust(self):
        job = self.submit()
        self.assertIsNone(self.store.find(job["uuid"]).trust_id)

    def test_what_never_became_a_job_leaves_nothing_behind(self):
        lapsed, under_way = (
            submissions.begin(self.store, "demo", 1, lambda *_counts: None) for _each in range(2)
        )
        with self.store.transaction() as session:
            session.get(Submission, lapsed).since -= LAPSED + 1
        self.submit()
        with self.store.reading() as session:
            self.assertEqual([under_way], list(session.scalars(select(Submission.uuid))))
