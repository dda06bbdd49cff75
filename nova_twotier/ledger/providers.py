"""Creates, resizes, retires and deletes our resource providers in Placement.

Each provider has the trait `names.size_trait(size)` as long as its inventory is the one last
written for that size, so that one listing shows which of ten thousand need no check. A change of
the inventory first removes the trait and adds the new one last, each write based on the one before.
The tiers of a host also have the trait of its pool.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names
from nova_twotier.ledger.placement import Conflict, InUse, NotFound, Placement
from nova_twotier.ledger.retry import until_fresh

Inventory = Mapping[str, Mapping[str, int]]

#: Inventory of a provider of size 1, by the trait of its kind.
UNIT = {
    names.TRAIT[Tier.FG]: {names.SLOT: 1, names.CPU: 100},
    names.TRAIT[Tier.BG]: {names.SLOT: 1, names.CPU: 100},
    names.LINK_TRAIT: {names.MBPS: 1},
    names.JOBS_TRAIT: dict.fromkeys(names.JOB_SIZE.values(), 1),
}


@dataclass(frozen=True, slots=True)
class Provider:
    """The wanted state of a provider: `size` times the `UNIT` inventory of its `trait`.

    :param pool: trait of the pool that it belongs to, if any.
    """

    uuid: str
    name: str
    trait: str
    size: int
    parent: str | None = None
    pool: str | None = None

    @property
    def marks(self) -> set[str]:
        """The traits that it has when it is as wanted."""
        return {names.size_trait(self.size)} | ({self.pool} if self.pool else set())


def listed(placement: Placement, trait: str | None = None) -> list[dict]:
    """All providers, or those with a trait: name, uuid and parent of each."""
    url = f"/resource_providers?required={trait}" if trait else "/resource_providers"
    return placement.get(url)["resource_providers"]


def in_order(placement: Placement, wanted: Collection[Provider]) -> set[str]:
    """Uuids of the providers that are as wanted: one listing for each size and each pool."""
    marked = {}
    for mark in sorted(set().union(*(provider.marks for provider in wanted))):
        placement.put(f"/traits/{mark}")
        marked[mark] = {provider["uuid"] for provider in listed(placement, mark)}
    return {
        provider.uuid
        for provider in wanted
        if all(provider.uuid in marked[mark] for mark in provider.marks)
    }


def settle(placement: Placement, provider: Provider) -> None:
    """Give an existing provider its inventory.

    Withheld places stay withheld, unless the provider was retired. If the wanted size is 0 while
    consumers hold places, they keep them and no others follow.
    """

    def wanted(held: Inventory, retired: bool) -> dict:
        size = provider.size
        return {
            resource_class: {
                "total": amount * size,
                "reserved": 0
                if retired
                else min(amount * size, held.get(resource_class, {}).get("reserved", 0)),
            }
            for resource_class, amount in UNIT[provider.trait].items()
            if size
        }

    try:
        _rewrite(placement, provider.uuid, wanted, provider.marks, provider.trait)
    except InUse:
        withdraw(placement, provider.uuid, provider.trait)


def withdraw(placement: Placement, uuid: str, trait: str) -> int:
    """Retire a provider: no new claims of slots, present ones stay. Returns its places."""

    def wanted(held: Inventory, _retired: bool) -> dict:
        # CPU points may still be added to the claims that are there.
        return {
            resource_class: {
                "total": inventory["total"],
                "reserved": inventory["total" if resource_class == names.SLOT else "reserved"],
            }
            for resource_class, inventory in held.items()
        }

    held = _rewrite(placement, uuid, wanted, {names.RETIRED_TRAIT}, trait)
    return held.get(names.SLOT, {}).get("total", 0)


def create(placement: Placement, provider: Provider) -> None:
    """Make a provider without inventory, unless it exists already."""
    body = {"uuid": provider.uuid, "name": provider.name}
    if provider.parent:
        body["parent_provider_uuid"] = provider.parent
    try:
        placement.post("/resource_providers", body)
    except Conflict:
        try:
            placement.get(f"/resource_providers/{provider.uuid}")
        except NotFound:
            pass
        else:
            return
        raise


def is_used(placement: Placement, uuid: str) -> bool:
    return any(placement.get(f"/resource_providers/{uuid}/usages")["usages"].values())


def delete(placement: Placement, uuid: str) -> bool:
    """Delete a provider; returns False if it is still in use."""
    try:
        placement.delete(f"/resource_providers/{uuid}")
    except NotFound:
        return True
    except InUse:
        return False
    return True


def reserve(placement: Placement, uuid: str, open_places: int) -> None:
    """Withhold all places of a provider but `open_places`; does nothing without inventory."""
    url = f"/resource_providers/{uuid}/inventories"

    def write() -> None:
        current = placement.get(url)
        inventory = current["inventories"].get(names.SLOT)
        if inventory is None:
            return
        reserved = max(0, inventory["total"] - open_places)
        if inventory["reserved"] != reserved:
            placement.put(
                f"{url}/{names.SLOT}",
                {
                    **inventory,
                    "reserved": reserved,
                    "resource_provider_generation": current["resource_provider_generation"],
                },
            )

    until_fresh(write)


def _rewrite(
    placement: Placement,
    uuid: str,
    wanted: Callable[[Inventory, bool], dict],
    marks: set[str],
    trait: str,
) -> dict:
    """Write inventory and traits if they differ; returns the inventory.

    :param wanted: maps the present inventory, and whether the provider is retired, to the new one.
    :param marks: the traits that describe the provider's state afterwards.
    :raises InUse: if consumers hold a resource class that the new inventory lacks.
    """
    url = f"/resource_providers/{uuid}"

    def write() -> dict:
        # All writes depend on this first read: a change by others makes them stale.
        current = placement.get(f"{url}/inventories")
        traits = set(placement.get(f"{url}/traits")["traits"])
        generation = current["resource_provider_generation"]
        new = wanted(current["inventories"], names.RETIRED_TRAIT in traits)
        after = {each for each in traits if not _is_mark(each)} | {trait, *marks}
        if any(_differ(current["inventories"], new)):
            # A crash in between leaves no wrong size trait, and places withheld for retirement can
            # always be told from closed ones.
            during = {each for each in traits if not names.is_size(each)}
            during |= marks & {names.RETIRED_TRAIT}
            if traits != during:
                generation = _put_traits(placement, url, during, generation)
            generation = placement.put(
                f"{url}/inventories",
                {"resource_provider_generation": generation, "inventories": new},
            )["resource_provider_generation"]
            traits = during
        if traits != after:
            _put_traits(placement, url, after, generation)
        return new

    return until_fresh(write)


def _differ(held: Inventory, new: Inventory) -> Iterable[bool]:
    yield held.keys() != new.keys()
    for resource_class, inventory in new.items():
        before = held.get(resource_class, {})
        yield any(before.get(key) != value for key, value in inventory.items())
        yield before.get("allocation_ratio") != 1.0


def _is_mark(trait: str) -> bool:
    return trait == names.RETIRED_TRAIT or names.is_size(trait) or names.is_pool(trait)


def _put_traits(placement: Placement, url: str, traits: Iterable[str], generation: int) -> int:
    body = {"resource_provider_generation": generation, "traits": sorted(traits)}
    return placement.put(f"{url}/traits", body)["resource_provider_generation"]
