"""Base class of the filters of two-tier requests."""

import threading

from nova.scheduler import filters

from nova_twotier.filters import request, tier_request

# Nova schedules the VMs of a request one after another in one thread: the number of the present
# one, and whether the first was ours.
_request = threading.local()


class TwoTierFilter(filters.BaseHostFilter):
    """Filters two-tier requests; others pass, and so does Nova's rebuild, where the VM stays.

    The first of these filters reads the ledger, once for all VMs of the request.
    """

    def run_filter_for_index(self, index):
        """Whether to run for this VM: for requests that are not two-tier, only for the first one.

        Even a filter that passes all hosts costs time: Nova makes a list of them.
        """
        _request.index = index
        return index == 0 or getattr(_request, "ours", True)

    def filter_all(self, filter_obj_list, spec_obj):
        _request.ours = tier_request.is_ours(spec_obj) and not tier_request.is_rebuild(spec_obj)
        if not _request.ours:
            return filter_obj_list
        hosts = list(filter_obj_list)
        request.attach(hosts, spec_obj)
        if hosts:
            request.of(hosts[0]).asked.index = getattr(_request, "index", 0)
        return self.keep(hosts)

    def keep(self, hosts: list) -> list:
        """The hosts that pass; `request.attach` has been called for them."""
        raise NotImplementedError
