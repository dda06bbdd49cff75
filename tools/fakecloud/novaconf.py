"""The parts of nova.conf that both modes share, and the API's paste file."""

import importlib.metadata
import importlib.resources
import os
import pathlib
import sys

from oslo_config import cfg

from nova_twotier.tools.fakecloud import inifile, libvirtd
from nova_twotier.tools.fakecloud.errors import FakeCloudError
from nova_twotier.tools.fakecloud.layout import Layout
from nova_twotier.tools.fakecloud.settings import Settings

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
    return inifile.merge(
        recommended() if settings.plugin else {},
        {"oslo_policy": {"policy_file": _shipped("nova-policy.yaml")}} if settings.plugin else {},
        _of_every_fake_cloud(settings, layout),
        _sized(settings) if settings.plugin else {},
    )


def recommended() -> dict[str, dict[str, list[str]]]:
    """What a two-tier cloud's nova.conf says, an operator's as well as ours."""
    sections = {}
    cfg.ConfigParser(str(_shipped("nova.conf")), sections).parse()
    return sections


def _shipped(name: str) -> pathlib.Path:
    """A file that operators get with the plugin."""
    return pathlib.Path(str(importlib.resources.files("nova_twotier.conf") / name))


def _sized(settings: Settings) -> dict[str, dict]:
    """Recommended values that the size of the cloud may exceed."""
    [results] = recommended()["scheduler"]["max_placement_results"]
    needed = settings.hosts * settings.tiers
    return {"scheduler": {"max_placement_results": max(int(results), needed)}}


def _of_every_fake_cloud(settings: Settings, layout: Layout) -> dict[str, dict]:
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
            "report_interval": settings.report_interval,
            # One host a second looks at its resources anew, not each of them once a minute.
            "update_resources_interval": max(60, settings.hosts),
            "service_down_time": settings.service_down_time,
            "sync_power_state_interval": -1,
            "graceful_shutdown_timeout": 5,
            "manager_shutdown_timeout": 1,
        },
        "fakecloud": {"slots": settings.slots},
        "scheduler": {"workers": 1},
        # The host states would lag behind a live migration that has just ended.
        "filter_scheduler": {"track_instance_changes": False},
        "conductor": {"workers": 1},
        "quota": {"driver": "nova.quota.NoopQuotaDriver"},
        "oslo_messaging_notifications": {"driver": "noop"},
        "notifications": {"notification_format": "unversioned"},
        "oslo_concurrency": {"lock_path": layout.run / "locks"},
        "vnc": {"enabled": False},
        # To check its own answers takes Nova a quarter of the time that a list of servers takes.
        "api": {"max_limit": settings.max_limit, "response_validation": "ignore"},
    }


def libvirt(settings: Settings, layout: Layout, host: str, path: pathlib.Path) -> dict[str, dict]:
    """What a nova-compute with emulated guests has besides.

    :param path: the file that this is written to.
    """
    cpus = _cpus_of_guests()
    helper = pathlib.Path(sys.executable).parent / "privsep-helper"
    return {
        "DEFAULT": {
            "compute_driver": "libvirt.LibvirtDriver",
            "state_path": instances(layout, host).parent,
            "instances_path": instances(layout, host),
            "force_config_drive": False,
            "cpu_allocation_ratio": settings.slots * settings.tiers / len(cpus),
            # Guests that are boot sectors ignore ACPI.
            "shutdown_timeout": 0,
        },
        "compute": {"cpu_shared_set": ",".join(map(str, cpus))},
        "libvirt": {
            "connection_uri": libvirtd.uri(layout.run / host),
            "virt_type": "qemu",
            "cpu_mode": "none",
            "images_type": "raw",
            "snapshot_image_format": "qcow2",
        },
        # The processes are root's, and there may be no sudo.
        "nova_sys_admin": {"helper_command": f"{helper} --config-file {path}"},
    }


def instances(layout: Layout, host: str) -> pathlib.Path:
    """The directory of the disks of a host's guests."""
    return layout.run / f"nova-{host}" / "instances"


def _cpus_of_guests() -> list[int]:
    """All CPUs of this machine but the first, which is left to the emulators, if it has more."""
    return list(range(1, os.cpu_count() or 1)) or [0]


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
