"""The shape of a host as operators configure it, and its links up the network's tree."""

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass

from nova_twotier.core.actions import Tier
from nova_twotier.core.slots import background_places
from nova_twotier.ledger.names import DEFAULT_POOL


@dataclass(frozen=True, slots=True)
class Shape:
    """L slots and K tiers of a host, its position in the network, and its links to the root.

    :param switch: path of the host's switch from the root, such as `core/pod1/edge3`; if empty,
        the host is linked to the root.
    :param uplinks: Mbit/s of each link, from the host's own upwards; the last one repeats. Links
        are not counted if empty.
    :param pool: only jobs of this pool run on the host.
    """

    slots: int
    tiers: int
    switch: str = ""
    uplinks: tuple[int, ...] = ()
    pool: str = DEFAULT_POOL

    def places(self, tier: Tier, closed: int = 0) -> int:
        """Places of a tier.

        :param closed: slots that are closed to the background.
        """
        if tier is Tier.FG:
            return self.slots
        return background_places(self.slots, self.tiers, closed)


def switches(path: str) -> list[str]:
    """The switches that have a link up, from the host's own upwards; the root has none."""
    steps = path.split("/")
    return ["/".join(steps[:length]) for length in range(len(steps), 1, -1)]


def links(host: str, switch: str) -> list[str]:
    """The links from a host to the root, its own first; `switch` is the path of its switch.

    A link is named after its lower end: the host, or the path of a switch (which has a `/`).
    """
    return [host, *switches(switch)]


def way_up(host: str, shape: Shape) -> dict[str, int]:
    """Mbit/s of each link from a host to the root, in this order."""
    if not shape.uplinks:
        return {}
    last = len(shape.uplinks) - 1
    return {
        link: shape.uplinks[min(level, last)]
        for level, link in enumerate(links(host, shape.switch))
    }


def needs(
    vms: Mapping[str, int], mbps: int, shapes: Mapping[str, Shape], counted: Container[str]
) -> dict[str, int]:
    """Mbit/s on each link that carries some of a job's traffic: min(m, N - m) * B.

    Symmetry 2018, equation 6, with m of the N VMs below the link.

    :param vms: the job's number of VMs by host.
    :param mbps: B, the bandwidth of each VM.
    :param counted: links with a known rate, from `capacities`.
    """
    size = sum(vms.values())
    below: Counter[str] = Counter()
    for host, count in vms.items():
        for link in links(host, shapes[host].switch):
            below[link] += count
    return {
        link: min(count, size - count) * mbps
        for link, count in below.items()
        if link in counted and mbps and count < size
    }


def capacities(shapes: Mapping[str, Shape]) -> tuple[dict[str, int], list[str]]:
    """Mbit/s of all links of these hosts, and a message about each link with several rates.

    The lowest rate given for a link is used.
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
