"""The agent's value types: a VM, its CPU priority, and the interface of a hypervisor."""

import time
from dataclasses import dataclass, field
from typing import Protocol

Cpus = frozenset[int]


@dataclass(frozen=True, slots=True)
class Guest:
    """A VM that runs on this host, as the hypervisor shows it.

    :param weight: its share of CPU time; None if the hypervisor knows no weights.
    :param vcpus: the host CPUs that each of its virtual CPUs may use.
    :param emulator: the host CPUs of the emulator's own threads, which serve the hypervisor's
        requests and the VM's devices.
    :param paused: it does not run now, for whatever reason.
    :param busy: the hypervisor is doing something to it that takes more than a moment.
    :param idle: it gets only CPU time that no other VM wants; its weight does not count then.
    """

    uuid: str
    weight: int | None
    vcpus: tuple[Cpus, ...]
    emulator: Cpus
    paused: bool = False
    busy: bool = False
    idle: bool = False

    @property
    def cpus(self) -> Cpus:
        """The host CPUs that its virtual CPUs may use."""
        return frozenset().union(*self.vcpus)

    @property
    def capacity(self) -> int:
        """How many CPUs it may use at once, at least 1."""
        return max(1, min(len(self.vcpus), len(self.cpus)))


@dataclass(frozen=True, slots=True)
class Priority:
    """The CPU priority that a VM should have; what is None stays as it is.

    :param idle: whether it is to get only CPU time that no other VM wants. Its weight is then for
        when it starts again.
    """

    weight: int | None
    vcpus: Cpus | None = None
    emulator: Cpus | None = None
    idle: bool = False

    def __str__(self) -> str:
        parts = (
            ("weight", self.weight),
            ("CPUs", self.vcpus and _numbers(self.vcpus)),
            ("emulator on", self.emulator and _numbers(self.emulator)),
        )
        known = [f"{name} {value}" for name, value in parts if value is not None]
        return ", ".join(["idle"] * self.idle + known)

    def is_in_force(self, guest: Guest) -> bool:
        return (
            self.idle == guest.idle
            and (self.idle or self.weight in (None, guest.weight))
            and (self.vcpus is None or set(guest.vcpus) <= {self.vcpus})
            and self.emulator in (None, guest.emulator)
        )


def _numbers(cpus: Cpus) -> str:
    return ",".join(map(str, sorted(cpus)))


@dataclass(frozen=True, slots=True)
class Request:
    """A request that the hypervisor has not answered yet.

    :ivar uuid: of the VM that it is about; None: it is about all VMs.
    """

    uuid: str | None
    began: float = field(default_factory=time.monotonic)

    @property
    def lasts(self) -> float:
        """Seconds for which it has been waiting."""
        return time.monotonic() - self.began


class HypervisorError(Exception):
    """A request to the hypervisor was not answered, or was refused."""


class Gone(HypervisorError):
    """The VM no longer runs here."""


class Busy(HypervisorError):
    """The VM cannot be changed just now: it is being saved, restored or migrated."""


class Hypervisor(Protocol):
    """What the agent needs of a hypervisor; `libvirt_host` implements it.

    Each method may raise `HypervisorError`.

    :ivar asks: what it is waiting for; any thread may read it.
    """

    asks: Request | None

    def running(self) -> list[str]:
        """The uuids of all VMs that run, are paused, or are being started."""

    def is_busy(self, uuid: str) -> bool:
        """Whether something is being done to a VM that takes more than a moment."""

    def guest(self, uuid: str) -> Guest:
        """One VM; raises `Gone` if it does not run here."""

    def cpu_time(self, uuid: str) -> float:
        """Seconds of CPU time that a VM's virtual CPUs have used, without its emulator's.

        Raises `Gone` if it does not run here.
        """

    def apply(self, guest: Guest, wanted: Priority) -> None:
        """Change a VM from its present state `guest` to `wanted`; raises `Gone` or `Busy`.

        A VM that is busy may have got its weight nevertheless.
        """

    def lift(self, uuid: str, weight: int) -> None:
        """Set the weight of a VM without the hypervisor; any thread may call it."""
