"""Places the VMs of a job within the bandwidth that is reserved for them."""

from nova import exception
from oslo_config import cfg
from oslo_log import log as logging

from nova_twotier.conf import scheduler as scheduler_conf
from nova_twotier.filters.two_tier_filter import TwoTierFilter
from nova_twotier.filters.virtual_cluster import NoPlace

CONF = cfg.CONF
scheduler_conf.register_opts(CONF)
LOG = logging.getLogger(__name__)


class VirtualClusterFilter(TwoTierFilter):
    """Keep the hosts on which the VMs of a request have their guaranteed bandwidth.

    For jobs that the queue manager boots with the hint `twotier:bandwidth`. Their entry in the
    ledger reserves the link bandwidth of one placement. For the first VM of a request, this filter
    plans all VMs with the embedding of `core` on the hosts that other filters left; each VM then
    gets the hosts of the plan that still lack VMs. When a VM of such a job is moved to an unnamed
    host, it stays where its job holds bandwidth.

    Must be the last filter. Requests without guaranteed bandwidth pass.
    """

    def keep(self, hosts):
        cluster = hosts[0].twotier.asked.cluster if hosts else None
        if cluster is None:
            return hosts
        if cluster.plan is None:
            try:
                cluster.make_plan(hosts, int(CONF.twotier.max_mbps))
            except NoPlace as error:
                LOG.warning("No host for a VM of a job with bandwidth: %s", error)
                raise exception.NoValidHost(reason=str(error)) from error
        plan = cluster.plan
        return [
            host
            for host in hosts
            if host.num_instances - host.twotier.before < plan.get(host.nodename, 0)
        ]
