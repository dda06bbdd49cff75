"""Keeps the hosts, and of each the allocation candidate, of the tier that a request wants."""

from nova_twotier.filters.two_tier_filter import TwoTierFilter


class TierFilter(TwoTierFilter):
    """Filter two-tier requests by the tier that they want.

    That is what the job's entry in the ledger says (hint `twotier:job`); else the hint
    `twotier:tier`, if the flavor's `twotier:tiers` lists it; else the flavor's `twotier:tier`; else
    the foreground. A wrong hint or extra spec ends the request, and the log says which.

    To be enabled with the ledger. Without it, Nova would claim a slot of either tier.
    """

    def keep(self, hosts):
        kept = []
        for host in hosts:
            tiers = host.twotier
            if host.num_instances < tiers.full_at:
                if tiers.all_candidates is None:
                    tiers.all_candidates, provider = host.allocation_candidates, tiers.provider
                    # Nova's filter_candidates writes each candidate to the log, twice.
                    host.allocation_candidates = [
                        each for each in tiers.all_candidates if provider in each["allocations"]
                    ]
                if host.allocation_candidates:
                    kept.append(host)
        return kept
