"""Prefers hosts whose other tier leaves the most CPU to the next process."""

from nova.scheduler import utils, weights
from oslo_config import cfg

from nova_twotier.conf import scheduler as scheduler_conf
from nova_twotier.filters import request

CONF = cfg.CONF
scheduler_conf.register_opts(CONF)


class ComplementWeigher(weights.BaseHostWeigher):
    """Weigh hosts by the load of the other tier beside the next VM.

    Higher weights win: the less load, the higher. The default multiplier outweighs Nova's own
    weighers but not the build-failure weigher; a negative multiplier stacks load on load. Needs
    TierFilter, which reads the ledger. Requests that are not two-tier weigh 0.
    """

    # No minval: beside several background VMs (K > 2) the load may exceed 1.
    maxval = 0.0

    def weight_multiplier(self, host_state):
        return utils.get_weight_multiplier(
            host_state,
            "twotier_complement_weight_multiplier",
            CONF.twotier.complement_weight_multiplier,
        )

    def _weigh_object(self, host_state, weight_properties):
        tiers = request.of(host_state)
        if tiers is None or tiers.view is None:
            return 0.0
        return -tiers.view.load_beside(tiers.tier, tiers.placed(host_state))
