"""The parts of nova.conf that both modes share, and the API's paste file."""

import importlib.metadata
import pathlib

from nova_twotier.tools.fakecloud.errors import FakeCloudError
from nova_twotier.tools.fakecloud.layout import Layout
from nova_twotier.tools.fakecloud.settings import Settings

_FILTERS = [
    "ComputeFilter",
    "ComputeCapabilitiesFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
]
_WEIGHERS = [
    "nova_twotier.weighers.all_weighers",
    # Nova takes no soft group without these; at multiplier 0 they change nothing.
    "nova.scheduler.weights.affinity.ServerGroupSoftAffinityWeigher",
    "nova.scheduler.weights.affinity.ServerGroupSoftAntiAffinityWeigher",
    "nova.scheduler.weights.compute.BuildFailureWeigher",
]

# Besides oslo.log's own: stevedore calls each optional plugin that is not installed an error.
QUIET = [
    "amqp=WARNING",
    "sqlalchemy=WARNING",
    "oslo.messaging=WARNING",
    "oslo_messaging=WARNING",
    "urllib3=WARNING",
    "keystonemiddleware=WARNING",
    "keystoneauth=WARNING",
    "glanceclient=WARNING",
    "routes.middleware=WARNING",
    "stevedore=CRITICAL",
    "os_vif=WARNING",
]

# Replaced in the stock paste file, so that the rest follows the installed Nova.
_KEYSTONE = " authtoken keystonecontext "


def base(settings: Settings, layout: Layout) -> dict[str, dict]:
    return {
        "DEFAULT": {
            "state_path": layout.run / "nova",
            "my_ip": "127.0.0.1",
            "use_stderr": True,
            "default_log_levels": ",".join(QUIET),
            "compute_driver": "fakecloud.SlotDriver",
            # Placement counts a VCPU for every VM of a slot, whatever its tier.
            "cpu_allocation_ratio": float(settings.tiers),
            "ram_allocation_ratio": 1.0,
            "disk_allocation_ratio": 1.0,
            "reserved_host_memory_mb": 0,
            "reserved_host_disk_mb": 0,
            "shelved_offload_time": 0,
            # One busy machine plays all hosts: do not declare one down because it is slow.
            "report_interval": 30,
            "service_down_time": 300,
            "sync_power_state_interval": -1,
            "graceful_shutdown_timeout": 5,
            "manager_shutdown_timeout": 1,
        },
        "fakecloud": {"slots": settings.slots},
        "scheduler": {
            # Alternates would place a VM of a gang without asking the filters again.
            "max_attempts": 1,
            "max_placement_results": max(1000, settings.hosts * settings.tiers),
            "workers": 1,
        },
        "filter_scheduler": _filter_scheduler(settings.plugin),
        "conductor": {"workers": 1},
        "quota": {"driver": "nova.quota.NoopQuotaDriver"},
        "oslo_messaging_notifications": {"driver": "noop"},
        "notifications": {"notification_format": "unversioned"},
        "oslo_concurrency": {"lock_path": layout.run / "locks"},
        "vnc": {"enabled": False},
        "api": {"max_limit": 100000},
    }


def _filter_scheduler(plugin: bool) -> dict:
    options = {
        # The host states would lag behind a live migration that has just ended.
        "track_instance_changes": False,
        "available_filters": ["nova.scheduler.filters.all_filters"],
        "enabled_filters": ",".join(_FILTERS),
        "weight_classes": "nova.scheduler.weights.all_weighers",
    }
    if plugin:
        options["available_filters"].append("nova_twotier.filters.all_filters")
        options["enabled_filters"] += ",TierFilter"
        options["weight_classes"] = ",".join(_WEIGHERS)
        options["soft_affinity_weight_multiplier"] = 0.0
        options["soft_anti_affinity_weight_multiplier"] = 0.0
    return options


def stock_file(distribution: str, name: str) -> pathlib.Path:
    """A configuration file that came with an installed service."""
    for file in importlib.metadata.files(distribution) or []:
        path = pathlib.Path(file.locate())
        if path.name == name and path.exists():
            return path.resolve()
    raise FakeCloudError(f"the installed {distribution} has no {name}; install it with pip")


def token_paste() -> str:
    """The stock paste file with our token filter in the place of Keystone's."""
    stock = stock_file("nova", "api-paste.ini").read_text()
    if _KEYSTONE not in stock:
        raise FakeCloudError(
            "this version of nova has an api-paste.ini that fakecloud does not "
            "understand; install the versions of constraints.txt"
        )
    return stock.replace(_KEYSTONE, " tokens ") + (
        "\n[filter:tokens]\n"
        "paste.filter_factory = nova_twotier.tools.fakecloud.tokens:filter_factory\n"
    )
