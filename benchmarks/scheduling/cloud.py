"""Hosts and requests as nova-scheduler sees them, made of Nova's own objects and no database."""

import collections
import contextlib
import dataclasses
import datetime
import logging
import random
import uuid
from collections.abc import Mapping
from unittest import mock

import nova.conf
from nova import context, objects
from nova.scheduler import host_manager, manager
from nova.scheduler.client import report

from nova_twotier.conf import scheduler as scheduler_conf
from nova_twotier.core.actions import Tier
from nova_twotier.filters import all_filters
from nova_twotier.ledger import names

from . import answers

CONF = nova.conf.CONF
PROJECT, USER = "6f70656e737461636b20342065766572", "benchmark"
CELL = "3ac5d5ac-54b0-4b5a-9b4f-3f7d0a9f6f0b"
JOB = "0f7c2a3e-8a8d-4b5e-9d5c-0d0f5b1c9a11"

DEFAULT_WEIGHERS = "nova.scheduler.weights.all_weighers"
OUR_WEIGHERS = "nova_twotier.weighers.all_weighers"
BUILD_FAILURE = "nova.scheduler.weights.compute.BuildFailureWeigher"


def configure(adaba: float = 0.0) -> None:
    """Nova and plugin with their default options and a log at INFO, as installed.

    :param adaba: multiplier of AdaBaWeigher.
    """
    objects.register_all()
    CONF([], project="nova", default_config_files=[])
    # The heartbeats are as old as the run of the benchmark.
    CONF.set_override("service_down_time", 24 * 3600)
    scheduler_conf.register_opts(CONF)
    CONF.set_override("adaba_weight_multiplier", adaba, "twotier")
    logging.getLogger().addHandler(logging.NullHandler())
    logging.getLogger().setLevel(logging.INFO)


@dataclasses.dataclass(frozen=True)
class Host:
    """A host of two tiers; `points` are the CPU points of the VMs of each tier."""

    name: str
    root: str
    points: Mapping[Tier, tuple[int, ...]]
    slots: int = 8
    vcpus: int = 128
    memory_mb: int = 262_144
    disk_gb: int = 4000
    vm_memory_mb: int = 4096
    vm_disk_gb: int = 20

    @classmethod
    def drawn(cls, number: int, rng: random.Random) -> "Host":
        """Room for one more VM, at least, in both tiers: no host is spared any work."""
        points = {
            tier: tuple(rng.randint(5, 90) for _vm in range(rng.randint(0, cls.slots - 1)))
            for tier in Tier
        }
        root = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        return cls(f"host{number:05}", root, points)

    @property
    def vms(self) -> int:
        return sum(len(points) for points in self.points.values())

    def free(self, tier: Tier) -> int:
        return self.slots - len(self.points[tier])

    def child(self, tier: Tier) -> str:
        return names.child_uuid(self.root, tier)


class Cloud:
    """Hosts with their compute nodes, services, aggregates and VMs."""

    def __init__(self, size: int, seed: int = 1):
        rng = random.Random(seed)  # noqa: S311
        self.context = context.RequestContext(USER, PROJECT, is_admin=True)
        self.hosts = [Host.drawn(number, rng) for number in range(size)]
        self.placement = answers.ReportClient(self.hosts)
        self._computes = [_compute(number, host) for number, host in enumerate(self.hosts)]
        self._services = {
            host.name: _service(number, host) for number, host in enumerate(self.hosts)
        }
        self._instances = {host.name: _instances(host) for host in self.hosts}

    def scheduler(self, plugin: bool, weighers: list[str]) -> manager.SchedulerManager:
        """Nova's scheduler on this cloud: the default filters (and ours) and these weighers."""
        defaults = CONF.filter_scheduler.enabled_filters
        options = {
            "available_filters": ["nova.scheduler.filters.all_filters"],
            "enabled_filters": defaults,
            "weight_classes": weighers,
        }
        if plugin:
            options["available_filters"].append("nova_twotier.filters.all_filters")
            options["enabled_filters"] = [*defaults, *(each.__name__ for each in all_filters())]
        with contextlib.ExitStack() as stack:
            for option, value in options.items():
                CONF.set_override(option, value, "filter_scheduler")
                stack.callback(CONF.clear_override, option, "filter_scheduler")
            made = self._made()
        self._fill(made.host_manager)
        return made

    def _made(self) -> manager.SchedulerManager:
        database = ("refresh_cells_caches", "_init_aggregates", "_init_instance_info")
        with contextlib.ExitStack() as stack:
            for method in database:
                stack.enter_context(mock.patch.object(host_manager.HostManager, method))
            stack.enter_context(mock.patch.object(manager.rpc, "get_notifier"))
            stack.enter_context(self.answering())
            return manager.SchedulerManager()

    def _fill(self, hosts: host_manager.HostManager) -> None:
        """What the host manager reads from the database and hears from the computes."""
        hosts.cells = {CELL: None}
        hosts.enabled_cells = []
        hosts.aggs_by_id = {each.id: each for each in self._aggregates()}
        hosts.host_aggregates_map = collections.defaultdict(set)
        for number, aggregate in hosts.aggs_by_id.items():
            for name in aggregate.hosts:
                hosts.host_aggregates_map[name].add(number)
        hosts._instance_info = {
            name: {"instances": vms, "updated": True} for name, vms in self._instances.items()
        }
        hosts._get_computes_for_cells = lambda *_args, **_kwargs: (
            {CELL: self._computes},
            self._services,
        )

    def _aggregates(self) -> list:
        """The operator's two-tier switch, and the availability zone."""
        everywhere = list(self._services)
        return [
            aggregate(1, everywhere, {"twotier:slots": "8", "twotier:tiers": "2"}),
            aggregate(2, everywhere, {"availability_zone": "nova"}),
        ]

    @contextlib.contextmanager
    def answering(self):
        """Placement's prepared answers instead of HTTP, for Nova and for the plugin."""
        with mock.patch.object(report, "report_client_singleton", lambda: self.placement):
            yield

    def request(self, size: int, tier: Tier | None) -> tuple:
        """A request of `size` VMs, of a job of that tier or plain, and the VMs' uuids."""
        vms = [str(uuid.uuid4()) for _vm in range(size)]
        extra_specs, hints = {}, {}
        if tier:
            extra_specs = {f"resources:{names.SLOT}": "1", "twotier:mbps": "100"}
            hints = self.admit(size, tier)
        spec = objects.RequestSpec(
            self.context,
            instance_uuid=vms[0],
            num_instances=size,
            project_id=PROJECT,
            user_id=USER,
            flavor=_flavor(extra_specs),
            image=objects.ImageMeta(
                id=str(uuid.uuid4()),
                min_ram=0,
                properties=objects.ImageMetaProps(),
            ),
            scheduler_hints=hints,
            instance_group=None,
            pci_requests=objects.InstancePCIRequests(requests=[]),
            numa_topology=None,
            ignore_hosts=None,
            force_hosts=None,
            force_nodes=None,
            requested_destination=None,
            requested_resources=[],
            request_level_params=objects.RequestLevelParams(),
            retry=None,
            limits=objects.SchedulerLimits(),
            availability_zone=None,
            is_bfv=False,
            security_groups=objects.SecurityGroupList(objects=[]),
        )
        return spec, vms

    def admit(self, size: int, tier: Tier) -> dict[str, list[str]]:
        """Enter the job of the next request; returns the hints of that."""
        self.placement.entry = answers.job_entry(size, tier)
        return {"twotier:job": [JOB]}

    def candidates(self, tier: Tier | None) -> tuple[dict, dict]:
        """What `select_destinations` makes of Nova's own read: requests by provider, summaries."""
        by_provider = collections.defaultdict(list)
        for request in answers.nova_candidates(self.hosts, list(Tier) if tier else []):
            for provider in request["allocations"]:
                by_provider[provider].append(request)
        return by_provider, {provider: {} for provider in by_provider}


def _compute(number: int, host: Host):
    return objects.ComputeNode(
        id=number,
        uuid=host.root,
        host=host.name,
        hypervisor_hostname=host.name,
        host_ip="192.0.2.1",
        hypervisor_type="QEMU",
        hypervisor_version=9_000_000,
        supported_hv_specs=[
            objects.HVSpec(arch="x86_64", hv_type=kind, vm_mode="hvm") for kind in ("kvm", "qemu")
        ],
        cpu_info=None,
        numa_topology=None,
        pci_device_pools=None,
        metrics=None,
        memory_mb=host.memory_mb,
        free_ram_mb=host.memory_mb - host.vms * host.vm_memory_mb,
        local_gb=host.disk_gb,
        local_gb_used=host.vms * host.vm_disk_gb,
        free_disk_gb=host.disk_gb - host.vms * host.vm_disk_gb,
        disk_available_least=host.disk_gb - host.vms * host.vm_disk_gb,
        vcpus=host.vcpus // 2,
        vcpus_used=host.vms,
        cpu_allocation_ratio=2.0,
        ram_allocation_ratio=1.0,
        disk_allocation_ratio=1.0,
        stats={"num_instances": str(host.vms), "io_workload": "0", "failed_builds": "0"},
        updated_at=datetime.datetime.now(datetime.UTC),
    )


def _service(number: int, host: Host) -> dict:
    now = datetime.datetime.now(datetime.UTC)
    return {
        "id": number,
        "host": host.name,
        "binary": "nova-compute",
        "topic": "compute",
        "report_count": 1000,
        "disabled": False,
        "disabled_reason": None,
        "last_seen_up": now,
        "created_at": now,
        "forced_down": False,
        "version": 70,
    }


def _instances(host: Host):
    uuids = [str(uuid.uuid4()) for _vm in range(host.vms)]
    return {each: objects.Instance(uuid=each) for each in uuids}


def aggregate(number: int, hosts: list[str], metadata: dict[str, str]):
    return objects.Aggregate(id=number, name=f"aggregate{number}", hosts=hosts, metadata=metadata)


def _flavor(extra_specs: dict[str, str]):
    return objects.Flavor(
        id=1,
        flavorid="1",
        name="process",
        memory_mb=Host.vm_memory_mb,
        vcpus=1,
        root_gb=Host.vm_disk_gb,
        ephemeral_gb=0,
        swap=0,
        rxtx_factor=1.0,
        disabled=False,
        is_public=True,
        extra_specs=extra_specs,
    )
