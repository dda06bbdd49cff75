"""Prefers hosts whose other tier leaves the most CPU to the next process."""

from nova_twotier.weighers.two_tier_weigher import TwoTierWeigher


class ComplementWeigher(TwoTierWeigher):
    """Weigh hosts by the load of the other tier beside the next VM: the less, the higher.

    The weight is `1 / (1 + load)`, what a process gets of a slot beside so much load at equal
    priorities: 1 on an idle slot, 1/2 beside a busy VM, less beside several (K > 2), never below 0.

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
