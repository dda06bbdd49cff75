"""A new operator: `fakecloud up --manager`, and the commands of the documentation in their order.

Those of doc/operator/ and its neighbours that ask Nova, Placement, the manager and its database.
"""

import base64
import pathlib

import pytest
from openstackclient import shell

from nova_twotier.cmd import manage, status
from nova_twotier.tools.fakecloud import FakeCloud, cli, handover, processes
from tests.cloud.outside import openstack, processes_of
from tests.cloud.waiting import wait_for
from tests.documented.runners import commands_of, removes

pytestmark = pytest.mark.cloud

#: What the operator fills in, and what there is on the fake cloud.
NAMES = {
    "IMAGE": "cirros-fake",
    "HOST": "host2",
    "JOB": "1",
    "NAME": "batch",
    "node17": "host2",
}
#: The gang without a queue manager stays on its host, and would be waited for.
ENDLESS = ("twotier", "host", "drain"), "--wait"
PROGRAMS = {
    "fakecloud": cli.main,
    "openstack": shell.main,
    "twotier-manage": manage.main,
    "nova-twotier-status": status.main,
}
CREATE = ("twotier", "job", "create", "--size", "2", "--wait")


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """A cloud of its own, because the guide changes it; it got its manager when it was up."""
    directory = tmp_path_factory.mktemp("guide")
    with FakeCloud(directory, hosts=2) as made:
        assert cli.main(["up", "--dir", str(directory), "--hosts", "2", "--manager"]) == 0
        yield made
    assert processes_of(directory) == []


def test_manager_of_the_cloud(cloud, capsys):
    directory = cloud.info()["dir"]
    assert cli.main(["status", "--dir", directory]) == 0
    pid = cloud.info()["pids"]["manager"]
    assert f"manager         running, pid {pid}" in capsys.readouterr().out.splitlines()
    assert cli.main(["logs", "--dir", directory, "manager", "-n", "100"]) == 0
    assert "leads pool default" in capsys.readouterr().out
    assert cli.main(["up", "--dir", directory, "--hosts", "2", "--manager"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "fakecloud: already up\n"
    lines = dict(line.split(maxsplit=1) for line in captured.out.splitlines() if "  " in line)
    assert lines["manager"] == "running"
    assert lines["credentials"] == f". {cloud.info()['files']['openrc']}"
    hooks = "job_events.allowed_webhooks"
    changed = ["--set", f"{hooks}=http://127.0.0.1:8000/"]
    assert cli.main(["up", "--dir", directory, *changed]) == 0
    captured = capsys.readouterr()
    assert captured.err == "fakecloud: the options have changed\nfakecloud: already up\n"
    assert f"own options    {hooks} (--set)" in captured.out.splitlines()
    assert openstack(cloud, *CREATE)["state"] == "running"
    openstack(cloud, "twotier", "job", "cancel", "1")


def filled(cloud, words):
    """A command with the cloud's names and files."""
    info = cloud.info()
    files = {
        "/etc/nova/nova.conf": f"{info['dir']}/etc/nova.conf",
        "/etc/nova-twotier/nova-twotier.conf": info["files"]["manager_conf"],
    }
    names = {**NAMES, **files}
    program, *words = (names.get(word, word) for word in words)
    if "NETWORK" in words:
        at = words.index("NETWORK")
        words[at - 1 : at + 1] = ["--nic", "none"]
    endless, wait = ENDLESS
    if tuple(words[:3]) == endless and wait in words:
        words.remove(wait)
    if program == "twotier-manage":
        words += ["--config-file", info["files"]["manager_conf"]]
    if program == "nova-twotier-status" and "--config-file" not in words:
        # Those that it finds by itself.
        words = [word for file in files.values() for word in ("--config-file", file)] + words
    if program == "fakecloud":
        words += ["--dir", info["dir"]]
    return program, words


def test_commands_of_the_documentation(cloud, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    # What `openssl rand -base64 32` makes.
    pathlib.Path("hook.key").write_text(base64.b64encode(bytes(32)).decode())
    for name, value in handover.read(cloud.info()).environment().items():
        monkeypatch.setenv(name, value)

    def run(command, inner=""):
        """What a command prints; in this process, since most take longer to load than to run.

        :param inner: what stands in the place of `$(...)` where that is a whole word.
        """
        program, words = filled(cloud, command.words)
        words = [inner if word == "X" else word for word in words]
        if "group=X" in words:
            words[words.index("group=X")] = f"group={group()}"
        code = PROGRAMS[program](words)
        captured = capsys.readouterr()
        # The checks warn of the fake cloud's own flavors.
        allowed = (0, 1) if program == "nova-twotier-status" else (0,)
        assert code in allowed, f"{command}\n{captured.out}{captured.err}"
        return captured.out

    def group():
        """What is in the place of `$(openstack server group show ...)`."""
        assert shell.main(["server", "group", "show", "mpi", "-f", "value", "-c", "id"]) == 0
        return capsys.readouterr().out.strip()

    printed, removal, downs = {}, [], []
    for command in commands_of("tests/cloud/test_operator_guide.py"):
        if command.words[:2] == ("fakecloud", "down"):
            downs.append(command)
        elif removes(command):
            removal.append(command)
        else:
            printed[" ".join(command.words)] = run(command)
    assert "host2_twotier_bg" in printed["openstack resource provider list"]
    for job in ("verify", "above", "below"):
        assert f"({job})" in printed[created(printed, job)]
    assert openstack(cloud, "twotier", "job", "show", "below")["state"] == "cancelled"
    gang = openstack(cloud, "server", "list", "--name", "mpi")
    assert [server["Status"] for server in gang] == ["ACTIVE"] * 8

    leave(cloud)
    said = ""
    for command in removal:
        if command.words[1:3] == ("aggregate", "remove"):
            stop_manager(cloud)
        said = run(command, inner=said.strip())
    assert "host2" in said
    assert "twotier" not in said

    for command in downs:
        run(command)
    assert cloud.status()["state"] == "down"


def leave(cloud):
    """Remove what the cloud and other pages have made, and `Remove it` does not name."""
    nova, everywhere = cloud.nova(), {"all_tenants": True}
    for server in nova.servers.list(search_opts=everywhere):
        server.delete()
    wait_for(lambda: not nova.servers.list(search_opts=everywhere), "all servers are gone")
    for aggregate in nova.aggregates.list():
        for host in aggregate.hosts:
            if aggregate.name != "jobs":
                nova.aggregates.remove_host(aggregate, host)


def stop_manager(cloud):
    """Stop the queue manager, which is no systemd service here."""
    state = cloud.layout.read_state()["processes"]
    processes.stop(
        [processes.Process(**each) for each in state if each["name"] == "manager"], grace=60
    )


def created(printed, job):
    """The command that submitted a job."""
    [command] = [each for each in printed if f"job create --name {job} " in each]
    return command
