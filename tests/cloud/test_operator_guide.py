"""A new operator: `fakecloud up --manager`, and the commands of doc/operator.md in their order."""

import base64
import pathlib
import re
import shlex

import pytest
from openstackclient import shell

from nova_twotier.cmd import manage, status
from nova_twotier.tools.fakecloud import FakeCloud, cli, handover
from tests.cloud.outside import openstack, processes_of

pytestmark = pytest.mark.cloud

GUIDE = pathlib.Path(__file__).parents[2] / "doc" / "operator.md"
#: What the operator fills in, and what there is on the fake cloud.
NAMES = {
    "--network NETWORK": "--nic none",
    "IMAGE": "cirros-fake",
    "HOST": "host2",
    # The gang without a queue manager stays there, and would be waited for.
    "node17 --reason 'new BIOS' --migrate --wait": "host2 --migrate",
    "node17": "host2",
    "NAME": "batch",
}
PROGRAMS = {
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


def commands(cloud):
    """The commands in the guide's blocks, with the cloud's names and files filled in."""
    info = cloud.info()
    names = {
        **NAMES,
        "/etc/nova/nova.conf": f"{info['dir']}/etc/nova.conf",
        "/etc/nova-twotier/nova-twotier.conf": info["files"]["manager_conf"],
    }
    wanted = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names))
    for block in re.findall(r"^```\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if line.partition(" ")[0] in PROGRAMS:
                command = " ".join(line.partition(" # ")[0].split())
                command = wanted.sub(lambda match: names[match[0]], command)
                if command.startswith("twotier-manage"):
                    command += f" --config-file {info['files']['manager_conf']}"
                yield command


def test_commands_of_the_guide(cloud, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    # What `openssl rand -base64 32` makes.
    pathlib.Path("hook.key").write_text(base64.b64encode(bytes(32)).decode())
    for name, value in handover.read(cloud.info()).environment().items():
        monkeypatch.setenv(name, value)

    def run(command):
        """What a command prints; in this process, since most take longer to load than to run."""
        command = re.sub(r"\$\((.*?)\)", lambda match: run(match[1]).strip(), command)
        program, *words = shlex.split(command)
        code = PROGRAMS[program](words)
        captured = capsys.readouterr()
        # The checks warn of the fake cloud's own flavors.
        allowed = (0, 1) if program == "nova-twotier-status" else (0,)
        assert code in allowed, f"{command}\n{captured.out}{captured.err}"
        return captured.out

    printed = {command: run(command) for command in commands(cloud)}
    assert "host2_twotier_bg" in printed["openstack resource provider list"]
    gang = run("openstack server list --name mpi -f value -c Status").split()
    assert gang == ["ACTIVE"] * 8
