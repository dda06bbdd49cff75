"""A program is kept running, and its deaths are told from those it was made to die."""

import pathlib
import sys
import threading

import fixtures
import testtools

from nova_twotier.tools.replay import supervisor as supervisor_module
from nova_twotier.tools.replay.errors import ReplayError
from nova_twotier.tools.replay.supervisor import Supervisor

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]
FAILING = [sys.executable, "-c", "raise SystemExit(3)"]


class TestSupervisor(testtools.TestCase):
    def setUp(self):
        super().setUp()
        # A program counts as ended at once also where its start takes long.
        for name, seconds in (("PAUSE", 0.02), ("QUICK", 60.0)):
            self.useFixture(fixtures.MonkeyPatch(f"{supervisor_module.__name__}.{name}", seconds))
        self.log = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "log")
        self.said = []

    def supervisor(self, argv):
        supervisor = Supervisor("sleeper", argv, self.log, self.said.append).__enter__()
        self.addCleanup(supervisor.__exit__)
        return supervisor

    def wait(self, condition):
        for _ in range(3000):
            if condition():
                return
            threading.Event().wait(0.02)
        self.fail(f"waited in vain; {self.said}")

    def test_killed_again_and_again(self):
        supervisor = self.supervisor(SLEEPER)
        kills = 5
        for number in range(1, kills + 1):
            old = supervisor.pid
            self.assertTrue(supervisor.kill())
            self.wait(lambda old=old: supervisor.pid != old)
            self.wait(lambda number=number: len(self.said) == number)
        supervisor.check()
        self.assertEqual((kills, 0), (supervisor.kills, supervisor.deaths))
        self.assertIn("died (signal 9); restarted as pid", self.said[0])

    def test_gives_up_on_what_ends_again_and_again(self):
        supervisor = self.supervisor(FAILING)
        self.wait(lambda: supervisor.deaths == supervisor_module.QUICK_DEATHS)
        self.wait(lambda: supervisor._gave_up)
        self.assertRaises(ReplayError, supervisor.check)
        self.assertEqual(0, supervisor.kills)
        self.assertFalse(supervisor.kill())
