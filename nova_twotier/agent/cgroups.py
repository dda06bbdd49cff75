"""The CPU controller of control groups on this host, v1 or v2: where it is, and what it knows."""

import pathlib
from dataclasses import dataclass

_MOUNT = pathlib.Path("/sys/fs/cgroup")
#: Lowest and highest CPU weight by version of cgroups. libvirt refuses to set others, and a domain
#: with others in its configuration does not start.
_RANGES = {1: (2, 262144), 2: (1, 10000)}
_WEIGHT_FILES = {1: "cpu.shares", 2: "cpu.weight"}
IDLE_FILE = "cpu.idle"


@dataclass(frozen=True, slots=True)
class CpuController:
    """The CPU controller.

    :param version: of cgroups.
    :param root: the directory of the group of all processes.
    """

    version: int
    root: pathlib.Path

    @property
    def weight_file(self) -> str:
        return _WEIGHT_FILES[self.version]

    def has(self, controllers: str) -> bool:
        """Whether a line of /proc/<pid>/cgroup that names these controllers is about this one."""
        return "cpu" in controllers.split(",") if self.version == 1 else not controllers

    def allowed(self, weight: int) -> int:
        """The CPU weight nearest to `weight` that this version of cgroups allows."""
        least, most = _RANGES[self.version]
        return min(max(weight, least), most)

    def lacks_idle(self) -> bool:
        """Whether the kernel knows no idle groups, as far as the groups that exist can show it.

        With v2 the root group has no such files, and others only have them where the controller is
        enabled for them.
        """
        groups = [
            group
            for group in (self.root, *self.root.glob("*/"))
            if (group / self.weight_file).exists()
        ]
        return bool(groups) and not any((group / IDLE_FILE).exists() for group in groups)


def cpu_controller(mount: pathlib.Path = _MOUNT) -> CpuController:
    """The CPU controller of this host; libvirt uses v1 where it is mounted.

    :param mount: where control groups are mounted.
    """
    if (mount / "cgroup.controllers").exists():
        return CpuController(2, mount)
    return CpuController(1, mount / "cpu")
