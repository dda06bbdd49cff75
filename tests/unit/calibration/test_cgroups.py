"""Control groups on directories that look like them."""

import fcntl
import os
import pathlib

import fixtures
import testtools

from nova_twotier.agent.cgroups import CpuController
from nova_twotier.calibration import cgroups
from nova_twotier.calibration.cgroups import CgroupsUnusable, Groups, find
from tests.unit.calibration.fake_tree import FakeTree


class TestFind(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def test_version_1(self):
        mounts = (
            f"cgroup /memory cgroup rw,memory 0 0\ncgroup {self.root} cgroup rw,cpu,cpuacct 0 0"
        )
        self.assertEqual(CpuController(1, self.root), find(mounts))

    def test_version_2(self):
        (self.root / "cgroup.controllers").write_text("cpuset cpu io\n")
        found = find(f"cgroup2 {self.root} cgroup2 rw,nsdelegate 0 0")
        self.assertEqual(CpuController(2, self.root), found)

    def test_a_group_that_was_delegated(self):
        own = self.root / "own"
        own.mkdir()
        (own / "cgroup.controllers").write_text("cpu\n")
        found = find(f"cgroup2 {self.root} cgroup2 rw 0 0", own)
        self.assertEqual(CpuController(2, own), found)

    def test_no_controller(self):
        (self.root / "cgroup.controllers").write_text("memory\n")
        for mounts in ("", f"cgroup2 {self.root} cgroup2 rw 0 0"):
            with testtools.ExpectedException(CgroupsUnusable, ".*has no CPU controller.*"):
                find(mounts)

    def test_no_such_group(self):
        with testtools.ExpectedException(CgroupsUnusable, "/nowhere is no control group"):
            find("cgroup /somewhere cgroup rw,cpu 0 0", pathlib.Path("/nowhere"))

    def test_a_group_of_somebody_else(self):
        self.useFixture(fixtures.MonkeyPatch("os.access", lambda _path, _mode: False))
        with testtools.ExpectedException(CgroupsUnusable, ".*run as root, or give --cgroup.*"):
            find(f"cgroup {self.root} cgroup rw,cpu 0 0")


class TestGroups(testtools.TestCase):
    def test_made_and_removed(self):
        for version in (1, 2):
            tree = self.useFixture(FakeTree(version))
            with Groups(tree.hierarchy, [0, 3]) as groups:
                [top] = tree.root.glob("twotier-calibrate-*")
                self.assertIn(f"-{os.getpid()}-", top.name)
                names = {path.name for path in top.iterdir() if path.is_dir()}
                self.assertEqual({"front-0", "front-3", "back-0", "back-3"}, names)
                self.assertEqual(
                    [top / "back-0", top / "back-3"], [groups.back[cpu].path for cpu in (0, 3)]
                )
            self.assertFalse(top.exists())

    def test_for_threads(self):
        for version, members in ((1, "tasks"), (2, "cgroup.threads")):
            tree = self.useFixture(FakeTree(version))
            with Groups(tree.hierarchy, [0], threaded=True) as groups:
                groups.front[0].add(7)
                self.assertEqual("7", tree.read(f"front-0/{members}"))
                groups.rest.add_process(8)
                self.assertEqual("8", tree.read("rest/cgroup.procs"))
                weight_file = tree.hierarchy.weight_file
                self.assertEqual(str(cgroups.FRONT_WEIGHT), tree.read(f"rest/{weight_file}"))
                types = [path.read_text() for path in groups.rest.path.glob("cgroup.type")]
                self.assertEqual(["threaded"] if version == 2 else [], types)
            self.assertEqual([], list(tree.root.glob("twotier-calibrate-*")))

    def test_removed_after_an_error(self):
        tree = self.useFixture(FakeTree(1))
        with testtools.ExpectedException(KeyboardInterrupt), Groups(tree.hierarchy, [0]):
            raise KeyboardInterrupt
        self.assertEqual([], list(tree.root.iterdir()))

    def test_version_2_passes_the_controller_on_and_takes_it_back(self):
        tree = self.useFixture(FakeTree(2))
        control = tree.root / "cgroup.subtree_control"
        with Groups(tree.hierarchy, [0]):
            self.assertEqual("+cpu", control.read_text())
            self.assertEqual("+cpu", tree.read("cgroup.subtree_control"))
        self.assertEqual("-cpu", control.read_text())

    def test_version_2_leaves_a_controller_that_was_on(self):
        tree = self.useFixture(FakeTree(2))
        control = tree.root / "cgroup.subtree_control"
        control.write_text("cpu memory\n")
        with Groups(tree.hierarchy, [0]):
            pass
        self.assertEqual("cpu memory\n", control.read_text())

    def test_weights_within_what_the_version_allows(self):
        for version, name, low, high in ((1, "cpu.shares", 2, 262144), (2, "cpu.weight", 1, 10000)):
            tree = self.useFixture(FakeTree(version))
            with Groups(tree.hierarchy, [0], weight=10**6) as groups:
                groups.back[0].weigh(1)
                self.assertEqual(str(low), tree.read(f"back-0/{name}"))
                self.assertEqual(str(high), tree.read(name))


class TestLeftovers(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.tree = self.useFixture(FakeTree(1))
        self.left = self.tree.root / "twotier-calibrate-1-abc"
        (self.left / "front-0").mkdir(parents=True)

    def test_the_next_calibration_removes_them(self):
        with Groups(self.tree.hierarchy, [0]):
            self.assertFalse(self.left.exists())

    def test_one_that_still_runs_is_left_alone(self):
        handle = os.open(self.left, os.O_RDONLY)
        self.addCleanup(os.close, handle)
        fcntl.flock(handle, fcntl.LOCK_EX)
        with Groups(self.tree.hierarchy, [0]):
            self.assertTrue(self.left.exists())

    def test_other_groups_are_left_alone(self):
        other = self.tree.root / "machine"
        other.mkdir()
        self.assertEqual([self.left.name], cgroups.remove_leftovers(self.tree.root))
        self.assertTrue(other.exists())
