"""Prefers hosts whose other tier leaves the most CPU to the next process."""

from nova_twotier.weighers.two_tier_weigher import TwoTierWeigher


class ComplementWeigher(TwoTierWeigher):
    """Weigh hosts by the other tier's load beside the next VM: less load, higher weight.

    The weight is `1 / (1 + load)`, the share of a slot that a process gets beside that load at
    equal priorities: 1 on an idle slot, 1/2 beside a busy VM, less beside several (K > 2), never
    below 0.

    Higher weights win. The default multiplier outweighs Nova's own weighers but not the
    build-failure weigher; a negative multiplier stacks load on load.
    """

    multiplier = "complement_weight_multiplier"
    minval = 0.0
    maxval = 1.0

    def weigh(self, hosts):
        return [
            1 / (1 + host.twotier.load_beside(host)) if host.twotier.view else self.minval
            for host in hosts
        ]
