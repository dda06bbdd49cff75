"""The virt driver of a fake host: as many vCPUs as slots, everything else ample."""

import sys
import time
import uuid
from dataclasses import dataclass

from nova import exception
from nova.compute.task_states import SHELVING
from nova.virt import fake
from oslo_config import cfg

OPTIONS = [
    cfg.IntOpt("slots", default=4, min=1, help="Slots a fake host: its number of vCPUs."),
]

#: Property of an image, as a server remembers it, whose guests do not power off when asked to: Nova
#: waits for as long as the image's os_shutdown_timeout says.
IGNORES_ACPI = "image_fakecloud_ignores_acpi"

_NODES = uuid.UUID("5a6e0b6e-7d3b-4f0a-9a53-9a3f3c1d2b10")


def node_uuid(host: str) -> str:
    """Stable, so that a restarted host finds its own resource provider again."""
    return str(uuid.uuid5(_NODES, host))


@dataclass
class Uploads:
    """How uploads of images end, and the seconds that each takes."""

    accepted: bool = True
    seconds: float = 0.0


UPLOADS = Uploads()
#: In seconds.
DAY = 24 * 3600.0


class SlotDriver(fake.FakeDriver):
    memory_mb = 4 * 1024 * 1024
    local_gb = 1024 * 1024

    def __init__(self, virtapi, read_only=False):
        fake.CONF.register_opts(OPTIONS, "fakecloud")
        self.vcpus = fake.CONF.fakecloud.slots
        #: Before all guests.
        self.booted_at = time.time() - DAY
        super().__init__(virtapi, read_only)

    def get_available_resource(self, nodename):
        resources = super().get_available_resource(nodename)
        if resources:
            resources["uuid"] = node_uuid(nodename)
        return resources

    def get_host_uptime(self):
        """As libvirt's driver, by the command `uptime`."""
        minutes = int(time.time() - self.booted_at) // 60
        days, rest = divmod(minutes, 24 * 60)
        return f"12:00:00 up {days} days, {rest // 60}:{rest % 60:02},  0 users"

    def snapshot(self, context, instance, image_id, update_task_state):
        super().snapshot(context, instance, image_id, update_task_state)
        time.sleep(UPLOADS.seconds)
        if not UPLOADS.accepted:
            raise exception.ImageQuotaExceeded(image_id=image_id)

    def live_migration(self, context, instance, *arguments, **options):
        super().live_migration(context, instance, *arguments, **options)
        # Nova's fake driver keeps the guest on its old host, too.
        self.instances.pop(instance.uuid, None)

    def power_off(self, instance, timeout=0, retry_interval=0):
        # A guest that powers itself off is played by a request to stop it: that is at once.
        if IGNORES_ACPI in instance.system_metadata and instance.task_state == SHELVING:
            time.sleep(timeout)
        super().power_off(instance, timeout, retry_interval)

    def get_nodenames_by_uuid(self, refresh=False):
        return {node_uuid(node): node for node in self.get_available_nodes()}


def register() -> str:
    """Make the driver importable the only way Nova looks for one; returns its option value."""
    sys.modules["nova.virt.fakecloud"] = sys.modules[__name__]
    return "fakecloud.SlotDriver"
