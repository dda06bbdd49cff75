"""Control groups of VMs, in trees as libvirt and systemd make them."""

import os
import pathlib

import fixtures
import testtools

from nova_twotier.agent.cgroups import CpuController, cpu_controller
from nova_twotier.agent.guests import Gone, HypervisorError
from nova_twotier.agent.vm_groups import VmGroups

VM, OTHER = "6a1c3cf5-5b5c-4b9c-a54c-0b5f7d5f0a01", "0c9f7c52-8c1e-4a0b-9b7e-2f8a0e6a0b02"
PLAIN = "machine/qemu-1-instance-00000001.libvirt-qemu"
SCOPE = r"machine.slice/machine-qemu\x2d1\x2dinstance\x2d00000001.scope"


class TestVmGroups(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.root, self.proc = self.directory / "cgroup", self.directory / "proc"
        self.proc.mkdir()
        (self.proc / "uptime").touch()

    def process(self, pid, uuid, groups):
        process = self.proc / str(pid)
        process.mkdir()
        arguments = ["/usr/bin/qemu-system-x86_64", "-name", "guest=x", "-uuid", uuid, ""]
        (process / "cmdline").write_text("\0".join(arguments))
        (process / "cgroup").write_bytes(groups.encode())

    def group(self, path, weight=1024, idle=0, version=1):
        group = self.root / path
        group.mkdir(parents=True)
        self.controller = CpuController(version, self.root)
        (group / self.controller.weight_file).write_text(f"{weight}\n")
        if idle is not None:
            (group / "cpu.idle").write_text(f"{idle}\n")
        return group

    def find(self, uuid=VM):
        return VmGroups(self.controller, self.proc).find(uuid)

    def test_wherever_it_is(self):
        for pid, (version, path, line) in enumerate(
            (
                (1, PLAIN, "3:cpu,cpuacct:/{}/emulator\n1:name=systemd:/\n0::/\n"),
                (1, SCOPE, "2:cpuset:/\n3:cpu,cpuacct:/{}/libvirt/emulator\n"),
                (2, PLAIN + "2", "0::/{}/emulator\n"),
                (2, SCOPE + "2", "0::/{}/libvirt/emulator\n"),
            )
        ):
            group = self.group(path, version=version)
            uuid = f"{VM}{pid}"
            self.process(pid, uuid, line.format(path))
            self.assertEqual(group, self.find(uuid).path)
        self.assertIsNone(self.find(OTHER))

    def test_a_user_whose_group_has_no_readable_name(self):
        group = self.group(PLAIN)
        self.process(1, OTHER, "")
        (self.proc / "1" / "cgroup").write_bytes(b"3:cpu:/user.slice/\xff\n")
        self.process(2, VM, f"3:cpu:/{PLAIN}/emulator\n")
        self.assertEqual(group, self.find().path)

    def test_a_user_whose_group_has_a_line_break_in_its_name(self):
        """Only a line feed ends a line of /proc/PID/cgroup; others are part of a name."""
        group = self.group(PLAIN)
        self.process(7, VM, f"3:cpu:/{PLAIN}/emulator\n")
        for pid, separator in enumerate(("\r", "\x85", "\u2028")):
            for forged in ("b", f"3:cpu:/{PLAIN}/emulator"):
                line = f"5:name=systemd:/user.slice/a{separator}{forged}\n"
                uuid = f"{OTHER}{pid}{len(forged)}"
                self.process(f"1{pid}{len(forged)}", uuid, f"{line}3:cpu:/user.slice\n")
                self.assertIsNone(self.find(uuid))
        self.assertEqual(group, self.find().path)

    def test_a_process_that_has_just_started(self):
        """It is in the group of libvirtd still, which is not to be changed."""
        self.group("system.slice/libvirtd.service")
        self.process(7, VM, "3:cpu:/system.slice/libvirtd.service\n")
        self.assertIsNone(self.find())

    def test_groups_that_users_made(self):
        group = self.group("user.slice/imitation")
        self.process(7, VM, "3:cpu:/user.slice/imitation/emulator\n")
        if os.geteuid():
            self.skipTest("only root can give files away")
        os.chown(group, 1000, 1000)
        self.assertIsNone(self.find())

    def test_a_vm_that_starts_again_has_another_group(self):
        groups = []
        for number in (1, 2):
            path = f"machine/qemu-{number}-x.libvirt-qemu"
            groups.append(self.group(path))
            self.process(number, VM, f"3:cpu:/{path}/emulator\n")
            if number == 1:
                finder = VmGroups(self.controller, self.proc)
                first = finder.find(VM)
                self.remove(groups[0], self.proc / "1")
        self.assertEqual(groups[1], finder.find(VM).path)
        self.assertRaises(Gone, lambda: first.weight)
        self.assertRaises(Gone, first.set_weight, 1)
        self.assertRaises(Gone, first.set_idle, True)

    def test_a_group_that_an_earlier_process_left_behind(self):
        self.check_the_second_group(lambda: self.remove(self.proc / "1"))

    def test_a_group_left_behind_and_the_id_of_its_process_in_use_again(self):
        def another():
            (self.proc / "1" / "cmdline").write_text("/bin/true\0")
            (self.proc / "1" / "cgroup").write_text("3:cpu:/user.slice\n")

        self.check_the_second_group(another)

    def check_the_second_group(self, end_the_first):
        """The group of the VM's present process counts, not the one that nobody is in."""
        for number in (1, 2):
            path = f"machine/qemu-{number}-x.libvirt-qemu"
            group = self.group(path)
            self.process(number, VM, f"3:cpu:/{path}/emulator\n")
            if number == 1:
                finder = VmGroups(self.controller, self.proc)
                finder.find(VM)
                end_the_first()
        self.assertEqual(group, finder.find(VM).path)

    def remove(self, *directories):
        for directory in directories:
            for file in directory.iterdir():
                file.unlink()
            directory.rmdir()

    def vm(self, **group):
        self.group(PLAIN, **group)
        self.process(7, VM, f"3:cpu:/{PLAIN}/emulator\n")
        return self.find()

    def test_weight_and_idle(self):
        group = self.vm()
        self.assertEqual((1024, False), (group.weight, group.idle))
        group.set_weight(100)
        group.set_idle(True)
        self.assertEqual((100, True), (group.weight, group.idle))
        group.set_weight(10000)
        self.assertEqual((10000, False), (group.weight, group.idle))

    def test_a_kernel_without_idle_groups(self):
        group = self.vm(idle=None)
        self.assertFalse(group.idle)
        group.set_weight(100)
        error = self.assertRaises(HypervisorError, group.set_idle, True)
        self.assertIn("unset [agent]background_idle", str(error))

    def test_a_group_without_the_cpu_controller(self):
        """The VM runs nevertheless, and the log is to say what is wrong."""
        group = self.vm()
        (group.path / "cpu.shares").unlink()
        error = self.assertRaises(HypervisorError, lambda: group.weight)
        self.assertNotIsInstance(error, Gone)
        self.assertIn("cpu.shares", str(error))


class TestCpuController(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.mount = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def test_version_1(self):
        self.assertEqual(CpuController(1, self.mount / "cpu"), cpu_controller(self.mount))

    def test_version_2(self):
        (self.mount / "cgroup.controllers").touch()
        controller = cpu_controller(self.mount)
        self.assertEqual(CpuController(2, self.mount), controller)
        self.assertFalse(controller.lacks_idle())
        group = self.mount / "machine.slice"
        group.mkdir()
        (group / "cpu.weight").touch()
        self.assertTrue(controller.lacks_idle())
        (group / "cpu.idle").touch()
        self.assertFalse(controller.lacks_idle())

    def test_weights(self):
        for version, least in ((1, 2), (2, 1)):
            controller = CpuController(version, self.mount)
            self.assertEqual([least, 10000], [controller.allowed(each) for each in (1, 10000)])
