"""Start the processes of a cloud, know them again later, and end exactly those."""

import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import time

GRACE = 8.0

# Children of this very process, kept so that the ended ones can be reaped.
_children: list[subprocess.Popen] = []


@dataclasses.dataclass(frozen=True)
class Process:
    """A process we started: a pid is ours only together with its start time."""

    name: str
    pid: int
    started: str

    def alive(self) -> bool:
        return _started(self.pid) == self.started

    def members(self) -> list[int]:
        """This process and the workers it forked (it leads a session of its own)."""
        if self.alive():
            return _session(self.pid)
        # The pid may belong to a stranger by now; while workers of ours live it cannot.
        if _started(self.pid) is None:
            return _session(self.pid)
        return []


def start(
    name: str, argv: list[str], log: pathlib.Path, env: dict[str, str], fds: list[int] = ()
) -> Process:
    """Start argv in a session of its own, its output in the log file."""
    with open(log, "ab") as output:
        child = subprocess.Popen(  # noqa: S603 - our own modules
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=env,
            pass_fds=fds,
            start_new_session=True,
        )
    _children.append(child)
    return Process(name, child.pid, _started(child.pid) or "gone")


def bearing(variable: str, value: str) -> list[Process]:
    """Processes started with this value in their environment, recorded by anyone or not."""
    found = []
    for pid in _pids():
        environ = _read(pid, "environ")
        if environ is not None and f"{variable}={value}" in environ.split("\0"):
            found.append(Process(str(pid), pid, _started(pid) or "gone"))
    return found


def stop(processes: list[Process], grace: float = GRACE) -> None:
    """SIGTERM, and SIGKILL for those still there after the grace time."""
    for signum, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, 10.0)):
        deadline = time.monotonic() + patience
        for pid in _members(processes):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signum)
        while _members(processes):
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
    _children[:] = [child for child in _children if child.poll() is None]


def _members(processes: list[Process]) -> set[int]:
    return {pid for process in processes for pid in process.members()}


def _pids() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def _read(pid: int, name: str) -> str | None:
    """A file of /proc/<pid>; None for a process that is gone or another user's."""
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None


def _stat(pid: int) -> list[str] | None:
    """Fields of /proc/<pid>/stat from the state on; None for a process that has ended.

    A zombie with other threads has not: until they end, too, its ports are still in use.
    """
    text = _read(pid, "stat")
    if text is None:
        return None
    fields = text.rpartition(")")[2].split()
    state, threads = fields[0], int(fields[17])
    return None if state in "ZX" and threads <= 1 else fields


def _started(pid: int) -> str | None:
    """When the process was started, in clock ticks of this boot of the machine."""
    fields = _stat(pid)
    return fields and f"{_boot_id()}:{fields[19]}"


def _boot_id() -> str:
    return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _session(leader: int) -> list[int]:
    members = []
    for pid in _pids():
        fields = _stat(pid)
        if fields and int(fields[3]) == leader:
            members.append(pid)
    return members
