"""Places the VMs of a request together, within the bandwidth that they may use."""

from nova import exception
from oslo_log import log as logging

from nova_twotier.filters import placement
from nova_twotier.filters.two_tier_filter import TwoTierFilter
from nova_twotier.filters.virtual_cluster import NoPlace

LOG = logging.getLogger(__name__)


class VirtualClusterFilter(TwoTierFilter):
    """Keep the hosts on which all VMs of a request get their bandwidth.

    For the first VM of a request, this filter plans all VMs with the embedding of `core` on the
    hosts that other filters left; each VM then gets the hosts of the plan that still lack VMs.

    - Jobs that the queue manager boots with the hint `twotier:bandwidth`: their entry in the ledger
      reserves the link bandwidth of one placement. When a VM of such a job is moved to an unnamed
      host, it stays where its job holds bandwidth.
    - Servers that belong to no job, if one request asks for several with `twotier:mbps` and the
      hosts have rates (`twotier:uplink_mbps`): the links' free bandwidth counts, and nothing is
      reserved. Later moves of such a server are not restricted.

    Must be the last filter. Other requests pass.
    """

    def keep(self, hosts):
        asked = hosts[0].twotier.asked if hosts else None
        if asked is None or asked.cluster is None:
            return hosts
        if asked.cluster.plan is None:
            try:
                asked.cluster.make_plan(hosts, asked.network)
            except NoPlace as error:
                LOG.warning("No hosts for VMs with bandwidth: %s", error)
                raise exception.NoValidHost(reason=str(error)) from error
            except placement.Unreadable as error:
                LOG.error("No hosts for VMs with bandwidth: %s", error)
                raise exception.NoValidHost(
                    reason="Placement does not say how much bandwidth the links have free"
                ) from error
        plan = asked.cluster.plan
        return [
            host
            for host in hosts
            if host.num_instances - host.twotier.before < plan.get(host.nodename, 0)
        ]
