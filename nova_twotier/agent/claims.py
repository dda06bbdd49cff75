"""Reads from Placement which VMs of one host have a slot, and in which tier."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import quote

from nova_twotier.core.actions import Tier
from nova_twotier.core.slots import tiers_of
from nova_twotier.ledger import names
from nova_twotier.ledger.placement import Placement
from nova_twotier.ledger.shape import Shape
from nova_twotier.ledger.tree import TierHost

NOTHING: Mapping[str, int] = MappingProxyType({"total": 0, "reserved": 0})


@dataclass(frozen=True, slots=True)
class Claim:
    """What a VM holds: a slot in this tier, and its CPU points; None if the ledger has none."""

    tier: Tier
    points: int | None = None

    @property
    def cpu(self) -> float:
        """CPU utilisation 0..1. While it is unknown, the VM counts as using its slot fully."""
        return 1.0 if self.points is None else self.points / 100


@dataclass(frozen=True, slots=True)
class HostClaims:
    """A host in the ledger, and the claims on its slots by the uuid of the VM.

    :param host: its providers and its shape; None while the ledger does not have both its tiers.
    """

    host: TierHost | None = None
    claims: Mapping[str, Claim] = field(default_factory=dict)

    @property
    def slots(self) -> int:
        """L of the host; 0 without slots."""
        return self.host.shape.slots if self.host else 0


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
        providers = {tier: names.child_uuid(self._uuid, tier) for tier in present}
        generations: dict[Tier, int] = {}
        inventories: dict[Tier, Mapping[str, int]] = {}
        claims: dict[str, Claim] = {}
        for tier, provider in providers.items():
            url = f"/resource_providers/{provider}"
            # A change after this read has a newer generation, which the next poll sees.
            held = self._placement.get(f"{url}/allocations")
            generations[tier] = held["resource_provider_generation"]
            held_of = self._placement.get(f"{url}/inventories")["inventories"]
            inventories[tier] = held_of.get(names.SLOT, NOTHING)
            for vm, allocation in held["allocations"].items():
                resources = allocation["resources"]
                if names.SLOT in resources:
                    # A swap may come between the reads of the two tiers: the later read counts,
                    # and the next poll sees the generation of the other tier.
                    claims[vm] = Claim(tier, resources.get(names.CPU))
        found = HostClaims(_host(self._host, providers, inventories), claims)
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


def _host(
    name: str, providers: Mapping[Tier, str], inventories: Mapping[Tier, Mapping[str, int]]
) -> TierHost | None:
    if len(providers) < len(Tier):
        # The queue manager makes one after the other.
        return None
    front, back = (inventories.get(tier, NOTHING) for tier in (Tier.FG, Tier.BG))
    slots = front["total"]
    # The foreground of a host that is about to leave the ledger is withheld as a whole.
    leaving = front["reserved"] >= slots
    return TierHost(name, Shape(slots, tiers_of(slots, back["total"])), providers, leaving)
