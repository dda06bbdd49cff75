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
    cfg.StrOpt("unified_limits_resource_strategy", default="require"),
    cfg.ListOpt("unified_limits_resource_list", default=["servers"]),
]
#: Options that no other service has, by group.
NOVAS_OWN = {
    None: DEFAULT,
    "scheduler": SCHEDULER,
    "filter_scheduler": FILTER_SCHEDULER,
    "quota": QUOTA,
}


def register_opts(conf: cfg.ConfigOpts) -> None:
    for group, options in NOVAS_OWN.items():
        conf.register_opts(options, group=group)
    conf.register_opts(OSLO_POLICY, group="oslo_policy")


def given(conf: cfg.ConfigOpts) -> bool:
    """Whether a configuration file or the environment sets an option that only Nova has."""
    return any(
        _is_given(conf, option.dest, group)
        for group, options in NOVAS_OWN.items()
        for option in options
    )


def _is_given(conf: cfg.ConfigOpts, option: str, group: str | None) -> bool:
    try:
        return conf.get_location(option, group).location.is_user_controlled
    except cfg.ConfigFileValueError:
        return True  # a wrong value; the check that needs the option says so
