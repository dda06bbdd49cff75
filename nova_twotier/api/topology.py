"""The network: the tree of switches with the hosts as its leaves, and what is left of each link."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from nova_twotier.api import cluster_schemas, hosts
from nova_twotier.api.endpoint import Request, Resource, endpoint
from nova_twotier.ledger import names, providers
from nova_twotier.ledger.placement import NotFound, Placement
from nova_twotier.ledger.reading import LINKS_URL, HostView
from nova_twotier.ledger.shape import Shape

#: The switch above hosts that name none, where no other host names one either.
ROOT = "root"


class Link(NamedTuple):
    """What a link has, and what jobs have reserved of it, in Mbit/s.

    More may be reserved than there is, where the rate was lowered later.
    """

    rate: int | None
    used: int | None


#: Of whatever has no link up, or one that is not counted.
UNCOUNTED = Link(None, None)


class Topology(Resource):
    @endpoint(
        "Show the network: switches, hosts, and the bandwidth that is left of their links",
        rule="twotier:topology:show",
        query=cluster_schemas.TOPOLOGY_QUERY,
        answers={200: cluster_schemas.TOPOLOGY},
    )
    def on_get(self, request: Request):
        placement = self.site.placement
        views = hosts.read_hosts(placement)
        shapes = self.site.aggregates.shapes() if views else {}
        links = read_links(placement) if views else {}
        return tree(shapes, views, links, request.query.get("pool"))


def read_links(placement: Placement) -> dict[str, Link]:
    """All links of the ledger, by name.

    One request shows all that have something left; those that are full are asked one by one.
    """
    there = {
        provider["uuid"]: names.link_of(provider["name"])
        for provider in providers.listed(placement, names.LINK_TRAIT)
    }
    shown = placement.get(LINKS_URL)["provider_summaries"] if there else {}
    found = {}
    for uuid, link in there.items():
        if uuid in shown:
            amount = shown[uuid]["resources"][names.MBPS]
            found[link] = Link(amount["capacity"], amount["used"])
            continue
        try:
            found[link] = Link(*hosts.amounts(placement, uuid)[names.MBPS])
        except (KeyError, NotFound):
            continue  # it is just being made, or went away meanwhile
    return found


def tree(
    shapes: Mapping[str, Shape],
    views: Mapping[str, HostView],
    links: Mapping[str, Link],
    pool: str | None = None,
) -> dict:
    """The tree as the API shows it: switches, each after the one above it, and hosts by name.

    Hosts that are in no aggregate any more, or not in the ledger yet, are in no tree.

    :param pool: only the hosts of this pool, and the switches above them.
    """
    root = _root(shapes.values())
    above = {name: shape.switch or root for name, shape in shapes.items()}
    shown = [name for name in sorted(views) if name in shapes and pool in (None, shapes[name].pool)]
    switches = sorted({path for name in shown for path in _up(above[name])})
    return {
        "switches": [
            {"path": "/".join(path), **links.get("/".join(path), UNCOUNTED)._asdict()}
            for path in switches
        ],
        "hosts": [
            {
                "name": name,
                "pool": shapes[name].pool,
                "switch": above[name] or None,
                **links.get(name, UNCOUNTED)._asdict(),
                **hosts.tiers(views[name]),
            }
            for name in shown
        ],
    }


def _root(shapes: Iterable[Shape]) -> str:
    """The switch of hosts that name none; empty if it could be one of several."""
    roots = {shape.switch.partition("/")[0] for shape in shapes if shape.switch}
    return min(roots, default=ROOT) if len(roots) < 2 else ""


def _up(switch: str) -> Iterable[tuple[str, ...]]:
    """A switch and those above it, each as the steps of its path."""
    steps = tuple(switch.split("/")) if switch else ()
    return (steps[:length] for length in range(1, len(steps) + 1))
