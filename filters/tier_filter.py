"""Keeps the hosts with room in the requested tier, and their allocation candidates of that tier."""

from nova_twotier.filters.two_tier_filter import TwoTierFilter


class TierFilter(TwoTierFilter):
    """Filter two-tier requests by the tier that they request.

    The tier comes from the job's entry in the ledger (hint `twotier:job`), else from the hint
    `twotier:tier` if the flavor's `twotier:tiers` lists it, else from the flavor's `twotier:tier`,
    else it is the foreground. A wrong hint or extra spec fails the request, and the log says which.

    A job that boots while maintenance is planned comes to none of the hosts that would close too
    early for it: the queue manager names them in the hint `twotier:hosts`.

    Required with the ledger. Without this filter, Nova would claim a slot of either tier.
    """

    def keep(self, hosts):
        kept = []
        for host in hosts:
            tiers = host.twotier
            if host.num_instances < tiers.full_at and tiers.allowed:
                if tiers.all_candidates is None:
                    tiers.all_candidates = host.allocation_candidates
                    # Nova's filter_candidates would log each candidate twice.
                    host.allocation_candidates = [
                        each for each in tiers.all_candidates if tiers.suits(each["allocations"])
                    ]
                if host.allocation_candidates:
                    kept.append(host)
        return kept
