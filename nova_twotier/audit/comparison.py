"""The comparison: finds disagreements in a `State`. Pure functions.

It skips whatever is just changing: servers with a task or an unconfirmed resize, unfinished
migrations, and jobs that the manager is working on.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from nova_twotier.audit import bandwidth
from nova_twotier.audit.findings import (
    Close,
    Drop,
    Enter,
    Finding,
    Kind,
    Points,
    Release,
    Seat,
    Sync,
)
from nova_twotier.audit.state import ENDED, JobRecord, Migration, State, Vm
from nova_twotier.core.actions import Tier
from nova_twotier.core.slots import cpu_points, is_hot
from nova_twotier.ledger.claims import Claim
from nova_twotier.ledger.inventory import HostSlots
from nova_twotier.ledger.shape import Shape

_CELL_DOWN = "nothing: a cell is down; look again when it is up"


def compare(state: State) -> list[Finding]:
    """All disagreements, in the order in which they are to be repaired."""
    found = [
        *compare_hosts(state),
        *_orphan_claims(state),
        *_entries(state),
        *_seats(state),
        *_points(state),
        *_closed(state),
        *_servers(state),
    ]
    return sorted(found, key=lambda finding: (finding.kind.order, finding.subject))


def compare_hosts(state: State) -> Iterator[Finding]:
    """Disagreements between the hosts' slots and the aggregates."""
    for name, host in state.hosts.items():
        offered = sum(slots.offered for slots in host.tiers.values())
        if name not in state.shapes and offered:
            yield Finding(
                Kind.STRAY_HOST,
                name,
                f"offers {offered} places",
                "none: it is in no aggregate with twotier:slots",
                "withdraw its places; VMs there stay",
                Sync(),
            )
    for name, shape in state.shapes.items():
        host = state.hosts.get(name, HostSlots(name))
        if not _fits(host, shape):
            yield Finding(
                Kind.WRONG_SLOTS,
                name,
                _places({tier: _given(host, tier) for tier in Tier}, _pools(host)),
                _places({tier: shape.places(tier) for tier in Tier}, {shape.pool}),
                *(
                    ("make its providers as its aggregate says", Sync())
                    if name in state.reported
                    else ("nothing: Placement does not know the host; is its nova-compute up?",)
                ),
            )


def _fits(host: HostSlots, shape: Shape) -> bool:
    return _pools(host) <= {shape.pool} and all(
        _given(host, tier) == shape.places(tier)
        # Places that VMs still hold cannot be removed, only withheld.
        or (not shape.places(tier) and not host.tiers[tier].offered)
        for tier in Tier
    )


def _given(host: HostSlots, tier: Tier) -> int:
    """Places that a host has in a tier, closed or not; none if the tier is retired."""
    slots = host.tiers.get(tier)
    return slots.total if slots and not slots.retired else 0


def _pools(host: HostSlots) -> set[str]:
    """The pool of a host with places; several if a change of pool was interrupted."""
    return {slots.pool or "none" for slots in host.tiers.values() if not slots.retired}


def _places(places: dict[Tier, int], pools: set[str]) -> str:
    amounts = [f"{number} {tier}" for tier, number in places.items()]
    return ", ".join([*amounts, *(f"pool {pool}" for pool in sorted(pools))])


def _orphan_claims(state: State) -> Iterator[Finding]:
    for consumer, claims in state.claims.items():
        vm = state.vms.get(consumer)
        migration = state.migrations.get(consumer)
        if vm is not None:
            if state.certain(vm) and not vm.hosts:
                yield Finding(
                    Kind.ORPHAN_CLAIM,
                    consumer,
                    f"holds {_where(claims)}",
                    f"nothing: the server is {vm.status} and on no host",
                    "nothing: the server lives; unshelve or delete it",
                )
        elif migration is None:
            yield Finding(
                Kind.ORPHAN_CLAIM,
                consumer,
                f"holds {_where(claims)}",
                "nothing: there is no such server",
                # It may be a migration in the cell that is down, which Nova does not list now.
                *((_CELL_DOWN,) if state.cell_down else ("drop its claims", Drop(consumer))),
            )
        elif finding := _orphan_migration(state, migration, claims):
            yield finding


def _orphan_migration(
    state: State, migration: Migration, claims: Sequence[Claim]
) -> Finding | None:
    """A finished migration that still holds its VM's former place."""
    vm = state.vms.get(migration.vm)
    if vm is not None and (migration.status not in ENDED or not state.certain(vm)):
        return None
    over = f"is {migration.status}" if vm else "was of a server that is gone"
    found, wanted = f"a migration, holds {_where(claims)}", f"nothing: the migration {over}"
    # A server without a claim of its own may depend on this one.
    if vm is not None and vm.hosts and vm.id not in state.claims:
        left = f"nothing: server {vm.id} has no claim of its own; see `nova-manage placement audit`"
        return Finding(Kind.ORPHAN_CLAIM, migration.id, found, wanted, left)
    fix = Drop(migration.id, migration.vm)
    return Finding(Kind.ORPHAN_CLAIM, migration.id, found, wanted, "drop its claims", fix)


def _entries(state: State) -> Iterator[Finding]:
    if state.jobs is None:
        return
    served = {vm.job for vm in state.vms.values()}
    # Those of a job that waits with its state saved hold none.
    holding = {
        vm.job for vm in state.vms.values() if vm.id in state.claims and not _rests(state, vm)
    }
    for uuid, entry in state.entries.items():
        job = state.jobs.get(uuid)
        if job is None or (job.tier is None and not job.under_way):
            reason = "there is no such open job" if job is None else "the job waits in the queue"
            if job is None and uuid in served:
                repair = ("nothing: servers of it live; delete them",)
            elif job is not None and uuid in holding:
                repair = (
                    "nothing: servers of it hold slots; delete them, and it starts from its "
                    "beginning",
                )
            elif job is None and state.cell_down:
                repair = (_CELL_DOWN,)
            else:
                repair = ("take the entry out", Release(uuid))
            yield Finding(
                Kind.ORPHAN_ENTRY,
                uuid,
                f"{entry.size} in {entry.tier}",
                f"no entry: {reason}",
                *repair,
            )
    for uuid, job in state.jobs.items():
        if job.tier is None or job.under_way:
            continue
        entry = state.entries.get(uuid)
        held = entry.links if entry else {}
        links = bandwidth.links(state, job)
        links = held if links is None else links
        if entry is None or (entry.size, entry.tier, held) != (job.size, job.tier, links):
            yield Finding(
                Kind.MISSING_ENTRY if entry is None else Kind.WRONG_ENTRY,
                uuid,
                "no entry" if entry is None else f"{entry.size} in {entry.tier}{_mbps(held)}",
                f"{job.size} in {job.tier}{_mbps(links)}, as the job runs",
                "write the entry",
                Enter(uuid, job.size, job.tier, links, job.pool),
            )


def _mbps(links: Mapping[str, int]) -> str:
    return "".join(f", {mbps} Mbit/s on {link}" for link, mbps in sorted(links.items()))


def _seats(state: State) -> Iterator[Finding]:
    for vm in state.vms.values():
        if vm.hosts and state.certain(vm):
            finding = _seat(state, vm, tuple(state.claims.get(vm.id, ())))
            if finding:
                yield finding


def _seat(state: State, vm: Vm, claims: tuple[Claim, ...]) -> Finding | None:
    """What is wrong with the claims of a VM that is up on a host, if anything."""
    tier = _wanted_tier(state, vm)
    if len(claims) == 1:
        [claim] = claims
        wrong_tier = tier is not None and claim.tier is not tier
        if claim.host in vm.hosts and not wrong_tier:
            return None
        kind = Kind.WRONG_TIER if claim.host in vm.hosts else Kind.WRONG_HOST
    elif claims:
        kind = Kind.DOUBLE_CLAIM
    elif vm.ours and not _rests(state, vm):
        kind = Kind.MISSING_CLAIM
    else:
        return None
    found = f"holds {_where(claims)}" if claims else "holds nothing"
    host = next((name for name in sorted(vm.hosts) if name in state.hosts), None)
    if host is None:
        where = "/".join(sorted(vm.hosts))
        left = f"nothing: {where} has no slots; add it to an aggregate, or migrate the server"
        return Finding(kind, vm.id, found, f"one slot of {where}", left)
    tier = tier or _present_tier(claims, host)
    if tier is None:
        left = "nothing: no job says which tier; migrate the server, which claims anew"
        return Finding(kind, vm.id, found, f"one slot of {host}", left)
    fix = Seat(vm.id, host, tier, claims)
    return Finding(kind, vm.id, found, f"{host} {tier}", "rewrite its claim", fix)


def _rests(state: State, vm: Vm) -> bool:
    """Whether its job waits in the queue with its servers suspended on their hosts, slots freed."""
    job = state.job_of(vm)
    return vm.status in ("SUSPENDED", "SHUTOFF") and job is not None and job.tier is None


def _wanted_tier(state: State, vm: Vm) -> Tier | None:
    """The tier of the VM's job; None without a job, or if the job is in no tier."""
    job = state.job_of(vm)
    if job is not None and job.tier is not None:
        return job.tier
    entry = state.entries.get(vm.job)
    return entry.tier if entry else None


def _present_tier(claims: tuple[Claim, ...], host: str) -> Tier | None:
    """The one tier that a VM holds on its host or, if it holds none there, elsewhere."""
    for candidates in ([claim for claim in claims if claim.host == host], claims):
        tiers = {claim.tier for claim in candidates}
        if tiers:
            return tiers.pop() if len(tiers) == 1 else None
    return None


def _where(claims: Sequence[Claim]) -> str:
    return " and ".join(sorted(f"{claim.host} {claim.tier}" for claim in claims))


def _points(state: State) -> Iterator[Finding]:
    for vm in state.vms.values():
        job = state.job_of(vm)
        claims = tuple(state.claims.get(vm.id, ()))
        if not claims or not _runs(job, vm) or not state.certain(vm):
            continue
        wanted = cpu_points(job.cpu[vm.index])
        found = {claim.cpu_points for claim in claims}
        # Other points than the job's are a node agent's, which has measured them.
        if wanted and 0 in found:
            yield Finding(
                Kind.MISSING_POINTS,
                vm.id,
                ", ".join(map(str, sorted(found))),
                f"{wanted} CPU points",
                "write them to its claim",
                Points(vm.id, wanted, claims),
            )


def _closed(state: State) -> Iterator[Finding]:
    if state.jobs is None:
        return
    hot, uncertain = _hot(state)
    for name, host in state.hosts.items():
        shape = state.shapes.get(name)
        if shape is None or name in uncertain or not _fits(host, shape):
            continue
        if not shape.places(Tier.BG):  # no background places to close
            continue
        background = host.tiers[Tier.BG]
        wanted = min(hot.get(name, 0), shape.slots)
        withheld = shape.places(Tier.BG) - shape.places(Tier.BG, wanted)
        if background.reserved != withheld:
            yield Finding(
                Kind.WRONG_CLOSED,
                name,
                f"{background.reserved} background places withheld",
                f"{withheld}: {wanted} foreground processes are hot",
                "set the closed count",
                Close(name, wanted),
            )


def _hot(state: State) -> tuple[dict[str, int], set[str]]:
    """The number of hot foreground processes of each host, and the hosts that are changing."""
    hot, uncertain = {}, set[str]()
    uncertain.update(*(job.targets for job in (state.jobs or {}).values()))
    for consumer, claims in state.claims.items():
        vm = state.vms.get(consumer)
        if vm is None or not state.certain(vm):
            uncertain.update(claim.host for claim in claims)
            continue
        job = state.job_of(vm)
        for claim in claims:
            # The ledger says what was measured, and all that is known of other VMs.
            cpu = claim.utilisation
            if _runs(job, vm) and claim.cpu_points in (0, cpu_points(job.cpu[vm.index])):
                cpu = job.cpu[vm.index]
            if claim.tier is Tier.FG and is_hot(cpu, state.threshold):
                hot[claim.host] = hot.get(claim.host, 0) + 1
    return hot, uncertain


def _servers(state: State) -> Iterator[Finding]:
    """Running jobs that lack servers while no queue manager is at work to notice it."""
    if state.cell_down:
        return
    found = Counter(vm.job for vm in state.vms.values())
    for uuid, job in (state.jobs or {}).items():
        if job.managed or job.under_way or job.tier is None or found[uuid] >= job.size:
            continue
        yield Finding(
            Kind.MISSING_SERVER,
            uuid,
            f"{found[uuid]} of its servers",
            f"{job.size} servers, as the job runs",
            "nothing: start the queue manager, which lets the job begin anew",
        )


def _runs(job: JobRecord | None, vm: Vm) -> bool:
    """Whether the VM is a process of a running job."""
    known = job is not None and job.tier is not None
    return known and vm.index is not None and vm.index < job.size
