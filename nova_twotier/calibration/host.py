"""CPU time of this host, by CPU and by process, from /proc; and a process that comes first."""

import contextlib
import os
import pathlib
import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

#: Columns of a CPU's line in /proc/stat that are time in which it worked for this host: user, nice,
#: system, irq, softirq; and the time that the hypervisor took from it.
_BUSY, _STEAL = (1, 2, 3, 6, 7), 8
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class CpuTimes:
    """Seconds that some CPUs have worked, and that the hypervisor has kept them from it."""

    busy: float
    steal: float


def cpu_times(cpus: Iterable[int], stat: str | None = None) -> CpuTimes:
    """The times of some CPUs together since the host started.

    :param stat: the text of /proc/stat, if it has been read.
    """
    wanted = {f"cpu{cpu}" for cpu in cpus}
    text = pathlib.Path("/proc/stat").read_text() if stat is None else stat
    lines = [fields for line in text.splitlines() if (fields := line.split())[0] in wanted]
    busy = sum(int(fields[column]) for fields in lines for column in _BUSY)
    return CpuTimes(busy / _TICK, sum(int(fields[_STEAL]) for fields in lines) / _TICK)


@dataclass(frozen=True)
class ProcessTimes:
    """Seconds that processes, or threads, have run, and waited for a CPU."""

    ran: float
    waited: float


def process_times(pids: Iterable[int]) -> ProcessTimes:
    """The times of threads together; a process stands for its first thread."""
    lines = [pathlib.Path(f"/proc/{pid}/schedstat").read_text().split() for pid in pids]
    ran, waited = (sum(int(line[column]) for line in lines) / 1e9 for column in (0, 1))
    return ProcessTimes(ran, waited)


@contextlib.contextmanager
def punctual() -> Iterator[None]:
    """Let this thread run whenever it wants to, before all others, if it may; not its children.

    Who measures CPUs that are busy would otherwise be late, and between two looks at that.
    """
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    with contextlib.suppress(PermissionError):
        first = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, first, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameters)


def describe() -> dict[str, str]:
    """The kernel and the processor, for the record of a measurement."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {"kernel": platform.release(), "processor": models[0] if models else platform.machine()}
