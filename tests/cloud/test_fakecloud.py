"""The fake cloud: how it starts and ends, and what it leaves for others."""

import configparser
import json
import os
import re
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
)
from nova_twotier.tools.fakecloud.embedded import Embedded
from tests.cloud.outside import openstack, processes_of, providers
from tests.cloud.waiting import wait_for

pytestmark = pytest.mark.cloud


@pytest.fixture(scope="module")
def managed(tmp_path_factory):
    """A cloud of its own with a queue manager."""
    with FakeCloud(tmp_path_factory.mktemp("managed"), hosts=2, manager=True) as made:
        yield made


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
        "twotier:jobs_only": "true",
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
        "api": {"auth_strategy": "noauth", "board": "true", **conf.defaults()},
    }
    assert conf.defaults() == {"state_path": f"{info['dir']}/twotier"}


def test_everything_listens_on_loopback_only(fakecloud):
    for port in fakecloud.info()["ports"].values():
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass
        with pytest.raises(OSError), socket.create_connection(("127.0.0.2", port), timeout=5):
            pass


# The command on a cloud that is up.


def test_up_again_changes_nothing(fakecloud, capsys):
    before = fakecloud.info()
    for words in ([], ["--hosts", "4"]):
        assert cli.main(["up", "--dir", before["dir"], *words, "--format", "json"]) == 0
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


@pytest.mark.parametrize("names", [["manager"], ["twotier"], ["twotier", "manager"]], ids=" ".join)
def test_processes_of_ours_start_again_with_all_jobs(managed, capsys, names):
    directory, before = managed.info()["dir"], managed.info()
    listing = ("twotier", "job", "list", "-c", "UUID", "-c", "State")
    jobs = openstack(managed, *listing)
    for name in names:
        os.kill(before["pids"][name], signal.SIGKILL)

    def ended():
        return {each["name"] for each in managed.status()["processes"] if not each["alive"]}

    wait_for(lambda: ended() == {*names}, "the end")
    assert managed.status()["state"] == "incomplete"
    assert cli.main(["status", "--dir", directory]) == 3
    state = capsys.readouterr().out.splitlines()[0]
    assert re.match(r"cloud +up, but .*(manager|twotier) ha(s|ve) ended: ", state), state
    assert all(name in state for name in names)
    assert cli.main(["up", "--dir", directory, "--manager"]) == 0
    assert "a new one" not in capsys.readouterr().err
    assert cli.main(["status", "--dir", directory]) == 0
    after = managed.info()
    assert {name for name, pid in after["pids"].items() if before["pids"][name] != pid} == {*names}
    assert {**after, "pids": before["pids"]} == before
    assert openstack(managed, *listing) == jobs
    job = openstack(managed, "twotier", "job", "create", "--size", "1", "--wait")
    assert job["state"] == "running"


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
        # Where the tests run in the background of a script, the shell has it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
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
