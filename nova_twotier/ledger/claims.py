"""Who holds what: the claims of VMs and the entries of jobs, and the atomic change of several."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names
from nova_twotier.ledger.placement import Conflict, Placement, StaleGeneration
from nova_twotier.ledger.reading import wanted_tier
from nova_twotier.ledger.tree import TierHost

#: How often a write is repeated after somebody else was faster.
ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Claim:
    """A VM's place: host and tier, and whether its CPU points are in the ledger."""

    vm: str
    host: str
    tier: Tier
    cpu_points: int


@dataclass(frozen=True, slots=True)
class Swap:
    """A job changes its tier: these VMs in place; the rest will seek slots of the new tier."""

    job: str
    size: int
    tier: Tier
    vms: tuple[str, ...]


def read_claims(placement: Placement, hosts: Iterable[TierHost]) -> dict[str, list[Claim]]:
    """All claims on the hosts' slots, by consumer.

    While a VM migrates, Nova keeps its claim on the source under the migration's uuid.
    """
    claims = {}
    for host in hosts:
        for tier, provider in host.provider.items():
            held = placement.get(f"/resource_providers/{provider}/allocations")["allocations"]
            for consumer, allocation in held.items():
                resources = allocation["resources"]
                if names.SLOT in resources:
                    claim = Claim(consumer, host.name, tier, resources.get(names.CPU, 0))
                    claims.setdefault(consumer, []).append(claim)
    return claims


def job_tier(placement: Placement, job: str) -> Tier | None:
    """The tier that a job's entry asks for; None if it has no entry."""
    return wanted_tier(placement.get(f"/allocations/{job}"))


def admit(placement: Placement, job: str, size: int, tier: Tier, project: str, user: str) -> None:
    """Enter a job, or change the tier of its entry."""

    def entry(current):
        return _job_entry(current, size, tier, project, user)

    _rewrite(placement, {job: entry})


def release(placement: Placement, job: str) -> None:
    """Take a job's entry out; nothing happens without one."""
    _rewrite(placement, {job: lambda current: {**current, "allocations": {}}})


def swap(
    placement: Placement, hosts: Iterable[TierHost], swaps: Iterable[Swap], project: str, user: str
) -> None:
    """Change tiers of several jobs in one transaction: all or nothing, even if all slots are full.

    :raises Conflict: if a tier has no room for it, or a VM has no claim to change.
    """
    tier_of = {uuid: (host, tier) for host in hosts for tier, uuid in host.provider.items()}
    changes = {}
    for item in swaps:
        for vm in item.vms:
            changes[vm] = _to_tier(vm, item.tier, tier_of)
        changes[item.job] = lambda current, item=item: _job_entry(
            current, item.size, item.tier, project, user
        )
    _rewrite(placement, changes)


def set_cpu_points(
    placement: Placement, hosts: Iterable[TierHost], points: Mapping[str, int]
) -> None:
    """Add the processes' CPU utilisation, in percent points, to the claims of their VMs."""
    children = {uuid for host in hosts for uuid in host.provider.values()}

    def with_points(amount):
        def change(current):
            for provider, allocation in current["allocations"].items():
                if provider in children:
                    allocation["resources"].pop(names.CPU, None)
                    if amount:
                        allocation["resources"][names.CPU] = amount
            return current

        return change

    _rewrite(placement, {vm: with_points(amount) for vm, amount in points.items()})


def _job_entry(current: dict, size: int, tier: Tier, project: str, user: str) -> dict:
    return {
        "allocations": {names.jobs_uuid(): {"resources": {names.JOB_SIZE[tier]: size}}},
        "project_id": current.get("project_id", project),
        "user_id": current.get("user_id", user),
        "consumer_generation": current.get("consumer_generation"),
        "consumer_type": names.JOB_CONSUMER,
    }


def _to_tier(vm: str, tier: Tier, tier_of: Mapping[str, tuple[TierHost, Tier]]):
    def change(current):
        claims = [uuid for uuid in current["allocations"] if uuid in tier_of]
        if not claims:
            raise Conflict(f"VM {vm} holds no slot to swap")
        for uuid in claims:
            host, _old = tier_of[uuid]
            claim = current["allocations"].pop(uuid)
            current["allocations"][host.provider[tier]] = claim
        return current

    return change


def _rewrite(placement: Placement, changes: Mapping) -> None:
    """Read consumers, change them, and write them in one request; again if somebody was faster.

    :param changes: for each consumer a function from its present entry to the new one. Consumers
        that have no entry come as `{"allocations": {}}`.
    :raises StaleGeneration: if somebody was faster every time.
    """
    for attempt in range(ATTEMPTS):
        body = {}
        for consumer, change in changes.items():
            current = placement.get(f"/allocations/{consumer}")
            if not current["allocations"]:
                current = {"allocations": {}}
            new = change(current)
            if new["allocations"] or current["allocations"]:
                body[consumer] = {
                    "allocations": {
                        uuid: {"resources": allocation["resources"]}
                        for uuid, allocation in new["allocations"].items()
                    },
                    **{key: new[key] for key in _CONSUMER_KEYS},
                }
                # Nova claims without a type, which Placement shows as one that it does not take.
                if body[consumer]["consumer_type"] == "unknown":
                    body[consumer]["consumer_type"] = names.VM_CONSUMER
        if not body:
            return
        try:
            placement.post("/allocations", body)
            return
        except StaleGeneration:
            if attempt == ATTEMPTS - 1:
                raise


_CONSUMER_KEYS = ("project_id", "user_id", "consumer_generation", "consumer_type")
