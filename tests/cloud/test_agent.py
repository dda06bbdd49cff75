"""The node agent on real libvirt and QEMU: tiers that a CPU feels.

Two guests spin on CPU 1, which is the only slot of a host; Placement is real, and so is the agent's
process. Their claims are written as Nova and the queue manager write them.
"""

import collections
import contextlib
import itertools
import json
import os
import signal
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from nova_twotier.agent.cgroups import cpu_controller
from nova_twotier.agent.vm_groups import VmGroups
from nova_twotier.core.actions import BG, FG
from nova_twotier.tools.fakecloud.cloud import FakeCloud
from tests.cloud.agent_host import EMULATOR_CPU, SLOT_CPU, WEIGHT, Host
from tests.cloud.libvirtd import (
    NOVAS_WEIGHT,
    WRITTEN_LAST,
    Libvirtd,
    await_split,
    idle,
    missing,
    pins,
    stopped,
    the_cpu,
    undisturbed,
    weight,
)
from tests.cloud.waiting import wait_for
from tests.ports import free_port

pytestmark = [pytest.mark.cloud, pytest.mark.skipif(bool(missing()), reason=missing())]

TWO_SLOTS = "slot_cpus = 0,1"
#: Seconds for which libvirt is asked while a background VM starves.
CONTENTION = float(os.environ.get("TWOTIER_CONTENTION", "20"))


@pytest.fixture(autouse=True)
def without_other_guests():
    with the_cpu():
        yield


@pytest.fixture(scope="module")
def libvirtd():
    with tempfile.TemporaryDirectory(prefix="lv") as directory, Libvirtd(directory) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    with FakeCloud(tmp_path_factory.mktemp("agent") / "cloud", hosts=1, slots=1) as cloud:
        yield cloud


@pytest.fixture
def host(cloud, libvirtd, tmp_path, request):
    more = getattr(request, "param", "")
    host = Host(cloud, libvirtd.uri, tmp_path, more, slots=2 if more == TWO_SLOTS else 1)
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
            if domain.isActive():
                domain.destroy()
            if domain.hasManagedSaveImage():
                domain.managedSaveRemove()
            domain.undefine()


def await_priorities(front, back, background=WEIGHT[BG]):
    expected = [(each, ([SLOT_CPU], [EMULATOR_CPU])) for each in (WEIGHT[FG], background)]
    wait_for(
        lambda: [(weight(each), pins(each)) for each in (front, back)] == expected,
        f"{front.UUIDString()} in the foreground, {back.UUIDString()} in the background",
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


def await_idle(front, back):
    wait_for(
        lambda: (idle(front), idle(back)) == (False, True),
        f"{back.UUIDString()} is idle for the kernel, and {front.UUIDString()} is not",
    )


@pytest.mark.parametrize("host", ["background_idle = true"], indirect=True)
def test_a_background_that_is_idle_for_the_kernel(host, pair, libvirtd):
    front, back = pair
    with host.agent():
        await_idle(front, back)
        await_split(front, back)
        libvirtd.hard_reboot(back)
        await_idle(front, back)
        host.swap(front, back)
        await_idle(back, front)
        await_split(back, front)
        assert weight(back) == WEIGHT[FG]


@pytest.mark.parametrize("host", ["background_idle = true"], indirect=True)
def test_a_background_that_migrates_away(host, pair):
    """It would hardly get on, and what Nova does to it at the end would take long."""
    front, back = pair
    with host.agent():
        await_idle(front, back)
        host.begin_migration(back)
        wait_for(lambda: weight(back) == WEIGHT[FG], "it has the weight of the foreground")
        assert not idle(back)
        time.sleep(3)
        assert weight(back) == WEIGHT[FG]


@contextlib.contextmanager
def waits_for_its_memory(guest, _arrival):
    """Stands for a large memory that arrives for a long time."""
    with stopped(guest):
        yield
    guest.migrateSetMaxSpeed(1000)


@contextlib.contextmanager
def runs_before_its_memory_is_there(guest, arrival):
    """Live migration by post-copy, to which Nova may switch one that is forced to complete."""
    import libvirt

    def starts():
        with contextlib.suppress(libvirt.libvirtError):  # it is too early
            return guest.migrateStartPostCopy() == 0

    # What the guest needs to run at all is also limited.
    limit_postcopy(guest, bytes_per_second=10000)
    wait_for(starts, "post-copy begins")
    running = [libvirt.VIR_DOMAIN_RUNNING, libvirt.VIR_DOMAIN_RUNNING_POSTCOPY]
    wait_for(lambda: arrival.state() == running, "it runs there")
    limit_postcopy(guest, bytes_per_second=1000)
    yield
    limit_postcopy(guest, bytes_per_second=0)


def limit_postcopy(guest, bytes_per_second):
    """Limit how fast memory follows a guest, or not at all with 0; libvirt knows only whole MiB."""
    import libvirt_qemu

    command = {
        "execute": "migrate-set-parameters",
        "arguments": {"max-postcopy-bandwidth": bytes_per_second},
    }
    libvirt_qemu.qemuMonitorCommand(guest, json.dumps(command), 0)


@pytest.mark.parametrize("host", [TWO_SLOTS], indirect=True)
@pytest.mark.parametrize("arrives", [waits_for_its_memory, runs_before_its_memory_is_there])
def test_no_vm_waits_for_one_whose_memory_arrives(host, pair, libvirtd, arrives):
    """libvirt would let the agent wait for 30 s with each change of it, and refuse then."""
    import libvirt

    front, back = pair
    with (
        tempfile.TemporaryDirectory(prefix="lv") as directory,
        Libvirtd(directory, "host2") as other,
    ):
        guest = other.spin("writes")
        # With less memory in use, all of it would be there before post-copy begins.
        wait_for(lambda: has_written(guest), "it has written to its memory")
        host.claim(guest, BG)
        with host.agent():
            wait_for(lambda: (weight(front), weight(back)) == (10000, 100), "the priorities")
            target = libvirt.open(libvirtd.uri)
            with ThreadPoolExecutor(1) as thread:
                migration = thread.submit(migrate_slowly, guest.UUIDString(), other, libvirtd)
                arrival = await_arrival(guest, target)
                with arrives(guest, arrival):
                    time.sleep(3)
                    host.swap(front, back)
                    wait_for(
                        lambda: (weight(front), weight(back)) == (100, 10000),
                        "the swap is felt",
                        patience=25,
                    )
                    assert not migration.done()
                migration.result(60)
            wait_for(lambda: weight(arrival) == WEIGHT[BG], "it is in the background")
            arrival.destroy()
            target.close()


def migrate_slowly(uuid, source, target):
    """Migrate a guest, with post-copy allowed, on connections of its own.

    A request may never be sent if another thread is waiting for an answer on the same connection:
    a fault of libvirt's client, seen with 9.0.
    """
    import libvirt

    flags = libvirt.VIR_MIGRATE_LIVE | libvirt.VIR_MIGRATE_UNSAFE | libvirt.VIR_MIGRATE_POSTCOPY
    slowly = {"migrate_uri": f"tcp://127.0.0.1:{free_port()}", "bandwidth": 1}
    with (
        contextlib.closing(libvirt.open(source.uri)) as here,
        contextlib.closing(libvirt.open(target.uri)) as there,
    ):
        here.lookupByUUIDString(uuid).migrate3(there, slowly, flags)


def has_written(guest):
    """Whether a guest of code "writes" has reached the end of the memory that it changes."""
    import libvirt_qemu

    hmp = libvirt_qemu.VIR_DOMAIN_QEMU_MONITOR_COMMAND_HMP
    said = libvirt_qemu.qemuMonitorCommand(guest, f"xp /1wx {WRITTEN_LAST:#x}", hmp)
    return int(said.split()[1], 16) > 0


def await_arrival(guest, target):
    """The domain at which a guest's memory arrives."""
    import libvirt

    arriving = [libvirt.VIR_DOMAIN_PAUSED, libvirt.VIR_DOMAIN_PAUSED_MIGRATION]
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        with contextlib.suppress(libvirt.libvirtError):
            domain = target.lookupByUUIDString(guest.UUIDString())
            if domain.state() == arriving and not domain.controlInfo()[0]:
                return domain
        time.sleep(0.01)
    raise AssertionError("no memory arrives")


@pytest.mark.parametrize("host", ["background_weight = 2"], indirect=True)
@pytest.mark.parametrize("operation", ["managedSave", "destroy"])
def test_what_is_done_to_a_starved_background_does_not_take_long(host, pair, operation):
    """The agent lifts the background VM as soon as libvirt no longer answers about it."""
    front, back = pair
    with host.agent():
        await_priorities(front, back, background=2)
        group = VmGroups(cpu_controller()).find(back.UUIDString())
        with undisturbed(), ThreadPoolExecutor(1) as thread:
            # Stands for a process that gets hardly any CPU time, for long enough.
            with stopped(back):
                began = time.monotonic()
                asked = thread.submit(getattr(back, operation))
                wait_for(lambda: group.weight == WEIGHT[FG], "it is lifted", patience=8)
                lifted = time.monotonic()
            asked.result(60)
            ended = time.monotonic()
    print(f"{operation} took {ended - began:.1f} s, and {ended - lifted:.1f} s once lifted")


def requests_about(connection, front, back):
    """What Nova, the agent and others ask libvirt again and again, by name and by whom it is about.

    The host's domains are about the background one, too.
    """
    import libvirt

    live = libvirt.VIR_DOMAIN_AFFECT_LIVE
    yield "listAllDomains", BG, connection.listAllDomains
    yield "getAllDomainStats", BG, connection.getAllDomainStats
    for tier, domain in ((FG, front), (BG, back)):
        yield "state", tier, domain.state
        yield "info", tier, domain.info
        yield "controlInfo", tier, domain.controlInfo
        yield "vcpus", tier, domain.vcpus
        yield "getCPUStats", tier, partial(domain.getCPUStats, True)
        yield "schedulerParameters", tier, partial(domain.schedulerParametersFlags, live)
        yield "memoryStats", tier, domain.memoryStats
        yield "blockInfo", tier, partial(domain.blockInfo, "hda")
        yield "blockStats", tier, partial(domain.blockStats, "hda")


@pytest.mark.parametrize("host", ["background_weight = 2"], indirect=True)
def test_no_request_hangs_while_the_background_starves(host, pair, libvirtd):
    took, longest = collections.defaultdict(list), {FG: 0.0, BG: 0.0}
    with host.agent():
        await_priorities(*pair, background=2)
        with undisturbed():
            until = time.monotonic() + CONTENTION
            while time.monotonic() < until:
                for name, tier, request in requests_about(libvirtd.connection, *pair):
                    began = time.monotonic()
                    request()
                    took[name].append(time.monotonic() - began)
                    longest[tier] = max(longest[tier], took[name][-1])
                time.sleep(0.1)
    for name, seconds in took.items():
        seconds.sort()
        print(
            f"{name}: {len(seconds)} times, median {statistics.median(seconds):.4f} s, 99 % within "
            f"{seconds[int(0.99 * len(seconds))]:.4f} s, all within {seconds[-1]:.4f} s"
        )
    # Where libvirt gets little CPU time itself, requests about the foreground take long as well.
    assert longest[BG] < 5 + 5 * longest[FG], longest


def test_the_emulators_cpu_time_does_not_count(libvirtd):
    """A guest that is held before its first instruction has cost its emulator some already."""
    from nova_twotier.agent.libvirt_host import LibvirtHost

    guest, host = libvirtd.spin(paused=True), LibvirtHost(libvirtd.uri, cpu_controller())
    try:
        assert guest.getCPUStats(True)[0]["cpu_time"] / 1e9 > 2 * host.cpu_time(guest.UUIDString())
        guest.resume()
        wait_for(lambda: host.cpu_time(guest.UUIDString()) > 1.0, "it uses its virtual CPU")
    finally:
        host.close()
        guest.destroy()
        guest.undefine()


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

            wait_for(closes_opens_and_closes, "a slot that closes, opens and closes", patience=240)
    finally:
        guest.destroy()
        guest.undefine()
    times = [at for at, _withheld in changes[1:]]
    lasted = [later - at for at, later in itertools.pairwise(times)]
    assert min(lasted) > 5, f"it flaps: {lasted}"
