"""The settings of a fake cloud: its size, mode and directory."""

import dataclasses
import os
import pathlib
from collections.abc import Collection

from nova_twotier.tools.fakecloud.errors import UsageError

DEFAULT_TRANSPORT_URL = "rabbit://guest:guest@127.0.0.1:5672/"

MAX_HOSTS = 1000
#: Each starts its emulated guests on this machine's CPUs.
MAX_LIBVIRT = 8


def default_dir() -> pathlib.Path:
    return pathlib.Path(os.environ.get("FAKECLOUD_DIR") or ".fakecloud")


@dataclasses.dataclass(frozen=True)
class Settings:
    """Parameters of a cloud; two clouds with equal settings are interchangeable.

    :ivar dir: directory that holds everything of this cloud
    :ivar hosts: number of fake compute hosts
    :ivar slots: slots a host (its vCPUs)
    :ivar tiers: VMs that may share a slot (the hosts' cpu_allocation_ratio)
    :ivar manager: run a queue manager as well; a cloud that is up may get one later
    :ivar plugin: load the filters and weighers of nova-twotier into the scheduler
    :ivar port_base: first port to try; ports the system chooses when None
    :ivar report_interval: seconds between two heartbeats of a nova-compute
    :ivar service_down_time: seconds without one after which Nova takes it for down
    :ivar max_limit: items that Nova lists in one answer
    :ivar full: one process a service on RabbitMQ, with real Keystone and Glance
    :ivar libvirt: further hosts, each a nova-compute on a libvirtd with emulated guests (full only)
    :ivar computes_per_process: hosts that share one nova-compute process (full only)
    :ivar transport_url: RabbitMQ server (full only)
    :ivar database_url: database server, SQLite files when None (full only)
    """

    dir: pathlib.Path
    hosts: int = 8
    slots: int = 4
    tiers: int = 2
    manager: bool = False
    plugin: bool = True
    port_base: int | None = None
    # One busy machine plays all hosts: do not declare one down because it is slow.
    report_interval: int = 30
    service_down_time: int = 300
    max_limit: int = 100_000
    full: bool = False
    libvirt: int = 0
    computes_per_process: int = 4
    transport_url: str = DEFAULT_TRANSPORT_URL
    database_url: str | None = None

    def __post_init__(self):
        object.__setattr__(self, "dir", pathlib.Path(self.dir).expanduser().absolute())
        for name, low, high in (
            ("libvirt", 0, MAX_LIBVIRT),
            ("hosts", 0 if self.libvirt else 1, MAX_HOSTS),
            ("slots", 1, 1024),
            ("tiers", 1, 64),
            ("computes_per_process", 1, MAX_HOSTS),
            ("report_interval", 1, 3600),
            ("service_down_time", 2, 36000),
            ("max_limit", 1, 1_000_000),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                option = "--" + name.replace("_", "-")
                raise UsageError(f"{option} must be from {low} to {high}, not {value}")
        if self.libvirt and not self.full:
            raise UsageError("--libvirt needs --full: the other cloud stores no images")
        if self.port_base is not None and not 1024 <= self.port_base <= 65000:
            raise UsageError(f"--port-base must be from 1024 to 65000, not {self.port_base}")

    @property
    def mode(self) -> str:
        return "full" if self.full else "embedded"

    @property
    def host_names(self) -> list[str]:
        return self.fake_hosts + self.libvirt_hosts

    @property
    def libvirt_hosts(self) -> list[str]:
        """real1, real2, ..."""
        return [f"real{number}" for number in range(1, self.libvirt + 1)]

    @property
    def fake_hosts(self) -> list[str]:
        """host1, host2, ...; padded with zeros so that they sort."""
        width = len(str(self.hosts))
        return [f"host{number:0{width}d}" for number in range(1, self.hosts + 1)]

    def to_dict(self) -> dict:
        values = dataclasses.asdict(self)
        values["dir"] = str(self.dir)
        return values

    def differences(self, running: dict, given: Collection[str]) -> list[str]:
        """Of the `given` options, those whose value in the running cloud is another one, and cannot
        be changed."""
        return [
            f"--{name.replace('_', '-')} {running.get(name)}"
            for name, value in self.to_dict().items()
            if name in given and name != "manager" and running.get(name) != value
        ]
