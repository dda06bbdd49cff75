"""The whole of it with guests that are real: Nova's libvirt driver, queue manager and node agent.

One host has one slot, CPU 1. Its guests are boot sectors that spin.
"""

import subprocess
import sys

import pytest
from keystoneauth1 import adapter

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.ledger import names
from nova_twotier.tools.fakecloud import FakeCloud, bootstrap, handover, libvirtd
from nova_twotier.tools.replay.supervisor import Supervisor, python
from tests.cloud.full import broker
from tests.cloud.libvirtd import SPIN, await_split, boot_sector, missing, pins, the_cpu, weight
from tests.cloud.waiting import wait_for

libvirt = pytest.importorskip("libvirt", reason='the node agent needs the "agent" extra')
pytestmark = [pytest.mark.cloud, pytest.mark.skipif(bool(missing()), reason=missing())]

HOST = "real1"
WEIGHT = {FG: 10000, BG: 100}
AGENT = """
[agent]
libvirt_uri = {uri}
slot_cpus = 1
emulator_cpus = 0
# The guests spin, and would close their slots.
sample_interval = 0
[manager]
poll_interval = 0.5
"""
SLOT = {
    "resources:CUSTOM_TWOTIER_SLOT": "1",
    "quota:cpu_shares": "1024",
    "twotier:tiers": "fg,bg",
}


class Cloud:
    """The cloud, its administrator, and its hypervisor."""

    def __init__(self, fake):
        access = handover.read(fake.info())
        self.nova = fake.nova()
        self.placement = fake.placement()
        keystone, region = bootstrap.keystone_session(access, access.identity_url)
        options = {"region_name": region, "raise_exc": False}
        self._jobs = adapter.Adapter(keystone, service_type="twotier", **options)
        self._images = adapter.Adapter(keystone, service_type="image", **options)
        self.hypervisor = libvirt.open(libvirtd.uri(fake.layout.run / HOST))
        self.image = self._spinning_image()
        self.slot = self.nova.flavors.create("tiny", ram=64, vcpus=1, disk=0)
        self.slot.set_keys(SLOT)

    def _spinning_image(self):
        # Glance takes a boot sector for raw data if it looks like one of FAT; SeaBIOS boots no
        # disk of one sector.
        sector = bytearray(boot_sector(SPIN))
        sector[0x10], sector[0x15] = 2, 0xF8
        image = {"name": "spin", "disk_format": "raw", "container_format": "bare"}
        uuid = self._images.post("/v2/images", json=image).json()["id"]
        answer = self._images.put(
            f"/v2/images/{uuid}/file",
            data=bytes(sector).ljust(2**20, b"\0"),
            headers={"Content-Type": "application/octet-stream"},
        )
        assert answer.status_code == 204, answer.text
        return uuid

    def submit(self):
        body = {
            "size": 1,
            "cpu": [0.5],
            "flavor": self.slot.name,
            "image": self.image,
            "networks": "none",
        }
        answer = self._jobs.post("/v1/jobs", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()["uuid"]

    def await_job(self, uuid, state, tier=None):
        def reached():
            job = self._jobs.get(f"/v1/jobs/{uuid}").json()
            assert job["state"] != "failed", job["reason"]
            return (job["state"], job["tier"]) == (state, tier)

        wait_for(reached, f"job {uuid} is {state} in {tier}")

    def complete(self, uuid):
        answer = self._jobs.post(f"/v1/jobs/{uuid}/complete")
        assert answer.status_code == 202, answer.text
        self.await_job(uuid, "finished")

    def domain_of(self, job):
        """The domain of a job's only server."""
        [server] = [
            server
            for server in self.nova.servers.list()
            if server.metadata.get("twotier_job") == job
        ]
        return self.hypervisor.lookupByUUIDString(server.id)

    def await_status(self, server, status):
        def reached():
            found = self.nova.servers.get(server.id)
            assert found.status != "ERROR", found.fault
            return found.status == status and getattr(found, "OS-EXT-STS:task_state") is None

        wait_for(reached, f"server {server.id} is {status}", patience=180)

    def claims(self):
        """The consumers of the host's tiers."""
        url = f"/resource_providers?name={HOST}"
        [host] = self.placement.get(url).json()["resource_providers"]
        return {
            consumer
            for tier in Tier
            for consumer in self.placement.get(
                f"/resource_providers/{names.child_uuid(host['uuid'], tier)}/allocations"
            ).json()["allocations"]
        }


@pytest.fixture(autouse=True)
def without_other_guests():
    with the_cpu():
        yield


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    root = tmp_path_factory.mktemp("real")
    options = {"hosts": 0, "libvirt": 1, "slots": 1, "full": True, "transport_url": broker()}
    with FakeCloud(root / "cloud", **options) as fake:
        agent = root / "agent.conf"
        agent.write_text(AGENT.format(uri=libvirtd.uri(fake.layout.run / HOST)))
        files = [f"--config-file={fake.layout.manager_conf}", f"--config-file={agent}"]
        programs = [
            Supervisor(
                name, python(f"nova_twotier.cmd.{name}", *files), root / f"{name}.log", print
            )
            for name in ("manager", "agent")
        ]
        with programs[0], programs[1]:
            yield Cloud(fake)
            command = [sys.executable, "-m", "nova_twotier.cmd.manage", *files, "ledger", "verify"]
            assert subprocess.run(command, check=False).returncode == 0


def await_priority(domain, tier):
    expected = WEIGHT[tier], ([1], [0])
    wait_for(
        lambda: (weight(domain), pins(domain)) == expected,
        f"{domain.name()} in {tier}",
    )


def test_jobs_get_the_cpu_of_their_tier(cloud):
    first = cloud.submit()
    cloud.await_job(first, "running", "fg")
    second = cloud.submit()
    cloud.await_job(second, "running", "bg")
    front, back = cloud.domain_of(first), cloud.domain_of(second)
    await_priority(front, FG)
    await_priority(back, BG)
    await_split(front, back)
    cloud.complete(first)
    cloud.await_job(second, "running", "fg")
    await_priority(back, FG)
    cloud.complete(second)
    wait_for(lambda: not cloud.hypervisor.listAllDomains(), "no domain is left")
    assert cloud.claims() == set()


def test_a_server_keeps_its_priority_through_what_nova_does_to_it(cloud):
    job = cloud.submit()
    cloud.await_job(job, "running", "fg")
    front = cloud.domain_of(job)
    server = cloud.nova.servers.create(
        "alone",
        cloud.image,
        cloud.slot,
        nics="none",
        scheduler_hints={"twotier:tier": "bg"},
    )
    cloud.await_status(server, "ACTIVE")

    def check():
        back = cloud.hypervisor.lookupByUUIDString(server.id)
        await_priority(front, FG)
        await_priority(back, BG)
        await_split(front, back)

    check()
    for operation, status, inverse in (
        (lambda: server.reboot("HARD"), "ACTIVE", None),
        (server.stop, "SHUTOFF", server.start),
        (server.pause, "PAUSED", server.unpause),
        (server.suspend, "SUSPENDED", server.resume),
        (server.shelve, "SHELVED_OFFLOADED", server.unshelve),
    ):
        operation()
        cloud.await_status(server, status)
        if inverse:
            inverse()
            cloud.await_status(server, "ACTIVE")
        check()
    server.delete()
    cloud.complete(job)
    wait_for(lambda: not cloud.hypervisor.listAllDomains(), "no domain is left")
    assert cloud.claims() == set()
