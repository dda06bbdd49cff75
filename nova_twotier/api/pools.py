"""The resource of pools: what tenants may know of the hosts, as sums, and the queues' lengths."""

import time
from collections.abc import Collection, Mapping
from typing import NamedTuple

from nova_twotier.api import cluster_schemas, hosts, queries
from nova_twotier.api.cached import Cached
from nova_twotier.api.endpoint import Request, Resource, endpoint
from nova_twotier.api.queue import policy_of
from nova_twotier.api.site import Site
from nova_twotier.core.actions import Tier
from nova_twotier.db import drains
from nova_twotier.ledger.reading import CANDIDATES_URL, HostView, host_views
from nova_twotier.ledger.shape import Shape

#: Seconds for which the sums over the hosts are kept: with many hosts, Placement's answer is long.
FRESH = 5.0


class Room(NamedTuple):
    """Sums over the hosts of a pool.

    :param available: hosts that take new processes.
    :param places: of all hosts, by tier, with those of closed slots.
    :param free: places that a process can take now, by tier.
    """

    hosts: int
    available: int
    slots: int
    places: Mapping[Tier, int]
    free: Mapping[Tier, int]


#: Of a pool without hosts.
EMPTY = Room(0, 0, 0, dict.fromkeys(Tier, 0), dict.fromkeys(Tier, 0))


class Pools(Resource):
    def __init__(self, site: Site):
        super().__init__(site)
        self._rooms = Cached(self._read, FRESH)

    @endpoint(
        "List the pools: their free slots, and how many jobs wait and run there",
        rule="twotier:pools:list",
        answers={200: cluster_schemas.POOLS},
        conditional=True,
    )
    def on_get(self, request: Request):
        found, site = self._rooms.get(), self.site
        pools = list(dict.fromkeys(site.conf.manager.pools))
        jobs, heartbeats = queries.open_by_pool(site.store), site.heartbeats(pools)
        return {
            "pools": [
                {
                    "name": pool,
                    "mode": site.store.queue_mode(pool),
                    "policy": policy_of(site, pool, heartbeats[pool]),
                    **_room(found.get(pool, EMPTY)),
                    **jobs.get(pool, queries.NO_JOBS),
                }
                for pool in pools
            ]
        }

    def state(self, request: Request) -> dict[str, Room]:
        return self._rooms.get()

    def _read(self) -> dict[str, Room]:
        """The room of the pools that have hosts, in three requests to Nova and two to Placement."""
        placement = self.site.placement
        roots = hosts.roots(placement.get("/resource_providers")["resource_providers"])
        if not roots:
            return {}  # before the first host, Placement does not know the resource class
        views = host_views(placement.get(CANDIDATES_URL))
        shapes, available = self.site.aggregates.available()
        now = time.time()
        with self.site.store.reading() as session:
            # The manager disables them in Nova, too, but a moment later.
            drained = {each.host for each in drains.begun(drains.present(session, now), now)}
        there = {name: shape for name, shape in shapes.items() if name in roots}
        # Full hosts are missing from Placement's answer: they have no free places to add.
        free = {name: views[root] for name, root in roots.items() if root in views}
        return rooms(there, free, available - drained)


def rooms(
    shapes: Mapping[str, Shape], views: Mapping[str, HostView], available: Collection[str]
) -> dict[str, Room]:
    """Numbers of hosts, slots and free places of each pool that has hosts.

    :param shapes: of the hosts, by name.
    :param views: of the hosts with free places; the others are full.
    :param available: names of the hosts that take new processes.
    """
    found: dict[str, Room] = {}
    for name, shape in shapes.items():
        takes = name in available
        view = views.get(name) if takes else None
        room = found.get(shape.pool, EMPTY)
        found[shape.pool] = Room(
            hosts=room.hosts + 1,
            available=room.available + takes,
            slots=room.slots + shape.slots,
            places={tier: room.places[tier] + shape.places(tier) for tier in Tier},
            free={
                tier: room.free[tier] + (max(0, view.tier(tier).free) if view else 0)
                for tier in Tier
            },
        )
    return found


def _room(room: Room) -> dict:
    """As the API shows it."""
    foreground, background = (
        {"places": room.places[tier], "free": room.free[tier]} for tier in (Tier.FG, Tier.BG)
    )
    return {
        "hosts": {"total": room.hosts, "available": room.available},
        "slots": room.slots,
        "foreground": foreground,
        "background": background,
    }
