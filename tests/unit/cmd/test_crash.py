"""`twotier-api` is killed between the trust of a job and the job."""

import json
import signal
import time

import requests
from sqlalchemy import update

from nova_twotier.cmd import manage
from nova_twotier.db.models import Submission
from tests.new_databases import new_store
from tests.unit.cmd.case import run_main
from tests.unit.cmd.fake_keystone import MANAGER, TENANT, FakeKeystone
from tests.unit.cmd.server_case import ServerCase

USER = """
auth_type = password
auth_url = {url}
username = twotier
password = s3cret
user_domain_name = Default
project_name = service
project_domain_name = Default
"""


class TestCrash(ServerCase):
    def setUp(self):
        super().setUp()
        self.keystone = FakeKeystone()
        self.addCleanup(self.keystone.close)
        user = USER.format(url=self.keystone.url)
        self.sections = (
            f"[nova]{user}\n[keystone_authtoken]{user}service_token_roles_required = true\n"
        )
        # Of another service with the same user, and of another installation of ours.
        for trust, more in (("heat's", {}), ("elsewhere's", {"nova_twotier_job": "of another"})):
            self.keystone.trusts[trust] = {"id": trust, "trustee_user_id": MANAGER, **more}
        self.start_api()
        self.store = new_store(self, f"sqlite:///{self.directory}/twotier.sqlite")

    def start_api(self):
        self.start("", self.sections, strategy="keystone")

    def submit(self):
        return requests.post(
            f"{self.url}/v1/jobs", json={"size": 1}, headers={"X-Auth-Token": TENANT}, timeout=60
        )

    def crash(self):
        """The API is killed after Keystone has made a trust, and started again much later."""
        self.keystone.made = lambda: self.server.send_signal(signal.SIGKILL)
        self.assertRaises(requests.ConnectionError, self.submit)
        self.keystone.made = lambda: None
        self.assertEqual(-signal.SIGKILL, self.server.wait(60))
        self.assertEqual(([], 3), (self.store.jobs(), len(self.keystone.trusts)))
        with self.store.transaction() as session:
            session.execute(update(Submission).values(since=1.0))

    def sweep(self, *options):
        command = ("trust", "sweep", "-f", "json", *options)
        code, out, err = run_main(manage.main, self.conf, *command)
        self.assertEqual((0, ""), (code, err))
        return json.loads(out)

    def test_the_trust_is_swept_by_the_next_job(self):
        self.crash()
        self.start_api()
        job = self.submit().json()["uuid"]
        kept = {"heat's", "elsewhere's", self.store.find(job).trust_id}
        # The answer does not wait for it.
        deadline = time.monotonic() + 120
        while set(self.keystone.trusts) != kept and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(kept, set(self.keystone.trusts))

    def test_the_trust_is_swept_by_the_operator(self):
        self.crash()
        would = self.sweep("--dry-run")
        self.assertEqual(3, len(self.keystone.trusts))
        self.assertEqual(would, self.sweep())
        self.assertEqual({"heat's", "elsewhere's"}, set(self.keystone.trusts))
        self.assertEqual((1, []), (len(would), self.sweep()))
