"""The ids of a job's servers are kept from its start until they are gone."""

import fixtures
import testtools

from nova_twotier.db.states import JobState
from nova_twotier.manager.recorded_servers import RecordedServers
from tests.new_databases import new_store
from tests.unit.manager import builders


class TestRecordedServers(testtools.TestCase):
    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.store = new_store(self, f"sqlite:///{directory}/queue.sqlite")
        self.job = builders.job(size=2)
        with self.store.transaction() as session:
            session.add(self.job)
        self.gang = builders.servers(self.job)
        self.records = self.read()

    def read(self, pool="default"):
        with self.store.reading() as session:
            return RecordedServers(session, pool)

    def follow(self, gang, running=True):
        jobs = {self.job.number: self.job}
        new, ended = self.records.follow(builders.seen(gang), jobs, [self.job] if running else [])
        with self.store.transaction() as session:
            session.add_all(new)
        return [server.id for server in new], ended

    def test_a_whole_gang_once(self):
        ids = [server.id for server in self.gang]
        self.assertEqual(([], []), self.follow(self.gang[:1]))
        self.assertEqual((ids, []), self.follow(self.gang))
        self.assertEqual(([], []), self.follow(self.gang))
        expected = dict.fromkeys(ids, self.job.uuid)
        self.assertEqual(expected, self.records.job_of)
        self.assertEqual(expected, self.read().job_of)
        self.assertEqual({}, self.read("another").job_of)

    def test_another_object_after_each_change(self):
        """Observations are taken to be the same as long as it is."""
        before, objects = self.records.job_of, []
        for gang in (self.gang, self.gang, self.gang):
            self.follow(gang)
            objects.append(self.records.job_of)
        self.assertEqual(({}, 2), (before, len(objects[0])))
        self.assertIs(objects[0], objects[2])
        self.job.state = JobState.FINISHED
        self.follow((), running=False)
        self.assertEqual((2, {}), (len(objects[0]), self.records.job_of))

    def test_a_surplus_is_not_recorded(self):
        surplus = builders.servers(self.job)
        self.assertEqual(([], []), self.follow([*self.gang, *surplus]))

    def test_kept_while_it_is_preempted(self):
        self.follow(self.gang)
        for state in (JobState.PREEMPTING, JobState.QUEUED, JobState.RESTORING, JobState.ENDING):
            self.job.state, self.job.saved = state, state == JobState.QUEUED
            self.assertEqual(([], []), self.follow((), running=False))

    def test_forgotten_when_they_are_gone(self):
        for state in (JobState.QUEUED, JobState.FINISHED, JobState.CANCELLED, JobState.FAILED):
            self.records = self.read()
            self.job.state = JobState.RUNNING
            self.records.follow(builders.seen(self.gang), {self.job.number: self.job}, [self.job])
            self.job.state = state
            self.assertEqual(([], [self.job.number]), self.follow((), running=False))
            self.assertEqual({}, self.records.job_of)

    def test_forgotten_with_a_job_that_is_no_longer_open(self):
        self.follow(self.gang)
        self.assertEqual(([], [self.job.number]), self.records.follow(builders.seen(), {}, []))
