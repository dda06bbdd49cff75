"""The node agent on real libvirt and QEMU: tiers that a CPU feels.

Two guests spin on CPU 1, which is the only slot of a host; Placement is real, and so is the agent's
process. Their claims are written as Nova and the queue manager write them.
"""

import contextlib
import itertools
import signal
import subprocess
import sys
import tempfile
import time
import uuid

import pytest

from nova_twotier import conf as configuration
from nova_twotier.cloud.sessions import placement_for
from nova_twotier.core.actions import BG, FG
from nova_twotier.ledger import claims, names, tree
from nova_twotier.ledger.claims import Swap
from nova_twotier.tools.fakecloud.cloud import FakeCloud
from tests.cloud.libvirtd import (
    NOVAS_WEIGHT,
    Libvirtd,
    await_split,
    missing,
    pins,
    undisturbed,
    weight,
)
from tests.cloud.waiting import wait_for

pytestmark = [pytest.mark.cloud, pytest.mark.skipif(bool(missing()), reason=missing())]

HOST, SLOT_CPU, EMULATOR_CPU = "host1", 1, 0
WEIGHT = {FG: 10000, BG: 100}
OPTIONS = f"""
[agent]
host = {HOST}
slot_cpus = {SLOT_CPU}
emulator_cpus = {EMULATOR_CPU}
poll_interval = 0.5
sweep_interval = 2
sample_interval = 1
window = 4
open_samples = 5
libvirt_uri = """


@pytest.fixture(scope="module")
def libvirtd():
    with tempfile.TemporaryDirectory(prefix="lv") as directory, Libvirtd(directory) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    with FakeCloud(tmp_path_factory.mktemp("agent") / "cloud", hosts=1, slots=1) as cloud:
        yield cloud


class Host:
    """The host's claims, and its agent."""

    def __init__(self, cloud, uri, directory):
        self._directory = directory
        options = directory / "agent.conf"
        options.write_text(OPTIONS + uri)
        self._files = [f"--config-file={cloud.layout.manager_conf}", f"--config-file={options}"]
        self.placement = placement_for(configuration.load(self._files, "test"))
        tree.prepare(self.placement)
        self._tiers = tree.sync_hosts(self.placement, {HOST: tree.Shape(1, 2)})
        self._jobs = {}

    def claim(self, domain, tier):
        """What Nova's scheduler claims for a VM of a job of one process."""
        vm, job = domain.UUIDString(), str(uuid.uuid4())
        owner = {"project_id": "project", "user_id": "user"}
        claims.admit(self.placement, job, 1, tier, "project", "user")
        provider = self._tiers[0].provider[tier]
        self.placement.put(
            f"/allocations/{vm}",
            {
                "allocations": {provider: {"resources": {names.SLOT: 1}}},
                "consumer_generation": None,
                "consumer_type": names.VM_CONSUMER,
                **owner,
            },
        )
        self._jobs[vm] = job

    def withheld(self):
        """Background slots that are closed."""
        url = f"/resource_providers/{self._tiers[0].provider[BG]}/inventories"
        return self.placement.get(url)["inventories"][names.SLOT]["reserved"]

    def swap(self, front, back):
        swaps = [
            Swap(self._jobs[domain.UUIDString()], 1, tier, (domain.UUIDString(),))
            for domain, tier in ((front, BG), (back, FG))
        ]
        claims.swap(self.placement, self._tiers, swaps, "project", "user")

    def release(self):
        for vm, job in self._jobs.items():
            self.placement.delete(f"/allocations/{vm}")
            claims.release(self.placement, job)

    @contextlib.contextmanager
    def agent(self):
        """The agent's process."""
        with open(self._directory / "agent.log", "a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "nova_twotier.cmd.agent", *self._files],
                stdout=log,
                stderr=log,
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(30)

    def log(self):
        return (self._directory / "agent.log").read_text()


@pytest.fixture
def host(cloud, libvirtd, tmp_path):
    host = Host(cloud, libvirtd.uri, tmp_path)
    try:
        yield host
    finally:
        host.release()


@pytest.fixture
def pair(libvirtd, host):
    """Two guests that spin: one has the foreground of the slot, one its background."""
    front, back = libvirtd.spin(), libvirtd.spin()
    host.claim(front, FG)
    host.claim(back, BG)
    try:
        yield front, back
    finally:
        for domain in (front, back):
            domain.destroy()
            domain.undefine()


def await_priorities(front, back):
    expected = [(WEIGHT[tier], ([SLOT_CPU], [EMULATOR_CPU])) for tier in (FG, BG)]
    wait_for(
        lambda: [(weight(each), pins(each)) for each in (front, back)] == expected,
        f"{front.UUIDString()} in the foreground, {back.UUIDString()} in the background",
        patience=30,
    )


def test_the_foreground_gets_the_cpu_and_a_swap_reverses_it(host, pair):
    front, back = pair
    with host.agent():
        await_priorities(front, back)
        await_split(front, back)
        host.swap(front, back)
        await_priorities(back, front)
        await_split(back, front)


def test_a_vm_that_nova_defines_anew_gets_its_priority_back(host, pair, libvirtd):
    front, back = pair
    with host.agent():
        await_priorities(front, back)
        libvirtd.hard_reboot(back)
        await_priorities(front, back)


def test_a_weight_that_changes_behind_its_back_is_mended(host, pair):
    front, back = pair
    with host.agent():
        await_priorities(front, back)
        back.setSchedulerParametersFlags({"cpu_shares": NOVAS_WEIGHT}, 1)
        await_priorities(front, back)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_without_the_agent_all_stays_and_its_restart_changes_nothing(host, pair, number):
    front, back = pair
    with host.agent() as agent:
        await_priorities(front, back)
        agent.send_signal(number)
        assert agent.wait(30) == (-number if number == signal.SIGKILL else 0)
        await_priorities(front, back)
    before = host.log()
    with host.agent():
        wait_for(lambda: "serves host" in host.log()[len(before) :], "the agent starts")
        time.sleep(3)
        await_priorities(front, back)
    assert f"VM {front.UUIDString()}" not in host.log()[len(before) :]
    assert f"VM {back.UUIDString()}" not in host.log()[len(before) :]


def test_a_paused_background_has_the_weight_of_the_foreground(host, pair):
    front, back = pair
    with host.agent():
        await_priorities(front, back)
        back.suspend()
        wait_for(lambda: weight(back) == WEIGHT[FG], "a high weight while it is paused")
        back.resume()
        await_priorities(front, back)


def test_a_vm_without_a_claim_is_left_alone(host, pair, libvirtd):
    other = libvirtd.spin()
    try:
        before = weight(other), pins(other)
        with host.agent():
            await_priorities(*pair)
            time.sleep(3)
        assert (weight(other), pins(other)) == before
    finally:
        other.destroy()
        other.undefine()


def test_a_background_beside_a_busy_foreground_can_be_saved_and_restored(host, pair):
    front, back = pair
    with host.agent():
        await_priorities(front, back)
        back.managedSave()
        assert not back.isActive()
        back.create()
        await_priorities(front, back)


def test_a_slot_closes_while_its_foreground_is_busy_and_not_by_short_phases(host, libvirtd):
    """14 s of all the CPU, and 14 s of a square wave with a period of a second, in turn."""
    guest = libvirtd.spin("phases")
    host.claim(guest, FG)
    changes = []
    try:
        with undisturbed(), host.agent():

            def closes_opens_and_closes():
                withheld = host.withheld()
                if not changes or changes[-1][1] != withheld:
                    changes.append((time.monotonic(), withheld))
                return len(changes) > 3

            wait_for(closes_opens_and_closes, "a slot that closes, opens and closes", patience=120)
    finally:
        guest.destroy()
        guest.undefine()
    times = [at for at, _withheld in changes[1:]]
    lasted = [later - at for at, later in itertools.pairwise(times)]
    assert min(lasted) > 5, f"it flaps: {lasted}"
