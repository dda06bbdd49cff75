"""Jobs of VMs: emulated guests of QEMU, and which type of VMs is taken."""

import contextlib
import io
import os
import pathlib
import signal
import time
import unittest

import testtools
from fixtures import MonkeyPatch

from nova_twotier.calibration import qemu, vms
from nova_twotier.calibration.loads import Load, LoadFailed
from tests.unit.calibration.steps import PATIENCE, await_steps

CPUS = sorted(os.sched_getaffinity(0))
#: A step that is short, but leaves the CPU to others.
LIGHT = Load(scans=20, pause=0.004)


class NoGroup:
    """A control group that leaves processes where they are."""

    def add_process(self, pid):
        pass


class TestKind(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(MonkeyPatch("nova_twotier.calibration.qemu.version", lambda _path: "9"))

    def kind(self, *types, working):
        def scan_seconds(hypervisor, _cpu):
            if hypervisor.vm_type not in working:
                raise LoadFailed("it does not run")
            return 0.001

        self.useFixture(MonkeyPatch("nova_twotier.calibration.vms.scan_seconds", scan_seconds))
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            return vms.kind(types, "qemu", NoGroup(), CPUS[:1]), err.getvalue()

    def test_the_first_that_works(self):
        found, said = self.kind("kvm", "qemu", working={"kvm", "qemu"})
        self.assertEqual(("VMs (kvm, QEMU 9)", 0.001, ""), (found.name, found.scan, said))

    def test_another_if_it_does_not(self):
        found, said = self.kind("kvm", "qemu", working={"qemu"})
        self.assertEqual("VMs (qemu, QEMU 9)", found.name)
        self.assertEqual("VMs of type kvm do not work here: it does not run; trying qemu\n", said)

    def test_the_one_that_was_chosen_or_none(self):
        with testtools.ExpectedException(
            LoadFailed, "VMs of type kvm .* it does not run; see --vm.*"
        ):
            self.kind("kvm", working={"qemu"})


class TestJob(testtools.TestCase):
    """Real QEMU; the guests are emulated."""

    def setUp(self):
        super().setUp()
        try:
            program = qemu.find()
        except qemu.NoQemu as error:
            raise unittest.SkipTest(str(error)) from error
        self.hypervisor = vms.Hypervisor(program, "qemu", NoGroup(), frozenset(CPUS))

    def job(self, cpus, load):
        return vms.VmJob(self.hypervisor, cpus, load)

    def test_it_counts_its_steps_its_time_and_its_cpu_time(self):
        with self.job(CPUS[:1], LIGHT) as job:
            job.resume()
            first = await_steps(job, 3)
            last = await_steps(job, first.steps + 7)
        steps = last.steps - first.steps
        self.assertGreater(last.at - first.at, steps * LIGHT.pause - 1e-9)
        self.assertGreater(last.cpu, first.cpu)
        self.assertLess(last.cpu - first.cpu, last.at - first.at)

    def test_more_work_takes_more_cpu_time(self):
        used = []
        for scans in (20, 400):
            with self.job(CPUS[:1], Load(scans, LIGHT.pause)) as job:
                job.resume()
                first = await_steps(job, 5)
                used.append(await_steps(job, first.steps + 20).cpu - first.cpu)
        self.assertGreater(used[1], 2 * used[0])

    def test_one_that_waits_for_nobody(self):
        with self.job(CPUS[:1], Load(scans=20)) as job:
            job.resume()
            first = await_steps(job, 100)
            self.assertGreater(await_steps(job, first.steps + 100).cpu, first.cpu)

    def test_it_does_nothing_while_it_is_paused(self):
        with self.job(CPUS[:1], LIGHT) as job:
            job.resume()
            await_steps(job, 1)
            job.pause()
            self.await_rest(job.sample)
            before = job.sample()
            time.sleep(0.05)
            self.assertEqual(before, job.sample())

    def await_rest(self, sample):
        """Wait until it stays the same for a second.

        A stop takes effect as soon as the threads would run on, and what they have reported by then
        is still on its way.
        """
        deadline = time.monotonic() + PATIENCE
        seen = []
        while len(seen) < 10 or len({*seen[-10:]}) > 1:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
            seen.append(sample())

    @unittest.skipIf(len(CPUS) < 2, "one CPU has no parallel jobs")
    def test_its_guests_wait_for_each_other(self):
        with self.job(CPUS[:2], Load(scans=20)) as job:
            job.resume()
            await_steps(job, 20)
            os.kill(job._vms[1].pid, signal.SIGSTOP)
            self.await_rest(lambda: job.sample().steps)
            before = job.sample().steps
            time.sleep(0.1)
            self.assertEqual(before, job.sample().steps)
            job.resume()
            await_steps(job, before + 5)

    def test_its_virtual_cpu_has_its_cpu(self):
        with self.job(CPUS[-1:], LIGHT) as job:
            [thread] = job.pids.values()
            self.assertEqual({CPUS[-1]}, os.sched_getaffinity(thread))
            [vm] = job._vms
            self.assertNotEqual(vm.pid, thread)
            self.assertEqual(set(CPUS), os.sched_getaffinity(vm.pid))

    def test_one_that_ends_by_itself_is_noticed(self):
        with self.job(CPUS[:1], LIGHT) as job:
            os.kill(job._vms[0].pid, signal.SIGKILL)
            with testtools.ExpectedException(LoadFailed, f".*CPU {CPUS[0]} has ended.*"):
                await_steps(job, 10**9)

    def test_none_is_left(self):
        with self.job(CPUS[:2], LIGHT) as job:
            pids = [vm.pid for vm in job._vms]
            job.resume()
        for pid in pids:
            self.assertRaises(ProcessLookupError, os.kill, pid, 0)
        self.assertFalse(job._relay.is_alive())

    def test_none_is_left_if_one_does_not_start(self):
        calls = []

        def vcpu(vm):
            calls.append(vm.pid)
            raise LoadFailed("it has none")

        self.useFixture(MonkeyPatch("nova_twotier.calibration.qemu.Vm.vcpu", property(vcpu)))
        with testtools.ExpectedException(LoadFailed, "it has none"), self.job(CPUS[:1], LIGHT):
            pass
        self.assertFalse(pathlib.Path(f"/proc/{calls[0]}").exists())

    def test_the_speed_of_a_guest(self):
        self.assertGreater(vms.scan_seconds(self.hypervisor, CPUS[0]), 0)

    def test_guests_that_are_too_slow(self):
        self.useFixture(MonkeyPatch("nova_twotier.calibration.vms._LONGEST_SCAN", 1e-9))
        with testtools.ExpectedException(LoadFailed, "guests are too slow.*"):
            vms.scan_seconds(self.hypervisor, CPUS[0])
