"""Jobs of VMs, which meet by messages through this process.

QEMU's threads are placed as the node agent places them: those of virtual CPUs compete for the CPUs
that are measured; all others run elsewhere, or have the weight of the foreground. A guest reports
the end of a step through its serial port, and halts. A thread of this process, the relay, waits
until all guests of the job have reported, then for the length of the pause, and lets them go on. So
neither the pause nor the barrier takes CPU time of the guests.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median

from nova_twotier.calibration import host, qemu
from nova_twotier.calibration.cgroups import Group
from nova_twotier.calibration.guest import boot_sector
from nova_twotier.calibration.loads import WORKING_SET, Kind, Load, LoadFailed, Sample

#: Seconds between two looks at a guest that does not wait, lest they take CPU time.
_INTERVAL = 0.005
#: Bytes that are read at once: more steps than a guest completes in that time.
_MANY = 4096
#: Scans of a step by which the speed of a guest is measured; rounds, and seconds of each.
_SCANS, _ROUNDS, _ROUND = 100, 20, 0.05
#: The longest scan, in seconds, with which steps can have the lengths that they are to have.
_LONGEST_SCAN = 0.0002


@dataclass(frozen=True)
class Hypervisor:
    """How VMs run.

    :param program: of QEMU.
    :param vm_type: of `qemu.ACCELERATORS`.
    :param group: of QEMU's threads that are no virtual CPUs.
    :param cpus: of these threads.
    """

    program: str
    vm_type: str
    group: Group
    cpus: frozenset[int]

    def start(self, sector: bytes) -> qemu.Vm:
        """A new VM, which begins to run."""
        vm = qemu.Vm(self.program, self.vm_type, sector, self.cpus)
        try:
            self.group.add_process(vm.pid)
        except BaseException:
            vm.close()
            raise
        return vm


class VmJob:
    """VMs of one load, one on each of `cpus`, which wait for each other after every step.

    They are made paused, after their first step, and killed at the end of the context.
    """

    def __init__(self, hypervisor: Hypervisor, cpus: Sequence[int], load: Load):
        self.cpus = tuple(cpus)
        #: The thread of the virtual CPU on each CPU.
        self.pids: dict[int, int] = {}
        self._hypervisor = hypervisor
        self._load = load
        # A single guest without a pause runs on, as a process would.
        self._waits = len(self.cpus) > 1 or load.pause > 0
        self._vms: list[qemu.Vm] = []
        self._sample = Sample(0, 0.0, 0.0)
        self._relay = threading.Thread(target=self._lead, daemon=True)

    def __enter__(self) -> "VmJob":
        sector = boot_sector(self._load.scans, self._waits)
        try:
            for _cpu in self.cpus:
                self._vms.append(self._hypervisor.start(sector))
            for cpu, vm in zip(self.cpus, self._vms, strict=True):
                vm.await_report()
                self.pids[cpu] = vm.vcpu
                os.sched_setaffinity(self.pids[cpu], {cpu})
            self.pause()
            self._relay.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        for vm in self._vms:
            vm.close()
        if self._relay.ident is not None:
            self._relay.join()
        for vm in self._vms:
            vm.line.close()
        self._vms.clear()
        self.pids.clear()

    def resume(self) -> None:
        for vm in self._vms:
            vm.send(signal.SIGCONT)

    def pause(self) -> None:
        for vm in self._vms:
            vm.send(signal.SIGSTOP)

    def sample(self) -> Sample:
        """What the job has done by now.

        :raises LoadFailed: if one of its VMs has ended.
        """
        for cpu, vm in zip(self.cpus, self._vms, strict=True):
            if vm.ended:
                raise LoadFailed(f"the VM on CPU {cpu} has ended by itself: {vm.close()}")
        return self._sample

    def _lead(self) -> None:
        """Be the relay: count the guests' steps and let them go on, until they end."""
        os.sched_setaffinity(0, self._hypervisor.cpus)  # of this thread
        with host.punctual(), contextlib.suppress(OSError):
            while True:
                time.sleep(self._load.pause if self._waits else _INTERVAL)
                if self._waits:
                    for vm in self._vms:
                        vm.line.send(b"\0")
                reports = [vm.line.recv(_MANY) for vm in self._vms]
                if not all(reports):
                    return
                steps = self._sample.steps + len(reports[0])
                times = [host.process_times([pid]).ran for pid in self.pids.values()]
                self._sample = Sample(steps, time.monotonic(), fmean(times))


def kind(types: Sequence[str], program: str, group: Group, measured: Sequence[int]) -> Kind:
    """VMs as loads, of the first type that works here; says on stderr which do not.

    :param types: of `qemu.ACCELERATORS`; at least one.
    :param program: of QEMU.
    :param group: for QEMU's threads that are no virtual CPUs.
    :param measured: the CPUs of the virtual CPUs; the other threads use the others, if there are
        any.
    :raises LoadFailed: if no VM works.
    """
    vm_type, *others = types
    allowed = frozenset(os.sched_getaffinity(0))
    hypervisor = Hypervisor(program, vm_type, group, allowed - set(measured) or allowed)
    try:
        scan = scan_seconds(hypervisor, measured[0])
    except LoadFailed as error:
        reason = f"VMs of type {vm_type} do not work here: {error}"
        if not others:
            raise LoadFailed(f"{reason}; see --vms for other types") from error
        print(f"{reason}; trying {others[0]}", file=sys.stderr)
        return kind(others, program, group, measured)
    name = f"VMs ({vm_type}, QEMU {qemu.version(program)})"
    return Kind(name, partial(VmJob, hypervisor), scan)


def scan_seconds(hypervisor: Hypervisor, cpu: int) -> float:
    """CPU seconds that a scan of a guest's working set takes: the median of many steps.

    CPU time, as whatever else runs on the CPU meanwhile does not make the guest slower.

    :raises LoadFailed: if the guest does not work, or is too slow to measure with.
    """
    scans = []
    with VmJob(hypervisor, [cpu], Load(_SCANS)) as job:
        job.resume()
        for _round in range(_ROUNDS):
            first = job.sample()
            time.sleep(_ROUND)
            last = job.sample()
            if last.steps > first.steps > 0:
                scans.append((last.cpu - first.cpu) / (last.steps - first.steps) / _SCANS)
    scan = median(scans) if scans else float("inf")
    if scan > _LONGEST_SCAN:
        raise LoadFailed(
            f"guests are too slow: they take more than {_SCANS * _LONGEST_SCAN:g} s to read "
            f"{WORKING_SET} bytes {_SCANS} times"
        )
    return scan
