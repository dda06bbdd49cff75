"""The state that an audit compares: plain values, without access to any service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nova_twotier.core.actions import Tier
from nova_twotier.core.slots import THRESHOLD
from nova_twotier.ledger.claims import Claim, JobEntry
from nova_twotier.ledger.inventory import HostSlots
from nova_twotier.ledger.names import DEFAULT_POOL
from nova_twotier.ledger.shape import Shape

#: Statuses in which a server stays until it gets another request.
SETTLED = frozenset(
    {
        "ACTIVE",
        "ERROR",
        "PASSWORD",
        "PAUSED",
        "RESCUE",
        "SHELVED",
        "SHELVED_OFFLOADED",
        "SHUTOFF",
        "SUSPENDED",
    }
)
#: Statuses in which a migration no longer holds a claim. In ERROR it may.
ENDED = frozenset({"cancelled", "completed", "confirmed", "failed", "reverted"})


@dataclass(frozen=True, slots=True)
class Vm:
    """A server as Nova shows it.

    :param hosts: the names of its compute host: the service's and the hypervisor's.
    :param ours: its flavor asks for a slot.
    :param job: uuid of the job that it belongs to, by its hint or metadata.
    :param index: which process of the job it is; None if the manager did not make it.
    """

    id: str
    status: str
    task: str | None
    hosts: frozenset[str]
    ours: bool = True
    job: str | None = None
    index: int | None = None
    project: str = ""
    user: str = ""

    @property
    def unknown(self) -> bool:
        """Whether its cell is down, so that Nova knows little more than that it exists."""
        return self.status == "UNKNOWN"

    @property
    def settled(self) -> bool:
        """Whether Nova is neither working on it nor waiting for a confirmation by its owner."""
        return self.task is None and self.status in SETTLED


@dataclass(frozen=True, slots=True)
class Migration:
    """A migration of a VM. While it lasts, Nova may hold a claim under its `id`."""

    id: str
    vm: str
    status: str


@dataclass(frozen=True, slots=True)
class JobRecord:
    """An open job of the manager's database.

    :param tier: its tier while it runs; None otherwise, when it has no entry and no slots.
    :param cpu: CPU utilisation of each process, 0..1.
    :param under_way: the manager is working on it, so nothing about it is certain.
    :param mbps: guaranteed bandwidth of each process, Mbit/s.
    :param targets: hosts that processes of it are to migrate to; slots may be closed there already.
    :param managed: its pool has a queue manager, which is about to notice what became of it.
    """

    uuid: str
    size: int
    tier: Tier | None
    cpu: tuple[float, ...]
    under_way: bool = False
    pool: str = DEFAULT_POOL
    mbps: int = 0
    targets: frozenset[str] = frozenset()
    managed: bool = True


@dataclass(frozen=True, slots=True)
class State:
    """Everything that an audit compares.

    :param shapes: the hosts of the aggregates.
    :param reported: names of the hosts that Placement knows, with or without slots.
    :param hosts: the hosts that have slots in Placement.
    :param claims: claims by consumer, of any kind.
    :param entries: the jobs' entries, by job.
    :param vms: servers by uuid: all two-tier ones, and others that hold a claim.
    :param migrations: the migrations that concern the claims, by uuid.
    :param jobs: None without a manager's database; jobs are not compared then.
    :param threshold: CPU utilisation from which on a foreground process closes its slot.
    """

    shapes: Mapping[str, Shape]
    reported: frozenset[str]
    hosts: Mapping[str, HostSlots]
    claims: Mapping[str, Sequence[Claim]] = field(default_factory=dict)
    entries: Mapping[str, JobEntry] = field(default_factory=dict)
    vms: Mapping[str, Vm] = field(default_factory=dict)
    migrations: Mapping[str, Migration] = field(default_factory=dict)
    jobs: Mapping[str, JobRecord] | None = None
    threshold: float = THRESHOLD

    @property
    def cell_down(self) -> bool:
        """Whether a cell does not answer, so that Nova cannot list all servers and migrations."""
        return any(vm.unknown for vm in self.vms.values())

    def moving(self, vm: str) -> bool:
        """Whether a migration of the VM is not over, so that it may hold places on two hosts."""
        return any(
            migration.vm == vm and migration.status not in ENDED | {"error"}
            for migration in self.migrations.values()
        )

    def job_of(self, vm: Vm) -> JobRecord | None:
        return (self.jobs or {}).get(vm.job)

    def certain(self, vm: Vm) -> bool:
        """Whether neither Nova nor the manager is about to change the VM's claim."""
        job = self.job_of(vm)
        return vm.settled and not self.moving(vm.id) and not (job and job.under_way)
