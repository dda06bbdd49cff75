"""A request for two-tier VMs, with Placement's data about the candidate hosts.

The data is kept on Nova's `HostState` objects, which live for exactly one request; threads share
filter and weigher objects, so these keep nothing. The first filter reads the ledger for all.
"""

import json
import math
from collections.abc import Mapping, Sequence, Set

from nova import exception
from nova.objects import instance_mapping
from oslo_config import cfg
from oslo_log import log as logging

from nova_twotier.conf import scheduler as scheduler_conf
from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.filters import placement, tier_request
from nova_twotier.filters.multi_create import MultiCreate, counts_links
from nova_twotier.filters.network import Network
from nova_twotier.filters.virtual_cluster import VirtualCluster
from nova_twotier.ledger import reading

CONF = cfg.CONF
scheduler_conf.register_opts(CONF)
LOG = logging.getLogger(__name__)


class Asked:
    """Data of a request that is the same for all hosts.

    :param tier: the requested tier.
    :param mbps: the requested bandwidth of each VM, Mbit/s.
    :param of_job: whether the tier comes from a job in the ledger.
    :param cluster: VMs that are planned together: of a job with guaranteed bandwidth, or of a
        request for several with bandwidth; None for others.
    :param network: the bandwidth of the links, and the largest that was ever asked for.
    :ivar dispatch: see `TierRequest`, as `hosts` and `only`: of a job that boots.
    """

    __slots__ = (
        "closing",
        "cluster",
        "dispatch",
        "hosts",
        "index",
        "lengths",
        "mbps",
        "metadata_keys",
        "multipliers",
        "network",
        "of_job",
        "only",
        "places",
        "tier",
    )

    def __init__(
        self,
        tier: Tier,
        mbps: float,
        of_job: bool,
        cluster: VirtualCluster | MultiCreate | None = None,
        network: Network | None = None,
    ):
        self.tier, self.mbps, self.of_job, self.cluster = tier, mbps, of_job, cluster
        self.network = network or Network()
        self.dispatch: Sequence[int] = ()
        self.hosts: Set[str] = frozenset()
        #: How long their names are.
        self.lengths: Set[int] = frozenset()
        self.only = False
        #: The number of the request's next VM.
        self.index = 0
        #: The host that ComplementWeigher has chosen for each VM, by their numbers.
        self.places: dict[int, str] | None = None
        # Rounded, because 100 * 0.29 is slightly less than 29.
        points = math.ceil(round(100 * CONF.twotier.background_threshold, 6))
        #: CPU points from which on a VM closes its slot, and whether VMs without points do.
        self.closing = points, CONF.twotier.missing_reading == "closed" and not of_job
        #: Multiplier of each of our weighers, and whether an aggregate overrides it.
        self.multipliers: dict[str, tuple[float, bool]] = {}
        #: Metadata keys of the hosts' aggregates; None until a weigher asks.
        self.metadata_keys: frozenset[str] | None = None


class HostTiers:
    """The tiers of a host for one request, computed once for its first VM.

    :param view: None if the host has no tiers, or no room in the requested one.
    :param before: number of VMs of any kind on the host before the request.
    """

    __slots__ = (
        "all_candidates",
        "asked",
        "before",
        "full_at",
        "load",
        "open_until",
        "other_provider",
        "provider",
        "view",
    )

    def __init__(self, asked: Asked, view: reading.HostView | None, before: int):
        self.asked, self.view, self.before = asked, view, before
        #: Nova's candidates of all tiers, after TierFilter has picked those of the requested one.
        #: Freeing the others would fragment the memory that Nova's weighers use afterwards, which
        #: costs more time than the filter takes.
        self.all_candidates: list | None = None
        #: The providers of the requested tier and of the other one.
        self.provider = self.other_provider = ""
        #: Number of VMs of any kind on the host at which that tier is full.
        self.full_at = before
        #: The same for the background places that the threshold leaves open.
        self.open_until = before
        #: The other tier's load beside the request's first VM on the host.
        self.load = 0.0
        if view is not None:
            self.provider, room = view.room(asked.tier)
            self.other_provider = view.bg_provider if asked.tier is FG else view.fg_provider
            self.full_at += room
            if asked.tier is BG:
                self.open_until += view.open_background(*asked.closing) - view.bg_used
            self.load = view.load_beside(asked.tier, 0)

    @property
    def allowed(self) -> bool:
        """Whether the request may come to this host."""
        asked = self.asked
        if not asked.hosts and not asked.only:
            return True
        named = any(self.provider[:length] in asked.hosts for length in asked.lengths)
        return named is asked.only

    def suits(self, allocations: Mapping) -> bool:
        """Whether a candidate takes nothing but the requested tier.

        If the flavor asks for CPU points, too, Placement also offers them in the other tier.
        """
        return self.provider in allocations and self.other_provider not in allocations

    def load_beside(self, host_state, more: int = 0) -> float:
        """The other tier's load beside the request's next VM on the host, after some more VMs."""
        placed = host_state.num_instances - self.before + more
        if self.view is None or not placed:
            return self.load
        return self.view.load_beside(self.asked.tier, placed)


def of(host_state) -> HostTiers | None:
    """The tiers that `attach` left on a host; None for requests that are not ours."""
    return getattr(host_state, "twotier", None)


def attach(hosts: list, spec) -> None:
    """Attach its tiers to every host, unless an earlier filter has done so.

    :raises NoValidHost: if the request is wrong, or Placement does not answer. The scheduler has
        not claimed anything at that point.
    """
    if not hosts or of(hosts[0]) is not None:
        return
    try:
        wanted = tier_request.read(spec)
        tier, pool, cluster, booted = wanted.tier, None, None, False
        network = Network()
        if wanted.job is None:
            cluster = _together(wanted, hosts, spec)
        else:
            entry = tier_request.check_job(wanted, _admission(wanted.job), spec)
            tier, pool = entry.tier, entry.pool
            booted = tier_request.boots(entry, spec)
            if wanted.guaranteed:
                tier_request.check_bandwidth(wanted, entry)
                cluster = VirtualCluster(
                    entry.size,
                    wanted.guaranteed,
                    entry.links,
                    booting=booted,
                    named=_names_host(spec),
                )
                network = Network((wanted.max_mbps if booted else 0) or CONF.twotier.max_mbps)
        # A single host, as in a live migration to a named host, is read alone.
        url = reading.candidates_url(tier, hosts[0].uuid if len(hosts) == 1 else None, pool)
        views = placement.read(url, reading.scan_host_views)
    except tier_request.BadRequest as error:
        LOG.warning("No host for instance %s: %s", spec.instance_uuid, error)
        raise exception.NoValidHost(reason=str(error)) from error
    except placement.Unreadable as error:
        # The cloud's addresses go into the log, not to the tenant.
        LOG.error("No host for instance %s: %s", spec.instance_uuid, error)
        raise exception.NoValidHost(
            reason="Placement does not say which hosts have room in the tiers"
        ) from error
    asked = Asked(tier, wanted.mbps, wanted.job is not None, cluster, network)
    if booted:
        # Nova keeps the hints for later requests, when they no longer hold.
        asked.dispatch, asked.hosts, asked.only = wanted.dispatch, wanted.hosts, wanted.only
        asked.lengths = {len(each) for each in wanted.hosts}
    for host in hosts:
        host.twotier = HostTiers(asked, views.get(host.uuid), host.num_instances)


def _names_host(spec) -> bool:
    destination = spec.requested_destination
    return destination is not None and "host" in destination and bool(destination.host)


def _admission(job: str) -> reading.Admission | None:
    return placement.read(f"/allocations/{job}", lambda text: reading.admission(json.loads(text)))


def _together(wanted: tier_request.TierRequest, hosts: list, spec) -> MultiCreate | None:
    """The plan of a multi-create with bandwidth; None for other requests without a job."""
    size = spec.num_instances
    if size > 1 and wanted.mbps and counts_links(hosts) and _boots(spec):
        return MultiCreate(size, math.ceil(wanted.mbps), spec.instance_group)
    return None


def _boots(spec) -> bool:
    """Whether a request boots its servers, rather than moving or restoring one of them.

    Nova keeps the number of servers in the spec for later requests. But a server is in no cell
    before the scheduler has found a host for it, and stays in one from then on.
    """
    try:
        mapping = instance_mapping.InstanceMapping.get_by_instance_uuid(
            spec._context, spec.instance_uuid
        )
    except exception.InstanceMappingNotFound:
        return False
    return mapping.cell_mapping is None
