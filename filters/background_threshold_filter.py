"""Keeps background VMs away from foreground VMs that leave them no CPU."""

from nova_twotier.core.actions import FG
from nova_twotier.filters.two_tier_filter import TwoTierFilter


class BackgroundThresholdFilter(TwoTierFilter):
    """Drop hosts without an open slot for the next background VM of a request.

    A slot is closed if its foreground VM uses `[twotier]background_threshold` of it (0.96) or more.
    How many slots of a host are closed is the greatest of what is known:

    - what the queue manager (from the jobs' profiles) or the node agent (from its telemetry) has
      closed: units of the background provider that are `reserved`. These Placement itself refuses;
    - what follows from the CPU points in the ledger. Placement tells their sum and the number of
      foreground VMs on a host, not each VM's: as many slots count as closed as must be, whichever
      way the sum divides. With one foreground VM that is exact; so is a host of VMs that all use
      their slots up. 100 + 50 points could be 75 + 75: no slot is closed by that;
    - if the host has foreground VMs and none of them has points, there is no reading: all their
      slots are closed, or none with `[twotier]missing_reading = open`. Not for a job of the queue
      manager, which knows the profiles before Placement does, and has closed what they close.

    Works with TierFilter before it, after it or without it. Foreground requests pass.
    """

    def keep(self, hosts):
        if not hosts or hosts[0].twotier.asked.tier is FG:
            return hosts
        return [host for host in hosts if host.num_instances < host.twotier.open_until]
