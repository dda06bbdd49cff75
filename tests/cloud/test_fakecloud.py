"""The fake cloud: how it starts and ends, and every operation the queue manager uses."""

import configparser
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

import pytest

from nova_twotier.tools.fakecloud import (
    FakeCloud,
    FakeCloudError,
    cli,
    handover,
    ports,
    processes,
    servers,
)
from nova_twotier.tools.fakecloud.embedded import Embedded
from nova_twotier.tools.fakecloud.servers import Databases
from nova_twotier.tools.fakecloud.settings import DEFAULT_TRANSPORT_URL
from tests.cloud.waiting import wait_for

pytestmark = pytest.mark.cloud

TASK = "OS-EXT-STS:task_state"
HOST = "OS-EXT-SRV-ATTR:host"


def processes_of(directory):
    """Pids of all processes that name the directory in their environment."""
    pids = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environ = (entry / "environ").read_bytes()
            except OSError:
                continue
            if f"FAKECLOUD_RUN_DIR={directory}/".encode() in environ:
                pids.append(int(entry.name))
    return pids


class Gang:
    """Some servers booted by one request, and what is awaited of them."""

    def __init__(self, cloud, size, name="gang", flavor="plain"):
        self.nova = cloud.nova()
        self.group = self.nova.server_groups.create(name, "soft-anti-affinity")
        found = next(found for found in self.nova.flavors.list() if found.name == flavor)
        self.nova.servers.create(
            name,
            cloud.info()["image"],
            found,
            nics="none",
            min_count=size,
            max_count=size,
            scheduler_hints={"group": self.group.id, "twotier:job": self.group.id},
        )
        self.size = size
        self.ids = {
            server.id
            for server in wait_for(
                lambda: [s for s in self.all() if s.name.startswith(name)], "the servers"
            )
        }

    def all(self):
        return self.nova.servers.list(search_opts={"all_tenants": True})

    def servers(self):
        return sorted((s for s in self.all() if s.id in self.ids), key=lambda server: server.name)

    def first(self):
        return self.servers()[0]

    def await_status(self, status):
        def reached():
            servers = self.servers()
            assert not [s.fault for s in servers if s.status == "ERROR"]
            return len(servers) == self.size and all(
                s.status == status and getattr(s, TASK) is None for s in servers
            )

        wait_for(reached, status)
        return self.servers()

    def await_move(self, server_id, moved):
        def reached():
            server = self.nova.servers.get(server_id)
            assert server.status != "ERROR"
            return getattr(server, TASK) is None and moved(getattr(server, HOST))

        wait_for(reached, "the migration")

    def await_gone(self):
        wait_for(lambda: not self.servers(), "deletion")
        self.nova.server_groups.delete(self.group.id)


@pytest.fixture(scope="module")
def gang(fakecloud):
    gang = Gang(fakecloud, 4)
    gang.await_status("ACTIVE")
    yield gang
    for server in gang.servers():
        server.delete()
    gang.await_gone()
    assert used_vcpus(fakecloud) == 0


def used_vcpus(cloud):
    placement = cloud.placement()
    return sum(
        placement.get(f"/resource_providers/{provider['uuid']}/usages").json()["usages"]["VCPU"]
        for provider in providers(cloud)
    )


def providers(cloud):
    listed = cloud.placement().get("/resource_providers").json()["resource_providers"]
    return [provider for provider in listed if provider["name"] in cloud.info()["hosts"]]


# What the operations of the queue manager do.


def test_gang_boots_with_hints_in_its_group(gang):
    servers = gang.await_status("ACTIVE")
    assert {server.name for server in servers} == {f"gang-{number}" for number in range(1, 5)}
    assert set(gang.nova.server_groups.get(gang.group.id).members) == gang.ids


def test_shelve_offloads_at_once_and_unshelve_brings_back(gang, fakecloud):
    for server in gang.servers():
        server.shelve()
    assert all(getattr(s, HOST) is None for s in gang.await_status("SHELVED_OFFLOADED"))
    assert used_vcpus(fakecloud) == 0
    for server in gang.servers():
        server.unshelve()
    gang.await_status("ACTIVE")
    assert used_vcpus(fakecloud) == 4


def test_live_migration_to_a_host(gang, fakecloud):
    server = gang.first()
    target = next(host for host in fakecloud.info()["hosts"] if host != getattr(server, HOST))
    server.live_migrate(host=target, block_migration="auto")
    gang.await_move(server.id, lambda host: host == target)


def test_live_migration_to_any_host(gang):
    server = gang.first()
    source = getattr(server, HOST)
    server.live_migrate(host=None, block_migration="auto")
    gang.await_move(server.id, lambda host: host != source)


def test_stop_and_start(gang):
    for server in gang.servers():
        server.stop()
    gang.await_status("SHUTOFF")
    for server in gang.servers():
        server.start()
    gang.await_status("ACTIVE")


def test_suspend_and_resume(gang):
    for server in gang.servers():
        server.suspend()
    gang.await_status("SUSPENDED")
    for server in gang.servers():
        server.resume()
    gang.await_status("ACTIVE")


def test_lock(gang):
    server = gang.first()
    server.lock(reason="in a job")
    assert gang.first().locked
    server.unlock()
    assert not gang.first().locked


def test_force_delete_frees_everything(fakecloud):
    before = used_vcpus(fakecloud)
    gang = Gang(fakecloud, 2, name="short")
    gang.await_status("ACTIVE")
    for server in gang.servers():
        server.force_delete()
    gang.await_gone()
    assert used_vcpus(fakecloud) == before


def test_gang_that_does_not_fit_takes_nothing(fakecloud, gang):
    info = fakecloud.info()
    flavor = gang.nova.flavors.create("whole-tier", ram=256, vcpus=info["slots"], disk=0)
    before = used_vcpus(fakecloud)
    large = Gang(fakecloud, len(info["hosts"]) * info["tiers"], "large", "whole-tier")
    wait_for(lambda: all(s.status == "ERROR" for s in large.servers()), "the refusal")
    assert "No valid host" in large.first().fault["message"]
    assert used_vcpus(fakecloud) == before
    for server in large.servers():
        server.delete()
    large.await_gone()
    flavor.delete()


def test_tenants_see_their_own_servers_only(fakecloud, gang):
    alice = fakecloud.nova("alice:demo")
    assert alice.servers.list() == []
    with pytest.raises(Exception, match="403"):
        alice.servers.list(search_opts={"all_tenants": True})
    with pytest.raises(Exception, match="403"):
        alice.aggregates.list()


# What `up` leaves for others.


def test_hosts_have_their_slots_and_tiers(fakecloud):
    placement = fakecloud.placement()
    for provider in providers(fakecloud):
        inventory = placement.get(f"/resource_providers/{provider['uuid']}/inventories").json()[
            "inventories"
        ]
        assert inventory["VCPU"]["total"] == 4
        assert inventory["VCPU"]["allocation_ratio"] == 2.0


def test_aggregate_and_flavors(fakecloud):
    nova = fakecloud.nova()
    (aggregate,) = nova.aggregates.list()
    assert aggregate.hosts == fakecloud.info()["hosts"] == ["host1", "host2", "host3", "host4"]
    assert aggregate.metadata == {"twotier:slots": "4", "twotier:tiers": "2"}
    flavors = {flavor.name: flavor.get_keys() for flavor in nova.flavors.list()}
    assert flavors["twotier.slot"] == {
        "resources:CUSTOM_TWOTIER_SLOT": "1",
        "quota:cpu_shares": "1024",
    }
    assert flavors["plain"] == {}


def test_manager_configuration(fakecloud):
    info = fakecloud.info()
    conf = configparser.ConfigParser(interpolation=None)
    conf.read(info["files"]["manager_conf"])
    assert {section: dict(conf[section]) for section in conf.sections()} == {
        "nova": {
            "auth_type": "admin_token",
            "endpoint": info["urls"]["compute"],
            "token": "admin:admin",
            **conf.defaults(),
        },
        "placement": {
            "auth_type": "admin_token",
            "endpoint": info["urls"]["placement"],
            "token": "admin:admin",
            **conf.defaults(),
        },
        "manager": {"flavor": "twotier.slot", "image": info["image"], **conf.defaults()},
        "api": {"auth_strategy": "noauth", **conf.defaults()},
    }
    assert conf.defaults() == {"state_path": f"{info['dir']}/twotier"}


def openstack(cloud, *words):
    """What the `openstack` command prints with the cloud's openrc."""
    ran = subprocess.run(
        [
            "sh",
            "-c",
            '. "$0" && exec "$@" -f json',
            cloud.info()["files"]["openrc"],
            pathlib.Path(sys.executable).with_name("openstack"),
            *words,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_openstack_command_with_openrc(fakecloud, gang):
    listed = {
        server["Name"]: server
        for server in openstack(fakecloud, "server", "list", "--all-projects")
    }
    assert listed["gang-1"]["Image"] == "cirros-fake"


def test_everything_listens_on_loopback_only(fakecloud):
    for port in fakecloud.info()["ports"].values():
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass
        with pytest.raises(OSError), socket.create_connection(("127.0.0.2", port), timeout=5):
            pass


# The command on a cloud that is up.


def test_up_again_changes_nothing(fakecloud, capsys):
    before = fakecloud.info()
    assert cli.main(["up", "--dir", before["dir"], "--hosts", "4", "--format", "json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == before
    assert captured.err == "fakecloud: already up\n"


def test_up_with_other_parameters_is_refused(fakecloud, capsys):
    directory = fakecloud.info()["dir"]
    assert cli.main(["up", "--dir", directory, "--hosts", "5"]) == 1
    assert capsys.readouterr().err == (
        f'fakecloud: a cloud with --hosts 4 is up in {directory}; run "fakecloud down" first\n'
    )


def test_status(fakecloud, capsys):
    directory = fakecloud.info()["dir"]
    assert cli.main(["status", "--dir", directory]) == 0
    lines = capsys.readouterr().out.splitlines()
    pids = fakecloud.info()["pids"]
    assert lines[0].split() == ["cloud", "up"]
    assert f"nova            running, pid {pids['nova']}" in lines
    assert cli.main(["status", "--dir", directory, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "up"


def test_logs(fakecloud, capsys):
    directory = fakecloud.info()["dir"]
    assert cli.main(["logs", "--dir", directory, "nova", "-n", "3"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert cli.main(["logs", "--dir", directory, "cinder"]) == 1
    assert capsys.readouterr().err == (
        f"fakecloud: no log of cinder in {directory}/logs; "
        f"there are logs of nova, placement, twotier\n"
    )


# Clouds of their own: crash, interruption, failure.


def test_crash_is_noticed_and_cleaned_up(tmp_path, capsys):
    options = {"hosts": 1, "plugin": False, "port_base": 23000}
    cloud = FakeCloud(tmp_path, **options)
    first = cloud.up()
    try:
        assert min(first["ports"].values()) >= 23000
        os.kill(first["pids"]["nova"], signal.SIGKILL)
        wait_for(lambda: cloud.status()["state"] == "crashed", "the crash")
        assert cli.main(["status", "--dir", str(tmp_path)]) == 3
        second = cloud.up()
        assert set(second["pids"].values()).isdisjoint(first["pids"].values())
        assert sorted(processes_of(tmp_path)) == sorted(second["pids"].values())
        assert cloud.status()["state"] == "up"
    finally:
        assert cloud.down()
    assert processes_of(tmp_path) == []
    assert not cloud.down()
    assert (tmp_path / "logs" / "nova.log").exists()
    cloud.down(purge=True)
    assert not tmp_path.exists()
    capsys.readouterr()
    assert cli.main(["status", "--dir", str(tmp_path)]) == 3
    assert cli.main(["down", "--dir", str(tmp_path)]) == 0
    assert capsys.readouterr().err == "fakecloud: already down\n"


def test_interrupted_up_leaves_nothing(tmp_path):
    up = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "nova_twotier.tools.fakecloud.cli",
            "up",
            "--dir",
            tmp_path,
            "--hosts",
            "1",
            "--no-plugin",
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: len(processes_of(tmp_path)) == 3, "the processes")
    up.send_signal(signal.SIGINT)
    assert up.communicate(timeout=30)[1].splitlines()[-1] == "fakecloud: interrupted"
    assert up.returncode == 130
    assert processes_of(tmp_path) == []
    assert FakeCloud(tmp_path).status()["state"] == "down"


def test_process_that_was_started_but_not_recorded_is_ended(tmp_path, monkeypatch):
    start = processes.start

    def interrupted(*arguments):
        start(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(processes, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        FakeCloud(tmp_path, hosts=1).up()
    assert processes_of(tmp_path) == []


def test_process_that_dies_while_starting(tmp_path, monkeypatch):
    monkeypatch.setattr(Embedded, "_placement_conf", lambda self: {"api": {"auth_strategy": "x"}})
    with pytest.raises(FakeCloudError, match="placement ended while starting; all of its log"):
        FakeCloud(tmp_path, hosts=1).up()
    assert processes_of(tmp_path) == []
    assert FakeCloud(tmp_path).status()["state"] == "down"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--hosts", "0"], 2, "--hosts must be from 1 to 1000, not 0"),
        (["--port-base", "80"], 2, "--port-base must be from 1024 to 65000, not 80"),
        (
            ["--dir", "/dev/null/cloud"],
            1,
            "cannot write to /dev/null/cloud: Not a directory; choose another --dir",
        ),
    ],
)
def test_errors_are_one_clear_line(tmp_path, capsys, arguments, status, message):
    assert cli.main(["up", "--dir", str(tmp_path), *arguments]) == status
    assert capsys.readouterr().err == f"fakecloud: {message}\n"


def test_no_cloud_to_ask_about(tmp_path):
    with pytest.raises(FakeCloudError, match=r'no cloud is up in .*; run "fakecloud up"'):
        FakeCloud(tmp_path).info()


def test_host_names_sort():
    assert FakeCloud("x", hosts=10).settings.host_names[::9] == ["host01", "host10"]
    assert FakeCloud("x", hosts=9).settings.host_names[::8] == ["host1", "host9"]


def test_parallel_starters_get_different_ports():
    first = ports.listen(["one", "two"], 24000)
    second = ports.listen(["one", "two"], 24000)
    numbers = {sock.getsockname()[1] for sock in [*first.values(), *second.values()]}
    ports.close(first)
    ports.close(second)
    assert len(numbers) == 4
    assert min(numbers) >= 24000


def test_recycled_pid_is_not_ours():
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as stranger:
        processes.stop([processes.Process("nova", stranger.pid, "another boot:1")], grace=0.2)
        assert stranger.poll() is None
        stranger.kill()


def test_handover_as_another_user(fakecloud):
    access = handover.read(fakecloud.info(), "alice:demo")
    assert access.auth(access.compute_url)["token"] == "alice:demo"


# The full variant.


def test_full_without_broker_is_one_clear_line(tmp_path, capsys):
    (port_holder,) = ports.listen(["broker"]).values()
    port = port_holder.getsockname()[1]
    port_holder.close()
    url = f"rabbit://guest:guest@127.0.0.1:{port}/"
    assert cli.main(["up", "--dir", str(tmp_path), "--full", "--transport-url", url]) == 1
    assert capsys.readouterr().err == (
        f"fakecloud: RabbitMQ does not answer at 127.0.0.1:{port} "
        f"([Errno 111] Connection refused); start it or give --transport-url\n"
    )
    assert FakeCloud(tmp_path).status()["state"] == "down"


def database(request):
    """URL of the database server, or None for SQLite; skips when none answers there."""
    if request == "sqlite":
        return None
    url = os.environ.get("FAKECLOUD_TEST_DATABASE_URL", "mysql+pymysql://root@127.0.0.1:3306/")
    try:
        Databases(url, "probe").check()
    except FakeCloudError as error:
        pytest.skip(f"{error} (here: FAKECLOUD_TEST_DATABASE_URL)")
    return url


@pytest.mark.parametrize("kind", ["sqlite", "mariadb"])
def test_full(tmp_path, kind):
    pytest.importorskip("keystone", reason='needs the "full" extra')
    pytest.importorskip("glance", reason='needs the "full" extra')
    broker = os.environ.get("FAKECLOUD_TEST_TRANSPORT_URL", DEFAULT_TRANSPORT_URL)
    try:
        servers.check_broker(broker)
    except FakeCloudError as error:
        pytest.skip(f"{error} (here: FAKECLOUD_TEST_TRANSPORT_URL)")
    options = {"transport_url": broker, "database_url": database(kind)}
    cloud = FakeCloud(tmp_path, hosts=2, full=True, computes_per_process=1, **options)
    cloud.up()
    try:
        assert sorted(cloud.info()["pids"]) == [
            "identity",
            "image",
            "network",
            "nova-api",
            "nova-compute-host1",
            "nova-compute-host2",
            "nova-conductor",
            "nova-scheduler",
            "placement",
            "twotier",
        ]
        # Found in Keystone's catalog, and the token is Keystone's.
        assert openstack(cloud, "twotier", "queue", "show")["mode"] == "active"
        gang = Gang(cloud, 2)
        gang.await_status("ACTIVE")
        server = gang.first()
        source = getattr(server, HOST)
        server.live_migrate(host=None, block_migration="auto")
        gang.await_move(server.id, lambda host: host != source)
        server.shelve()
        wait_for(lambda: gang.nova.servers.get(server.id).status == "SHELVED_OFFLOADED", "shelving")
        server.unshelve()
        gang.await_status("ACTIVE")
        for server in gang.servers():
            server.delete()
        gang.await_gone()
        assert used_vcpus(cloud) == 0
    finally:
        cloud.down()
    assert processes_of(tmp_path) == []
