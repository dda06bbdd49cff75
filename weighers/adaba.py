"""Prefers hosts whose free slots are in proportion to the requested bandwidth."""

from oslo_config import cfg

from nova_twotier.core.embedding.weight import adaba_weight
from nova_twotier.weighers.two_tier_weigher import TwoTierWeigher

CONF = cfg.CONF


class AdaBaWeigher(TwoTierWeigher):
    """Weigh hosts by AdaBa's weight (Symmetry 2018, equation 7): best at `L * B / Bmax` free slots.

    B is the hint `twotier:mbps`, else the flavor's extra spec `twotier:mbps`, else 0; Bmax is
    `[twotier]max_mbps`. L counts the slots of the requested tier; free slots are counted before the
    request's first VM, so that hosts keep their order and fill up one by one, as in Algorithm 1.
    Divided by L*L, the weight is between -1/2 and 1/2 on a host of any size. VMs with guaranteed
    bandwidth go to hosts in the order of VirtualClusterFilter's plan, on the same scale.

    Higher weights win. The default multiplier is 0: two weighers that outweigh Nova's own would
    add up. A negative one gives the empty hosts to requests with little bandwidth.
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
        """Weights in the order of the plan; hosts outside the plan weigh least."""
        step = (self.maxval - self.minval) / len(order)
        weights = {name: self.maxval - index * step for index, name in enumerate(order)}
        return [weights.get(host.nodename, self.minval) for host in hosts]

    def _weight(self, tiers, max_mbps):
        own = tiers.view.tier(tiers.asked.tier) if tiers.view else None
        if not own or not own.places:
            return self.minval
        # A tier that was shrunk below its use has negative room.
        residual = min(max(own.free, 0), own.places)
        return adaba_weight(residual, own.places, tiers.asked.mbps, max_mbps) / own.places**2
