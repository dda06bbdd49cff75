"""The provider tree: two child providers under each two-tier host, and the provider of the jobs."""

from collections.abc import Mapping
from dataclasses import dataclass

from oslo_log import log as logging

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names
from nova_twotier.ledger.placement import Conflict, NotFound, Placement, StaleGeneration

LOG = logging.getLogger(__name__)

#: The largest amount that Placement's inventory can hold.
UNLIMITED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Shape:
    """What an operator gives a host: L slots and K tiers (`twotier:slots`, `twotier:tiers`)."""

    slots: int
    tiers: int

    def places(self, tier: Tier) -> int:
        return self.slots if tier is Tier.FG else self.slots * (self.tiers - 1)


@dataclass(frozen=True, slots=True)
class TierHost:
    """A host of the ledger and its providers' uuids."""

    name: str
    shape: Shape
    provider: Mapping[Tier, str]


def prepare(placement: Placement) -> None:
    """Make our resource classes and traits, and the provider that the job entries are on."""
    for resource_class in (names.SLOT, names.CPU, *names.JOB_SIZE.values()):
        placement.put(f"/resource_classes/{resource_class}")
    for trait in names.TRAIT.values():
        placement.put(f"/traits/{trait}")
    _ensure_provider(placement, names.jobs_uuid(), names.JOBS_PROVIDER)
    unlimited = dict.fromkeys(names.JOB_SIZE.values(), UNLIMITED)
    _ensure_inventory(placement, names.jobs_uuid(), unlimited)


def sync_hosts(placement: Placement, shapes: Mapping[str, Shape]) -> list[TierHost]:
    """Make each named host's child providers as its shape says.

    Hosts whose compute service has not reported to Placement yet are left out, with a warning.
    """
    providers = {
        rp["name"]: rp["uuid"] for rp in placement.get("/resource_providers")["resource_providers"]
    }
    hosts = []
    for name, shape in sorted(shapes.items()):
        if name not in providers:
            LOG.warning(
                "Host %s is in a two-tier aggregate but has no provider in Placement; "
                "is its nova-compute up?",
                name,
            )
            continue
        hosts.append(TierHost(name, shape, _sync_host(placement, name, providers[name], shape)))
    return hosts


def _sync_host(placement: Placement, name: str, root: str, shape: Shape) -> dict[Tier, str]:
    children = {}
    for tier in Tier:
        child = children[tier] = names.child_uuid(root, tier)
        places = shape.places(tier)
        _ensure_provider(placement, child, names.child_name(name, tier), parent=root)
        # Without places (K = 1) there is nothing to inventory: totals start at 1.
        inventory = {names.SLOT: places, names.CPU: 100 * places} if places else {}
        try:
            _ensure_inventory(placement, child, inventory)
        except StaleGeneration:
            raise
        except Conflict:
            # VMs hold places that the shape no longer has (K = 1 now): they stay, none follows.
            set_closed(placement, TierHost(name, shape, children), shape.slots)
        _ensure_trait(placement, child, names.TRAIT[tier])
    return children


def set_closed(placement: Placement, host: TierHost, closed: int) -> None:
    """Withhold the background places of `closed` slots; may go below the present use."""
    provider = host.provider[Tier.BG]
    url = f"/resource_providers/{provider}/inventories"
    current = placement.get(url)
    inventory = current["inventories"].get(names.SLOT)
    if inventory is None:
        return
    open_places = max(0, host.shape.slots - closed) * (host.shape.tiers - 1)
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


def _ensure_provider(placement: Placement, uuid: str, name: str, parent: str | None = None) -> None:
    try:
        placement.get(f"/resource_providers/{uuid}")
    except NotFound:
        body = {"uuid": uuid, "name": name}
        if parent:
            body["parent_provider_uuid"] = parent
        placement.post("/resource_providers", body)


def _ensure_inventory(placement: Placement, uuid: str, totals: Mapping[str, int]) -> None:
    url = f"/resource_providers/{uuid}/inventories"
    current = placement.get(url)
    inventories = current["inventories"]
    if {rc: inventory["total"] for rc, inventory in inventories.items()} == dict(totals):
        return
    placement.put(
        url,
        {
            "resource_provider_generation": current["resource_provider_generation"],
            "inventories": {
                rc: {
                    "total": total,
                    "reserved": min(total, inventories.get(rc, {}).get("reserved", 0)),
                }
                for rc, total in totals.items()
            },
        },
    )


def _ensure_trait(placement: Placement, uuid: str, trait: str) -> None:
    url = f"/resource_providers/{uuid}/traits"
    current = placement.get(url)
    if trait not in current["traits"]:
        placement.put(
            url,
            {
                "resource_provider_generation": current["resource_provider_generation"],
                "traits": [*current["traits"], trait],
            },
        )
