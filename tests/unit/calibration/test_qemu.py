"""How QEMU is found and started, with programs that stand for it."""

import os
import pathlib

import fixtures
import testtools

from nova_twotier.calibration import qemu
from nova_twotier.calibration.loads import LoadFailed

CPUS = os.sched_getaffinity(0)


class TestFind(testtools.TestCase):
    def test_red_hats(self):
        found = {"/usr/libexec/qemu-kvm": "/usr/libexec/qemu-kvm"}
        self.useFixture(fixtures.MonkeyPatch("shutil.which", found.get))
        self.assertEqual("/usr/libexec/qemu-kvm", qemu.find())

    def test_none(self):
        self.useFixture(fixtures.MonkeyPatch("shutil.which", lambda _name: None))
        with testtools.ExpectedException(qemu.NoQemu, ".*install qemu-system-x86.*"):
            qemu.find()


class TestArguments(testtools.TestCase):
    def test_types(self):
        for vm_type, accelerator in (("kvm", "kvm"), ("qemu", "tcg")):
            program, *found = qemu.arguments("/bin/q", vm_type, 4, 5)
            self.assertEqual("/bin/q", program)
            self.assertEqual(accelerator, found[found.index("-accel") + 1])

    def test_the_guest_has_its_disk_and_its_line(self):
        found = qemu.arguments("q", "kvm", disk=4, line=5)
        self.assertIn("file=/proc/self/fd/4,format=raw", found)
        self.assertIn("socket,id=line,fd=5", found)


class TestProgram(testtools.TestCase):
    """Programs that are no QEMU."""

    def program(self, script):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / "qemu"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)

    def vm(self, script):
        vm = qemu.Vm(self.program(script), "kvm", b"sector", CPUS)
        self.addCleanup(vm.line.close)
        self.addCleanup(vm.close)
        return vm

    def test_version(self):
        for said, version in (
            ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg)", "7.2.22"),
            ("QEMU emulator version 9.0.0", "9.0.0"),
            ("something else", ""),
        ):
            self.assertEqual(version, qemu.version(self.program(f"echo '{said}'")))

    def test_one_that_refuses(self):
        vm = self.vm("echo 'failed to initialize kvm' >&2; exit 1")
        with testtools.ExpectedException(LoadFailed, ".*failed to initialize kvm"):
            vm.await_report()
        self.assertTrue(vm.ended)

    def test_one_that_does_nothing(self):
        self.useFixture(fixtures.MonkeyPatch(f"{qemu.__name__}._PATIENCE", 0.1))
        vm = self.vm("exec sleep 600")
        with testtools.ExpectedException(LoadFailed, "a guest has done nothing.*"):
            vm.await_report()
        self.assertFalse(vm.ended)
        vm.close()
        self.assertTrue(vm.ended)

    def test_one_without_a_virtual_cpu(self):
        vm = self.vm("exec sleep 600")
        with testtools.ExpectedException(LoadFailed, "QEMU .* has no thread named CPU 0/.*"):
            _ = vm.vcpu

    def test_it_gets_the_disk(self):
        vm = self.vm('head -c 6 "$(echo "$*" | grep -o "/proc/self/fd/[0-9]*")" >&2')
        with testtools.ExpectedException(LoadFailed, ".*sector"):
            vm.await_report()

    def test_none_there(self):
        self.assertRaises(FileNotFoundError, qemu.Vm, "/no/qemu", "kvm", b"", CPUS)
