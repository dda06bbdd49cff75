"""Keeps background VMs away from foreground VMs that leave them no CPU."""

from nova_twotier.core.actions import FG
from nova_twotier.filters.two_tier_filter import TwoTierFilter


class BackgroundThresholdFilter(TwoTierFilter):
    """Drop hosts without an open slot for the next background VM of a request.

    A slot is closed if its foreground VM uses `[twotier]background_threshold` of it (0.96) or more.
    The number of closed slots of a host is the greatest of:

    - the slots that the queue manager (from the jobs' profiles) or the node agent (from its
      telemetry) has closed: `reserved` units of the background provider. Placement itself does not
      hand these out;
    - the slots that the CPU points in the ledger prove closed. Placement gives the sum of a host's
      points and its number of foreground VMs, not the points of each VM. A slot counts as closed
      only if it is closed however the sum is divided. This is exact for one foreground VM, and if
      all VMs use their slots fully. 100 + 50 points could be 75 + 75, so they close no slot;
    - the slots of all foreground VMs if none of them has points (no reading); none with
      `[twotier]missing_reading = open`. This does not apply to jobs of the queue manager, which
      knows the profiles before Placement does and has closed slots accordingly.

    May run before, after or without TierFilter. Foreground requests pass.
    """

    def keep(self, hosts):
        if not hosts or hosts[0].twotier.asked.tier is FG:
            return hosts
        return [host for host in hosts if host.num_instances < host.twotier.open_until]
