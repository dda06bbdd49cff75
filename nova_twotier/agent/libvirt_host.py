"""Reads and sets the CPU priority of VMs through libvirt."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

import libvirt
from oslo_log import log as logging

from nova_twotier.agent.cgroups import CpuController
from nova_twotier.agent.guests import Busy, Cpus, Gone, Guest, HypervisorError, Priority, Request
from nova_twotier.agent.vm_groups import VmGroups

LOG = logging.getLogger(__name__)

#: Name of the weight among libvirt's scheduler parameters.
WEIGHT = "cpu_shares"
#: After so many seconds without an answer of libvirtd, the connection counts as broken.
KEEPALIVE_INTERVAL, KEEPALIVE_COUNT = 5, 3
#: Events after which a VM may need another priority, or leaves its slot to another.
_EVENTS = {
    libvirt.VIR_DOMAIN_EVENT_STARTED,
    libvirt.VIR_DOMAIN_EVENT_SUSPENDED,
    libvirt.VIR_DOMAIN_EVENT_RESUMED,
    libvirt.VIR_DOMAIN_EVENT_STOPPED,
}
#: What libvirt says of a VM that is being paused, saved, restored, migrated or started.
_WORKING = {libvirt.VIR_DOMAIN_CONTROL_JOB, libvirt.VIR_DOMAIN_CONTROL_OCCUPIED}
#: What it says of a VM to which nothing is being done, and of one that it has lost contact with.
_FREE = (libvirt.VIR_DOMAIN_CONTROL_OK, libvirt.VIR_DOMAIN_CONTROL_ERROR_REASON_NONE)
_BROKEN = (libvirt.VIR_DOMAIN_CONTROL_ERROR, libvirt.VIR_DOMAIN_CONTROL_ERROR_REASON_MONITOR)
#: States of a VM, with their reasons, while something is done to it of which libvirt does not say
#: that it works on it, such as all the time in which the memory of one that arrives is transferred.
_HELD = {
    (libvirt.VIR_DOMAIN_PAUSED, libvirt.VIR_DOMAIN_PAUSED_DUMP),
    (libvirt.VIR_DOMAIN_PAUSED, libvirt.VIR_DOMAIN_PAUSED_MIGRATION),
    (libvirt.VIR_DOMAIN_PAUSED, libvirt.VIR_DOMAIN_PAUSED_SAVE),
    (libvirt.VIR_DOMAIN_PAUSED, libvirt.VIR_DOMAIN_PAUSED_SNAPSHOT),
    (libvirt.VIR_DOMAIN_PAUSED, libvirt.VIR_DOMAIN_PAUSED_STARTING_UP),
    (libvirt.VIR_DOMAIN_RUNNING, libvirt.VIR_DOMAIN_RUNNING_POSTCOPY),
}
#: Milliseconds that ordinary requests do not take.
_MOMENT = 100
#: Seconds until events are awaited again after an error.
_PAUSE = 1.0


class LibvirtHost:
    """A connection to libvirt, which is opened again after it broke.

    Of libvirt's drivers, `qemu` knows weights, and keeps a configuration from which a VM starts
    again; on others, such as `test`, VMs are pinned only.

    :param uri: libvirt's, such as `qemu:///system`.
    :param controller: the host's CPU controller.
    """

    def __init__(self, uri: str, controller: CpuController):
        self._uri = uri
        self._groups = VmGroups(controller)
        self._changed: Callable[[str | None], None] = lambda _uuid: None
        self._connection: libvirt.virConnect | None = None
        #: The request that libvirt has not answered yet; other threads read it.
        self.asks: Request | None = None

    def listen(self, changed: Callable[[str | None], None]) -> None:
        """Register a callback for VMs that may need another priority.

        :param changed: called, in another thread, with the uuid of a VM that has started, paused,
            resumed, stopped, or migrated in; with None if others may have done so unseen.
        """
        self._changed = changed

    @property
    def name(self) -> str:
        """The host's name as Nova has it.

        :raises HypervisorError: if libvirt does not answer.
        """
        with _errors():
            return self._open().getHostname()

    @property
    def cpus(self) -> Cpus:
        """The host's CPUs that are online.

        :raises HypervisorError: if libvirt does not answer.
        """
        with _errors():
            return _cpus(self._open().getCPUMap()[1])

    def running(self) -> list[str]:
        """The uuids of all VMs that run, are paused, or are being started.

        :raises HypervisorError: if libvirt does not answer.
        """
        self.asks = Request(None)
        try:
            with _errors():
                domains = self._open().listAllDomains(libvirt.VIR_CONNECT_LIST_DOMAINS_ACTIVE)
                return [domain.UUIDString() for domain in domains]
        finally:
            self.asks = None

    def is_busy(self, uuid: str) -> bool:
        """Whether libvirt has been doing something to a VM for more than a moment.

        :raises Gone: if it does not run here.
        :raises HypervisorError: if libvirt does not answer.
        """
        with self._domain(uuid) as domain:
            return self._is_busy(domain)

    def guest(self, uuid: str) -> Guest:
        """One VM.

        :raises Gone: if it does not run here.
        :raises HypervisorError: if libvirt does not answer, or has just begun to start the VM.
        """
        with self._domain(uuid) as domain:
            return self._read(domain)

    def cpu_time(self, uuid: str) -> float:
        """Seconds of CPU time that a VM's virtual CPUs have used since it was started.

        libvirt's test driver makes it up: a tenth of a second per virtual CPU and second.

        :raises Gone: if it does not run here.
        :raises HypervisorError: if libvirt does not answer, or does not know which threads are the
            virtual CPUs.
        """
        with self._domain(uuid) as domain:
            # From /proc: unlike the monitor's, this answer does not wait for the VM. The cgroup's
            # (getCPUStats) has the emulator's time, too; its `vcpu_time` needs cgroup v1.
            return sum(nanoseconds for _, _, nanoseconds, _ in domain.vcpus()[0]) / 1e9

    def apply(self, guest: Guest, wanted: Priority) -> None:
        """Give a VM its priority: now, and for when libvirt starts it again.

        :param guest: as it is.
        :raises Gone: if it does not run here.
        :raises Busy: if it is being saved, restored or migrated.
        :raises HypervisorError: if libvirt refuses.
        """
        with self._domain(guest.uuid) as domain:
            # libvirt would make us, and all other VMs, wait for 30 s, and refuse then.
            control = domain.controlInfo() if self._is_qemu else _FREE
            if tuple(control[:2]) == _BROKEN:
                raise HypervisorError("libvirt has lost QEMU's monitor: restart the VM")
            if self._is_qemu and (
                tuple(domain.state()) in _HELD or control[0] != libvirt.VIR_DOMAIN_CONTROL_OK
            ):
                if guest.busy and wanted.weight not in (None, guest.weight):
                    self.lift(guest.uuid, wanted.weight)
                raise Busy(f"VM {guest.uuid} is being saved, restored or migrated")
            # The weight first: a background VM that has just started is in the way.
            self._rank(domain, guest, wanted)
            if wanted.emulator not in (None, guest.emulator):
                cpus = self._map(wanted.emulator)
                for flags in self._flags(domain):
                    domain.pinEmulator(cpus, flags)
            for vcpu, pinned in enumerate(guest.vcpus):
                if wanted.vcpus not in (None, pinned):
                    self._pin(domain, vcpu, self._map(wanted.vcpus))

    def lift(self, uuid: str, weight: int) -> None:
        """Set the weight of a VM that libvirt lets nobody change; any thread may call it.

        Without effect if its control group cannot be seen.

        :raises Gone: if it does not run here.
        :raises HypervisorError: if the kernel refuses.
        """
        group = self._groups.find(uuid)
        if group is not None:
            group.set_weight(weight)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        # What still listens would keep a broken connection open.
        for end in (
            partial(connection.domainEventDeregisterAny, self._lifecycle),
            connection.unregisterCloseCallback,
            connection.close,
        ):
            with contextlib.suppress(libvirt.libvirtError):
                end()

    @contextlib.contextmanager
    def _domain(self, uuid: str) -> Iterator[libvirt.virDomain]:
        """A VM, and what is asked about it."""
        self.asks = Request(uuid)
        try:
            with _errors():
                domain = self._open().lookupByUUIDString(uuid)
            with _errors(domain):
                yield domain
        finally:
            self.asks = None

    def _open(self) -> libvirt.virConnect:
        if self._connection is not None and self._connection.isAlive():
            return self._connection
        self.close()
        _run_events()
        connection = libvirt.open(self._uri)
        self._lifecycle = connection.domainEventRegisterAny(
            None, libvirt.VIR_DOMAIN_EVENT_ID_LIFECYCLE, self._on_lifecycle, None
        )
        # The test driver, which is in this process, needs neither.
        with contextlib.suppress(libvirt.libvirtError):
            connection.registerCloseCallback(self._on_close, None)
        with contextlib.suppress(libvirt.libvirtError):
            connection.setKeepAlive(KEEPALIVE_INTERVAL, KEEPALIVE_COUNT)
        self._connection = connection
        self._is_qemu = connection.getType() == "QEMU"
        self._cpu_count = connection.getCPUMap()[0]
        self._changed(None)
        return connection

    def _on_lifecycle(self, _connection, domain, event, _detail, _opaque) -> None:
        if event in _EVENTS:
            self._changed(domain.UUIDString())

    def _on_close(self, _connection, _reason, _opaque) -> None:
        self._changed(None)

    def _is_busy(self, domain: libvirt.virDomain) -> bool:
        if not self._is_qemu:
            return False
        # Of libvirt's answers on this, the only ones that do not wait for the VM.
        if tuple(domain.state()) in _HELD:
            return True
        state, _details, milliseconds = domain.controlInfo()
        return state in _WORKING and milliseconds >= _MOMENT

    def _read(self, domain: libvirt.virDomain) -> Guest:
        state, _reason = domain.state()
        weight, idle = None, False
        if self._is_qemu and (group := self._groups.find(domain.UUIDString())):
            weight, idle = group.weight, group.idle
        elif self._is_qemu:
            weight = domain.schedulerParametersFlags(libvirt.VIR_DOMAIN_AFFECT_LIVE)[WEIGHT]
        return Guest(
            domain.UUIDString(),
            weight,
            tuple(_cpus(pins) for pins in domain.vcpuPinInfo(libvirt.VIR_DOMAIN_AFFECT_LIVE)),
            _cpus(domain.emulatorPinInfo(libvirt.VIR_DOMAIN_AFFECT_CURRENT)),
            paused=state != libvirt.VIR_DOMAIN_RUNNING,
            busy=self._is_busy(domain),
            idle=idle,
        )

    def _rank(self, domain: libvirt.virDomain, guest: Guest, wanted: Priority) -> None:
        """Give a VM its weight, or make it idle."""
        if guest.idle and wanted.idle:
            return
        group = self._groups.find(guest.uuid)
        if guest.idle and group is not None:
            group.set_idle(False)  # an idle group takes no weight
        if wanted.weight not in (None, guest.weight):
            self._weigh(domain, wanted.weight)
        if wanted.idle:
            if group is None:
                raise HypervisorError(
                    "its QEMU process or control group cannot be seen: run the agent as root in "
                    "the host's process namespace, or unset [agent]background_idle"
                )
            group.set_idle(True)

    def _weigh(self, domain: libvirt.virDomain, weight: int) -> None:
        # libvirt refuses both flags in one call.
        for flags in self._flags(domain):
            domain.setSchedulerParametersFlags({WEIGHT: weight}, flags)

    def _pin(self, domain: libvirt.virDomain, vcpu: int, cpus: tuple[bool, ...]) -> None:
        domain.pinVcpu(vcpu, cpus)
        if self._is_qemu and domain.isPersistent():
            domain.pinVcpuFlags(vcpu, cpus, libvirt.VIR_DOMAIN_AFFECT_CONFIG)

    def _flags(self, domain: libvirt.virDomain) -> Iterator[int]:
        yield libvirt.VIR_DOMAIN_AFFECT_LIVE
        if self._is_qemu and domain.isPersistent():
            yield libvirt.VIR_DOMAIN_AFFECT_CONFIG

    def _map(self, cpus: Cpus) -> tuple[bool, ...]:
        return tuple(cpu in cpus for cpu in range(self._cpu_count))


def _cpus(pins: Sequence[bool]) -> Cpus:
    return frozenset(cpu for cpu, allowed in enumerate(pins) if allowed)


@contextlib.contextmanager
def _errors(domain: libvirt.virDomain | None = None) -> Iterator[None]:
    """Translate errors of libvirt into `HypervisorError` and `Gone`.

    :param domain: what is read or changed; it may stop meanwhile.
    """
    try:
        yield
    except libvirt.libvirtError as error:
        kind = Gone if _is_gone(error, domain) else HypervisorError
        raise kind(f"libvirt: {error}") from error


def _is_gone(error: libvirt.libvirtError, domain: libvirt.virDomain | None) -> bool:
    if domain is not None and error.get_error_code() != libvirt.VIR_ERR_NO_DOMAIN:
        # The code does not tell: what fails first may be a thread or a file that is gone.
        try:
            return not domain.isActive()
        except libvirt.libvirtError as now:
            error = now
    return error.get_error_code() == libvirt.VIR_ERR_NO_DOMAIN


@cache
def _run_events() -> None:
    """Receive libvirt's events in a thread of their own; must precede the first connection."""

    def run() -> None:
        while True:
            try:
                libvirt.virEventRunDefaultImpl()
            except libvirt.libvirtError as error:
                LOG.warning("libvirt's events cannot be received: %s", error)
                time.sleep(_PAUSE)

    # Errors come as exceptions; libvirt would print them, too.
    libvirt.registerErrorHandler(lambda _context, _error: None, None)
    libvirt.virEventRegisterDefaultImpl()
    threading.Thread(target=run, name="libvirt events", daemon=True).start()
