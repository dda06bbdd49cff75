"""Reads the state to compare from Placement, Nova and, if there is one, the manager's database."""

import time
from collections.abc import Callable, Mapping

from nova_twotier.audit.comparison import compare
from nova_twotier.audit.findings import Finding
from nova_twotier.audit.nova import Nova
from nova_twotier.audit.state import JobRecord, Migration, State, Vm
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.listing import Lister
from nova_twotier.core.actions import Tier
from nova_twotier.core.slots import THRESHOLD
from nova_twotier.ledger import claims, names, providers
from nova_twotier.ledger.inventory import HostSlots, read_inventory
from nova_twotier.ledger.placement import NotFound, Placement
from nova_twotier.ledger.shape import Shape
from nova_twotier.ledger.tree import TierHost


class Reader:
    """
    :param shapes: reads the hosts of the aggregates.
    :param jobs: reads the jobs that are not over; None without a manager's database.
    :param threshold: CPU utilisation from which on a foreground process closes its slot.
    :param lister: reads several providers at the same time; by default one after the other.
    """

    def __init__(
        self,
        placement: Placement,
        nova: Nova,
        shapes: Callable[[], Mapping[str, Shape]],
        jobs: Callable[[], Mapping[str, JobRecord]] | None = None,
        threshold: float = THRESHOLD,
        lister: Lister | None = None,
    ):
        self.placement, self.nova, self.shapes, self.jobs = placement, nova, shapes, jobs
        self._threshold = threshold
        #: As `map`.
        self.each = (lister or Lister()).map

    def hosts(self) -> State:
        """A state with the hosts' slots only."""
        return State(self.shapes(), *self._slots())

    def held(self, hosts: Mapping[str, HostSlots]) -> dict[str, list[claims.Claim]]:
        """The claims on these hosts, by consumer."""
        return claims.read_claims(self.placement, tier_hosts(hosts), self.each)

    def entries(self) -> dict[str, claims.JobEntry]:
        """The jobs' entries, by job."""
        try:
            self.placement.get(f"/resource_providers/{names.jobs_uuid()}")
        except NotFound:
            return {}  # there is no ledger yet
        return {entry.uuid: entry for entry in claims.read_jobs(self.placement, self.each)}

    def state(self) -> State:
        """The whole state. Its parts are not read at the same instant."""
        shapes = self.shapes()
        reported, hosts = self._slots()
        held = self.held(hosts)
        entries = self.entries()
        jobs = self.jobs() if self.jobs else None
        vms = self.nova.vms()
        migrations = self._complete(held, vms)
        return State(shapes, reported, hosts, held, entries, vms, migrations, jobs, self._threshold)

    def _slots(self) -> tuple[frozenset[str], dict[str, HostSlots]]:
        listed = providers.listed(self.placement)
        return frozenset(provider["name"] for provider in listed), read_inventory(
            self.placement, listed, self.each
        )

    def _complete(
        self, held: Mapping[str, list[claims.Claim]], vms: dict[str, Vm]
    ) -> dict[str, Migration]:
        """Add the servers that Nova did not list; returns the migrations that hold claims."""
        unmanaged = held.keys() - vms.keys()
        for uuid in sorted(unmanaged):
            self._add(uuid, vms)
        unmanaged -= vms.keys()
        migrations = {}
        if unmanaged:
            records = self.nova.migrations()
            migrations = {uuid: records[uuid] for uuid in unmanaged & records.keys()}
        for uuid in sorted({migration.vm for migration in migrations.values()} - vms.keys()):
            self._add(uuid, vms)
        for uuid, several in held.items():
            if len(several) > 1 and uuid in vms:
                migrations |= self.nova.migrations(uuid)
        return migrations

    def _add(self, uuid: str, vms: dict[str, Vm]) -> None:
        vm = self.nova.vm(uuid)
        if vm:
            vms[uuid] = vm


def tier_hosts(hosts: Mapping[str, HostSlots]) -> list[TierHost]:
    """The hosts that have slots, in the ledger's type."""
    return [
        TierHost(
            name,
            Shape(host.slots, host.tiers_a_slot),
            {tier: host.tiers[tier].provider for tier in Tier if tier in host.tiers},
        )
        for name, host in hosts.items()
    ]


def lasting(
    read: Callable[[], State], pause: float, sleep: Callable[[float], None] = time.sleep
) -> tuple[State, list[Finding]]:
    """The findings that show at two polls, and the state of the last poll.

    Nova and Placement are not read at the same instant, and Nova itself changes a server and its
    claim one after the other, so a finding of one poll may be transient.

    :param pause: seconds between the two polls; without findings there is only one poll.
    :raises CloudError: if Nova knows none of the consumers that hold slots; see `_same_cloud`.
    """
    state = read()
    before = compare(state)
    if not before:
        return state, []
    sleep(pause)
    state = read()
    _same_cloud(state)
    return state, [finding for finding in compare(state) if finding in before]


def _same_cloud(state: State) -> None:
    """Check that Nova and Placement belong together: with another Nova every claim is an orphan.

    :raises CloudError: if Nova knows none of the consumers.
    """
    if state.claims and not state.claims.keys() & (state.vms.keys() | state.migrations.keys()):
        first = min(state.claims)
        raise CloudError(
            f"Nova knows none of the {len(state.claims)} servers that hold slots, such as {first}: "
            "is [nova] the Nova of this Placement? If they are really gone, run `openstack "
            "resource provider allocation delete` for each"
        )
