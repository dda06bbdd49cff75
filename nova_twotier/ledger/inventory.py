"""Reads the hosts and slots that are in Placement, independent of the aggregates."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from nova_twotier.core import slots
from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names, providers
from nova_twotier.ledger.placement import Placement


@dataclass(frozen=True, slots=True)
class TierSlots:
    """One tier of a host: its places, and how many of them are withheld.

    :param retired: all places are withheld because the host left, or no longer has the tier.
    :param pool: the pool whose jobs get the places; None if they have no pool.
    """

    provider: str
    total: int = 0
    reserved: int = 0
    retired: bool = False
    pool: str | None = None

    @property
    def offered(self) -> int:
        """Places that are not withheld; more may be in use, if some were withheld later."""
        return slots.offered(self.total, self.reserved)


@dataclass(frozen=True, slots=True)
class HostSlots:
    """A host with providers of ours.

    :param name: the name of the host's own provider.
    :param tiers: the tiers that have a provider.
    """

    name: str
    tiers: Mapping[Tier, TierSlots] = field(default_factory=dict)

    @property
    def slots(self) -> int:
        return self.tiers[Tier.FG].total if Tier.FG in self.tiers else 0

    @property
    def tiers_a_slot(self) -> int:
        """K: the foreground place of a slot, and its background places."""
        return slots.tiers_of(self.slots, self._background.total)

    @property
    def closed(self) -> int:
        """Slots whose background places are withheld."""
        return slots.closed_slots(self.slots, self.tiers_a_slot, self._background.offered)

    @property
    def _background(self) -> TierSlots:
        return self.tiers.get(Tier.BG, TierSlots(""))


def read_inventory(
    placement: Placement,
    listed: Iterable[Mapping],
    each: Callable[..., Iterable[tuple[int, int]]] = map,
) -> dict[str, HostSlots]:
    """Every host under which there is a provider of ours, by name.

    One request for each pool and each provider.

    :param listed: all providers, from `providers.listed`.
    :param each: as `map`; it may read several providers at the same time.
    """
    listed = list(listed)
    name_of = {provider["uuid"]: provider["name"] for provider in listed}
    if names.jobs_uuid() not in name_of:
        return {}  # there is no ledger yet: Placement does not know its traits
    retired = {found["uuid"] for found in providers.listed(placement, names.RETIRED_TRAIT)}
    pool_of = _pools(placement)
    ours = [
        (uuid, name_of[parent], tier)
        for uuid, parent in ((one["uuid"], one["parent_provider_uuid"]) for one in listed)
        for tier in (Tier if parent else ())
        if uuid == names.child_uuid(parent, tier)
    ]
    slots_of = each(lambda place: _slots(placement, place[0]), ours)
    found: dict[str, dict[Tier, TierSlots]] = {}
    for (uuid, host, tier), (total, reserved) in zip(ours, slots_of, strict=True):
        found.setdefault(host, {})[tier] = TierSlots(
            uuid, total, reserved, uuid in retired, pool_of.get(uuid)
        )
    return {name: HostSlots(name, tiers) for name, tiers in sorted(found.items())}


def _pools(placement: Placement) -> dict[str, str]:
    """The pool of each provider with a pool's trait."""
    return {
        provider["uuid"]: names.pool_of(jobs["name"])
        for jobs in providers.listed(placement, names.JOBS_TRAIT)
        for provider in providers.listed(placement, names.pool_trait(jobs["uuid"]))
    }


def _slots(placement: Placement, provider: str) -> tuple[int, int]:
    """The numbers of all places and of withheld places of a provider.

    By its allocation ratio, which is not 1 if somebody has written the inventory by hand.
    """
    inventories = placement.get(f"/resource_providers/{provider}/inventories")["inventories"]
    if names.SLOT not in inventories:
        return 0, 0
    slot = inventories[names.SLOT]
    total, reserved = (int(slot[key] * slot["allocation_ratio"]) for key in ("total", "reserved"))
    return total, reserved
