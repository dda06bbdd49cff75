"""The operator's command that fences a host."""

import subprocess
import sys

import fixtures
import testtools

from nova_twotier.manager.fencing import RETRY_AFTER, Fence
from tests.executors import OneByOne
from tests.unit.manager.builders import options

PYTHON = f"{sys.executable} -c"
SLEEP = "import time; time.sleep(600)"


class TestFence(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.ran = []

    def fence(self, command, timeout=30.0):
        def run(command, **options):
            self.ran.append(command)
            return subprocess.run(command, **options)

        limits = options(fence_command=command, fence_timeout=timeout)
        return Fence(limits, OneByOne(), run=run)

    def test_without_a_command(self):
        self.assertTrue(self.fence("").fenced("a", 0.0))

    def test_success(self):
        fence = self.fence(f"{PYTHON} 'import sys; assert sys.argv[1:] == [chr(97)]'")
        self.assertEqual([False, True, True], [fence.fenced("a", now) for now in (0.0, 1.0, 2.0)])
        self.assertEqual(1, len(self.ran))
        fence.forget(["a"])
        self.assertFalse(fence.fenced("a", 3.0), "it was back: it is fenced anew")

    def test_failure_is_said_and_tried_again(self):
        fence = self.fence(f"{PYTHON} 'print(chr(33)); raise SystemExit(3)'")
        times = (0.0, RETRY_AFTER - 1, RETRY_AFTER, RETRY_AFTER + 1)
        self.assertEqual([False] * 4, [fence.fenced("a", now) for now in times])
        self.assertEqual(2, len(self.ran))
        self.assertIn("Host a is not fenced", self.log.output)
        self.assertIn("it ended with 3: !", self.log.output)

    def test_what_cannot_be_run_or_takes_too_long(self):
        for command, timeout in (("/nowhere/fence", 30.0), (f"{PYTHON} '{SLEEP}'", 0.01)):
            fence = self.fence(command, timeout)
            self.assertFalse(fence.fenced("a", 0.0))
            self.assertFalse(fence.fenced("a", 1.0))
        self.assertEqual(2, self.log.output.count("is not fenced"))
        self.assertIn("it took longer than 0.01 s", self.log.output)
        self.assertNotIn(SLEEP, self.log.output, "a command may have a password in it")
