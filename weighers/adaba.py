"""Prefers hosts whose free slots are in proportion to the requested bandwidth."""

from nova_twotier.core.embedding.weight import adaba_weight
from nova_twotier.weighers.two_tier_weigher import TwoTierWeigher, by_bandwidth


class AdaBaWeigher(TwoTierWeigher):
    """Weigh hosts by AdaBa's weight (Symmetry 2018, equation 7): best at `L * B / Bmax` free slots.

    B is the hint `twotier:mbps`, else the flavor's extra spec `twotier:mbps`. Bmax is the largest
    bandwidth that jobs of the queue manager ever asked for, as the manager has published it in
    Placement, else `[twotier]max_mbps`. L counts the slots of the requested tier; free slots are
    counted before the request's first VM, so that hosts keep their order and fill up one by one, as
    in Algorithm 1. Divided by L*L, the weight is between -1/2 and 1/2 on a host of any size.

    It weighs requests for a bandwidth that belong to no job; if they ask for several VMs, the
    VirtualClusterFilter has planned these by the same weight. A job's VMs go where the queue
    manager's policy would put them: ComplementWeigher and VirtualClusterFilter see to that.

    Higher weights win. A negative multiplier gives the empty hosts to requests with little
    bandwidth.
    """

    multiplier = "adaba_weight_multiplier"
    minval = -0.5
    maxval = 0.5

    def weighs(self, asked):
        return by_bandwidth(asked)

    def weigh(self, hosts):
        max_mbps = hosts[0].twotier.asked.network.max_mbps
        return [self._weight(host.twotier, max_mbps) for host in hosts]

    def _weight(self, tiers, max_mbps):
        own = tiers.view.tier(tiers.asked.tier) if tiers.view else None
        if not own or not own.places:
            return self.minval
        # A tier that was shrunk below its use has negative room.
        residual = min(max(own.free, 0), own.places)
        return adaba_weight(residual, own.places, tiers.asked.mbps, max_mbps) / own.places**2
