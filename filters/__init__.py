"""Nova scheduler filters of nova-twotier, installed as `nova_twotier.filters`."""


def all_filters():
    """Every filter class, for `[filter_scheduler]available_filters`."""
    from nova_twotier.filters.background_threshold_filter import BackgroundThresholdFilter
    from nova_twotier.filters.tier_filter import TierFilter
    from nova_twotier.filters.virtual_cluster_filter import VirtualClusterFilter

    return [TierFilter, BackgroundThresholdFilter, VirtualClusterFilter]
