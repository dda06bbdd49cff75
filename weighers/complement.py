"""Prefers hosts whose other tier leaves the most CPU to the next process."""

import heapq
from collections.abc import Iterator

from oslo_config import cfg

from nova_twotier.core.actions import BG
from nova_twotier.filters import request
from nova_twotier.weighers.two_tier_weigher import TwoTierWeigher, by_bandwidth

CONF = cfg.CONF


class ComplementWeigher(TwoTierWeigher):
    """Weigh hosts by the other tier's load beside the next VM: less load, higher weight.

    The weight is `1 / (1 + load)`, the share of a slot that a process gets beside that load at
    equal priorities: 1 on an idle slot, 1/2 beside a busy VM, less beside several (K > 2), never
    below 0.

    Nova places the VMs of a job by their numbers, but its hottest processes are to get the best
    places (TPDS 2013, section 4.2): if the hottest do not have the lowest numbers, each VM gets the
    highest weight on the host that is best for its process.

    Requests that the AdaBaWeigher weighs are not for it, unless that one is switched off.

    Higher weights win. The default multiplier outweighs Nova's own weighers but not the
    build-failure weigher; a negative multiplier stacks load on load.
    """

    multiplier = "complement_weight_multiplier"
    minval = 0.0
    maxval = 1.0

    def weighs(self, asked):
        return not (CONF.twotier.adaba_weight_multiplier and by_bandwidth(asked))

    def weigh(self, hosts):
        weights = [
            1 / (1 + host.twotier.load_beside(host)) if host.twotier.view else self.minval
            for host in hosts
        ]
        asked = request.of(hosts[0]).asked
        if asked.dispatch and asked.places is None:
            # Only among hosts that all prefer less load is there a best place.
            best = _best_places(hosts) if self._prefers_idle(hosts) else ()
            asked.places = dict(zip(asked.dispatch, best, strict=False))
        if not asked.places:
            return weights
        chosen = asked.places.get(asked.index)
        return [
            self.maxval if host.nodename == chosen else weight / 2
            for host, weight in zip(hosts, weights, strict=True)
        ]

    def _prefers_idle(self, hosts):
        """Whether the multiplier is positive on every host, with those of the aggregates."""
        return all(self.weight_multiplier(host) > 0 for host in hosts)


def _best_places(hosts: list) -> Iterator[str]:
    """The hosts of the free places, the least loaded first."""
    rooms = [_room(host) for host in hosts]
    places = [
        (host.twotier.load_beside(host), index, 0)
        for index, host in enumerate(hosts)
        if host.twotier.view and rooms[index] > 0
    ]
    heapq.heapify(places)
    while places:
        _load, index, taken = places[0]
        host, taken = hosts[index], taken + 1
        yield host.nodename
        if rooms[index] > taken:
            heapq.heapreplace(places, (host.twotier.load_beside(host, taken), index, taken))
        else:
            heapq.heappop(places)


def _room(host) -> int:
    """Places that the request's VMs can still get on the host."""
    tiers = host.twotier
    end = tiers.open_until if tiers.asked.tier is BG else tiers.full_at
    cluster = tiers.asked.cluster
    if cluster is not None and cluster.plan is not None:
        end = min(end, tiers.before + cluster.plan.get(host.nodename, 0))
    return end - host.num_instances
