"""What the node agent makes of its options, and of signals."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import fixtures
import requests
import testtools
from oslo_config import cfg

from nova_twotier.agent.cgroups import CpuController
from nova_twotier.agent.priority import Rules
from nova_twotier.agent.telemetry import Reading, Telemetry
from nova_twotier.cmd.agent import meter_rules_for, rules_for, show
from nova_twotier.conf import ConfigError, agent
from nova_twotier.core.actions import BG, FG
from nova_twotier.core.meter import MeterRules
from tests.ports import free_port
from tests.unit.agent.builders import METER, FakeHost
from tests.unit.agent.test_libvirt_host import ABSENT, libvirt

CPUS = frozenset(range(8))


class AgentOptionsTestCase(testtools.TestCase):
    def options(self, **options):
        conf = cfg.ConfigOpts()
        agent.register_opts(conf)
        for name, value in options.items():
            conf.set_override(name, value, "agent")
            # oslo.config keeps overrides with the group, which others use.
            self.addCleanup(conf.clear_override, name, "agent")
        return conf.agent


class TestMeterRules(AgentOptionsTestCase):
    def test_the_defaults_are_those_of_the_meter(self):
        self.assertEqual(MeterRules(), meter_rules_for(self.options()))

    def test_options_that_contradict_each_other(self):
        for words, options in (
            ("open_threshold (0.9) must not be above", {"threshold": 0.8}),
            ("window (1.0) must not be less", {"window": 1.0}),
        ):
            given = self.options(**options)
            self.assertIn(words, str(self.assertRaises(ConfigError, meter_rules_for, given)))
            for name in options:
                given._conf.clear_override(name, "agent")


class TestMetrics(AgentOptionsTestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger("nova_twotier"))

    def test_nothing_is_measured(self):
        """A warning says why nobody listens on the port, only if a port is set."""
        show(None, "host1", self.options(sample_interval=0))
        self.assertEqual("", self.log.output)
        show(None, "host1", self.options(sample_interval=0, metrics_port=9711))
        self.assertIn("metrics_port is 9711, but nobody listens there", self.log.output)

    def test_what_is_measured_is_shown(self):
        port = free_port()
        telemetry = Telemetry(FakeHost(), None, METER, interval=1.0)
        telemetry.readings = (Reading("a", FG, frozenset({2}), 60.0, 0.5, False),)
        show(telemetry, "host1", self.options(metrics_port=port))
        answer = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=10)
        self.assertIn('twotier_vm_cpu_utilisation{cpus="2",host="host1"', answer.text)
        self.assertEqual("", self.log.output)


class TestRules(AgentOptionsTestCase):
    def rules(self, **options):
        return rules_for(self.options(**options), CPUS, self.controller)

    def setUp(self):
        super().setUp()
        self.controller = CpuController(1, pathlib.Path(self.useFixture(fixtures.TempDir()).path))

    def test_by_default_only_weights(self):
        self.assertEqual(Rules({FG: 10000, BG: 100}), self.rules())

    def test_emulators_get_the_cpus_that_slots_leave(self):
        rules = self.rules(slot_cpus="2-3,6-7")
        self.assertEqual((2, 3, 6, 7), rules.slot_cpus)
        self.assertEqual(frozenset({0, 1, 4, 5}), rules.emulator_cpus)

    def test_in_the_order_in_which_they_are_named(self):
        self.assertEqual((1, 5, 0, 4), self.rules(slot_cpus="1,5,0,4").slot_cpus)

    def assert_mistake(self, words, **options):
        self.assertIn(words, str(self.assertRaises(ConfigError, self.rules, **options)))

    def test_cpus_that_the_host_does_not_have(self):
        # The last are more CPUs than memory holds.
        for cpus in ("8", "7-8", "0-7000000000000"):
            self.assert_mistake("emulator_cpus names CPU 8", emulator_cpus=cpus)
        for cpus in ("8", "7-8", "0-7000000000000"):
            self.assert_mistake("slot_cpus names CPU 8", slot_cpus=cpus)

    def test_a_cpu_named_twice(self):
        self.assert_mistake("slot_cpus names a CPU twice", slot_cpus="1-2,2-3")

    def test_a_kernel_without_idle_groups(self):
        self.assertTrue(self.rules(background_idle=True).background_idle)  # as far as one can see
        (self.controller.root / "cpu.shares").touch()
        self.assert_mistake("this kernel has no cpu.idle", background_idle=True)
        (self.controller.root / "cpu.idle").touch()
        self.assertTrue(self.rules(background_idle=True).background_idle)
        self.assertFalse(self.rules(background_idle=False).background_idle)

    def test_tiers_the_wrong_way_round(self):
        weights = {"background_weight": 500, "foreground_weight": 500}
        self.assert_mistake("must be less", **weights)

    def test_tiers_that_this_version_of_cgroups_makes_equal(self):
        weights = {"background_weight": 1, "foreground_weight": 2}
        self.assert_mistake("with cgroup v1 they are 2 and 2", **weights)


class TestSignalAtTheStart(testtools.TestCase):
    def test_it_does_not_end_the_agent(self):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "agent.conf")
        os.mkfifo(path)
        agent = subprocess.Popen(
            [sys.executable, "-m", "nova_twotier.cmd.agent", "--config-file", str(path)],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(agent.kill)
        with open(self.once_it_is_read(path, agent), "w") as file:
            agent.send_signal(signal.SIGHUP)
            file.write("[agent]\nthreshold = high\n")
        _out, err = agent.communicate(timeout=60)
        self.assertIn("threshold", err)
        self.assertEqual(1, agent.returncode)

    def once_it_is_read(self, pipe, agent):
        deadline = time.monotonic() + 60
        while True:
            # An ordinary open would wait forever for an agent that has ended before.
            with contextlib.suppress(OSError):
                return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            self.assertIsNone(agent.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)


@testtools.skipIf(libvirt is None, ABSENT)
class TestSignals(testtools.TestCase):
    """An agent of libvirt's test driver, without a Placement."""

    def setUp(self):
        super().setUp()
        conf = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "agent.conf")
        conf.write_text(
            "[agent]\nlibvirt_uri = test:///default\n"
            "[placement]\nauth_type = none\nendpoint_override = http://127.0.0.1:9\n"
        )
        self.agent = subprocess.Popen(
            [sys.executable, "-m", "nova_twotier.cmd.agent", "--config-file", str(conf)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.addCleanup(self.agent.stdout.close)
        self.addCleanup(self.agent.kill)
        for line in self.agent.stdout:
            if "The agent serves host" in line:
                return
        self.fail("the agent has ended")

    def test_only_one_that_ends_it(self):
        self.agent.send_signal(signal.SIGHUP)
        self.agent.send_signal(signal.SIGTERM)
        self.assertIn("The agent has stopped", self.agent.stdout.read())
        self.assertEqual(0, self.agent.wait(60))
