"""A libvirtd of the test's own, with guests that spin, all of the time or some of it."""

import contextlib
import fcntl
import os
import pathlib
import signal
import subprocess
import time
import uuid

from nova_twotier.agent.cgroups import cpu_controller
from nova_twotier.agent.vm_groups import VmGroups
from nova_twotier.tools.fakecloud import libvirtd
from tests.cloud.waiting import wait_for

DOMAIN = """
<domain type="qemu">
  <name>{name}</name>
  <uuid>{uuid}</uuid>
  <memory unit="MiB">16</memory>
  <vcpu>1</vcpu>
  <cputune><shares>{weight}</shares></cputune>
  <os><type arch="x86_64" machine="pc">hvm</type></os>
  <devices>
    <disk type="file" device="disk">
      <driver name="qemu" type="raw"/>
      <source file="{disk}"/>
      <target dev="hda" bus="ide"/>
      <shareable/>
    </disk>
    <controller type="usb" model="none"/>
    <memballoon model="none"/>
  </devices>
</domain>
"""
#: The code of boot sectors. `jmp $`.
SPIN = b"\xeb\xfe"
#: Spins for 14 s; then, for 14 s, spins and halts in turn for 0.44 s each; and so on. It goes by
#: the BIOS's count of ticks, 18.2 a second, at 0x46c.
PHASES = bytes.fromhex(
    "31c0 8ed8 fb"  # xor ax, ax; mov ds, ax; sti
    "a16c04"  # again: mov ax, [0x46c]
    "f6c401 75f8"  # test ah, 1; jnz again
    "a808 75f4"  # test al, 8; jnz again
    "f4 ebf1"  # hlt; jmp again
)
#: Changes 14 MiB of memory, from 1 MiB on, all the time: a migration that is slow does not end. For
#: that, its segment `es` is given all 4 GiB in protected mode, and keeps them in real mode.
WRITES = bytes.fromhex(
    "fa 31c0 8ed8"  # cli; xor ax, ax; mov ds, ax
    "0f0116467c"  # lgdt [table]
    "0f20c0 0c01 0f22c0"  # mov eax, cr0; or al, 1; mov cr0, eax
    "bb0800 8ec3"  # mov bx, 8; mov es, bx
    "24fe 0f22c0"  # and al, 0xfe; mov cr0, eax
    "66b801000000"  # mov eax, 1
    "66bf00001000 66b900003800"  # again: mov edi, 0x100000; mov ecx, 0x380000
    "f36667ab 6640 ebec"  # rep stos dword [es:edi]; inc eax; jmp again
    "0000000000000000 ffff00000092cf00"  # segments: none, and one of 4 GiB from 0 on
    "0f00 367c0000"  # table: its last byte, and where it is
)
#: The address of the last word that it changes, which is 0 before.
WRITTEN_LAST = 0xEFFFFC
#: The CPU weight of the group of all guests, and the highest, with cgroup v1 and v2.
GROUPS = (
    (pathlib.Path("/sys/fs/cgroup/cpu/machine/cpu.shares"), "262144"),
    (pathlib.Path("/sys/fs/cgroup/machine/cpu.weight"), "10000"),
    (pathlib.Path("/sys/fs/cgroup/machine.slice/cpu.weight"), "10000"),
)
#: The weight that Nova gives every domain.
NOVAS_WEIGHT = 1024


def missing():
    """Why there can be no guests here; empty if there can."""
    if not {0, 1} <= os.sched_getaffinity(0):
        return "CPU 1 for the guests and CPU 0 for their emulators are needed"
    return libvirtd.missing()


class Libvirtd:
    """A libvirtd with all its files in one directory.

    :param directory: its path must be short, since it becomes part of a socket's name.
    :param host: the name of its host.
    """

    def __init__(self, directory, host="host1"):
        self._directory, self._host = pathlib.Path(directory), host
        self.uri = libvirtd.uri(self._directory)

    def __enter__(self):
        import libvirt

        for name, code in (("spin", SPIN), ("phases", PHASES), ("writes", WRITES)):
            (self._directory / f"{name}.img").write_bytes(boot_sector(code))
        ready = self._directory / "ready"
        with open(self._directory / "out.log", "w") as log:
            command = libvirtd.prepare(self._directory, self._host, ready)
            self._process = subprocess.Popen(command, stdout=log, stderr=log)

        def is_ready():
            assert self._process.poll() is None, (self._directory / "out.log").read_text()
            return ready.exists()

        try:
            wait_for(is_ready, "libvirtd is ready")
            self.connection = libvirt.open(self.uri)
        except BaseException:
            self._process.kill()
            raise
        return self

    def __exit__(self, *_):
        for domain in self.connection.listAllDomains():
            if domain.isActive():
                domain.destroy()
        self.connection.close()
        self._process.kill()  # all processes of its namespace go with it
        self._process.wait(30)

    def spin(self, code="spin", paused=False):
        """A new guest, as Nova defines it, that uses all the CPU time it gets.

        :param code: "phases" for one that does so for some of the time, "writes" for one that
            writes to its memory.
        :param paused: whether to hold it before its first instruction.
        """
        import libvirt

        name = str(uuid.uuid4())
        disk = self._directory / f"{code}.img"
        domain = self.connection.defineXML(
            DOMAIN.format(name=f"twotier-{name}", uuid=name, weight=NOVAS_WEIGHT, disk=disk)
        )
        domain.createWithFlags(libvirt.VIR_DOMAIN_START_PAUSED if paused else 0)
        return domain

    def hard_reboot(self, domain):
        """What Nova does: another domain with the same uuid and the flavor's weight."""
        domain.destroy()
        self.connection.defineXML(
            DOMAIN.format(
                name=domain.name(),
                uuid=domain.UUIDString(),
                weight=NOVAS_WEIGHT,
                disk=self._directory / "spin.img",
            )
        ).create()


def boot_sector(code):
    """A disk that runs this code."""
    return code.ljust(510, b"\0") + b"\x55\xaa"


@contextlib.contextmanager
def the_cpu():
    """Have CPU 1 to oneself: the guests of other tests, which are run beside these, wait."""
    handle = os.open(cpu_controller().root, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def undisturbed():
    """Let guests have all the CPU time that they want, whatever else runs on the machine.

    It is the group of all guests that competes with other processes, by default as one of them.
    """
    [group, *_] = [path for path, _most in GROUPS if path.exists()]
    most = dict(GROUPS)[group]
    before = group.read_text()
    group.write_text(most)
    try:
        yield
    finally:
        group.write_text(before)


@contextlib.contextmanager
def stopped(domain):
    """Stop a guest's QEMU for a while: it does not answer libvirt either."""
    [process] = [
        pid
        for pid, command in _commands()
        if domain.UUIDString().encode() in command and b"-incoming" not in command
    ]
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def _commands():
    """The commands of all processes, by pid."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        # It may have ended meanwhile.
        with contextlib.suppress(OSError):
            yield int(path.parent.name), path.read_bytes()


def weight(domain):
    import libvirt

    return domain.schedulerParametersFlags(libvirt.VIR_DOMAIN_AFFECT_LIVE)["cpu_shares"]


def idle(domain):
    """Whether the domain is idle for the kernel."""
    return VmGroups(cpu_controller()).find(domain.UUIDString()).idle


def pins(domain):
    """The CPUs of the virtual CPU, and those of the emulator."""
    import libvirt

    live = libvirt.VIR_DOMAIN_AFFECT_LIVE
    maps = (domain.vcpuPinInfo(live)[0], domain.emulatorPinInfo(live))
    return tuple([cpu for cpu, allowed in enumerate(each) if allowed] for each in maps)


def await_split(domain, other):
    """Wait until a domain has 98 % of the time that the virtual CPUs of both get."""
    wait_for(
        lambda: _share(domain, other) >= 0.98, f"{domain.name()} has 98 % of the CPU", patience=60
    )


def _share(domain, other, seconds=3.0):
    def used():
        return [each.vcpus()[0][0][2] for each in (domain, other)]

    before = used()
    time.sleep(seconds)
    mine, others = (after - start for after, start in zip(used(), before, strict=True))
    # Where both get nothing for a while, neither has the CPU.
    return mine / max(1, mine + others)
