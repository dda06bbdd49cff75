"""Base class of the weighers of two-tier requests."""

import math
from itertools import chain

from nova.scheduler import utils, weights
from oslo_config import cfg
from oslo_log import log as logging

from nova_twotier.conf import scheduler as scheduler_conf
from nova_twotier.filters import request

CONF = cfg.CONF
LOG = logging.getLogger(__name__)
scheduler_conf.register_opts(CONF)


def by_bandwidth(asked: request.Asked) -> bool:
    """Whether hosts are chosen by the bandwidth of a request, not by the load of the other tier."""
    return bool(asked.mbps) and not asked.of_job


class TwoTierWeigher(weights.BaseHostWeigher):
    """Weighs the hosts of two-tier requests only. Needs at least one filter of nova-twotier.

    Weights are on a fixed scale, `minval` to `maxval`, which Nova maps to 0 to 1: the difference
    between two hosts does not depend on the other hosts.
    """

    #: Name of the multiplier's option in `[twotier]`; with `twotier_` before it, the key in the
    #: metadata of an aggregate that overrides it.
    multiplier = ""

    def weigh_objects(self, weighed_obj_list, weight_properties):
        """Weights of all hosts; none if the request is for others, or the multiplier is 0.

        Without weights Nova leaves the hosts as they are, and asks nothing more of this weigher.
        """
        if not weighed_obj_list:
            return []
        tiers = request.of(weighed_obj_list[0].obj)
        if tiers is None or not self.weighs(tiers.asked):
            return []
        hosts = [weighed.obj for weighed in weighed_obj_list]
        multipliers = hosts[0].twotier.asked.multipliers
        if self.multiplier not in multipliers:
            multipliers[self.multiplier] = self._multiplier(hosts)
        if multipliers[self.multiplier] == (0, False):
            return []
        return self.weigh(hosts)

    def weighs(self, asked: request.Asked) -> bool:
        """Whether this weigher is for a two-tier request."""
        return True

    def weigh(self, hosts: list) -> list[float]:
        """The weights of hosts of a two-tier request, `minval` to `maxval`. Higher weights win."""
        raise NotImplementedError

    def _weigh_object(self, obj, weight_properties):
        return self.weigh([obj])[0]

    def weight_multiplier(self, host_state):
        configured, overridden = host_state.twotier.asked.multipliers[self.multiplier]
        if not overridden:
            return configured
        found = utils.get_weight_multiplier(host_state, self._key, configured)
        if math.isfinite(found):
            return found
        # Nova takes `nan` for a number; hosts with such weights are in no order at all.
        LOG.warning("Wrong %s of an aggregate of %s: %s", self._key, host_state.host, found)
        return configured

    def _multiplier(self, hosts):
        """The option's multiplier, and whether an aggregate of one of the hosts overrides it.

        Found once a request: doing it for each host and VM would double the time.
        """
        asked = hosts[0].twotier.asked
        if asked.metadata_keys is None:
            # No Python loop over the hosts: thousands share a few aggregates.
            aggregates = list(chain.from_iterable([host.aggregates for host in hosts]))
            distinct = dict(zip(map(id, aggregates), aggregates, strict=True)).values()
            asked.metadata_keys = frozenset(key for each in distinct for key in each.metadata)
        return getattr(CONF.twotier, self.multiplier), self._key in asked.metadata_keys

    @property
    def _key(self):
        return f"twotier_{self.multiplier}"
