"""Checks that servers without a slot cannot get onto the two-tier hosts.

Our filters let their requests pass. Nova has three ways to keep them away, all of them by the
metadata of host aggregates.
"""

from collections.abc import Collection, Mapping

from oslo_upgradecheck.upgradecheck import Result

from nova_twotier.audit.checks.deployment import Facts
from nova_twotier.audit.checks.results import success, warning
from nova_twotier.audit.listed import listed

BY_NAME = "AggregateTypeAffinityFilter"
BY_SPECS = "AggregateInstanceExtraSpecsFilter"
_SCOPE = "aggregate_instance_extra_specs"

Specs = Mapping[str, str]
Metadata = Mapping[str, Collection[str]]


def other_servers(conf, facts: Facts) -> Result:
    """Servers without a slot take CPU from the jobs on their host, and no ledger shows it."""
    ways = [
        excludes
        for way, excludes in ((BY_NAME, _by_name), (BY_SPECS, _by_specs))
        if way in conf.filter_scheduler.enabled_filters
    ]
    if conf.scheduler.enable_isolated_aggregate_filtering:
        ways.append(_by_traits)
    others = facts.flavors.keys() - facts.two_tier_flavors.keys()
    found = sorted(
        flavor
        for flavor in others
        if any(
            not any(excludes(flavor, facts.flavors[flavor], host) for excludes in ways)
            for host in facts.metadata.values()
        )
    )
    if not found:
        return success()
    return warning(
        "servers without a slot can get onto two-tier hosts and take the jobs' CPU there, with the "
        f"flavors {listed(found)}: add {BY_NAME} to enabled_filters, before ours, and set "
        "instance_type to the names of the two-tier flavors "
        f"({','.join(sorted(facts.two_tier_flavors))}) in the metadata of the hosts' aggregate"
    )


def _by_name(flavor: str, _specs: Specs, host: Metadata) -> bool:
    """Whether the host's aggregates list the flavors that they take, and this is none of them."""
    return bool(host.get("instance_type")) and flavor not in host["instance_type"]


def _by_specs(_flavor: str, specs: Specs, host: Metadata) -> bool:
    """Whether the flavor demands something of the metadata that the host's aggregates lack."""
    for key, wanted in specs.items():
        scope, colon, rest = key.partition(":")
        if colon and scope != _SCOPE:
            continue
        values = host.get(rest if colon else key, ())
        # What is compared by an operator, such as `<or>`, may match.
        if not values or (" " not in wanted and wanted not in values):
            return True
    return False


def _by_traits(_flavor: str, specs: Specs, host: Metadata) -> bool:
    """Whether the host's aggregates demand a trait that the flavor does not."""
    return any(
        key.startswith("trait:") and "required" in values and specs.get(key) != "required"
        for key, values in host.items()
    )
