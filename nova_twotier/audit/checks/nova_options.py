"""The checked options of nova.conf, with Nova's defaults, so that Nova need not be installed."""

from oslo_config import cfg

DEFAULT = [
    cfg.IntOpt("shelved_offload_time", default=0),
    cfg.IntOpt("reclaim_instance_interval", default=0),
]
SCHEDULER = [
    cfg.IntOpt("max_attempts", default=3),
    cfg.IntOpt("max_placement_results", default=1000),
    cfg.BoolOpt("enable_isolated_aggregate_filtering", default=False),
]
FILTER_SCHEDULER = [
    cfg.MultiStrOpt("available_filters", default=["nova.scheduler.filters.all_filters"]),
    cfg.ListOpt(
        "enabled_filters",
        default=[
            "ComputeFilter",
            "ComputeCapabilitiesFilter",
            "ImagePropertiesFilter",
            "ServerGroupAntiAffinityFilter",
            "ServerGroupAffinityFilter",
        ],
    ),
    cfg.ListOpt("weight_classes", default=["nova.scheduler.weights.all_weighers"]),
    cfg.FloatOpt("soft_affinity_weight_multiplier", default=1.0),
    cfg.IntOpt("host_subset_size", default=1),
    cfg.BoolOpt("shuffle_best_same_weighed_hosts", default=False),
]
OSLO_POLICY = [
    cfg.StrOpt("policy_file", default="policy.yaml"),
    cfg.MultiStrOpt("policy_dirs", default=["policy.d"]),
]
QUOTA = [
    cfg.StrOpt("driver", default="nova.quota.DbQuotaDriver"),
    cfg.IntOpt("metadata_items", default=128),
    cfg.BoolOpt("count_usage_from_placement", default=False),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    conf.register_opts(DEFAULT)
    conf.register_opts(SCHEDULER, group="scheduler")
    conf.register_opts(FILTER_SCHEDULER, group="filter_scheduler")
    conf.register_opts(OSLO_POLICY, group="oslo_policy")
    conf.register_opts(QUOTA, group="quota")
