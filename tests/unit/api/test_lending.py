"""Trusts: made for a job with its owner's token, and taken back if there is no job."""

from nova_twotier.cloud.trusts import NoTrust, TrustError
from tests.unit.api.case import ApiCase, KeystoneCase


class TestLending(KeystoneCase):
    OPTIONS = KeystoneCase.OPTIONS.replace(
        "[keystone_authtoken]", "max_jobs_per_project = 1\n[keystone_authtoken]"
    )

    def setUp(self):
        super().setUp()
        self.token = self.token_for("member", "reader", project_id="demo")

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

    def test_no_job_no_trust(self):
        self.submit(self.token)
        self.refused(403, "quota.exceeded", self.ask_for_a_job())
        self.assertEqual(["trust-2"], self.trusts.deleted)

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

    def test_keystone_is_down(self):
        self.trusts.refusal = TrustError("nobody at http://keystone.test")
        [detail] = self.refused(503, "service.unavailable", self.ask_for_a_job())
        self.assertEqual("Keystone does not answer; try again later", detail)
        self.assertIn("nobody at http://keystone.test", self.logged.output)
        self.assertEqual([], self.store.jobs())


class TestWithoutKeystone(ApiCase):
    def test_no_trust(self):
        job = self.submit()
        self.assertIsNone(self.store.find(job["uuid"]).trust_id)
