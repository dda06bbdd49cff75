"""The resource of the network: a tree of switches and hosts, with each link's free bandwidth."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from nova_twotier.api import cluster_schemas, hosts
from nova_twotier.api.endpoint import Request, Resource, endpoint
from nova_twotier.ledger import names, providers
from nova_twotier.ledger.placement import NotFound, Placement
from nova_twotier.ledger.reading import LINKS_URL, HostView
from nova_twotier.ledger.shape import Shape

#: The switch above all hosts if none of them names a switch.
ROOT = "root"


class Link(NamedTuple):
    """A link's rate, and what jobs have reserved of it, in Mbit/s.

    More than the rate may be reserved, if the rate was lowered later.
    """

    rate: int | None
    used: int | None


#: For nodes without a link up, or with one that is not counted.
UNCOUNTED = Link(None, None)


class Topology(Resource):
    @endpoint(
        "Show the network: switches, hosts, and the free bandwidth of their links",
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

    One request shows all links with free bandwidth; full ones are read one by one.
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
            continue  # it is just being made, or was deleted meanwhile
    return found


def tree(
    shapes: Mapping[str, Shape],
    views: Mapping[str, HostView],
    links: Mapping[str, Link],
    pool: str | None = None,
) -> dict:
    """The tree as the API shows it: switches, each after the one above it, and hosts by name.

    Hosts that have left their aggregates, or are not in the ledger yet, are left out.

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
    """The switch of hosts that name none; empty if there are several roots."""
    roots = {shape.switch.partition("/")[0] for shape in shapes if shape.switch}
    return min(roots, default=ROOT) if len(roots) < 2 else ""


def _up(switch: str) -> Iterable[tuple[str, ...]]:
    """A switch and those above it, each as the parts of its path."""
    steps = tuple(switch.split("/")) if switch else ()
    return (steps[:length] for length in range(1, len(steps) + 1))
