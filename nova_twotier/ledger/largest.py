"""The largest bandwidth that the jobs of a pool ever asked for, where nova-scheduler can read it.

A node of nova-scheduler sees Placement, but not the manager's database. The number is the total of
an inventory on the provider of the pool's job entries, of which nothing is ever allocated.
"""

from nova_twotier.ledger import names
from nova_twotier.ledger.placement import Placement
from nova_twotier.ledger.retry import until_fresh


def publish(placement: Placement, pool: str, mbps: int) -> None:
    """Write the largest bandwidth of a pool, unless Placement has it.

    :param mbps: Mbit/s, at least 1.
    :raises NotFound: if the pool has no provider of job entries yet.
    """
    url = f"/resource_providers/{names.jobs_uuid(pool)}/inventories"

    def write() -> None:
        current = placement.get(url)
        held = current["inventories"]
        if held.get(names.MBPS, {}).get("total") != mbps:
            generation = current["resource_provider_generation"]
            inventories = {**held, names.MBPS: {"total": mbps}}
            placement.put(
                url, {"resource_provider_generation": generation, "inventories": inventories}
            )

    until_fresh(write)
