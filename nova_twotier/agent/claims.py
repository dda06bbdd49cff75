"""Reads from Placement which VMs of one host have a slot, and in which tier."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names
from nova_twotier.ledger.placement import Placement


@dataclass(frozen=True, slots=True)
class Claim:
    """What a VM holds: a slot in this tier, and its CPU utilisation (0..1).

    A VM whose utilisation is not in the ledger counts as using its slot fully.
    """

    tier: Tier
    cpu: float


@dataclass(frozen=True, slots=True)
class HostClaims:
    """The slots of a host, L, and the claims on them by the uuid of the VM."""

    slots: int = 0
    claims: Mapping[str, Claim] = field(default_factory=dict)


class ClaimReader:
    """Polls Placement for the claims on one host.

    As long as nothing is claimed, a poll is one request, because Placement counts up the generation
    of a provider at each new or changed claim. It does not when a claim is deleted; but then the VM
    leaves the host, too.

    :param host: the name of the host's own provider: Nova's hypervisor hostname. While it is not in
        the ledger, it has no slots and no claims.
    """

    def __init__(self, placement: Placement, host: str):
        self._placement = placement
        self._host = host
        self._uuid = ""
        self._generations: dict[Tier, int] = {}
        self.found = HostClaims()
        #: Why the host has no slots; empty if it has some.
        self.problem = ""

    def poll(self, whole: bool = False) -> bool:
        """Read the claims into `found`, if they may have changed; returns whether they have.

        :param whole: read them in any case, and so see deleted ones, too.
        :raises PlacementError: if Placement does not answer, or refuses; `found` is as before.
        """
        present = self._generations_now()
        if present == self._generations and not whole:
            return False
        slots = 0
        generations: dict[Tier, int] = {}
        claims: dict[str, Claim] = {}
        for tier in present:
            url = f"/resource_providers/{names.child_uuid(self._uuid, tier)}"
            # A change after this read has a newer generation, which the next poll sees.
            held = self._placement.get(f"{url}/allocations")
            generations[tier] = held["resource_provider_generation"]
            if tier is Tier.FG:
                inventories = self._placement.get(f"{url}/inventories")["inventories"]
                slots = inventories.get(names.SLOT, {}).get("total", 0)
            for vm, allocation in held["allocations"].items():
                resources = allocation["resources"]
                if names.SLOT in resources:
                    # A swap may come between the reads of the two tiers: the later read counts,
                    # and the next poll sees the generation of the other tier.
                    claims[vm] = Claim(tier, resources.get(names.CPU, 100) / 100)
        found = HostClaims(slots, claims)
        changed, self.found, self._generations = found != self.found, found, generations
        return changed

    def _generations_now(self) -> dict[Tier, int]:
        """The generation of each tier's provider; empty if the host is not in the ledger."""
        if not self._uuid:
            found = self._list(f"name={quote(self._host)}")
            if not found:
                self.problem = (
                    f"Placement has no resource provider {self._host}: compare [agent]host with "
                    "the output of `openstack hypervisor list`"
                )
                return {}
            self._uuid = found[0]["uuid"]
        tree = self._list(f"in_tree={self._uuid}")
        generations = {each["uuid"]: each["generation"] for each in tree}
        if not tree:
            self._uuid = ""  # the host was deleted, and may be made anew
            return {}
        children = {tier: names.child_uuid(self._uuid, tier) for tier in Tier}
        found_tiers = {
            tier: generations[child] for tier, child in children.items() if child in generations
        }
        self.problem = "" if found_tiers else f"host {self._host} has no tiers: is it in a pool?"
        return found_tiers

    def _list(self, query: str) -> list[dict]:
        return self._placement.get(f"/resource_providers?{query}")["resource_providers"]
