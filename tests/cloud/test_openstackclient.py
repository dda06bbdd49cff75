"""A tenant's day with `openstack twotier`: as a process, on a real Nova with the queue manager."""

import json
import pathlib
import subprocess
import sys

import pytest

from nova_twotier.tools.replay.supervisor import Supervisor, python
from tests.cloud import outside
from tests.cloud.waiting import wait_for

pytestmark = pytest.mark.cloud


@pytest.fixture
def openstack(fakecloud, tmp_path):
    """Runs `openstack twotier ...` while a manager is there; exit code, result, errors."""
    info = fakecloud.info()

    def run(*words, by="admin:admin"):
        ran = subprocess.run(
            [
                *("sh", "-c", '. "$0" && exec "$@"', info["files"]["openrc"]),
                *("env", f"OS_TOKEN={by}"),
                pathlib.Path(sys.executable).with_name("openstack"),
                *("twotier", *words, "-f", "json"),
            ],
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        return ran.returncode, json.loads(ran.stdout or "null"), ran.stderr

    argv = python("nova_twotier.cmd.manager", f"--config-file={info['files']['manager_conf']}")
    with Supervisor("manager", argv, tmp_path / "manager.log", print):
        yield run


def test_a_job_from_its_submission_to_its_end(openstack, fakecloud):
    code, job, said = openstack(
        *("job", "create", "--name", "solver", "--size", "4", "--cpu", "0.6", "--wait"),
        *("--flavor", "twotier.slot", "--image", "cirros-fake", "--estimate", "2h"),
    )
    assert code == 0, said
    assert (job["state"], job["tier"]) == ("running", "fg")
    assert job["image"] == fakecloud.info()["image"]
    assert said.splitlines()[0] == f"job {job['number']} (solver) is submitted"
    # The manager may have predicted already when it ends.
    last, _, _end = said.splitlines()[-1].partition("; expected to end at ")
    assert last == f"job {job['number']} (solver): runs in the foreground"

    def servers():
        return openstack("job", "show", "solver")[1]["servers"]

    wait_for(lambda: len(servers()) == 4, "the places of solver are recorded")
    names = [f"tt-{job['number']}-{process}" for process in (1, 2, 3, 4)]
    assert names == [server["name"] for server in servers()]
    assert {(server["tier"], server["until"]) for server in servers()} == {("fg", None)}
    assert all(server["host"] for server in servers())
    # The fake cloud has no networks; what Nova does not tell is null.
    assert [server["addresses"] for server in servers()] == [[]] * 4

    _code, told, _said = openstack("job", "explain", "solver")
    assert told["reason"] == "runs in the foreground"
    assert "started" in [event["kind"] for event in told["events"]]

    _code, hosts, _said = openstack("host", "list")
    assert sum(host["FG Used"] for host in hosts) == 4

    # The manager has taken a sample after its first poll.
    _code, minutes, _said = openstack("utilisation", "list", "--from", "1h", "--points", "2000")
    assert minutes[-1]["FG Open"] >= 4
    assert minutes[-1]["Lost"] == 0

    code, rows, said = openstack("job", "cancel", "solver", "nobody")
    assert code == 1
    assert [row["Name"] for row in rows] == ["solver"]
    assert said == "nobody: there is no job 'nobody' in your project\n"

    wait_for(
        lambda: openstack("job", "show", "solver")[1]["state"] == "cancelled", "solver is cancelled"
    )


def test_users_and_projects_exist_once_a_token_has_named_them(openstack, fakecloud):
    """A user or project is found by name once a token has named it; olga is in no other test."""
    code, _jobs, said = openstack("job", "list", "--all-projects", "--user", "olga")
    assert (code, said) == (1, "there is no user 'olga' for you; see openstack user list\n")

    code, _job, said = openstack(
        *("job", "create", "--name", "hers", "--size", "1", "--cpu", "0.6"), by="olga:workshop"
    )
    assert code == 0, said
    for words, by in (
        (("--user", "olga"), "olga:workshop"),
        (("--user", "olga", "--all-projects"), "admin:admin"),
    ):
        code, jobs, said = openstack("job", "list", *words, by=by)
        assert code == 0, said
        assert [each["Name"] for each in jobs] == ["hers"]
    for by in ("olga:workshop", "admin:admin"):
        code, _usage, said = openstack("usage", "list", "--project", "workshop", by=by)
        assert code == 0, said
    users = outside.openstack(fakecloud, "user", "list", "--domain", "Default")
    assert {"admin", "olga"} <= {user["Name"] for user in users}

    code, _jobs, said = openstack("job", "list", "--user", "admin", by="olga:workshop")
    assert code == 1
    assert said.startswith("Keystone does not let you look up user 'admin'")

    code, _jobs, said = openstack("job", "cancel", "hers", by="olga:workshop")
    assert code == 0, said
    wait_for(
        lambda: openstack("job", "show", "hers", by="olga:workshop")[1]["state"] == "cancelled",
        "hers is cancelled",
    )
