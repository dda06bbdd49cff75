"""What the filters of two-tier requests have in common."""

import threading

from nova.scheduler import filters

from nova_twotier.filters import request, tier_request

# Nova takes the VMs of a request one after another, in one thread: what its first VM was.
_request = threading.local()


class TwoTierFilter(filters.BaseHostFilter):
    """Requests that are not ours pass unread. So does Nova's rebuild: the VM stays where it is.

    Whichever filter comes first reads the ledger, once for all VMs of the request.
    """

    def run_filter_for_index(self, index):
        """Whether to run for the VM of that index: of requests that are not ours, for the first.

        A filter that runs costs something even if it passes all: Nova makes a list of its hosts.
        """
        return index == 0 or getattr(_request, "ours", True)

    def filter_all(self, filter_obj_list, spec_obj):
        _request.ours = tier_request.is_ours(spec_obj) and not tier_request.is_rebuild(spec_obj)
        if not _request.ours:
            return filter_obj_list
        hosts = list(filter_obj_list)
        request.attach(hosts, spec_obj)
        return self.keep(hosts)

    def keep(self, hosts: list) -> list:
        """The hosts that pass, of those with what `request.attach` left on them."""
        raise NotImplementedError
