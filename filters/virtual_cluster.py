"""Places the VMs of a job with guaranteed bandwidth within the job's reservation of the links.

The queue manager has found a placement, and has reserved in the ledger exactly what it needs. Here
the same function of `core` finds a placement within the reservation, on Nova's remaining hosts.
"""

from collections.abc import Iterable, Mapping

from oslo_log import log as logging

from nova_twotier.core.embedding import Embedding, InvalidTopology, Request, State, Topology
from nova_twotier.core.embedding import reserved as embedding
from nova_twotier.filters.network import Network
from nova_twotier.ledger.names import link_uuid
from nova_twotier.ledger.shape import links

LOG = logging.getLogger(__name__)

#: The metadata key of aggregates that gives the rates of their hosts' links.
UPLINKS = "twotier:uplink_mbps"


class NoPlace(Exception):
    """The VMs do not fit within the bandwidth that they may use; the message says why."""


class VirtualCluster:
    """A job's share of the network.

    :param size: the job's number of VMs.
    :param mbps: bandwidth of each VM.
    :param reserved: Mbit/s by the uuid of a link's provider.
    :param booting: whether the request places all VMs, rather than moving or restoring one.
    :param named: whether the request names its host: an administrator has chosen it, or the queue
        manager for VMs that it restores.
    """

    __slots__ = ("_booting", "_mbps", "_named", "_reserved", "_size", "plan")

    def __init__(
        self, size: int, mbps: int, reserved: Mapping[str, int], booting: bool, named: bool
    ):
        self._size, self._mbps, self._reserved = size, mbps, reserved
        self._booting, self._named = booting, named
        #: VMs by host, best hosts first; None until the first VM is placed.
        self.plan: dict[str, int] | None = None

    def make_plan(self, hosts: Iterable, network: Network) -> None:
        """Plan the VMs of a request for these hosts.

        :param hosts: Nova's HostState objects, with their tiers.
        :param network: knows Bmax of AdaBa.
        :raises NoPlace: if the VMs do not fit.
        """
        hosts = {host.nodename: host for host in hosts if host.twotier.view}
        if self._booting:
            self.plan = self._embed(hosts, int(network.max_mbps))
        elif self._named:
            self.plan = dict.fromkeys(hosts, 1)
        else:
            # It is unknown where the job's other VMs are, but known where it holds bandwidth.
            self.plan = dict.fromkeys(self._near(hosts), 1) if self._reserved else {}
        if not self.plan:
            raise NoPlace("the job has reserved bandwidth on none of the remaining hosts")

    def _embed(self, hosts: Mapping, max_mbps: int) -> dict[str, int]:
        """VMs by host."""
        near = self._near(hosts)
        if not near:
            return {}
        rates = {link: mbps for counted in near.values() for link, mbps in counted.items()}
        tiers = {name: tier_of(hosts[name]) for name in near}
        free = {name: max(0, tier.free) for name, tier in tiers.items()}
        slots = {name: max(tier.places, free[name]) for name, tier in tiers.items()}
        topology = topology_of({name: switch_of(hosts[name]) for name in near}, rates)
        state = State(topology, slots, free=free, max_mbps=max_mbps)
        found = embedding.embed(Request(self._size, self._mbps), state)
        if isinstance(found, Embedding):
            return dict(found.vms)
        raise NoPlace(f"within the job's reservation, {found.reason}")

    def _near(self, hosts: Mapping) -> dict[str, dict[str, int]]:
        """The hosts that the reservation may be for, each with its reserved Mbit/s by counted link.

        The lowest counted link of such a host carries some of the reservation. If nothing is
        reserved, all VMs are below one such link.
        """
        ways = {name: links(name, switch_of(host)) for name, host in hosts.items()}
        held = {
            link: mbps
            for link in {link for way in ways.values() for link in way}
            if (mbps := self._reserved.get(link_uuid(link)))
        }
        counted = held.keys() | {
            link for name, way in ways.items() if metadata(hosts[name], UPLINKS) for link in way
        }
        near = {}
        for name, way in ways.items():
            reserved = {link: held.get(link, 0) for link in way if link in counted}
            if self._reserved:
                suits = not reserved or next(iter(reserved.values())) > 0
            else:
                suits = name not in reserved or tier_of(hosts[name]).free >= self._size
            if suits:
                near[name] = reserved
        return near


def topology_of(paths: Mapping[str, str], rates: Mapping[str, int]) -> Topology:
    """The tree of these hosts.

    :param paths: the path of each host's switch.
    :param rates: Mbit/s by counted link.
    :raises NoPlace: if the paths are no tree.
    """
    try:
        return Topology.from_paths(paths, rates)
    except InvalidTopology as error:
        # Text that names hosts goes into the log, not to the tenant.
        LOG.error("The metadata twotier:switch of aggregates is wrong: %s", error)
        raise NoPlace("the network of the hosts is described wrongly") from error


def tier_of(host):
    """Placement's view of the requested tier."""
    return host.twotier.view.tier(host.twotier.asked.tier)


def switch_of(host) -> str:
    """The path of a host's switch from its aggregates; empty if none gives it."""
    return metadata(host, "twotier:switch") or ""


def metadata(host, key: str) -> str | None:
    """A value of the metadata of a host's aggregates; None if none has the key."""
    return next((each.metadata[key] for each in host.aggregates if key in each.metadata), None)
