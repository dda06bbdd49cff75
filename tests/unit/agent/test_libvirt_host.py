"""VMs of libvirt's own test driver, which pins, but knows no weights."""

import pathlib
import time
import uuid

import fixtures
import testtools

from nova_twotier.agent.cgroups import cpu_controller
from nova_twotier.agent.guests import Busy, Gone, HypervisorError, Priority

try:
    import libvirt
except ImportError:
    libvirt = None

ABSENT = "libvirt-python is not installed: pip install '.[agent]'"
NAME = "guest"
#: A host of the test driver, which no other test shares.
NODE = """
<node>
  <domain type="test">
    <name>guest</name>
    <memory>8192</memory>
    <vcpu>2</vcpu>
    <os><type arch="i686">hvm</type></os>
  </domain>
  <cpu><nodes>1</nodes><sockets>1</sockets><cores>4</cores><threads>1</threads></cpu>
</node>
"""


@testtools.skipIf(libvirt is None, ABSENT)
class TestLibvirtHost(testtools.TestCase):
    def setUp(self):
        super().setUp()
        from nova_twotier.agent.libvirt_host import LibvirtHost

        node = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "node.xml")
        node.write_text(NODE)
        self.host = LibvirtHost(f"test://{node}", cpu_controller())
        self.addCleanup(self.host.close)
        self.changed = []
        self.host.listen(self.changed.append)

    def guest(self):
        [only] = self.host.running()
        return self.host.guest(only)

    def domain(self):
        return self.host._connection.lookupByName(NAME)

    def wait_for(self, changed):
        deadline = time.monotonic() + 60
        while self.changed != changed and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(changed, self.changed)

    def test_pins(self):
        before = self.guest()
        self.assertEqual((None, False), (before.weight, before.paused))
        self.host.apply(before, Priority(None, frozenset({1}), frozenset({0, 2})))
        after = self.host.guest(before.uuid)
        self.assertEqual({frozenset({1})}, set(after.vcpus))
        self.assertEqual(frozenset({0, 2}), after.emulator)

    def test_cpu_time(self):
        """Of both virtual CPUs, which the test driver makes up."""
        guest = self.guest()

        def of_virtual_cpus():
            return sum(each[2] for each in self.domain().vcpus()[0]) / 1e9

        before = of_virtual_cpus()
        used = self.host.cpu_time(guest.uuid)
        self.assertTrue(before <= used <= of_virtual_cpus(), used)
        self.domain().destroy()
        self.assertRaises(Gone, self.host.cpu_time, guest.uuid)

    def test_events(self):
        guest = self.guest()
        self.assertEqual([None], self.changed)
        self.domain().suspend()
        self.wait_for([None, guest.uuid])
        self.assertTrue(self.host.guest(guest.uuid).paused)
        self.domain().resume()
        self.wait_for([None, guest.uuid, guest.uuid])
        self.assertFalse(self.host.guest(guest.uuid).paused)
        self.assertFalse(self.host.is_busy(guest.uuid))

    def test_a_vm_that_is_off_or_unknown(self):
        guest = self.guest()
        self.domain().destroy()
        self.assertEqual([], self.host.running())
        self.assertRaises(Gone, self.host.guest, str(uuid.uuid4()))
        self.assertRaises(Gone, self.host.apply, guest, Priority(None, frozenset({1})))

    def test_a_vm_that_vanishes_meanwhile(self):
        """libvirt finds that a thread is not there any more, or that a file of it is not."""
        guest, wanted = self.guest(), Priority(None, frozenset({1}))
        error = libvirt.libvirtError("cannot set CPU affinity: No such process")
        error.err = (libvirt.VIR_ERR_SYSTEM_ERROR, *[None] * 8)

        def refuse(domain, *_):
            raise error

        def vanish(domain, *_):
            domain.destroy()
            raise error

        for fail, kind in ((refuse, HypervisorError), (vanish, Gone)):
            with fixtures.MonkeyPatch("libvirt.virDomain.pinVcpu", fail):
                found = self.assertRaises(HypervisorError, self.host.apply, guest, wanted)
            self.assertIs(kind, type(found))

    def test_a_vm_whose_monitor_is_lost(self):
        """It does not count as busy: the log is to say that it gets no priority."""
        guest, wanted = self.guest(), Priority(None, frozenset({1}))
        self.host._is_qemu = True

        def kind_for(reason):
            said = [libvirt.VIR_DOMAIN_CONTROL_ERROR, reason, 0]
            with fixtures.MonkeyPatch("libvirt.virDomain.controlInfo", lambda *_: said):
                return type(self.assertRaises(HypervisorError, self.host.apply, guest, wanted))

        monitor = libvirt.VIR_DOMAIN_CONTROL_ERROR_REASON_MONITOR
        self.assertIs(HypervisorError, kind_for(monitor))
        # libvirt also says this for a moment.
        self.assertIs(Busy, kind_for(libvirt.VIR_DOMAIN_CONTROL_ERROR_REASON_INTERNAL))

    def test_it_connects_again(self):
        self.host.running()
        self.host._connection.close()
        self.host._connection = None
        self.assertEqual(1, len(self.host.running()))

    def test_no_libvirt(self):
        from nova_twotier.agent.libvirt_host import LibvirtHost

        self.assertRaises(HypervisorError, LibvirtHost("test:///nothing", cpu_controller()).running)
