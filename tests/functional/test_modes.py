"""The ways of preemption on real Nova, through the manager: suspended, begun anew, kept at the end.

One host a slot. Job 1 has one of them; job 2 needs both; job 3 passes it, and has to make room when
job 1 ends.
"""

from nova_twotier.db.states import JobState
from nova_twotier.ledger import names
from nova_twotier.manager import schedule
from tests.functional.queue_case import QueueTestCase


class ModesTestCase(QueueTestCase):
    HOSTS = 2
    SLOTS = 1

    def preempted(self, **values):
        """Job 3 was preempted; returns its server as it was when it ran."""
        self.store.submit(1, [1.0])
        self.until(1, JobState.RUNNING)
        self.store.submit(2, [1.0])
        self.store.submit(1, [1.0], **values)
        self.until(3, JobState.RUNNING)
        [server] = self.servers(3)
        self.store.request_action(1, "complete")
        self.until(2, JobState.RUNNING)
        return server


class TestSuspend(ModesTestCase):
    def test_in_place_without_a_slot_and_back(self):
        server = self.preempted(preemption="suspend")
        job = self.store.job(3)
        self.assertEqual((JobState.QUEUED, True), (job.state, job.saved))
        self.assertEqual("SUSPENDED", self.api.get_server(server["id"])["status"])
        self._run_periodics()
        held = self.resources(server)
        self.assertEqual(set(), {name for name in held if name.startswith("CUSTOM_TWOTIER")})
        self.assertIn("VCPU", held)
        self.assertEqual((2, 0), self.totals())
        self.store.request_action(2, "complete")
        self.until(3, JobState.RUNNING, restores=1)
        self.assertEqual([server["id"]], [each["id"] for each in self.servers(3)])
        self.assertEqual(self.host_of(server), self.claim_of(server)[0])
        self.assertIn(names.SLOT, self.resources(server))
        self.assertEqual(["submitted", "started", "evicted", "restored"], self.kinds(3))
        self.store.request_action(3, "complete")
        self.until(3, JobState.FINISHED)
        self.assertEqual(set(), self.resources(server))
        self.assertEqual((0, 0), self.totals())
        with self.store.reading() as session:
            mine = [place for place in schedule.places(session) if place.job == 3]
        self.assertEqual(2, len(mine))
        self.assertTrue(all(place.until for place in mine))


class TestRequeue(ModesTestCase):
    def test_begins_anew(self):
        server = self.preempted(preemption="requeue")
        job = self.store.job(3)
        self.assertEqual((JobState.QUEUED, False), (job.state, job.saved))
        self.assertEqual([], self.servers(3))
        self.store.request_action(2, "complete")
        self.until(3, JobState.RUNNING)
        [anew] = self.servers(3)
        self.assertNotEqual(server["id"], anew["id"])
        self.assertEqual(["submitted", "started", "killed", "started"], self.kinds(3))


class TestKept(ModesTestCase):
    def test_servers_stay_without_slots(self):
        self.store.submit(2, [1.0], keep_servers=True)
        self.until(1, JobState.RUNNING)
        self.store.request_action(1, "complete")
        self.until(1, JobState.FINISHED)
        self.assertEqual(
            ["SHELVED_OFFLOADED"] * 2, [server["status"] for server in self.servers(1)]
        )
        self.assertEqual((0, 0), self.totals())

    def test_nobody_brings_them_back_past_the_queue(self):
        self.store.submit(1, [1.0], keep_servers=True)
        self.until(1, JobState.RUNNING)
        self.store.request_action(1, "complete")
        self.until(1, JobState.FINISHED)
        [server] = self.servers(1)
        self.act(server, "unshelve", "SHELVED_OFFLOADED")
        self.assertEqual((0, 0), self.totals())


class TestFlavor(ModesTestCase):
    def test_one_that_is_none_for_jobs(self):
        plain = self._create_flavor(memory_mb=64, vcpu=1, disk=1, ephemeral=0)
        self.store.submit(1, [1.0], flavor=plain)
        job = self.poll(self.failed, "job 1 has failed")
        self.assertEqual(
            f"did not start: flavor {plain} does not have resources:CUSTOM_TWOTIER_SLOT=1; "
            "choose one that has",
            str(job.reason),
        )
        self.assertEqual([], self.servers(1))

    def failed(self):
        self.engine.poll()
        job = self.store.job(1)
        return job if job.state == JobState.FAILED else None
