"""Requests that get lost between nova-api and nova-compute: no work is lost with them."""

from unittest import mock

from nova.compute import rpcapi as compute
from nova.conductor import rpcapi as conductor

from nova_twotier.cloud.errors import Undecided
from nova_twotier.cloud.servers import RUNNING
from nova_twotier.db.states import JobState, Preemption
from tests.functional.manager_case import InMemoryTestCase
from tests.functional.queue_case import QueueTestCase
from tests.unit.manager import builders


class TestLostRequests(InMemoryTestCase):
    def setUp(self):
        super().setUp()
        self.cloud(seed=3)
        self.now = 10_000.0

    def gang(self, number):
        uuid = self.store.job(number).uuid
        return [server for server in self.nova.servers() if server.job == uuid]

    def preempted(self, lost, mode, keep_servers=False, **limits):
        """The third job is preempted by the second, and `lost` requests for that get lost.

        Returns the servers that it had.

        :param keep_servers: those of the third job at its end.
        """
        limits = {"preemption_timeout": 120, **limits}
        self.options = builders.options(boot_grace=3.0, host_interval=1e9, **limits)
        for size, how in ((4, Preemption.SHELVE), (6, Preemption.SHELVE), (2, mode)):
            job = {"preemption": how, "retries": 1, "keep_servers": keep_servers and size == 2}
            self.store.submit(size, [1.0], at=self.now, **job)
        engine = self.engine("amcbf")
        self.rounds(engine, 12)
        self.assertEqual(JobState.RUNNING, self.store.job(3).state)
        before = {server.id for server in self.gang(3)}
        self.nova.losses[mode] = lost
        self.store.request_action(1, "complete")
        self.rounds(engine, 200)
        return before

    def assert_saved(self, mode):
        before = self.preempted(1, mode)
        self.assertEqual(JobState.RUNNING, self.store.job(2).state)
        self.assertIn("evicted", self.kinds(3))
        self.assertNotIn("killed", self.kinds(3))
        self.assertEqual(before, {server.id for server in self.gang(3)})

    def test_a_request_to_shelve(self):
        self.assert_saved(Preemption.SHELVE)

    def test_a_request_to_suspend(self):
        self.assert_saved(Preemption.SUSPEND)

    def test_one_reset_is_all(self):
        """What is lost again makes way as ever."""
        self.preempted(5, Preemption.SHELVE)
        self.assertEqual(JobState.RUNNING, self.store.job(2).state)
        self.assertIn("killed", self.kinds(3))

    def brought_back(self, mode, action):
        """A request to bring the third job back gets lost: in the end it begins anew."""
        before = self.preempted(0, mode, operation_timeout=30)
        self.nova.losses[action] = 1
        self.store.request_action(2, "complete")
        self.rounds(self.engine("amcbf"), 500)
        job = self.store.job(3)
        self.assertEqual((JobState.RUNNING, 1), (job.state, job.requeues), job.reason)
        self.assertEqual(set(), before & {server.id for server in self.gang(3)})
        self.assertEqual(self.options.attempts, self.kinds(3).count("not started"))

    def test_a_request_to_unshelve(self):
        self.brought_back(Preemption.SHELVE, "unshelve")

    def test_a_request_to_resume(self):
        self.brought_back(Preemption.SUSPEND, "resume")

    def kept(self, mode, action):
        """One to bring it back gets lost, and then it ends: no server that is to be kept is
        deleted."""
        before = self.preempted(0, mode, keep_servers=True, operation_timeout=30)
        self.nova.losses[action] = 1
        self.store.request_action(2, "complete")
        engine = self.engine("amcbf")
        for _round in range(100):
            self.rounds(engine, 1)
            if self.nova.lost:
                break
        self.store.request_action(3, "complete")
        self.rounds(engine, 300)
        self.assertEqual(JobState.FINISHED, self.store.job(3).state)
        gang = self.gang(3)
        self.assertEqual(before, {server.id for server in gang})
        self.assertEqual({"SHELVED_OFFLOADED"}, {server.status for server in gang})

    def test_a_request_to_unshelve_what_is_kept(self):
        self.kept(Preemption.SHELVE, "unshelve")

    def test_a_request_to_resume_what_is_kept(self):
        self.kept(Preemption.SUSPEND, "resume")

    def power_on(self, lost):
        self.options = builders.options(boot_grace=3.0, host_interval=1e9, operation_timeout=30)
        self.store.submit(2, [0.5], at=self.now, retries=1)
        engine = self.engine("amcbf")
        self.rounds(engine, 10)
        before = {server.id for server in self.gang(1)}
        self.nova.losses["start"] = lost
        for host in self.nova.roots:
            self.nova.host_reboots(host)
        self.rounds(engine, 70)
        self.assertEqual(before, {server.id for server in self.gang(1)})
        return engine

    def test_a_start_of_servers_that_were_off(self):
        """Nova says that they are ACTIVE after the reset, but nothing runs there."""
        engine = self.power_on(lost=1)
        job = self.store.job(1)
        self.assertEqual((JobState.RUNNING, 0), (job.state, job.requeues), job.reason)
        self.assertEqual(["submitted", "started", "started again"], self.kinds(1))
        for server in self.gang(1):
            self.assertEqual(("ACTIVE", RUNNING), (server.status, server.power_state))
            self.nova.guest_stops(server.id)
        self.rounds(engine, 12)
        self.assertEqual(JobState.FINISHED, self.store.job(1).state)
        self.check_clean()


class TestReset(QueueTestCase):
    """What real Nova records of a request that was lost, and lets be done then."""

    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch("nova_twotier.cloud.lost_requests.ON_ITS_WAY", 0.0))
        self.store.submit(1, [0.5])
        self.until(1, JobState.RUNNING)
        [self.shown] = self.servers(1)

    @property
    def server(self):
        [server] = self.cloud.servers()
        return server

    def lose(self, request, *arguments, api=compute.ComputeAPI, name=""):
        """A request to Nova that comes no further than its API."""
        with mock.patch.object(api, name):
            request(self.server, *arguments)

    def assert_reset(self, task):
        self.assertEqual(task, self.server.task)
        self.cloud.reset_if_lost(self.server)
        server = self.server
        self.assertEqual(("ACTIVE", None), (server.status, server.task))
        return server

    def test_a_shelve(self):
        self.lose(self.cloud.shelve, name="shelve_instance")
        self.assert_reset("shelving")
        self.cloud.shelve(self.server)
        self.settle(self.shown, "SHELVED_OFFLOADED")

    def test_a_suspend(self):
        self.lose(self.cloud.suspend, name="suspend_instance")
        self.assert_reset("suspending")
        self.cloud.suspend(self.server)
        self.settle(self.shown, "SUSPENDED")

    def test_a_migration(self):
        api = conductor.ComputeTaskAPI
        self.lose(self.cloud.live_migrate, None, api=api, name="live_migrate_instance")
        self.assert_reset("migrating")
        self.live_migrate(self.shown)

    def test_a_start(self):
        self.act(self.shown, "os-stop", "SHUTOFF")
        self.lose(self.cloud.start, name="start_instance")
        self.assertNotEqual(RUNNING, self.assert_reset("powering-on").power_state)
        self.cloud.stop(self.server)
        self.settle(self.shown, "SHUTOFF")
        self.cloud.start(self.server)
        self.settle(self.shown)
        self.assertEqual(RUNNING, self.server.power_state)

    def test_one_that_nova_compute_has_begun(self):
        """However long that takes."""
        driver = "nova.virt.fake.FakeDriver.snapshot"
        with mock.patch(
            driver, side_effect=lambda *_args: self.cloud.reset_if_lost(self.server)
        ) as snapshot:
            self.cloud.shelve(self.server)
            self.settle(self.shown, "SHELVED_OFFLOADED")
        snapshot.assert_called_once()

    def assert_given_up(self, task):
        self.assertEqual(task, self.server.task)
        self.cloud.reset_if_lost(self.server)  # which would lose its image, or its memory
        self.assertEqual(task, self.server.task)
        self.cloud.delete_if_lost(self.server)
        self.poll(lambda: not self.cloud.servers(), "it is deleted")

    def test_an_unshelve(self):
        self.cloud.shelve(self.server)
        self.settle(self.shown, "SHELVED_OFFLOADED")
        api = conductor.ComputeTaskAPI
        self.lose(self.cloud.unshelve, api=api, name="unshelve_instance")
        self.assert_given_up("unshelving")

    def test_a_resume(self):
        self.cloud.suspend(self.server)
        self.settle(self.shown, "SUSPENDED")
        self.lose(self.cloud.resume, name="resume_instance")
        self.assert_given_up("resuming")

    def test_an_unshelve_of_a_server_that_is_kept(self):
        self.cloud.shelve(self.server)
        self.settle(self.shown, "SHELVED_OFFLOADED")
        self.assertRaises(Undecided, self.cloud.require_lost, self.server)
        api = conductor.ComputeTaskAPI
        self.lose(self.cloud.unshelve, api=api, name="unshelve_instance")
        self.cloud.require_lost(self.server)
        self.cloud.unlock(self.server)
        self.assertEqual("unshelving", self.server.task)

    def test_a_resume_of_a_server_that_is_kept(self):
        """Its disk is; it would lose its memory in any case."""
        self.cloud.suspend(self.server)
        self.settle(self.shown, "SUSPENDED")
        self.lose(self.cloud.resume, name="resume_instance")
        self.cloud.reset_if_lost(self.server, memory=False)
        self.cloud.shelve(self.server)
        self.settle(self.shown, "SHELVED_OFFLOADED")

    def test_one_that_is_being_brought_back(self):
        self.cloud.suspend(self.server)
        self.settle(self.shown, "SUSPENDED")
        driver = "nova.virt.fake.FakeDriver.resume"
        with mock.patch(
            driver, side_effect=lambda *_args: self.cloud.delete_if_lost(self.server)
        ) as resume:
            self.cloud.resume(self.server)
            self.settle(self.shown)
        resume.assert_called_once()
