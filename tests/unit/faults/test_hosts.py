"""Hosts that are silent or without power come back, also when the run ends in between."""

import pathlib
import time
import types
from unittest import mock

import fixtures
import testtools

from nova_twotier.tools.faults.hosts import Evacuation, PowerFailure, Silence
from nova_twotier.tools.faults.journal import Journal
from nova_twotier.tools.replay.guests import Harm


def server(number, status="ACTIVE", host="h1"):
    made = types.SimpleNamespace(id=f"vm{number}", name=f"tt-{number}", status=status, metadata={})
    setattr(made, "OS-EXT-SRV-ATTR:host", host)
    setattr(made, "OS-EXT-STS:task_state", None)
    return made


class TestHosts(testtools.TestCase):
    def setUp(self):
        super().setUp()
        file = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "faults.log")
        self.nova = mock.Mock()
        self.nova.services.list.return_value = [types.SimpleNamespace(id=7)]
        self.nova.servers.list.return_value = [server(1, "SHUTOFF"), server(2, "SHUTOFF")]
        self.states = {"h1": "up", "h2": "up"}
        self.history = []
        self.site = types.SimpleNamespace(
            journal=Journal(file),
            recovery=mock.Mock(),
            nova=self.nova,
            servers=self.nova.servers.list,
            harm=Harm(),
            control=types.SimpleNamespace(host=self.put),
            hosts=("h1", "h2"),
            victim=lambda: server(1),
        )

    def put(self, host, state):
        self.states[host] = state
        self.history.append((host, state))
        return [f"vm-of-{host}"] if state == "off" else []

    def begin(self, mishap):
        mishap.start()
        end = time.monotonic() + 60
        while not mishap.happened and time.monotonic() < end:
            time.sleep(0.01)
        self.assertTrue(mishap.happened)

    def test_silent_together_and_in_turn(self):
        silence = Silence(0.0, self.site, "silence", [("h1", "h2"), ("h1",)], 0.01, 0.01)
        silence.start()
        silence.join()
        together = [("h1", "silent"), ("h2", "silent"), ("h1", "up"), ("h2", "up")]
        self.assertEqual([*together, ("h1", "silent"), ("h1", "up")], self.history)
        self.assertEqual((set(), set()), (self.site.harm.dead, self.site.harm.struck))
        self.site.recovery.ended.assert_called_once_with("silence")

    def test_heard_of_again_when_the_run_is_over(self):
        silence = Silence(0.0, self.site, "silence", [("h1",), ("h2",)], 60.0, 60.0)
        self.begin(silence)
        silence.over.set()
        silence.join()
        self.assertEqual([("h1", "silent"), ("h1", "up")], self.history)

    def test_power_fails_everywhere_and_the_guests_lose_their_work(self):
        failure = PowerFailure(0.0, self.site, "power", 60.0, everywhere=True)
        self.begin(failure)
        self.assertEqual({"h1", "h2"}, self.site.harm.dead)
        self.assertEqual({"vm-of-h1", "vm-of-h2"}, self.site.harm.struck)
        failure.over.set()
        failure.join()
        self.assertEqual({"h1": "up", "h2": "up"}, self.states)
        self.assertEqual(set(), self.site.harm.dead)

    def test_an_evacuated_host_is_given_back(self):
        evacuation = Evacuation(0.0, self.site, 0.01)
        evacuation.start()
        evacuation.join()
        evacuated = [call.args for call in self.nova.servers.evacuate.call_args_list]
        self.assertEqual([("vm1",), ("vm2",)], evacuated)
        down = [call.args for call in self.nova.services.force_down.call_args_list]
        self.assertEqual([(7, True), (7, False)], down)
        self.assertEqual([("h1", "off"), ("h1", "up")], self.history)
        self.assertEqual({"vm-of-h1"}, self.site.harm.struck)
