"""Keeps the hosts, and of each the allocation candidate, of the tier that a request wants."""

from nova.scheduler import filters, utils

from nova_twotier.filters import request


class TierFilter(filters.BaseHostFilter, filters.CandidateFilterMixin):
    """Filter two-tier requests by the tier that the job's entry in the ledger names.

    Requests without `resources:CUSTOM_TWOTIER_SLOT` in their flavor pass unread. A rebuild passes:
    the VM stays where it is, with the claim it has.
    """

    def filter_all(self, filter_obj_list, spec_obj):
        hosts = list(filter_obj_list)
        if not hosts or not request.is_ours(spec_obj) or utils.request_is_rebuild(spec_obj):
            return hosts
        if not request.attach(hosts, spec_obj):
            return []
        return [host for host in hosts if self._has_room(host)]

    def _has_room(self, host):
        tiers = request.of(host)
        if tiers.view is None or tiers.view.tier(tiers.tier).free <= tiers.placed(host):
            return False
        provider = tiers.view.tier(tiers.tier).provider
        return self.filter_candidates(host, lambda candidate: provider in candidate["allocations"])
