"""Prefers hosts whose free slots are in proportion to the bandwidth that a request asks for."""

from oslo_config import cfg

from nova_twotier.core.embedding.weight import adaba_weight
from nova_twotier.weighers.two_tier_weigher import TwoTierWeigher

CONF = cfg.CONF


class AdaBaWeigher(TwoTierWeigher):
    """Weigh hosts by AdaBa's weight (Symmetry 2018, equation 7): best at `L * B / Bmax` free slots.

    B is the hint `twotier:mbps`, else the flavor's extra spec `twotier:mbps`, else 0; Bmax is
    `[twotier]max_mbps`. The slots are those of the tier that the request wants, free ones as before
    its first VM: hosts keep their order, and one fills up after the other, as in Algorithm 1.
    In parts of L*L the weight is -1/2 to 1/2 on a host of any size. VMs with guaranteed bandwidth
    go to hosts in the order of the plan of VirtualClusterFilter, on the same scale.

    Higher weights win. The default multiplier is 0: two weighers that outweigh Nova's own would
    add up. A negative one gives requests of little bandwidth the empty hosts.
    """

    multiplier = "adaba_weight_multiplier"
    minval = -0.5
    maxval = 0.5

    def weigh(self, hosts):
        cluster = hosts[0].twotier.asked.cluster
        if cluster is not None and cluster.plan is not None:
            return self._planned(hosts, list(cluster.plan))
        max_mbps = CONF.twotier.max_mbps
        return [self._weight(host.twotier, max_mbps) for host in hosts]

    def _planned(self, hosts, order):
        """The first host of the plan weighs most, and any host of it more than all others."""
        step = (self.maxval - self.minval) / len(order)
        weights = {name: self.maxval - index * step for index, name in enumerate(order)}
        return [weights.get(host.nodename, self.minval) for host in hosts]

    def _weight(self, tiers, max_mbps):
        own = tiers.view.tier(tiers.asked.tier) if tiers.view else None
        if not own or not own.places:
            return self.minval
        # A tier that was made smaller than its use has less than no room.
        residual = min(max(own.free, 0), own.places)
        return adaba_weight(residual, own.places, tiers.asked.mbps, max_mbps) / own.places**2
