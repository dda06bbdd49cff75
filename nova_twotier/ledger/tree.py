"""Keeps the provider tree: two child providers under each two-tier host, the links, the jobs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from oslo_log import log as logging

from nova_twotier.core.actions import Tier
from nova_twotier.core.slots import tiers_of
from nova_twotier.ledger import names, providers
from nova_twotier.ledger.placement import Conflict, NotFound, Placement, StaleGeneration
from nova_twotier.ledger.providers import Provider
from nova_twotier.ledger.shape import Shape, capacities

LOG = logging.getLogger(__name__)

#: The largest amount that Placement's inventory can hold.
UNLIMITED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TierHost:
    """A host of the ledger and its providers' uuids.

    A `leaving` host is in no two-tier aggregate any more and has its last shape: its VMs keep their
    claims, and no others follow.
    """

    name: str
    shape: Shape
    provider: Mapping[Tier, str]
    leaving: bool = False


def prepare(placement: Placement, pools: Iterable[str] = (names.DEFAULT_POOL,)) -> None:
    """Make our resource classes and traits, and these pools' providers of job entries.

    The default pool's provider is always made: it shows that there is a ledger.
    """
    pools = sorted({names.DEFAULT_POOL, *pools})
    for resource_class in names.RESOURCE_CLASSES:
        placement.put(f"/resource_classes/{resource_class}")
    for trait in names.TRAITS:
        placement.put(f"/traits/{trait}")
    for pool in pools:
        placement.put(f"/traits/{names.pool_trait(names.jobs_uuid(pool))}")
    wanted = [
        Provider(names.jobs_uuid(pool), names.jobs_name(pool), names.JOBS_TRAIT, UNLIMITED)
        for pool in pools
    ]
    done = providers.in_order(placement, wanted)
    for jobs in wanted:
        if jobs.uuid not in done:
            providers.create(placement, jobs)
            providers.settle(placement, jobs)


def sync_hosts(
    placement: Placement,
    shapes: Mapping[str, Shape],
    thorough: bool = False,
    each: Callable[..., Iterable[TierHost | None]] = map,
    tell: Callable[[int, str], object] = LOG.log,
) -> list[TierHost]:
    """Bring the providers of hosts and links into line with the shapes; may be repeated.

    A host whose compute service has not reported to Placement yet is left out with a warning, and
    one whose name is too long, or whose providers Placement refuses, with an error. A host that
    left takes no new claims; it is returned as leaving while VMs hold places there, and its
    providers are deleted afterwards. A link above no host is deleted once it is unused.

    Reads the list of all providers, and two lists for each size of hosts and links and for each
    pool. Besides, up to five requests for each new or changed provider, up to six for each leaving
    host, and one for each link to delete.

    :param thorough: check every provider's inventory, to repair changes made by hand.
    :param each: as `map`; it may see to several hosts at the same time.
    :param tell: called with the log level and the text of each warning and error.
    :raises StaleGeneration: if others keep changing the same provider.
    """
    there = {provider["uuid"]: provider for provider in providers.listed(placement)}
    roots = {
        provider["name"]: uuid
        for uuid, provider in there.items()
        if provider["parent_provider_uuid"] is None
    }
    present = {
        name: shape
        for name, shape in sorted(shapes.items())
        if name in roots and len(name) <= names.LONGEST_HOST
    }
    for name in sorted(shapes.keys() - present.keys()):
        if name in roots:
            tell(
                logging.ERROR,
                f"Host {name} stays out of the ledger: its name has more than "
                f"{names.LONGEST_HOST} characters",
            )
            continue
        tell(
            logging.WARNING,
            f"Host {name} is in a two-tier aggregate but no provider in Placement has its name: "
            "is its nova-compute up?",
        )
    children = {name: _children(name, roots[name], shape) for name, shape in present.items()}
    links = _links(present, tell)
    wanted = [*links, *(child for pair in children.values() for child in pair.values())]
    done = providers.in_order(placement, wanted)
    if thorough:
        done.clear()

    def ensure(provider: Provider) -> None:
        if provider.uuid not in done:
            if provider.uuid not in there:
                providers.create(placement, provider)
            providers.settle(placement, provider)

    for link in links:
        ensure(link)

    def settled(name: str) -> TierHost | None:
        pair = children[name]
        try:
            for child in pair.values():
                ensure(child)
        except StaleGeneration:
            raise
        except (Conflict, NotFound) as error:
            tell(logging.ERROR, f"Host {name} stays out of the ledger: {error}")
            return None
        return TierHost(name, present[name], {tier: c.uuid for tier, c in pair.items()})

    hosts = [host for host in each(settled, children) if host]
    hosts += _retire_hosts(placement, there, present)
    _drop_links(placement, there, {link.uuid for link in links})
    return sorted(hosts, key=lambda host: host.name)


def set_closed(placement: Placement, host: TierHost, closed: int) -> None:
    """Withhold the background places of `closed` slots, even below the present use."""
    if host.leaving:
        return
    providers.reserve(placement, host.provider[Tier.BG], host.shape.places(Tier.BG, closed))


def _children(name: str, root: str, shape: Shape) -> dict[Tier, Provider]:
    return {
        tier: Provider(
            names.child_uuid(root, tier),
            names.child_name(name, tier),
            names.TRAIT[tier],
            shape.places(tier),
            root,
            names.pool_trait(names.jobs_uuid(shape.pool)),
        )
        for tier in Tier
    }


def _links(shapes: Mapping[str, Shape], tell: Callable[[int, str], object]) -> list[Provider]:
    amounts, problems = capacities(shapes)
    for problem in problems:
        tell(logging.ERROR, problem)
    return [
        Provider(names.link_uuid(link), names.link_name(link), names.LINK_TRAIT, mbps)
        for link, mbps in sorted(amounts.items())
    ]


def _retire_hosts(
    placement: Placement, there: Mapping[str, dict], present: Mapping[str, Shape]
) -> Iterator[TierHost]:
    """Retire the providers of hosts that are in no aggregate; yields the hosts still in use."""
    parents = {provider["parent_provider_uuid"] for provider in there.values()}
    for root in sorted(parents - {None}):
        name = there[root]["name"]
        left = {tier: names.child_uuid(root, tier) for tier in Tier}
        left = {tier: child for tier, child in left.items() if child in there}
        if left and name not in present:
            try:
                host = _retire(placement, name, left)
            except NotFound:
                continue  # another process has just deleted its providers
            if host:
                yield host


def _retire(placement: Placement, name: str, children: Mapping[Tier, str]) -> TierHost | None:
    places = {
        tier: providers.withdraw(placement, child, names.TRAIT[tier])
        for tier, child in children.items()
    }
    # Both stay until both are empty: VMs may still be exchanged between them.
    if any(providers.is_used(placement, child) for child in children.values()):
        slots, background = (places.get(tier, 0) for tier in (Tier.FG, Tier.BG))
        shape = Shape(slots, tiers_of(slots, background))
        return TierHost(name, shape, dict(children), leaving=True)
    gone = [providers.delete(placement, child) for child in children.values()]
    if all(gone):
        LOG.info("Host %s left the two-tier aggregates: its providers are gone", name)
    return None


def _drop_links(placement: Placement, there: Mapping[str, dict], wanted: set[str]) -> None:
    for uuid, provider in there.items():
        link = names.link_of(provider["name"])
        if link and uuid == names.link_uuid(link) and uuid not in wanted:
            providers.delete(placement, uuid)
