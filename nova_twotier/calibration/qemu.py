"""VMs of one virtual CPU: QEMU processes that boot a sector, with a serial port to this process."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
from collections.abc import Collection, Sequence

from nova_twotier.calibration.loads import LoadFailed, end_with

#: What the program is called; Red Hat has it outside of the path.
PROGRAMS = ("qemu-system-x86_64", "qemu-kvm", "/usr/libexec/qemu-kvm")
#: What QEMU calls the types of VMs of Nova and libvirt.
ACCELERATORS = {"kvm": "kvm", "qemu": "tcg"}
#: Seconds until a VM has to have booted and completed a step.
_PATIENCE = 20.0
#: Bytes of the disk: QEMU's BIOS boots none of one sector.
_DISK = 2**20
#: How QEMU names the thread of the first virtual CPU; what follows depends on the accelerator.
_VCPU = "CPU 0/"


class NoQemu(Exception):
    """QEMU is not installed; the message says what to do."""


def find() -> str:
    """The path of QEMU.

    :raises NoQemu: if it is nowhere.
    """
    for name in PROGRAMS:
        if path := shutil.which(name):
            return path
    raise NoQemu(
        "--vms needs QEMU: install qemu-system-x86 (Debian, Ubuntu) or qemu-kvm (Red Hat), or "
        "measure without --vms"
    )


def version(program: str) -> str:
    """QEMU's version, such as 7.2.22.

    :raises OSError: if the program cannot be run.
    """
    said = subprocess.run([program, "--version"], capture_output=True, check=False, text=True)  # noqa: S603
    return said.stdout.partition("version ")[2].partition(" ")[0].strip()


def arguments(program: str, vm_type: str, disk: int, line: int) -> Sequence[str]:
    """The command line of a VM with nothing but a disk and a serial port.

    :param disk: a file, and
    :param line: a socket that the program inherits.
    """
    return (
        program,
        *("-machine", "q35"),
        *("-accel", ACCELERATORS[vm_type]),
        *("-name", "twotier-calibrate,debug-threads=on"),
        *("-m", "8"),
        *("-display", "none"),
        "-nodefaults",
        "-no-user-config",
        *("-drive", f"file=/proc/self/fd/{disk},format=raw"),
        *("-chardev", f"socket,id=line,fd={line}"),
        *("-serial", "chardev:line"),
    )


class Vm:
    """A VM that runs until it is closed, or this process ends.

    :param sector: the first of its disk, which it boots.
    :param cpus: of all threads of QEMU, until its virtual CPU is moved elsewhere.
    :raises OSError: if it cannot be started.
    """

    def __init__(self, program: str, vm_type: str, sector: bytes, cpus: Collection[int]):
        #: What the guest writes to its serial port, and reads from it.
        self.line, theirs = socket.socketpair()
        disk = os.memfd_create("boot-sector")
        parent = os.getpid()

        def prepare() -> None:
            if not end_with(parent):
                os._exit(1)
            os.sched_setaffinity(0, cpus)

        try:
            os.write(disk, sector)
            os.ftruncate(disk, _DISK)
            self._process = subprocess.Popen(  # noqa: S603
                arguments(program, vm_type, disk, theirs.fileno()),
                pass_fds=(disk, theirs.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=prepare,
                process_group=0,  # Ctrl-C is this process's to handle
            )
        except BaseException:
            self.line.close()
            raise
        finally:
            theirs.close()
            os.close(disk)
        self.pid = self._process.pid
        self._complaint = ""

    @property
    def vcpu(self) -> int:
        """The thread of the virtual CPU.

        :raises LoadFailed: if there is none.
        """
        for task in pathlib.Path(f"/proc/{self.pid}/task").glob("*"):
            if (task / "comm").read_text().startswith(_VCPU):
                return int(task.name)
        raise LoadFailed(f"QEMU (process {self.pid}) has no thread named {_VCPU}*")

    def await_report(self) -> None:
        """Wait until the guest writes to its serial port.

        :raises LoadFailed: if it does not.
        """
        self.line.settimeout(_PATIENCE)
        try:
            if not self.line.recv(1):
                raise LoadFailed(f"QEMU has ended by itself: {self.close()}")
        except TimeoutError:
            raise LoadFailed(f"a guest has done nothing for {_PATIENCE:.0f} s") from None
        self.line.settimeout(None)

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def close(self) -> str:
        """End it, if it has not ended; what QEMU complained of last."""
        self._process.kill()
        if self._process.stderr and not self._process.stderr.closed:
            _out, errors = self._process.communicate()
            self._complaint = errors.strip().rpartition("\n")[2]
        return self._complaint
