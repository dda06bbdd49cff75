"""The command line, and short real runs that leave nothing behind."""

import contextlib
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import fixtures
import testtools

from nova_twotier.calibration import arguments, cgroups, qemu
from nova_twotier.cmd import calibrate
from nova_twotier.sim import calibration

CPU = str(max(os.sched_getaffinity(0)))
PATIENCE = 120


def unusable():
    """Why no calibration can run here; empty if one can."""
    try:
        hierarchy = cgroups.find(pathlib.Path("/proc/self/mounts").read_text())
        with cgroups.Groups(hierarchy, [0]):
            return ""
    except cgroups.CgroupsUnusable as error:
        return str(error)


def groups_of(pid):
    """The control groups that a process has made."""
    hierarchy = cgroups.find(pathlib.Path("/proc/self/mounts").read_text())
    return list(hierarchy.root.glob(f"{cgroups.PREFIX}{pid}-*"))


class TestArguments(testtools.TestCase):
    def refused(self, *arguments):
        err = io.StringIO()
        with contextlib.redirect_stderr(err), testtools.ExpectedException(SystemExit):
            calibrate.main(list(arguments))
        return err.getvalue().splitlines()[-1].partition("error: ")[2]

    def test_errors(self):
        for given, message in (
            (["--cpus", "a"], "argument --cpus: 'a' must be CPU numbers, such as 2-4,8"),
            (["--cpus", "9999"], "argument --cpus: this process may not use CPU 9999"),
            (
                ["--cpus", CPU, "--layouts", "parallel"],
                "argument --layouts: parallel needs two CPUs",
            ),
            (
                ["--vms", "xen"],
                "argument --vms: 'xen' is not one of kvm, qemu, auto",
            ),
            (
                ["--layouts", "wide"],
                "argument --layouts: 'wide' is not one of single, parallel, spread",
            ),
            (
                ["--utilisations", "0.4,2"],
                "argument --utilisations: '2' must be a number above 0, up to 1",
            ),
            (["--repetitions", "4"], "argument --repetitions: '4' must be a number from 5 on"),
            (
                ["--mechanisms", "equal"],
                "argument --model-of: shares:10000:100 is not among the --mechanisms",
            ),
            (
                ["--mechanisms", "fast"],
                "argument --mechanisms: 'fast' is not one of equal, cpu.idle, sched_idle, nice, "
                "shares:FG:BG (such as shares:10000:100)",
            ),
        ):
            self.assertEqual(message, self.refused(*given))

    def test_vms(self):
        for given, types in (
            ([], ()),
            (["--vms"], ("kvm", "qemu")),
            (["--vms", "auto"], ("kvm", "qemu")),
            (["--vms=qemu"], ("qemu",)),
        ):
            self.assertEqual(types, arguments.parse([f"--cpus={CPU}", *given]).vms)

    def test_without_qemu_it_says_what_to_do(self):
        self.useFixture(fixtures.MonkeyPatch("shutil.which", lambda _name: None))
        err = io.StringIO()
        output = self.useFixture(fixtures.TempDir()).path
        with contextlib.redirect_stderr(err):
            self.assertEqual(1, calibrate.main(["--vms", f"--cpus={CPU}", f"--output={output}"]))
        self.assertIn("install qemu-system-x86", err.getvalue())

    def test_without_rights_it_says_what_to_do(self):
        self.useFixture(fixtures.MonkeyPatch("os.access", lambda _path, _mode: False))
        mounts = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / "mounts"
        mounts.write_text(f"cgroup {mounts.parent} cgroup rw,cpu 0 0\n")
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.calibration.command.MOUNTS", mounts))
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            self.assertEqual(1, calibrate.main(["--output", str(mounts.parent / "out")]))
        self.assertIn("run as root, or give --cgroup", err.getvalue())


class TestRun(testtools.TestCase):
    """Real loads in real control groups."""

    def setUp(self):
        super().setUp()
        if reason := unusable():
            raise unittest.SkipTest(reason)
        self.output = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / "out"

    def start(self, *options):
        """A calibration of one point: a job of one process, and a background below it."""
        command = [sys.executable, "-m", "nova_twotier.cmd.calibrate", f"--cpus={CPU}"]
        process = subprocess.Popen(
            [
                *command,
                "--utilisations=1",
                "--repetitions=5",
                f"--output={self.output}",
                *options,
            ],
            # Where the tests run in the background of a script, the shell has it ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def loads(self, process):
        """The process ids of its loads, QEMU's for VMs, once there are two."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            assert process.poll() is None, process.communicate()
            found = {
                pid
                for group in groups_of(process.pid)
                for path in group.glob("*/cgroup.procs")
                for pid in path.read_text().split()
            }
            if len(found) == 2:
                return [int(pid) for pid in found]
            time.sleep(0.02)
        raise AssertionError("no loads were started")

    def await_end(self, pids):
        deadline = time.monotonic() + PATIENCE
        while any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids):
            assert time.monotonic() < deadline, pids
            time.sleep(0.02)

    def run_wholly(self, *options):
        """What it printed, and its results."""
        process = self.start(
            "--mechanisms=equal,shares:10000:2",
            "--model-of=shares:10000:2",
            "--seconds=0.3",
            "--max-drift=9",
            "--max-wait=9",
            "--group-weight=262144",
            *options,
        )
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(0, process.returncode, err)
        self.assertEqual([], groups_of(process.pid))
        results = json.loads((self.output / "results.json").read_text())
        efficiency = {
            point["mechanism"]: point["efficiency"]["median"]
            for point in results["points"]
            if point["nominal"] == 1
        }
        # A foreground that never sleeps leaves half of the CPU, or next to nothing.
        self.assertLess(3 * efficiency["shares:10000:2"], efficiency["equal"], out)
        low, high = calibration.get(str(self.output / "model.json")).eff_single
        self.assertTrue(0 <= low <= high <= 1, (low, high))
        return out + err, results

    def test_a_whole_run(self):
        printed, results = self.run_wholly()
        self.assertIn("32 turns with processes on CPU", printed)
        self.assertEqual("processes", results["conditions"]["loads"])
        self.assertTrue((self.output / "plot.png").exists())

    def needs_qemu(self):
        try:
            qemu.find()
        except qemu.NoQemu as error:
            raise unittest.SkipTest(str(error)) from error

    def test_a_whole_run_with_vms(self):
        self.needs_qemu()
        printed, results = self.run_wholly("--vms=qemu", "--utilisations=0.5,1")
        self.assertIn("Measured with VMs (qemu, QEMU ", printed)
        self.assertIn("VMs (qemu, QEMU ", results["conditions"]["loads"])
        # A guest that pauses for half of each step leaves the CPU to others meanwhile. On a busy
        # machine, one that never pauses does not get all of it either.
        half, full = (point["utilisation"] for point in results["points"][:2])
        self.assertTrue(0.1 < half < 0.8, (half, full))
        self.assertGreater(full, 0.75 * half)

    def test_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.interrupt(number)

    def test_interrupted_with_vms(self):
        self.needs_qemu()
        self.interrupt(signal.SIGINT, "--vms=qemu")

    def interrupt(self, number, *options):
        process = self.start(*options)
        loads = self.loads(process)
        process.send_signal(number)
        _out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(130, process.returncode, err)
        self.assertIn("interrupted; all control groups are removed", err)
        self.assertEqual([], groups_of(process.pid))
        self.await_end(loads)

    def test_killed(self):
        self.kill()

    def test_killed_with_vms(self):
        self.needs_qemu()
        self.kill("--vms=qemu")

    def kill(self, *options):
        process = self.start(*options)
        loads = self.loads(process)
        process.kill()
        process.wait(PATIENCE)
        self.await_end(loads)  # the kernel ends them with their parent
        # Another calibration, of this test or of another one, removes what the killed one left.
        self.assertEqual("", unusable())
        # That of another test may be about to.
        deadline = time.monotonic() + PATIENCE
        while left := groups_of(process.pid):
            self.assertLess(time.monotonic(), deadline, left)
            time.sleep(0.02)
