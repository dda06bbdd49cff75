"""Control groups of a calibration, of cgroup v1 or v2: made, filled, and always removed again."""

import contextlib
import errno
import fcntl
import os
import pathlib
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence

from nova_twotier.agent.cgroups import IDLE_FILE, CpuController

#: Begins the name of a calibration's own group; its process id follows.
PREFIX = "twotier-calibrate-"
#: The weight that groups have by default, by version.
DEFAULT_WEIGHTS = {1: 1024, 2: 100}
#: Lists the processes of a group, and those of its threads that are in it, by version.
_PROCESSES_FILE, _THREADS_FILES = "cgroup.procs", {1: "tasks", 2: "cgroup.threads"}
#: The weight of the foreground unless another is measured.
FRONT_WEIGHT = 10000
#: Signals that end a calibration.
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Seconds to wait until the kernel has let go of processes that were killed.
_PATIENCE = 5.0


class CgroupsUnusable(Exception):
    """No control groups can be made here; the message says why and what to do."""


def find(mounts: str, parent: pathlib.Path | None = None) -> CpuController:
    """This host's CPU controller; its root is the group in which a calibration makes its own.

    :param mounts: the text of /proc/self/mounts.
    :param parent: the group to use instead of the root of the hierarchy.
    :raises CgroupsUnusable: if it is nowhere.
    """
    for line in mounts.splitlines():
        _device, point, kind, options, *_ = line.split()
        directory = pathlib.Path(point)
        if kind == "cgroup" and "cpu" in options.split(","):
            return _checked(CpuController(1, parent or directory))
        if kind == "cgroup2":
            controllers = (parent or directory) / "cgroup.controllers"
            if controllers.exists() and "cpu" in controllers.read_text().split():
                return _checked(CpuController(2, parent or directory))
    raise CgroupsUnusable(
        f"{parent or 'this host'} has no CPU controller of control groups, version 1 or 2: see "
        "/proc/self/mounts, and in version 2 cgroup.controllers of the parent group"
    )


def _checked(controller: CpuController) -> CpuController:
    if not controller.root.is_dir():
        raise CgroupsUnusable(f"{controller.root} is no control group")
    if not os.access(controller.root, os.W_OK):
        raise CgroupsUnusable(
            f"{controller.root} may not be written: run as root, or give --cgroup a group that was "
            "delegated to you and holds no processes"
        )
    return controller


class Group:
    """One control group for CPU time.

    :param threaded: single threads of a process may be in it.
    """

    def __init__(self, path: pathlib.Path, controller: CpuController, threaded: bool = False):
        self.path = path
        self._controller = controller
        self._members = _THREADS_FILES[controller.version] if threaded else _PROCESSES_FILE

    def add(self, pid: int) -> None:
        """Move a process here, or, if this group is threaded, one thread."""
        (self.path / self._members).write_text(str(pid))

    def add_process(self, pid: int) -> None:
        """Move a process here, with all its threads."""
        (self.path / _PROCESSES_FILE).write_text(str(pid))

    def weigh(self, weight: int) -> None:
        """Set its weight, or the nearest that this version of control groups allows."""
        allowed = self._controller.allowed(weight)
        (self.path / self._controller.weight_file).write_text(str(allowed))

    @property
    def can_idle(self) -> bool:
        return (self.path / IDLE_FILE).exists()

    def idle(self, on: bool) -> None:
        """Let it run only where nothing else wants to; off, it has the default weight again."""
        (self.path / IDLE_FILE).write_text(str(int(on)))


class Groups:
    """The groups of one calibration, a pair for each CPU, in a group of their own.

    Each process has a group, as each VM has: the weight of a group is divided among the CPUs that
    its processes use.

    :param weight: of their common group, against the rest of the host; by default as any group's.
    :param threaded: they are for single threads; the others of the same processes are in `rest`.
    :raises CgroupsUnusable: if they cannot be made.
    """

    #: A group that counts as much as the foreground. If it had a higher weight, it would draw that
    #: of the whole measurement away from the CPUs that are measured.
    rest: Group

    def __init__(
        self,
        controller: CpuController,
        cpus: Sequence[int],
        weight: int | None = None,
        threaded: bool = False,
    ):
        self._controller = controller
        self._threaded = threaded
        self._weight = weight or DEFAULT_WEIGHTS[controller.version]
        self._cpus = cpus
        self._enabled = False
        self.front: dict[int, Group] = {}
        self.back: dict[int, Group] = {}

    def __enter__(self) -> "Groups":
        try:
            remove_leftovers(self._controller.root)
            self._top, self._lock = _locked(self._controller.root)
        except OSError as error:
            raise CgroupsUnusable(f"{error.filename}: {error.strerror}") from error
        try:
            self._make()
        except OSError as error:
            self.__exit__()
            hint = (
                "; a group with processes of its own cannot pass the CPU controller on"
                if error.errno == errno.EBUSY
                else ""
            )
            raise CgroupsUnusable(f"{error.filename}: {error.strerror}{hint}") from error
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        # A second Ctrl-C waits until all is removed.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            remove(self._top)
            if self._enabled:
                with contextlib.suppress(OSError):  # another calibration still needs it
                    self._pass_on(self._controller.root, "-cpu")
            os.close(self._lock)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _make(self) -> None:
        if self._controller.version == 2:
            control = self._controller.root / "cgroup.subtree_control"
            if "cpu" not in control.read_text().split():
                self._pass_on(self._controller.root, "+cpu")
                self._enabled = True
            self._pass_on(self._top, "+cpu")
        Group(self._top, self._controller).weigh(self._weight)
        for tier, groups in (("front", self.front), ("back", self.back)):
            for cpu in self._cpus:
                groups[cpu] = self._child(f"{tier}-{cpu}")
        if self._threaded:
            self.rest = self._child("rest")
            self.rest.weigh(FRONT_WEIGHT)

    def _child(self, name: str) -> Group:
        path = self._top / name
        path.mkdir()
        if self._threaded and self._controller.version == 2:
            (path / "cgroup.type").write_text("threaded")
        return Group(path, self._controller, self._threaded)

    @staticmethod
    def _pass_on(group: pathlib.Path, change: str) -> None:
        """Turn the CPU controller of a group's children on or off (version 2)."""
        (group / "cgroup.subtree_control").write_text(change)


def remove_leftovers(root: pathlib.Path) -> list[str]:
    """Remove the groups of calibrations that were killed; the names of these.

    A calibration that lives holds a lock on its group, whatever namespace its process is in.
    """
    removed = []
    for path in sorted(root.glob(f"{PREFIX}*")):
        with contextlib.suppress(FileNotFoundError), _opened(path) as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            remove(path)
            removed.append(path.name)
    return removed


def remove(path: pathlib.Path) -> None:
    """Kill what is left in a group and in its children, and remove them."""
    groups = [*(each for each in path.glob("*") if each.is_dir()), path]
    deadline = time.monotonic() + _PATIENCE
    for group in groups:
        while group.exists():
            # Threaded groups of version 2 have their processes listed by their parent.
            for listed in (group, path):
                _kill(listed)
            try:
                group.rmdir()
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


def _kill(group: pathlib.Path) -> None:
    with contextlib.suppress(OSError):
        for pid in (group / _PROCESSES_FILE).read_text().split():
            # 0 is a process of another namespace.
            if int(pid) > 0:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)


def _locked(root: pathlib.Path) -> tuple[pathlib.Path, int]:
    """A new group that this process has locked, and the handle that holds the lock."""
    while True:
        # The rest of the name is random: other namespaces have the same process ids.
        path = pathlib.Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=root))
        # Another calibration may take it for a leftover before it is locked.
        with contextlib.suppress(FileNotFoundError):
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(handle, fcntl.LOCK_EX)
            if path.exists():
                return path, handle
            os.close(handle)


@contextlib.contextmanager
def _opened(path: pathlib.Path) -> Iterator[int]:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield handle
    finally:
        os.close(handle)
