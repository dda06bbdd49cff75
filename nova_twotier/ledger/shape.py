"""What an operator gives a host, and the links on its way up the network's tree."""

from collections.abc import Mapping
from dataclasses import dataclass

from nova_twotier.core.actions import Tier
from nova_twotier.ledger.names import DEFAULT_POOL


@dataclass(frozen=True, slots=True)
class Shape:
    """L slots and K tiers of a host, its place in the network, and the links from there up.

    :param switch: path of the host's switch from the root, such as `core/pod1/edge3`; without one
        the host is linked to the root.
    :param uplinks: Mbit/s of each link, from the host's own upwards; the last one repeats. Without
        any, links are not counted.
    :param pool: only the jobs of this pool run there.
    """

    slots: int
    tiers: int
    switch: str = ""
    uplinks: tuple[int, ...] = ()
    pool: str = DEFAULT_POOL

    def places(self, tier: Tier) -> int:
        return self.slots if tier is Tier.FG else self.slots * (self.tiers - 1)


def switches(path: str) -> list[str]:
    """The switches that have a link up, from the host's own upwards; the root has none."""
    steps = path.split("/")
    return ["/".join(steps[:length]) for length in range(len(steps), 1, -1)]


def way_up(host: str, shape: Shape) -> dict[str, int]:
    """Mbit/s of each link from a host to the root, in this order.

    A link is named after its lower end: the host, or the path of a switch (which has a `/`).
    """
    if not shape.uplinks:
        return {}
    ends = [host, *switches(shape.switch)]
    last = len(shape.uplinks) - 1
    return {end: shape.uplinks[min(level, last)] for level, end in enumerate(ends)}


def capacities(shapes: Mapping[str, Shape]) -> tuple[dict[str, int], list[str]]:
    """Mbit/s of all links of these hosts, and a sentence about each that they do not agree on.

    The least of what is said of a link holds.
    """
    said: dict[str, dict[int, str]] = {}
    for host, shape in sorted(shapes.items()):
        for link, mbps in way_up(host, shape).items():
            said.setdefault(link, {}).setdefault(mbps, host)
    problems = [
        f"twotier:uplink_mbps gives the link up from {link} "
        + ", ".join(f"{mbps} (host {host})" for mbps, host in sorted(amounts.items()))
        + ": make the aggregates agree; the least is used"
        for link, amounts in sorted(said.items())
        if len(amounts) > 1
    ]
    return {link: min(amounts) for link, amounts in said.items()}, problems
