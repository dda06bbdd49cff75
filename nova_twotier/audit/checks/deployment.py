"""Checks of the deployment: pure functions of nova.conf's options and of the cloud's answers."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from oslo_upgradecheck.upgradecheck import Result

from nova_twotier.audit.checks.configuration import NO_QUOTA, UNIFIED_LIMITS
from nova_twotier.audit.checks.results import failure, success, warning
from nova_twotier.audit.listed import listed
from nova_twotier.cloud.peers import MOST_ITEMS
from nova_twotier.core.flavors import (
    CPU_POLICY,
    MOST_POINTS,
    is_nothing,
    is_points,
    own_cpus,
    wrong_value,
)
from nova_twotier.ledger.names import CPU, SLOT
from nova_twotier.ledger.shape import Shape

#: CPU weights that libvirt accepts with cgroup v2; with v1 a domain of weight 1 does not start.
SHARES = range(2, 10001)
#: What a flavor may name instead of its CPUs, in any resource group.
VCPU_RESOURCE, ANY_CPU_RESOURCE = (
    re.compile(rf"resources[^:]*:{classes}") for classes in ("VCPU", "[VP]CPU")
)
#: A slot, or CPU points, in a resource group with a number or a name.
GROUPED = re.compile(rf"resources[^:]+:({SLOT}|{CPU})")


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about the deployment from Nova and Placement.

    :param shapes: the hosts of the aggregates with `twotier:slots`.
    :param cpu_ratios: allocation ratio of each such host with VCPU inventory.
    :param vcpus: VCPUs that Placement gives out on each of the hosts that it knows.
    :param flavors: extra specs of all flavors, by name.
    :param flavor_names: the same flavors' names, by id.
    :param metadata: values of each key in the metadata of all aggregates of a two-tier host, by the
        name of its nova-compute.
    :param aggregates: keys in the metadata of every aggregate, by name.
    """

    shapes: Mapping[str, Shape]
    cpu_ratios: Mapping[str, float]
    vcpus: Mapping[str, int]
    flavors: Mapping[str, Mapping[str, str]]
    flavor_names: Mapping[str, str]
    metadata: Mapping[str, Mapping[str, Collection[str]]]
    aggregates: Mapping[str, Collection[str]]

    @property
    def two_tier_flavors(self) -> dict[str, Mapping[str, str]]:
        """The flavors that ask for slots."""
        wanted = f"resources:{SLOT}"
        return {name: specs for name, specs in self.flavors.items() if wanted in specs}


def aggregate(_conf, facts: Facts) -> Result:
    """An aggregate must give slots to its hosts, and each of these must have a provider."""
    if not facts.shapes:
        return failure(
            "no host is in an aggregate with twotier:slots: make one, e.g. openstack aggregate "
            "create --property twotier:slots=8 --property twotier:tiers=2 NAME, and add hosts"
        )
    if unknown := sorted(facts.shapes.keys() - facts.vcpus.keys()):
        return warning(
            f"no provider in Placement has the name of {listed(unknown)}, so that nothing can "
            "start there: is the nova-compute up, and was the host renamed? Else remove it from "
            "its aggregates"
        )
    return success()


def placement_results(conf, facts: Facts) -> Result:
    """Checks that the limit of Placement's answers leaves out no candidates of the two-tier hosts.

    Each host is a candidate with a slot of either tier, and where a flavor asks for CPU points,
    with points of either tier.
    """
    points = any(f"resources:{CPU}" in specs for specs in facts.two_tier_flavors.values())
    needed = (4 if points else 2) * len(facts.shapes)
    limit = conf.scheduler.max_placement_results
    if limit < needed:
        return failure(
            f"[scheduler]max_placement_results is {limit}: {len(facts.shapes)} two-tier hosts need "
            f"at least {needed}"
        )
    return success()


def cpu_ratio(_conf, facts: Facts) -> Result:
    """Every VM of a slot claims its VCPUs, in either tier, so the ratio must cover all tiers.

    Not if no flavor claims any, as in `vcpus`.
    """
    if not _vcpus_matter(facts):
        return success()
    low = sorted(
        f"{host} ({ratio:g})"
        for host, ratio in facts.cpu_ratios.items()
        if ratio < facts.shapes[host].tiers
    )
    if low:
        return failure(
            f"cpu_allocation_ratio is below the number of tiers on {listed(low)}: set it to "
            "twotier:tiers or more in nova.conf of these hosts"
        )
    return success()


def vcpus(_conf, facts: Facts) -> Result:
    """Check that each host gives out a VCPU for every place, since every VM claims at least one.

    Flavors whose VMs claim none need none: those with pinned CPUs on hosts of one tier, or with
    `resources:VCPU=0`. Where there are such flavors, hosts that give out none at all are theirs.
    """
    if not _vcpus_matter(facts):
        return success()
    some_claim_none = not all(map(_claims_vcpus, facts.two_tier_flavors.values()))
    few = sorted(
        f"{host} ({given} for {shape.slots} slots of {shape.tiers} tiers)"
        for host, given in facts.vcpus.items()
        if given < (shape := facts.shapes[host]).slots * shape.tiers
        and (given or not some_claim_none)
    )
    if few:
        return failure(
            f"Placement gives out too few VCPUs on {listed(few)}: set twotier:slots to the CPUs "
            "that nova-compute may use ([compute]cpu_shared_set) or less"
        )
    return success()


def _vcpus_matter(facts: Facts) -> bool:
    """Whether any two-tier flavor claims VCPUs; also True while there is no such flavor."""
    ours = facts.two_tier_flavors
    return not ours or any(map(_claims_vcpus, ours.values()))


def _claims_vcpus(specs: Mapping[str, str]) -> bool:
    """Whether VMs of a flavor with these extra specs claim VCPUs."""
    if any(VCPU_RESOURCE.fullmatch(key) and not is_nothing(specs[key]) for key in specs):
        return True
    # Nova takes the flavor's CPUs only if no extra spec names an amount, be it 0.
    named = any(map(ANY_CPU_RESOURCE.fullmatch, specs))
    return not named and specs.get(CPU_POLICY) != "dedicated"


def metadata_quota(conf, _facts: Facts) -> Result:
    """Check that the quota of metadata items is enough for the addresses that guests are told."""
    if conf.quota.driver == NO_QUOTA:
        return success()
    if conf.quota.driver == UNIFIED_LIMITS:
        return success("the limits are in Keystone: see Unified limits")
    allowed = conf.quota.metadata_items
    if 0 <= allowed < MOST_ITEMS:
        return warning(
            f"[quota]metadata_items is {allowed}: set it to {MOST_ITEMS} or more, or -1; scripts "
            "of large jobs start without the addresses of all processes"
        )
    return success()


def flavors(_conf, facts: Facts) -> Result:
    """Two-tier flavors must ask for exactly one slot, and say nothing else that is wrong.

    Nova's API takes everything for an extra spec before microversion 2.86, or without our plugin.
    """
    ours = facts.two_tier_flavors
    if not ours:
        return failure(f"no flavor asks for a slot: make one with --property resources:{SLOT}=1")
    wrong = sorted(name for name, specs in ours.items() if specs[f"resources:{SLOT}"] != "1")
    if wrong:
        return failure(f"a VM takes one slot: set resources:{SLOT}=1 in {listed(wrong)}")
    refused = [
        f"{name} ({mistake})"
        for name, specs in sorted(ours.items())
        if (mistake := _mistake(specs))
    ]
    if refused:
        return failure(f"the scheduler refuses all servers of {listed(refused)}")
    grouped = sorted(
        f"{name} ({key})"
        for name, specs in facts.flavors.items()
        for key in specs
        if GROUPED.fullmatch(key)
    )
    if grouped:
        return failure(
            "the filters do not see slots that a flavor asks for in a group of their own, so that "
            f"VMs get them in any tier: write resources:{SLOT} in {listed(grouped)}"
        )
    return success()


def job_flavor(conf, facts: Facts) -> Result:
    """The flavor of jobs that name none must exist, and ask for a slot."""
    given = conf.manager.flavor
    name = facts.flavor_names.get(given, given)
    if not name or name in facts.two_tier_flavors:
        return success()
    wrong = "asks for no slot" if name in facts.flavors else "does not exist"
    ours = listed(sorted(facts.two_tier_flavors)) or "none yet"
    return failure(
        f"[manager]flavor is {given!r}, which {wrong}: give one that asks for a slot ({ours}). "
        "Jobs that name none do not start"
    )


def _mistake(specs: Mapping[str, str]) -> str:
    """The first extra spec of ours with a wrong value, and what is allowed; empty if none has."""
    points = f"resources:{CPU}"
    wrong = wrong_value(specs)
    if not is_points(specs.get(points, "1")):
        wrong = points, f"1 to {MOST_POINTS}, percent of a slot"
    return f"{wrong[0]}={specs[wrong[0]]}; allowed: {wrong[1]}" if wrong else ""


def cpu_policy(_conf, facts: Facts) -> Result:
    """The VMs of a slot share its CPUs, so that none may have CPUs of its own."""
    if all(shape.tiers == 1 for shape in facts.shapes.values()):
        return success()
    pinned = sorted(
        f"{name} ({spec})"
        for name, specs in facts.two_tier_flavors.items()
        for spec in own_cpus(specs)
    )
    if pinned:
        return failure(
            "VMs with CPUs of their own share no slot with another tier: take the extra spec away "
            f"from {listed(pinned)}"
        )
    return success()


def cpu_shares(_conf, facts: Facts) -> Result:
    """Live migration keeps a CPU weight only if the flavor has one, and it must be a legal one."""
    shares = {name: specs.get("quota:cpu_shares") for name, specs in facts.two_tier_flavors.items()}
    illegal = sorted(
        f"{name} ({value})" for name, value in shares.items() if value and not _legal(value)
    )
    if illegal:
        return failure(
            f"quota:cpu_shares must be {SHARES[0]} to {SHARES[-1]}, else VMs do not start on one "
            f"cgroup version or the other: change {listed(illegal)}"
        )
    missing = sorted(name for name, value in shares.items() if not value)
    if missing:
        return warning(
            "live migration drops the CPU weight of a VM whose flavor has none: set "
            f"quota:cpu_shares=1024 in {listed(missing)}"
        )
    return success()


def _legal(value: str) -> bool:
    return value.isdecimal() and int(value) in SHARES
