"""What the filters of two-tier requests have in common."""

from nova.scheduler import filters, utils

from nova_twotier.filters import request, wishes


class TwoTierFilter(filters.BaseHostFilter):
    """Requests that are not ours pass unread. So does a rebuild: the VM stays where it is.

    Whichever filter comes first reads the ledger, once for all VMs of the request.
    """

    def filter_all(self, filter_obj_list, spec_obj):
        if not wishes.is_ours(spec_obj) or utils.request_is_rebuild(spec_obj):
            return filter_obj_list
        hosts = list(filter_obj_list)
        request.attach(hosts, spec_obj)
        return self.keep(hosts)

    def keep(self, hosts: list) -> list:
        """The hosts that pass, of those with what `request.attach` left on them."""
        raise NotImplementedError
