"""Secrets are never in the log, however much is logged: passwords, tokens, user data."""

import base64

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.servers import Server
from nova_twotier.cloud.sessions import session_for
from nova_twotier.cloud.trusts import Trusts
from tests.unit.cloud.cloud_case import JOB, NOVA, PASSWORD, TRUSTS, CloudCase

USER_DATA = base64.b64encode(b"#!/bin/sh\nexport KEY=s3cret-user-data\n").decode()
SECRETS = (
    PASSWORD,
    "managers-token",
    "trust-token",
    "alices-token",
    "s3cret-user-data",
    USER_DATA,
)


JSON = {"Content-Type": "application/json"}


class TestSecrets(CloudCase):
    def test_a_job_that_runs(self):
        keystone = Trusts(session_for(self.conf, "nova")[0], ["member"])
        self.http.post(TRUSTS, json={"trust": {"id": "t1"}}, status_code=201)
        self.http.delete(f"{TRUSTS}/t1", status_code=204)
        locked = self.http.post(f"{NOVA}/servers/s1/action", status_code=202)
        listed = {"id": "s1", "metadata": {}, "status": "ACTIVE", "user_data": USER_DATA}
        pages = [{"json": {"servers": page}, "headers": JSON} for page in ([listed], [])]
        self.http.get(f"{NOVA}/servers/detail", pages)
        keystone.create("alices-token", "alice", "demo", JOB)
        self.cloud.servers()
        job = self.job(trust_id="t1")
        self.cloud.boot(job, USER_DATA)
        self.cloud.lock(Server("s1", JOB, 0, "ACTIVE", None, "host"), "a job")
        self.cloud.delete_trust(job)
        self.assertEqual("trust-token", self.booted.last_request.headers["X-Auth-Token"])
        self.assertEqual(USER_DATA, self.booted.last_request.json()["server"]["user_data"])
        self.assertEqual("managers-token", locked.last_request.headers["X-Auth-Token"])
        # The libraries did log what they did.
        self.assertIn(f"POST {TRUSTS}", self.log.output)
        self.check(self.log.output)

    def test_a_job_that_is_refused(self):
        job = self.job(trust_id="t1")
        for refuse in (self._by_nova, self._by_keystone):
            refuse()
            error = self.assertRaises(CloudError, self.cloud.boot, job, USER_DATA)
            self.check(f"{error} {error.reason} {self.log.output}")

    def _by_nova(self):
        self.http.post(f"{NOVA}/servers", status_code=403)

    def _by_keystone(self):
        self.trust_status = 403

    def check(self, text):
        for secret in SECRETS:
            self.assertNotIn(secret, text)
