"""Plans the servers of a multi-create without a job within the free bandwidth of the links.

Nothing is reserved for such servers, since nobody could release it: the plan holds at the moment of
the boot.
"""

from collections.abc import Iterable, Mapping

from nova_twotier.core.actions import BG
from nova_twotier.core.embedding import Embedding, Request, State, adaba
from nova_twotier.core.embedding.topology import ROOT
from nova_twotier.filters.network import Network
from nova_twotier.filters.virtual_cluster import (
    UPLINKS,
    NoPlace,
    metadata,
    switch_of,
    tier_of,
    topology_of,
)
from nova_twotier.ledger.names import link_uuid
from nova_twotier.ledger.shape import links


def counts_links(hosts: Iterable) -> bool:
    """Whether an aggregate gives the rates of the links of any of Nova's HostStates."""
    # Thousands of hosts share a few aggregates.
    distinct = {id(each): each for host in hosts for each in host.aggregates}
    return any(UPLINKS in each.metadata for each in distinct.values())


class MultiCreate:
    """The servers of a request for several, which go where their links have enough left.

    :param size: number of servers.
    :param mbps: bandwidth of each, whole Mbit/s.
    :param group: Nova's InstanceGroup that they are in; None without one.
    """

    __slots__ = ("_group", "_mbps", "_size", "plan")

    def __init__(self, size: int, mbps: int, group=None):
        self._size, self._mbps, self._group = size, mbps, group
        #: Servers by host; None until the first is placed.
        self.plan: dict[str, int] | None = None

    def make_plan(self, hosts: Iterable, network: Network) -> None:
        """Plan the servers for these hosts, by AdaBa.

        :param hosts: Nova's HostStates, with their tiers.
        :param network: knows what links have left, and Bmax.
        :raises NoPlace: if they do not fit.
        :raises Unreadable: if Placement does not say what links have left.
        """
        hosts = {host.nodename: host for host in hosts if host.twotier.view}
        free = {name: self._allowed(host, _room(host)) for name, host in hosts.items()}
        if sum(free.values()) < self._size:
            raise NoPlace(
                f"{self._size} servers need a slot each, {sum(free.values())} are free for them"
            )
        paths = _paths(hosts)
        topology = topology_of(paths, _rates(hosts, paths, network.left))
        slots = {name: max(tier_of(host).places, free[name]) for name, host in hosts.items()}
        state = State(topology, slots, free=free, max_mbps=int(network.max_mbps))
        found = adaba.embed(Request(self._size, self._mbps), state)
        if not isinstance(found, Embedding):
            raise NoPlace(f"for {self._size} servers at once, {found.reason}")
        self.plan = dict(found.vms)

    def _allowed(self, host, room: int) -> int:
        """As many of a host's free places as Nova's filters of server groups will let them take."""
        policy = self._group.policy if self._group else None
        if policy == "affinity" and room < self._size:
            return 0
        if policy == "anti-affinity":
            there = len(host.instances.keys() & set(self._group.members))
            most = self._group.rules.get("max_server_per_host", 1)
            return max(0, min(room, most - there))
        return room


def _room(host) -> int:
    """Free places of the requested tier, for the background only those under open slots."""
    tiers = host.twotier
    end = tiers.open_until if tiers.asked.tier is BG else tiers.full_at
    return max(0, end - host.num_instances)


def _paths(hosts: Mapping) -> dict[str, str]:
    """The path of each host's switch.

    The hosts may be of several pools. So hosts that name no switch are no mistake where others have
    several roots: they are a tree of their own.
    """
    paths = {name: switch_of(host) for name, host in hosts.items()}
    roots = {path.partition("/")[0] for path in paths.values() if path}
    return {name: path or ROOT for name, path in paths.items()} if len(roots) > 1 else paths


def _rates(hosts: Mapping, paths: Mapping[str, str], left: Mapping[str, int]) -> dict[str, int]:
    """Free Mbit/s of each counted link of these hosts."""
    ways = {name: links(name, path) for name, path in paths.items()}
    counted = {link for name, way in ways.items() if metadata(hosts[name], UPLINKS) for link in way}
    uuids = {link: link_uuid(link) for link in {link for way in ways.values() for link in way}}
    return {
        link: left.get(uuid, 0) for link, uuid in uuids.items() if link in counted or uuid in left
    }
