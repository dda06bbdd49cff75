"""Jobs of a pool that nobody knows fail, and say why."""

import testtools

from nova_twotier.db import terms
from nova_twotier.db.states import JobState
from nova_twotier.manager import unknown_pools
from tests.new_databases import new_store


class TestStrays(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.store = new_store(self)
        terms.begin(self.store, "idle", "a manager")

    def test_they_fail_once(self):
        jobs = {
            pool: self.store.submit(2, [0.5], at=1.0, pool=pool).number
            for pool in ("default", "gpu", "idle", "gpo", "")
        }
        failed = [unknown_pools.fail(self.store, {"default", "gpu"}, at) for at in (7.0, 8.0)]
        self.assertEqual([["gpo", ""], []], [[job.pool for job in each] for each in failed])
        for pool, number in jobs.items():
            job = self.store.job(number)
            known = pool in ("default", "gpu", "idle")
            self.assertEqual(JobState.QUEUED if known else JobState.FAILED, job.state, pool)
            self.assertEqual(None if known else 7.0, job.finished_at)
            kinds = [event.kind for event in self.store.events(number)]
            self.assertEqual(["submitted", *([] if known else ["failed"])], kinds)
        reason = str(self.store.job(jobs["gpo"]).reason)
        self.assertEqual("there is no pool gpo, only default, gpu, idle", reason)

    def test_jobs_that_have_begun_go_on(self):
        number = self.store.submit(2, [0.5], pool="old").number
        with self.store.transaction() as session:
            session.merge(self.store.job(number)).state = JobState.RUNNING
        unknown_pools.fail(self.store, {"default"}, 7.0)
        self.assertEqual(JobState.RUNNING, self.store.job(number).state)
