"""What real Nova shows of a guest that ended by itself, and of one that did not."""

from unittest import mock

from nova import context
from nova.compute import power_state

from nova_twotier.db.states import JobState
from nova_twotier.db.store import open_actions
from tests.functional.queue_case import QueueTestCase

TOKEN = "0123456789abcdef"
LONG_UP = " 10:15:11 up 93 days,  4:32,  2 users,  load average: 0.00, 0.01, 0.05\n"
JUST_UP = " 10:15:11 up 0 min,  0 users,  load average: 0.00, 0.01, 0.05\n"


class TestGuestEnds(QueueTestCase):
    def setUp(self):
        super().setUp()
        self.uptime = LONG_UP
        self.enterContext(
            mock.patch("nova.virt.fake.FakeDriver.get_host_uptime", lambda _driver: self.uptime)
        )
        self.store.submit(1, [0.5])
        self.until(1, JobState.RUNNING)
        [self.server] = self.servers(1)

    def power_off(self):
        """The guest is off, and nova-compute notices."""
        compute = self.computes[self.host_of(self.server)]
        compute.driver.instances[self.server["id"]].state = power_state.SHUTDOWN
        compute.manager._sync_power_states(context.get_admin_context())
        self.settle(self.server, "SHUTOFF")

    def log(self):
        [server] = self.cloud.servers()
        return [each.name for each in self.cloud.instance_actions(server)]

    def test_it_powered_itself_off(self):
        self.power_off()
        self.assertEqual(["stop", "create"], self.log())
        self.until(1, JobState.FINISHED)

    def test_its_host_rebooted(self):
        self.uptime = JUST_UP
        self.power_off()
        self.goes_on("its host rebooted")
        self.assertEqual(["start", "stop", "create"], self.log())

    def test_a_driver_that_does_not_know_the_uptime(self):
        with mock.patch(
            "nova.virt.fake.FakeDriver.get_host_uptime", mock.Mock(side_effect=NotImplementedError)
        ):
            self.power_off()
            self.until(1, JobState.FINISHED)

    def reports(self, console):
        """From now on all guests have this on their consoles."""
        with self.store.transaction() as session:
            session.merge(self.store.job(1)).report_token = TOKEN
        name = "nova.virt.fake.FakeDriver.get_console_output"
        self.enterContext(mock.patch(name, lambda *_args: console))

    def test_its_script_reported_its_end(self):
        """Then the host may reboot."""
        self.reports(f"[ 12.3] reboot: Power down\r\ntwotier-exit {TOKEN} 0\r\n")
        self.uptime = JUST_UP
        self.power_off()
        self.until(1, JobState.FINISHED, exit_status=0)

    def test_its_script_did_not(self):
        self.reports("[ 12.3] Out of memory: Killed process 1\r\n")
        self.power_off()
        self.goes_on("its script did not report its end")

    def test_it_was_evacuated(self):
        host = self.host_of(self.server)
        target = self.hosts[1 - self.hosts.index(host)]
        self.computes[host].stop()
        service = self.api.get_services(host=host, binary="nova-compute")[0]
        self.api.put_service(service["id"], {"forced_down": True})
        self._evacuate_server(self.server, expected_host=target, expected_state="SHUTOFF")
        self.goes_on("evacuate")
        # It holds its old slot, too, until that host is back.
        self.engine.poll()
        with self.store.transaction() as session:
            self.assertEqual([], open_actions(session))

    def goes_on(self, cause):
        def started():
            self.engine.poll()
            return "started again" in [event.kind for event in self.store.events(1)]

        self.poll(started, "job 1 was started again")
        job = self.store.job(1)
        self.assertIn(cause, str(job.reason))
        self.assertEqual((JobState.RUNNING, 0), (job.state, job.requeues))
        self.settle(self.server)
