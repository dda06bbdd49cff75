"""Checks of the limits in Keystone, for a Nova that takes its quotas from there."""

from collections.abc import Iterable, Mapping

from oslo_upgradecheck.upgradecheck import Result

from nova_twotier.audit.checks.results import failure, success, warning
from nova_twotier.audit.listed import listed
from nova_twotier.cloud.peers import MOST_ITEMS
from nova_twotier.core.flavors import is_nothing
from nova_twotier.ledger.names import SLOT

_METADATA = "server_metadata_items"
#: What each job needs; each of its flavor's other resource classes besides.
_SERVERS = ("servers", _METADATA, f"class:{SLOT}", "class:VCPU", "class:MEMORY_MB")
#: Without these, a job only has no server group.
_GROUPS = ("server_groups", "server_group_members")
_RESOURCE = "resources:"


def registered_limits(
    conf, registered: Mapping[str, int], flavors: Iterable[Mapping[str, str]]
) -> Result:
    """Check that Nova does not take a limit for 0 only because Keystone has none.

    :param registered: the registered limits, by resource.
    :param flavors: extra specs of the flavors of jobs.
    """
    needed = {*_SERVERS, *_GROUPS}
    for specs in flavors:
        for key, amount in specs.items():
            if key.startswith(_RESOURCE):
                name = f"class:{key.removeprefix(_RESOURCE)}"
                (needed.discard if is_nothing(amount) else needed.add)(name)
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


def _is_enforced(conf, name: str) -> bool:
    """Whether Nova takes a limit that Keystone does not have for 0."""
    named = name in conf.quota.unified_limits_resource_list
    return named == (conf.quota.unified_limits_resource_strategy == "require")
