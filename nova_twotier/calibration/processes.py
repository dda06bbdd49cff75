"""Jobs of plain processes, which meet at barriers in shared memory."""

import mmap
import os
import signal
import time
from collections.abc import Sequence
from typing import NoReturn

from nova_twotier.calibration.loads import WORKING_SET, Kind, Load, LoadFailed, Sample, end_with

#: Where each process keeps its numbers in shared memory: the steps that it has completed; then, for
#: even and odd steps in turn, when it completed the last one and the CPU time it had used by then.
_STEPS, _STAMPS, _ROW = 0, 1, 5


class ProcessJob:
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

    def __enter__(self) -> "ProcessJob":
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
            os.sched_setaffinity(0, {cpu})
            if end_with(parent):
                os.kill(os.getpid(), signal.SIGSTOP)
                self._run(rank)
        finally:
            os._exit(1)

    def _run(self, rank: int) -> NoReturn:
        memory, numbers, base = working_set(), self._numbers, rank * _ROW
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


def kind() -> Kind:
    """Plain processes as loads."""
    return Kind("processes", ProcessJob, scan_seconds())


def working_set() -> bytes:
    """A working set with all pages written: unwritten ones would be one and the same page."""
    return b"\0" * WORKING_SET


def work(memory: bytes, scans: int) -> None:
    """Read the working set so many times."""
    for _scan in range(scans):
        memory.count(1)


def scan_seconds(rounds: int = 200, scans: int = 20) -> float:
    """Seconds that a scan of the working set takes undisturbed: the fastest of several rounds."""
    memory = working_set()
    fastest = float("inf")
    for _round in range(rounds):
        begin = time.perf_counter()
        work(memory, scans)
        fastest = min(fastest, time.perf_counter() - begin)
    return fastest / scans
