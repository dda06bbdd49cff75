"""Jobs of known work: processes that compute, communicate, and wait for each other (BSP).

A step is a fixed amount of work, then a pause of fixed length in which the process sleeps as if it
communicated, then a barrier. A disturbance makes the step longer; it never makes it do less.
"""

import ctypes
import mmap
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

#: Bytes that each process reads again and again: like a
#: program, it has something in the cache to lose.
WORKING_SET = 256 * 1024
#: Option of prctl(2): the signal that a process gets when its parent ends.
_PR_SET_PDEATHSIG = 1
#: Where each process keeps its numbers in shared memory: the steps that it has completed; then, for
#: even and odd steps in turn, when it completed the last one and the CPU time it had used by then.
_STEPS, _STAMPS, _ROW = 0, 1, 5


class LoadFailed(Exception):
    """A process of a load has ended by itself."""


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


class Job:
    """Processes of one load, one on each of `cpus`, which wait for each other after every step.

    They are made paused, and killed at the end of the context.

    :raises LoadFailed: if a process may not use its CPU.
    :raises OSError: if it cannot be made.
    """

    def __init__(self, cpus: Sequence[int], load: Load):
        self.cpus = tuple(cpus)
        #: The process on each CPU.
        self.pids: dict[int, int] = {}
        self._load = load
        self._barrier = Barrier(len(cpus))
        self._memory = mmap.mmap(-1, 8 * _ROW * len(cpus))
        self._numbers = memoryview(self._memory).cast("d")

    def __enter__(self) -> "Job":
        try:
            for rank, cpu in enumerate(self.cpus):
                parent = os.getpid()
                pid = os.fork()
                if not pid:
                    self._serve(rank, cpu, parent)
                self.pids[cpu] = pid
                # It stops itself, once it is certain to end with this process.
                if not os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1]):
                    self._lose(cpu)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        for pid in self.pids.values():
            os.kill(pid, signal.SIGKILL)
        for pid in self.pids.values():
            os.waitpid(pid, 0)
        self.pids.clear()
        self._barrier.close()

    def resume(self) -> None:
        for pid in self.pids.values():
            os.kill(pid, signal.SIGCONT)

    def pause(self) -> None:
        for pid in self.pids.values():
            os.kill(pid, signal.SIGSTOP)

    def sample(self) -> Sample:
        """What the job has done by now.

        :raises LoadFailed: if one of its processes has ended.
        """
        for cpu, pid in self.pids.items():
            if os.waitpid(pid, os.WNOHANG)[0]:
                self._lose(cpu)
        rows = [self._row(rank) for rank in range(len(self.cpus))]
        # After the barrier all have done the same; the first may be a step ahead of the others.
        steps, at, _cpu = rows[0]
        return Sample(steps, at, sum(cpu for _steps, _at, cpu in rows) / len(rows))

    def _lose(self, cpu: int) -> NoReturn:
        """Report a process that has ended; its id may already be another's."""
        del self.pids[cpu]
        raise LoadFailed(f"the load on CPU {cpu} has ended by itself")

    def _row(self, rank: int) -> tuple[int, float, float]:
        """The numbers of one process, all of the same step."""
        base = rank * _ROW
        while True:
            steps = int(self._numbers[base + _STEPS])
            stamp = base + _STAMPS + steps % 2 * 2
            at, cpu = self._numbers[stamp], self._numbers[stamp + 1]
            # The process writes the other stamp before it counts its next step.
            if steps == int(self._numbers[base + _STEPS]):
                return steps, at, cpu

    def _serve(self, rank: int, cpu: int, parent: int) -> NoReturn:
        """The life of a process of the job."""
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            # Nobody else would stop it if the parent were killed.
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            os.sched_setaffinity(0, {cpu})
            if os.getppid() == parent:
                os.kill(os.getpid(), signal.SIGSTOP)
                self._run(rank)
        finally:
            os._exit(1)

    def _run(self, rank: int) -> NoReturn:
        memory, numbers, base = bytes(WORKING_SET), self._numbers, rank * _ROW
        scans, pause = self._load.scans, self._load.pause
        steps = 0
        while True:
            work(memory, scans)
            if pause:
                time.sleep(pause)
            steps += 1
            self._barrier.wait(rank, steps)
            stamp = base + _STAMPS + steps % 2 * 2
            numbers[stamp], numbers[stamp + 1] = time.monotonic(), time.process_time()
            numbers[base + _STEPS] = steps


class Barrier:
    """A meeting point of processes after each step; those that wait sleep.

    Each process has two doors, for even and odd steps: a process that is a step ahead knocks at the
    other one. It cannot be two ahead.
    """

    def __init__(self, size: int):
        self._size = size
        self._doors = [[os.eventfd(0) for _rank in range(size)] for _parity in range(2)]

    def wait(self, rank: int, step: int) -> None:
        doors = self._doors[step % 2]
        for other, door in enumerate(doors):
            if other != rank:
                os.eventfd_write(door, 1)
        arrived = 1
        while arrived < self._size:
            arrived += os.eventfd_read(doors[rank])

    def close(self) -> None:
        for doors in self._doors:
            for door in doors:
                os.close(door)


def work(memory: bytes, scans: int) -> None:
    """Read the working set so many times."""
    for _scan in range(scans):
        memory.count(1)


def scan_seconds(rounds: int = 200, scans: int = 20) -> float:
    """Seconds that a scan of the working set takes undisturbed: the fastest of several rounds."""
    memory = bytes(WORKING_SET)
    fastest = float("inf")
    for _round in range(rounds):
        begin = time.perf_counter()
        work(memory, scans)
        fastest = min(fastest, time.perf_counter() - begin)
    return fastest / scans
