"""Checks of nova.conf, and of what else is in the files: pure functions of the options."""

import uuid

from oslo_upgradecheck.upgradecheck import Result

from nova_twotier.audit.checks import nova_options
from nova_twotier.audit.checks.results import failure, success, warning
from nova_twotier.conf.agent import unmeasured

NOVA_FILTERS = "nova.scheduler.filters.all_filters"
OUR_FILTERS = "nova_twotier.filters.all_filters"
NOVA_WEIGHERS = "nova.scheduler.weights.all_weighers"
OUR_WEIGHERS = "nova_twotier.weighers.all_weighers"
SOFT_AFFINITY = "nova.scheduler.weights.affinity.ServerGroupSoftAffinityWeigher"

UNIFIED_LIMITS = "nova.quota.UnifiedLimitsDriver"
NO_QUOTA = "nova.quota.NoopQuotaDriver"


def nova_conf(conf) -> Result:
    """A nova.conf must have been read; otherwise the checks would see Nova's defaults."""
    if nova_options.given(conf):
        return success()
    files = [*conf.config_file, *conf.config_dir]
    read = f"only {', '.join(files)} was read" if files else "no configuration file was found"
    return warning(
        f"it seems that no nova.conf was read ({read}): give that of nova-scheduler with "
        "--config-file, or what follows is about Nova's defaults"
    )


def available_filters(conf) -> Result:
    """The scheduler must be able to load our filters as well as Nova's."""
    available = conf.filter_scheduler.available_filters
    missing = [
        name
        for name in (NOVA_FILTERS, OUR_FILTERS)
        if not any(_same_package(name, each) for each in available)
    ]
    if missing:
        lines = " and ".join(f"available_filters = {name}" for name in missing)
        return failure(f"[filter_scheduler] of nova-scheduler's nova.conf lacks {lines}: add it")
    return success()


def _same_package(everything: str, name: str) -> bool:
    """Whether an entry names all filters of a package, or one of them."""
    return name.startswith(everything.rpartition(".")[0] + ".")


def enabled_filters(conf) -> Result:
    """TierFilter must be enabled, and run after ComputeFilter, since it asks Placement."""
    names = [name.rpartition(".")[2] for name in conf.filter_scheduler.enabled_filters]
    option = "[filter_scheduler]enabled_filters"
    if "TierFilter" not in names:
        return failure(f"{option} lacks TierFilter: add it after ComputeFilter")
    tier = names.index("TierFilter")
    if "ComputeFilter" not in names[:tier]:
        return warning(f"{option}: put ComputeFilter, which drops dead hosts, before TierFilter")
    if "BackgroundThresholdFilter" not in names[tier:]:
        return warning(
            f"{option}: put BackgroundThresholdFilter after TierFilter, or background VMs may go "
            "where the foreground leaves them no CPU until the ledger closes those slots"
        )
    if names[-1] != "VirtualClusterFilter":
        return warning(
            f"{option}: put VirtualClusterFilter last, or jobs with bandwidth are placed outside "
            "what is reserved for them, and do not start"
        )
    return success()


def weighers(conf) -> Result:
    """Our weighers rank the hosts; the soft-affinity groups of jobs need Nova's weigher for it."""
    groups = conf.manager.largest_server_group != 0
    classes = conf.filter_scheduler.weight_classes
    option = "[filter_scheduler]weight_classes"
    if groups and not {NOVA_WEIGHERS, SOFT_AFFINITY} & set(classes):
        return failure(
            f"{option} lacks {SOFT_AFFINITY}: without it Nova refuses the soft-affinity group of "
            "a job; add it, and soft_affinity_weight_multiplier = 0"
        )
    if not any(_same_package(OUR_WEIGHERS, name) for name in classes):
        return warning(f"{option} lacks {OUR_WEIGHERS}: add it, or hosts are ranked by Nova alone")
    if conf.filter_scheduler.soft_affinity_weight_multiplier:
        return warning(
            "[filter_scheduler]soft_affinity_weight_multiplier ranks hosts by the servers of the "
            "same job: set it to 0"
        )
    return success()


def plugin(conf) -> Result:
    """The options of the plugin itself, which reads them only at requests for slots.

    :raises ConfigFileValueError: if one has a wrong value.
    """
    for option in conf.twotier:
        getattr(conf.twotier, option)
    filters, jobs = conf.twotier.background_threshold, conf.manager.threshold
    # A queue manager has a flavor for jobs, and may have the threshold from a model.
    if conf.manager.flavor and not conf.manager.model and filters < jobs:
        return warning(
            f"[twotier]background_threshold ({filters:g}) is less than [manager]threshold "
            f"({jobs:g}): give both the same value, or BackgroundThresholdFilter refuses jobs "
            "where the queue manager starts them in the background"
        )
    return success()


def job_defaults(conf) -> Result:
    """The default image and network must be given by uuid: Nova takes no names of them."""
    wrong = [
        f"[manager]{kind} is {value!r}: give the uuid that `openstack {kind} list` shows{others}"
        for kind, value, others in (
            ("image", conf.manager.image, ""),
            ("network", conf.manager.network, ", or none or auto"),
        )
        # An image `none` says that jobs have to name one.
        if value not in (None, "none", "auto") and not _is_uuid(value)
    ]
    if wrong:
        return failure(f"{'; '.join(wrong)}. Jobs that name none do not start")
    return success()


def _is_uuid(text: str) -> bool:
    try:
        return bool(uuid.UUID(text))
    except ValueError:
        return False


def agent_metrics(conf) -> Result:
    """A node agent that measures nothing has nothing for Prometheus."""
    why = unmeasured(conf.agent)
    return warning(why) if why else success()


def attempts(conf) -> Result:
    """Nova must try once only: a second attempt places a gang's VM without asking the filters."""
    if conf.scheduler.max_attempts != 1:
        return warning(
            f"[scheduler]max_attempts is {conf.scheduler.max_attempts}: set it to 1; alternate "
            "hosts are taken without asking the filters again"
        )
    return success()


def best_host(conf) -> Result:
    """The best host must win, not a random one of the best."""
    options = conf.filter_scheduler
    wrong = []
    if options.host_subset_size != 1:
        wrong.append("host_subset_size to 1")
    if options.shuffle_best_same_weighed_hosts:
        wrong.append("shuffle_best_same_weighed_hosts to false")
    if wrong:
        return warning(f"[filter_scheduler]: set {' and '.join(wrong)}; else chance picks the host")
    return success()


def quota_counting(conf) -> Result:
    """A preempted job is shelved: only Placement's count no longer includes its servers."""
    quota = conf.quota
    if quota.driver in (UNIFIED_LIMITS, NO_QUOTA) or quota.count_usage_from_placement:
        return success()
    return warning(
        "servers of preempted jobs keep counting against the quota of cores and memory: set "
        "[quota]count_usage_from_placement to true"
    )


def offloading(conf) -> Result:
    """A preempted job frees its slots when its servers are offloaded, not when they are shelved."""
    if conf.shelved_offload_time == 0:
        return success()
    return warning(
        f"[DEFAULT]shelved_offload_time is {conf.shelved_offload_time}: set it to 0 on the compute "
        "hosts, or preempted jobs keep their slots"
    )


def deletion(conf) -> Result:
    """Nova must not keep deleted servers: they would keep their slots."""
    if conf.reclaim_instance_interval == 0:
        return success()
    return warning(
        f"[DEFAULT]reclaim_instance_interval is {conf.reclaim_instance_interval}: set it to 0 on "
        "the nodes of nova-api, or servers that tenants delete keep their slots for so many "
        "seconds (servers of jobs do not)"
    )
