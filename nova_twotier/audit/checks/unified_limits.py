"""Checks of the limits in Keystone, for a Nova that takes its quotas from there."""

import re
from collections.abc import Iterable, Mapping

from oslo_upgradecheck.upgradecheck import Result

from nova_twotier.audit.checks.results import failure, success, warning
from nova_twotier.audit.listed import listed
from nova_twotier.cloud.peers import MOST_ITEMS
from nova_twotier.core.flavors import CPU_POLICY, is_nothing
from nova_twotier.ledger.names import SLOT

_METADATA = "server_metadata_items"
#: What each job needs besides the resource classes of its flavor.
_SERVERS = ("servers", _METADATA)
#: Without these, a job only has no server group.
_GROUPS = ("server_groups", "server_group_members")
#: An extra spec with an amount, also of a group of its own.
_AMOUNT = re.compile(r"resources[^:]*:(\w+)")
_CPUS = {"VCPU", "PCPU"}


def registered_limits(
    conf, registered: Mapping[str, int], flavors: Iterable[Mapping[str, str]]
) -> Result:
    """Check that Keystone has every registered limit without which Nova refuses servers of jobs.

    :param registered: the registered limits, by resource.
    :param flavors: extra specs of the flavors of jobs; without one, a plain one counts.
    """
    classes = set().union(*map(_classes, list(flavors) or [{}]))
    needed = {*_SERVERS, *_GROUPS, *(f"class:{name}" for name in classes)}
    missing = {name for name in needed - registered.keys() if _is_enforced(conf, name)}
    allowed = registered.get(_METADATA, -1)
    if refused := sorted(missing.difference(_GROUPS)):
        return failure(
            f"Keystone has no registered limit of {listed(refused)} for Nova's service and region, "
            "and [quota]unified_limits_resource_strategy and _list make Nova take that for 0: it "
            "refuses all servers of jobs. Register limits (-1 is no limit), or change the list"
        )
    if missing:
        return warning(
            f"Keystone has no registered limit of {listed(sorted(missing))}, which Nova takes for "
            "0: jobs are in no server group"
        )
    if 0 <= allowed < MOST_ITEMS:
        return warning(
            f"the registered limit of {_METADATA} is {allowed}: set it to {MOST_ITEMS} or more, or "
            "-1; scripts of large jobs start without the addresses of all processes"
        )
    return success()


def _classes(specs: Mapping[str, str]) -> set[str]:
    """The resource classes that Nova claims for a server of a flavor of jobs.

    It has a disk: without one, Nova lets only administrators boot it.
    """
    named = {found[1]: amount for key, amount in specs.items() if (found := _AMOUNT.fullmatch(key))}
    claimed = {SLOT, "MEMORY_MB", "DISK_GB"}
    if not _CPUS & named.keys():
        # Else the flavor's own number of CPUs does not count, whichever of both is named.
        claimed.add("PCPU" if specs.get(CPU_POLICY) == "dedicated" else "VCPU")
    nothing = {name for name, amount in named.items() if is_nothing(amount)}
    return (claimed | named.keys()) - nothing


def _is_enforced(conf, name: str) -> bool:
    """Whether Nova takes a limit that Keystone does not have for 0."""
    named = name in conf.quota.unified_limits_resource_list
    return named == (conf.quota.unified_limits_resource_strategy == "require")
