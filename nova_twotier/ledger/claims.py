"""Claims of VMs and entries of jobs in the ledger, and atomic changes of several of them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from oslo_log import log as logging

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import consumers, names, providers
from nova_twotier.ledger.consumers import Allocations, Change
from nova_twotier.ledger.placement import Conflict, NotFound, Placement, StaleGeneration
from nova_twotier.ledger.tree import TierHost

LOG = logging.getLogger(__name__)

NO_LINKS: Mapping[str, int] = MappingProxyType({})
#: Calls a function for all items, as `map`, perhaps several at the same time.
Each = Callable[..., Iterable]


@dataclass(frozen=True, slots=True)
class Claim:
    """A VM's claim of a slot: host, tier, and whether the ledger has its CPU points."""

    vm: str
    host: str
    tier: Tier
    cpu_points: int

    @property
    def utilisation(self) -> float:
        """CPU utilisation 0..1, as recorded in the ledger."""
        return min(1.0, self.cpu_points / 100)


@dataclass(frozen=True, slots=True)
class JobEntry:
    """A job's entry: `size` places wanted in a tier, and reserved Mbit/s by link (`shape.way_up`).

    :param pool: the pool whose hosts it may use.
    """

    uuid: str
    tier: Tier
    size: int
    links: Mapping[str, int] = field(default_factory=dict)
    pool: str = names.DEFAULT_POOL


@dataclass(frozen=True, slots=True)
class Swap:
    """A job's change of tier: the named VMs swap in place, the others claim slots of the new tier.

    :param hosts: of VMs that may hold slots elsewhere, too: those are left alone.
    """

    job: str
    size: int
    tier: Tier
    vms: tuple[str, ...]
    pool: str = names.DEFAULT_POOL
    hosts: Mapping[str, str] = field(default_factory=dict)


def read_claims(
    placement: Placement,
    hosts: Iterable[TierHost],
    each: Callable[..., Iterable[list[Claim]]] = map,
) -> dict[str, list[Claim]]:
    """All claims on the hosts' slots, by consumer.

    While a VM migrates, Nova holds its claim on the source under the migration's uuid.

    :param each: as `map`; it may read several providers at the same time.
    """

    def read(place: tuple[str, str, Tier]) -> list[Claim]:
        return claims_on(placement, *place)[0]

    places = [(uuid, host.name, tier) for host in hosts for tier, uuid in host.provider.items()]
    claims: dict[str, list[Claim]] = {}
    for found in each(read, places):
        for claim in found:
            claims.setdefault(claim.vm, []).append(claim)
    return claims


def claims_on(
    placement: Placement, provider: str, host: str, tier: Tier
) -> tuple[list[Claim], int | None]:
    """The claims on the slots of a tier of a host, and its generation; None if there is none."""
    try:
        answer = placement.get(f"/resource_providers/{provider}/allocations")
    except NotFound:
        return [], None
    held = {vm: entry["resources"] for vm, entry in answer["allocations"].items()}
    return [
        Claim(vm, host, tier, resources.get(names.CPU, 0))
        for vm, resources in held.items()
        if names.SLOT in resources
    ], answer["resource_provider_generation"]


def read_jobs(
    placement: Placement, each: Callable[..., Iterable[Allocations]] = map
) -> list[JobEntry]:
    """All job entries. A request for each pool, and with links in the ledger for each job, too.

    :param each: as `map`; it may read several jobs at the same time.
    """
    pool_of = {
        provider["uuid"]: names.pool_of(provider["name"])
        for provider in providers.listed(placement, names.JOBS_TRAIT)
    }
    link_of = {
        provider["uuid"]: link
        for provider in providers.listed(placement, names.LINK_TRAIT)
        if (link := names.link_of(provider["name"]))
    }
    held: dict[str, Allocations] = {
        job: {provider: sizes}
        for provider in pool_of
        for job, sizes in consumers.read_provider(placement, provider).items()
    }
    if link_of:
        # One read of each, so that its tier, size and links are consistent.
        held = dict(zip(held, each(lambda job: consumers.read(placement, job), held), strict=True))
    entries = []
    for job, allocations in sorted(held.items()):
        links = {
            link_of[provider]: resources[names.MBPS]
            for provider, resources in allocations.items()
            if provider in link_of
        }
        for provider in pool_of.keys() & allocations.keys():
            for tier, resource_class in names.JOB_SIZE.items():
                if size := allocations[provider].get(resource_class):
                    entries.append(JobEntry(job, tier, size, links, pool_of[provider]))
    return entries


def admit(
    placement: Placement,
    job: str,
    size: int,
    tier: Tier,
    project: str,
    user: str,
    links: Mapping[str, int] = NO_LINKS,
    pool: str = names.DEFAULT_POOL,
) -> None:
    """Write a job's entry, or replace it: tier, size and bandwidth in one transaction.

    :param project: the job's project.
    :param user: the id (`X-OpenStack-Request-ID`) of the request that boots the job's VMs. Besides
        that request, only administrators' requests may name the job.
    :param pool: the pool whose hosts it may use; `tree.prepare` has made its provider.
    :param links: Mbit/s to reserve on each link, by the links' names.
    :raises Conflict: if a link has no room; the message says which.
    :raises NotFound: if no host is below a link, or the pool has no provider.
    """
    wanted = {names.link_uuid(link): {names.MBPS: mbps} for link, mbps in links.items() if mbps}
    places = {
        names.link_uuid(link): f"link {link} ({mbps} Mbit/s wanted)" for link, mbps in links.items()
    }
    places[names.jobs_uuid(pool)] = f"pool {pool}"

    def entry(_held: Allocations) -> Allocations:
        return {**_jobs_entry(tier, size, pool), **wanted}

    consumers.rewrite(placement, {job: entry}, places, owner=_job_owner(project, user))


def release(placement: Placement, job: str) -> None:
    """Remove a job's entry, with its links; does nothing without one."""
    consumers.rewrite(placement, {job: lambda _held: {}}, {})


def swap(
    placement: Placement,
    hosts: Iterable[TierHost],
    swaps: Iterable[Swap],
    project: str,
    user: str,
    each: Each = map,
) -> None:
    """Change tiers of several jobs in one transaction: all or nothing, even if all slots are full.

    The jobs keep their links.

    :param each: as `map`; it may read several claims at the same time, here and below.
    :raises Conflict: if a tier has no room, or a VM has no claim to change.
    """
    tier_of = {uuid: (host, tier) for host in hosts for tier, uuid in host.provider.items()}
    places = {uuid: f"host {host.name} in {tier}" for uuid, (host, tier) in tier_of.items()}
    changes: dict[str, Change] = {}
    for item in swaps:
        for vm in item.vms:
            changes[vm] = _to_tier(vm, item.tier, tier_of, item.hosts.get(vm))
        changes[item.job] = _to_entry(item)
    consumers.rewrite(placement, changes, places, _job_owner(project, user), each=each)


def vacate(
    placement: Placement, hosts: Iterable[TierHost], vms: Iterable[str], each: Each = map
) -> None:
    """Release the slots of VMs that stay on their hosts; they keep their other resources."""
    children = _children(hosts)

    def change(held: Allocations) -> Allocations:
        return {uuid: resources for uuid, resources in held.items() if uuid not in children}

    consumers.rewrite(placement, dict.fromkeys(vms, change), {}, each=each)


def seat(
    placement: Placement,
    hosts: Iterable[TierHost],
    vms: Mapping[str, str],
    tier: Tier,
    each: Each = map,
) -> None:
    """Claim slots of a tier for VMs that are on their hosts without slots: all or nothing.

    :param vms: the host of each VM.
    :raises Conflict: if a host has no room or no slots of that tier, or a VM is not there.
    """
    hosts = tuple(hosts)
    seats = {host.name: host.provider.get(tier) for host in hosts}
    places = {uuid: f"host {name} in {tier}" for name, uuid in seats.items() if uuid}
    children = _children(hosts)

    def sit(vm: str, host: str) -> Change:
        def change(held: Allocations) -> Allocations:
            seat = seats.get(host)
            if not held or not seat:
                raise Conflict(f"VM {vm} finds no slots in {tier} on host {host}")
            if seat in held:
                return held
            kept = {uuid: each for uuid, each in held.items() if uuid not in children}
            return {**kept, seat: {names.SLOT: 1}}

        return change

    changes = {vm: sit(vm, host) for vm, host in vms.items()}
    consumers.rewrite(placement, changes, places, each=each)


def set_cpu_points(
    placement: Placement, hosts: Iterable[TierHost], points: Mapping[str, int], each: Each = map
) -> set[str]:
    """Add the processes' CPU utilisation, in percent points, to the claims of their VMs.

    A host that was shrunk below its use may have no room for more points: the VMs there stay
    without, the others get theirs. Returns those that stay without.
    """
    children = _children(hosts)

    def with_points(amount: int) -> Change:
        def change(held: Allocations) -> Allocations:
            return {
                provider: {
                    **{name: used for name, used in resources.items() if name != names.CPU},
                    **({names.CPU: amount} if amount else {}),
                }
                if provider in children
                else resources
                for provider, resources in held.items()
            }

        return change

    try:
        changes = {vm: with_points(amount) for vm, amount in points.items()}
        consumers.rewrite(placement, changes, {}, each=each)
    except StaleGeneration:
        raise
    except Conflict as error:
        if len(points) == 1:
            LOG.info("Could not add the CPU points of VM %s to the ledger: %s", *points, error)
            return {*points}
        # Where few have no room, halves take fewer writes than one for each.
        vms, without = list(points), set[str]()
        for half in (vms[: len(vms) // 2], vms[len(vms) // 2 :]):
            without |= set_cpu_points(placement, hosts, {vm: points[vm] for vm in half}, each)
        return without
    return set()


def _children(hosts: Iterable[TierHost]) -> set[str]:
    """The providers of all tiers."""
    return {uuid for host in hosts for uuid in host.provider.values()}


def _jobs_entry(tier: Tier, size: int, pool: str) -> dict[str, dict[str, int]]:
    return {names.jobs_uuid(pool): {names.JOB_SIZE[tier]: size}}


def _job_owner(project: str, user: str) -> dict[str, str]:
    return {"project_id": project, "user_id": user, "consumer_type": names.JOB_CONSUMER}


def _to_entry(item: Swap) -> Change:
    entry = _jobs_entry(item.tier, item.size, item.pool)
    return lambda held: {**held, **entry}


def _to_tier(
    vm: str, tier: Tier, tier_of: Mapping[str, tuple[TierHost, Tier]], on: str | None
) -> Change:
    def change(held: Allocations) -> Allocations:
        claims = [uuid for uuid in held if uuid in tier_of and on in (None, tier_of[uuid][0].name)]
        if not claims:
            raise Conflict(f"VM {vm} holds no slot to swap")
        new = {uuid: resources for uuid, resources in held.items() if uuid not in claims}
        for uuid in claims:
            host, _old = tier_of[uuid]
            new[host.provider[tier]] = held[uuid]
        return new

    return change
