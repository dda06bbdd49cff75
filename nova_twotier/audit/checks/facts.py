"""Gathers the facts for the checks of the deployment from Nova and Placement."""

from nova_twotier.audit.checks.deployment import Facts
from nova_twotier.audit.nova import Nova
from nova_twotier.cloud.listing import Lister
from nova_twotier.ledger import providers
from nova_twotier.ledger.names import MICROVERSION
from nova_twotier.ledger.placement import Placement, PlacementError

NOT_ACCEPTABLE = 406


class TooOld(Exception):
    """Placement does not know the microversion that the ledger needs."""


def gather(placement: Placement, nova: Nova, lister: Lister) -> Facts:
    """Ask Nova and Placement for the facts.

    :param lister: reads several hosts at the same time.
    :raises TooOld: if Placement is too old.
    :raises CloudError, PlacementError: if one of them does not answer.
    """
    try:
        listed = providers.listed(placement)
    except PlacementError as error:
        if error.status == NOT_ACCEPTABLE:
            raise TooOld(
                f"Placement does not know microversion {MICROVERSION}: upgrade it to Xena or later"
            ) from error
        raise
    shapes = nova.shapes()

    def vcpus(provider: dict) -> dict | None:
        url = f"/resource_providers/{provider['uuid']}/inventories"
        return placement.get(url)["inventories"].get("VCPU")

    hosts = [provider for provider in listed if provider["name"] in shapes]
    found = zip(hosts, lister.map(vcpus, hosts), strict=True)
    inventories = {host["name"]: cpus for host, cpus in found}
    ratios = {host: cpus["allocation_ratio"] for host, cpus in inventories.items() if cpus}
    given = {
        host: int((cpus["total"] - cpus["reserved"]) * cpus["allocation_ratio"]) if cpus else 0
        for host, cpus in inventories.items()
    }
    flavors = nova.flavors(), nova.flavor_names()
    return Facts(shapes, ratios, given, *flavors, nova.metadata(), nova.aggregates())
