"""Servers that are off before their guests ended: their jobs are not over, and lose nothing."""

from nova_twotier.db.states import OVER, JobState
from tests.functional.manager_case import ManagerTestCase
from tests.unit.manager import builders

TOKEN = "0123456789abcdef"


class TestShutdowns(ManagerTestCase):
    def setUp(self):
        super().setUp()
        self.cloud(seed=3)
        self.now = 10_000.0
        self.options = builders.options(attempts=3, boot_grace=3.0, host_interval=1e9)

    def running(self, size=2, **values):
        self.store.submit(size, [0.5], at=self.now, retries=1, **values)
        engine = self.engine("amcbf")
        self.rounds(engine, 10)
        self.assertEqual(JobState.RUNNING, self.store.job(1).state)
        self.ids = {server.id for server in self.nova.servers()}
        return engine

    def assert_goes_on(self, cause):
        """The job runs, with the servers that it had, and says what happened."""
        job = self.store.job(1)
        self.assertEqual(JobState.RUNNING, job.state, job.reason)
        self.assertEqual(["submitted", "started", "started again"], self.kinds(1))
        self.assertIn(cause, str(job.reason))
        self.assertEqual(0, job.requeues)
        self.assertEqual(dict.fromkeys(self.ids, "ACTIVE"), self.statuses())

    def statuses(self):
        return {server.id: server.status for server in self.nova.servers()}

    def guests_stop(self):
        for server in self.nova.servers():
            self.nova.guest_stops(server.id)

    def assert_ends_well(self, engine):
        self.now += 600
        self.guests_stop()
        self.rounds(engine, 12)
        self.assertEqual(JobState.FINISHED, self.store.job(1).state)
        self.check_clean()

    def test_a_quick_reboot_of_its_host(self):
        engine = self.running()
        for host in self.nova.roots:
            self.nova.host_reboots(host)
        self.rounds(engine, 8)
        self.assert_goes_on("its host rebooted")
        self.assert_ends_well(engine)

    def test_a_reboot_of_one_of_its_hosts(self):
        """Its processes run together: those of the others wait for the one that is off."""
        engine = self.running(size=4)
        self.assertEqual(2, len({server.host for server in self.nova.servers()}))
        self.nova.host_reboots("host0")
        self.rounds(engine, 8)
        self.assert_goes_on("its host rebooted")

    def test_an_evacuation(self):
        engine = self.running(size=1)
        [server] = self.nova.servers()
        self.nova.evacuate(server.id, "host1" if server.host == "host0" else "host0")
        self.rounds(engine, 8)
        self.assert_goes_on("evacuate")
        self.assert_ends_well(engine)

    def test_a_failed_shelve(self):
        """Its guest is off by then, and nova-compute says that it stopped."""
        for size, cpu in ((4, 1.0), (6, 1.0), (2, 1.0)):
            self.store.submit(size, [cpu], at=self.now)
        engine = self.engine("amcbf")
        self.rounds(engine, 12)
        self.assertEqual(JobState.RUNNING, self.store.job(3).state)
        gang = [s for s in self.nova.servers() if s.job == self.store.job(3).uuid]
        self.nova.unshelvable = {server.id for server in gang}
        self.store.request_action(1, "complete")
        # It is tried `attempts` times, after pauses.
        for _round in range(300):
            self.rounds(engine, 1)
            self.assertNotIn(self.store.job(3).state, OVER)
            if "not evicted" in self.kinds(3):
                break
        self.assertIn("not evicted", self.kinds(3))
        left = {s.id for s in self.nova.servers() if s.job == self.store.job(3).uuid}
        self.assertEqual({server.id for server in gang}, left)

    def test_what_does_not_come_up_begins_anew(self):
        engine = self.running()
        self.nova.unstartable = set(self.ids)
        for host in self.nova.roots:
            self.nova.host_reboots(host)
        self.rounds(engine, 60)
        job = self.store.job(1)
        self.assertEqual((JobState.RUNNING, 1), (job.state, job.requeues), job.reason)
        self.assertEqual(set(), self.ids & self.statuses().keys())

    def test_a_manager_that_dies_meanwhile(self):
        """What tells an end from a reboot is not kept in its memory."""
        self.running()
        for host in self.nova.roots:
            self.nova.host_reboots(host)
        self.now += 1000
        self.rounds(self.engine("amcbf"), 8)
        self.assert_goes_on("its host rebooted")

    def report(self, *statuses):
        for server, status in zip(self.nova.servers(), statuses, strict=True):
            if status is not None:
                self.nova.consoles[server.id] += f"twotier-exit {TOKEN} {status}\r\n"
        self.guests_stop()

    def test_scripts_that_report(self):
        engine = self.running(report_token=TOKEN)
        self.report(0, 0)
        self.rounds(engine, 10)
        job = self.store.job(1)
        self.assertEqual((JobState.FINISHED, 0), (job.state, job.exit_status))

    def test_scripts_that_fail(self):
        engine = self.running(report_token=TOKEN)
        self.report(0, 7)
        self.rounds(engine, 10)
        job = self.store.job(1)
        self.assertEqual((JobState.FAILED, 7), (job.state, job.exit_status))
        self.assertEqual("the process of rank 1 ended with exit status 7", str(job.reason))
        self.check_clean()

    def test_a_script_that_did_not_report_is_run_again(self):
        """Whatever it was that ended it, and although nothing else shows that."""
        engine = self.running(report_token=TOKEN)
        self.report(0, None)
        self.rounds(engine, 8)
        self.assert_goes_on("did not report its end")
        self.report(0, 0)
        self.rounds(engine, 10)
        self.assertEqual(JobState.FINISHED, self.store.job(1).state)

    def test_a_report_of_somebody_else_does_not_count(self):
        engine = self.running(size=1, report_token=TOKEN)
        for server in self.ids:
            self.nova.consoles[server] += "sshd: invalid user twotier-exit fedcba9876543210 0\r\n"
        self.guests_stop()
        self.rounds(engine, 8)
        self.assert_goes_on("did not report its end")
