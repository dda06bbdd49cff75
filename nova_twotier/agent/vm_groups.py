"""The control groups of VMs, as files: for what libvirt cannot do, or refuses just now.

libvirt has no call for `cpu.idle`, and lets nobody change the weight of a VM that it is starting,
saving, restoring or migrating.
"""

import contextlib
import errno
import os
import pathlib
import re
from collections.abc import Iterator

from nova_twotier.agent.cgroups import IDLE_FILE, CpuController
from nova_twotier.agent.guests import Gone, HypervisorError

_PROC = pathlib.Path("/proc")
#: What precedes a VM's uuid among the arguments that libvirt gives to QEMU.
_UUID = b"-uuid"
#: Where QEMU's main thread is, below the VM's own group: `libvirt/` where systemd made the group.
_BELOW = re.compile(r"(?:/libvirt)?/emulator$")
#: Errors of a file whose group was removed before or after it was opened.
_REMOVED = (errno.ENOENT, errno.ENODEV)


class VmGroup:
    """The group whose weight ranks a VM among all VMs.

    `cpu.idle` belongs to this group, too: in the groups below, of virtual CPUs and of the emulator,
    it would rank the threads of one VM among each other only. So would SCHED_IDLE, the policy of a
    thread.
    """

    def __init__(self, path: pathlib.Path, controller: CpuController):
        self.path = path
        self._weight_file = path / controller.weight_file
        self._idle_file = path / IDLE_FILE

    @property
    def weight(self) -> int:
        """The CPU weight of the VM; without meaning while the VM is idle.

        :raises Gone: if the VM no longer runs.
        :raises HypervisorError: if the CPU controller is not enabled for the group.
        """
        with self._errors():
            return int(self._weight_file.read_text())

    @property
    def idle(self) -> bool:
        """Whether it gets only CPU time that no group beside it wants.

        :raises Gone: if the VM no longer runs.
        """
        if not self._idle_file.exists():
            return False
        with self._errors():
            return self._idle_file.read_text().strip() == "1"

    def set_weight(self, weight: int) -> None:
        """Set its CPU weight, which also makes it not idle.

        :raises Gone: if the VM no longer runs.
        :raises HypervisorError: if the kernel refuses.
        """
        # The kernel gives an idle group no weight, and one that ceases to be idle the default.
        self.set_idle(False)
        with self._errors():
            self._weight_file.write_text(str(weight))

    def set_idle(self, idle: bool) -> None:
        """Let the VM have only CPU time that no other VM wants, or end that.

        :raises Gone: if the VM no longer runs.
        :raises HypervisorError: if the kernel refuses, or does not know idle groups.
        """
        if idle == self.idle:
            return
        if not self._idle_file.exists() and self.path.exists():
            raise HypervisorError(
                f"{self._idle_file} does not exist: this kernel has no idle groups; unset "
                "[agent]background_idle"
            )
        with self._errors():
            self._idle_file.write_text(str(int(idle)))

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Translate errors of the group's files into `HypervisorError` and `Gone`."""
        try:
            yield
        except OSError as error:
            # A group without the CPU controller lacks the file, too.
            gone = error.errno in _REMOVED and not self.path.exists()
            raise (Gone if gone else HypervisorError)(f"control group: {error}") from error


class VmGroups:
    """Finds the groups of VMs by QEMU's processes, wherever libvirt or systemd have put them.

    :param proc: where the kernel shows processes.
    """

    def __init__(self, controller: CpuController, proc: pathlib.Path = _PROC):
        self._controller, self._proc = controller, proc
        #: By uuid, with the process that was found there.
        self._found: dict[str, tuple[pathlib.Path, VmGroup]] = {}

    def find(self, uuid: str) -> VmGroup | None:
        """The group of a VM.

        None while its process is not in it yet, or if this process may not see it.
        """
        found = self._found.get(uuid)
        # An earlier process of the VM may have left its group behind, and another may have its id.
        if found is None or self._group_of(found[0]) != found[1].path:
            self._found = dict(self._scan())
            found = self._found.get(uuid)
        return found and found[1]

    def _scan(self) -> Iterator[tuple[str, tuple[pathlib.Path, VmGroup]]]:
        for process in self._proc.glob("[0-9]*"):
            try:
                arguments = (process / "cmdline").read_bytes().split(b"\0")
                uuid = arguments[arguments.index(_UUID) + 1].decode()
            except (OSError, ValueError, IndexError):
                continue  # it has ended, or is no VM
            path = self._group_of(process)
            if path is not None:
                yield uuid, (process, VmGroup(path, self._controller))

    def _group_of(self, process: pathlib.Path) -> pathlib.Path | None:
        """Find the control group of a VM from /proc/<pid> of its QEMU.

        None if the process has ended, or is no QEMU.
        """
        try:
            groups = os.fsdecode((process / "cgroup").read_bytes())
        except OSError:
            return None
        # Users may call their groups anything without a line feed: other ends of lines, too.
        for line in groups.split("\n")[:-1]:
            _number, controllers, path = line.split(":", 2)
            if self._controller.has(controllers):
                # Right after its start, QEMU may be in libvirtd's own group, which is not for us
                # to change.
                own, below = _BELOW.subn("", path)
                group = self._controller.root / own.lstrip("/")
                return group if below and _is_ours(group) else None
        return None


def _is_ours(group: pathlib.Path) -> bool:
    """Whether we made it, or who has the same rights: users may imitate processes and groups."""
    try:
        return group.stat().st_uid == os.geteuid()
    except OSError:
        return False
