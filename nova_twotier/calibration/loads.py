"""Loads: jobs that compute, communicate, and wait for each other (BSP), whatever runs them.

A step is a fixed amount of work, then a pause of fixed length in which the CPU sleeps as if the job
communicated, then a barrier. A disturbance makes the step longer; it never makes it do less.
"""

import ctypes
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

#: Bytes that each process reads again and again: like a
#: program, it has something in the cache to lose.
WORKING_SET = 256 * 1024
#: Option of prctl(2): the signal that a process gets when its parent ends.
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


class LoadFailed(Exception):
    """A load cannot be started, or has ended by itself."""


@dataclass(frozen=True)
class Load:
    """One step of a process.

    :param scans: its work, in scans of the working set.
    :param pause: seconds of its pause; 0: it never sleeps.
    """

    scans: int
    pause: float = 0.0

    @classmethod
    def of(cls, utilisation: float, seconds: float, scan: float) -> "Load":
        """The load of this CPU utilisation whose undisturbed steps last `seconds`.

        :param scan: seconds of a scan.
        """
        return cls(max(1, round(utilisation * seconds / scan)), (1 - utilisation) * seconds)


@dataclass(frozen=True)
class Sample:
    """What a job had done when its last step ended.

    :param at: when that was, in seconds of the monotonic clock.
    :param cpu: seconds of CPU time that its processes had used, on average.
    """

    steps: int
    at: float
    cpu: float


class Job(Protocol):
    """Processes or VMs of one load, one on each of `cpus`, which wait for each other after every
    step.

    They are made paused, and killed at the end of the context.
    """

    cpus: tuple[int, ...]

    @property
    def pids(self) -> Mapping[int, int]:
        """The process on each CPU, or the thread of the virtual CPU."""

    def __enter__(self) -> Self:
        """Make them.

        :raises LoadFailed: if one of them does not start.
        :raises OSError: if the kernel refuses.
        """

    def __exit__(self, *_) -> None: ...

    def resume(self) -> None: ...

    def pause(self) -> None: ...

    def sample(self) -> Sample:
        """What the job has done by now.

        :raises LoadFailed: if one of its processes or VMs has ended.
        """


@dataclass(frozen=True)
class Kind:
    """What jobs consist of on this host.

    :param name: for people.
    :param job: makes a job on some CPUs.
    :param scan: seconds of a scan of the working set.
    """

    name: str
    job: Callable[[Sequence[int], Load], Job]
    scan: float


def end_with(parent: int) -> bool:
    """Let the kernel kill this process when its parent is killed, which nobody else would do.

    :return: False if the parent has ended already.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return os.getppid() == parent
