"""What each mechanism does to groups and processes."""

import os
import subprocess
import unittest

import fixtures
import testtools

from nova_twotier.calibration import mechanisms
from nova_twotier.calibration.cgroups import Groups
from tests.unit.calibration.fake_tree import FakeTree


class TestNames(testtools.TestCase):
    def test_by_default(self):
        self.assertEqual(
            ["equal", "shares:10000:100", "shares:10000:1", "cpu.idle", "sched_idle", "nice"],
            mechanisms.names(),
        )
        self.assertEqual(mechanisms.names(), [mechanisms.get(n).name for n in mechanisms.names()])

    def test_unknown(self):
        for name in ("fast", "shares", "shares:1", "shares:a:b", "shares:1:2:3"):
            with testtools.ExpectedException(mechanisms.UnknownMechanism, ".*shares:FG:BG.*"):
                mechanisms.get(name)


class TestAvailable(testtools.TestCase):
    def reason(self, name, idle=True, uid=0):
        self.useFixture(fixtures.MonkeyPatch("os.geteuid", lambda: uid))
        tree = self.useFixture(FakeTree(1, idle))
        with Groups(tree.hierarchy, [0]) as groups:
            return mechanisms.unavailable(mechanisms.get(name), groups)

    def test_all(self):
        self.assertEqual([""] * 6, [self.reason(name) for name in mechanisms.names()])

    def test_old_kernel(self):
        self.assertIn("no cpu.idle", self.reason("cpu.idle", idle=False))
        self.assertEqual("", self.reason("equal", idle=False))

    def test_only_root_raises_a_priority_again(self):
        for name in ("nice", "sched_idle"):
            self.assertIn("only root", self.reason(name, uid=1000))
        self.assertEqual("", self.reason("cpu.idle", uid=1000))


class TestApply(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.tree = self.useFixture(FakeTree(1))
        self.groups = self.useFixture(GroupsFixture(self.tree))
        self.pids = [self.process(), self.process()]

    def process(self):
        process = subprocess.Popen(["sleep", "600"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process.pid

    def apply(self, name):
        """The weights, where the processes are, and cpu.idle, of the foreground and background."""
        front, back = self.pids
        mechanisms.apply(mechanisms.get(name), self.groups.made, {1: front}, {1: back})
        found = {
            file: self.tree.read(file)
            for file in ("front-1/cpu.shares", "back-1/cpu.shares", "back-1/cpu.idle")
        }
        return found, self.tree.read("front-1/cgroup.procs"), back

    def test_weights(self):
        found, inside, _back = self.apply("shares:10000:100")
        self.assertEqual("10000", found["front-1/cpu.shares"])
        self.assertEqual("100", found["back-1/cpu.shares"])
        self.assertEqual("0", found["back-1/cpu.idle"])
        self.assertEqual(str(self.pids[0]), inside)
        self.assertEqual(str(self.pids[1]), self.tree.read("back-1/cgroup.procs"))

    def test_the_foreground_has_the_same_weight_without_tiers(self):
        found = [self.apply(name)[0] for name in ("equal", "shares:10000:100", "cpu.idle")]
        self.assertEqual(["10000"] * 3, [each["front-1/cpu.shares"] for each in found])
        self.assertEqual("10000", found[0]["back-1/cpu.shares"])

    def test_idle_and_back(self):
        self.assertEqual(
            "1", self.apply("shares:7:7")[0] and self.apply("cpu.idle")[0]["back-1/cpu.idle"]
        )
        self.assertEqual("0", self.apply("equal")[0]["back-1/cpu.idle"])

    @unittest.skipIf(os.geteuid(), "only root may raise priorities again")
    def test_priorities_and_back(self):
        self.apply("equal")
        _found, inside, back = self.apply("nice")
        # The kernel compares processes of one group.
        self.assertEqual(str(back), inside)
        self.assertEqual(19, os.getpriority(os.PRIO_PROCESS, back))
        self.apply("sched_idle")
        self.assertEqual(0, os.getpriority(os.PRIO_PROCESS, back))
        self.assertEqual(os.SCHED_IDLE, os.sched_getscheduler(back))
        self.apply("equal")
        self.assertEqual(os.SCHED_OTHER, os.sched_getscheduler(back))
        self.assertEqual(0, os.getpriority(os.PRIO_PROCESS, self.pids[0]))


class GroupsFixture(fixtures.Fixture):
    """Groups for CPU 1; the processes in them are not the groups' to kill."""

    def __init__(self, tree):
        super().__init__()
        self._tree = tree

    def _setUp(self):
        self.made = Groups(self._tree.hierarchy, [1])
        self.made.__enter__()
        self.addCleanup(self.made.__exit__)
