"""Servers as the manager sees them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from nova_twotier.core.flavors import preemption

#: Server metadata that carries the uuid of the job.
JOB_KEY = "twotier_job"
#: Server metadata that tells a guest what is about to happen to it.
NOTICE_KEY = "twotier_notice"

#: Tasks of making an image or a backup: Nova's lock does not cover these.
OWNERS_TASKS = frozenset(
    {
        "image_snapshot_pending",
        "image_snapshot",
        "image_pending_upload",
        "image_uploading",
        "image_backup",
    }
)

#: Statuses that do not change by themselves, as long as there is no task.
SETTLED = frozenset({"ACTIVE", "SHUTOFF"})

#: The hypervisor's power state of a guest that runs.
RUNNING = 1


@dataclass(frozen=True, slots=True)
class Server:
    """A VM: process `index` of the job with this uuid, which is empty if it is stand-alone."""

    id: str
    job: str
    index: int
    status: str
    task: str | None
    #: The name of its hypervisor, as Placement has it; None while it is on no host.
    host: str | None
    fault: str = ""
    #: What its guest was told, see `Cloud.notice`.
    notice: str = ""
    locked: bool = False
    #: The project and the user that it belongs to; None: the manager's own.
    owner: tuple[str, str] | None = None
    #: Its `vm_state` in Nova, such as `active`, `stopped`, `shelved_offloaded`; empty if its cell
    #: is down.
    vm_state: str = ""
    #: What the hypervisor last reported: `RUNNING`, 3 paused, 4 shut down, 7 suspended, 0 unknown.
    power_state: int = 0
    #: When it was last spawned, and last changed in any way; seconds since the epoch, by the
    #: cloud's clock. None: never, or Nova does not say.
    launched_at: float | None = None
    updated_at: float | None = None
    #: When it was requested (ISO 8601), and the reservation id that all servers of that request
    #: share.
    created: str = ""
    reservation: str = ""
    #: What becomes of it if it makes way for a job, by its flavor; empty: it need not.
    preemptible: str = ""
    #: Its metadata, and its addresses by network, as Nova shows them.
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    addresses: Mapping[str, list[Any]] = field(default_factory=dict, hash=False, repr=False)

    @property
    def fixed_addresses(self) -> list[str]:
        """Those that the other servers reach it by, in Nova's order."""
        return [
            each["addr"]
            for network in self.addresses.values()
            for each in network
            if each.get("OS-EXT-IPS:type", "fixed") == "fixed"
        ]

    @property
    def busy(self) -> bool:
        """Nova is busy with it."""
        return self.task is not None

    @property
    def settled(self) -> bool:
        """Whether it is ACTIVE or SHUTOFF and Nova has no task for it."""
        return self.status in SETTLED and not self.busy

    @property
    def shelved(self) -> bool:
        """Whether it is shelved, offloaded from its host or not yet."""
        return self.status.startswith("SHELVED")

    @property
    def away(self) -> bool:
        """Whether the server is shelved or suspended, so that its guest does not run."""
        return self.shelved or self.status == "SUSPENDED"

    @property
    def busy_for_owner(self) -> bool:
        """Nova's task may have been requested by its owner, again and again: an administrator's
        lock does not prevent it."""
        return self.task in OWNERS_TASKS

    @property
    def unknown(self) -> bool:
        """Its cell is down: Nova knows little more than that it exists."""
        return self.status == "UNKNOWN"


def server_of(
    shown: Mapping[str, Any], job: str, own: tuple[str | None, str | None] = (None, None)
) -> Server:
    """A server from its JSON, which is incomplete if its cell is down.

    :param job: the job's uuid.
    :param own: the manager's project and user; None if its token does not say whose it is.
    """
    unknown = shown["status"] == "UNKNOWN"
    metadata = shown.get("metadata", {})
    owner = shown.get("tenant_id", ""), shown.get("user_id", "")
    return Server(
        id=shown["id"],
        job=job,
        # Not by its name, which its owner may change even while it is locked.
        index=0 if unknown else shown["OS-EXT-SRV-ATTR:launch_index"],
        status=shown["status"],
        task=shown.get("OS-EXT-STS:task_state"),
        host=shown.get("OS-EXT-SRV-ATTR:hypervisor_hostname"),
        fault=shown.get("fault", {}).get("message", ""),
        notice=metadata.get(NOTICE_KEY, ""),
        locked=shown.get("locked", False),
        # A plain token does not say whose it is: a demonstration, where all are the manager's.
        owner=None if own in (owner, (None, None)) else owner,
        vm_state=shown.get("OS-EXT-STS:vm_state", ""),
        power_state=shown.get("OS-EXT-STS:power_state") or 0,
        launched_at=seconds(shown.get("OS-SRV-USG:launched_at")),
        updated_at=seconds(shown.get("updated")),
        created=shown.get("created", ""),
        reservation=shown.get("OS-EXT-SRV-ATTR:reservation_id") or "",
        preemptible=preemption(shown.get("flavor", {}).get("extra_specs", {})),
        metadata=metadata,
        addresses=shown.get("addresses", {}),
    )


def seconds(text: str | None) -> float | None:
    """A time from Nova in seconds since the epoch: all are in UTC, some without saying so."""
    if not text:
        return None
    return datetime.fromisoformat(f"{text.removesuffix('Z')}+00:00").timestamp()
