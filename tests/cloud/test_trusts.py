"""Jobs of tenants with Keystone's own tokens: whose the servers are, and what nobody else may do.

On the full fake cloud, with the queue manager and its API.
"""

import base64
import contextlib
import os
import pathlib
import re
import signal
import socket
from types import SimpleNamespace

import osc_lib.utils
import pytest
from keystoneauth1 import adapter, session
from keystoneauth1.identity import v3
from novaclient import client as nova_client
from novaclient import exceptions as nova_exc
from openstackclient import shell

from nova_twotier import conf as config
from nova_twotier.audit import unified_limits
from nova_twotier.cloud.nova import session_for
from nova_twotier.cloud.trusts import Given, Trusts
from nova_twotier.cmd import manage
from nova_twotier.db.store import open_store
from nova_twotier.tools.fakecloud import FakeCloud, child, handover, ports, processes
from nova_twotier.tools.replay.supervisor import Supervisor, python
from tests.cloud.full import broker
from tests.cloud.waiting import wait_for
from tests.documented.runners import commands_of, removes

pytestmark = pytest.mark.cloud

PASSWORD = "tenants-password"
USER_DATA = base64.b64encode(b"#!/bin/sh\nexport KEY=tenants-key\n").decode()


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """Everything is up, and there is nobody but the administrator."""
    root = tmp_path_factory.mktemp("trusts")
    options = {"hosts": 2, "slots": 2, "full": True, "transport_url": broker()}
    cloud = FakeCloud(root / "cloud", computes_per_process=2, **options)
    cloud.up()
    conf = f"--config-file={cloud.info()['files']['manager_conf']}"
    debug = root / "debug.conf"
    debug.write_text("[DEFAULT]\ndebug = true\n[manager]\npoll_interval = 0.3\n")
    log = root / "manager.log"
    argv = python("nova_twotier.cmd.manager", conf, f"--config-file={debug}")
    try:
        with Supervisor("manager", argv, log, print):
            yield SimpleNamespace(nova=cloud.nova(), info=cloud.info(), log=log, fake=cloud)
    finally:
        cloud.down()


class User:
    """Somebody in a project: what they see of Keystone, Nova and the queue manager."""

    def __init__(self, cloud, name, project, password=PASSWORD):
        self.auth = v3.Password(
            cloud.info["urls"]["identity"],
            username=name,
            password=password,
            project_name=project,
            user_domain_id="default",
            project_domain_id="default",
        )
        self.session = session.Session(auth=self.auth)
        self.revoked = []
        self.nova = nova_client.Client("2.91", session=self.session)
        self.keystone = adapter.Adapter(self.session, service_type="identity")
        self.twotier = adapter.Adapter(self.session, service_type="twotier", raise_exc=False)

    @property
    def id(self):
        return self.session.get_user_id()

    @property
    def project(self):
        return self.session.get_project_id()

    def revoke(self):
        """The token is good for nothing any more; a new one is got when it is needed."""
        token = self.session.get_token()
        self.revoked.append(token)
        self.keystone.delete("/auth/tokens", headers={"X-Subject-Token": token})
        self.auth.invalidate()

    def trusts(self):
        return self.keystone.get(f"/OS-TRUST/trusts?trustor_user_id={self.id}").json()["trusts"]

    def submit(self, **body):
        answer = self.twotier.post("/v1/jobs", json={"size": 1, **body})
        assert answer.status_code == 201, answer.text
        return answer.json()["uuid"]

    def job(self, uuid):
        return self.twotier.get(f"/v1/jobs/{uuid}").json()

    def ask(self, uuid, what):
        answer = self.twotier.post(f"/v1/jobs/{uuid}/{what}")
        assert answer.status_code in (200, 202), answer.text

    def await_state(self, uuid, state):
        def reached():
            job = self.job(uuid)
            assert job["state"] in (state, *UNDER_WAY), job["reason"]
            return job["state"] == state and job

        return wait_for(reached, f"job {uuid} is {state}")


UNDER_WAY = ("queued", "starting", "restoring", "running", "preempting", "ending")


class Operator(User):
    """The administrator, who makes projects and users."""

    def __init__(self, cloud):
        super().__init__(cloud, "admin", "admin", cloud.info["auth"]["password"])
        self.cloud = cloud
        listed = self.keystone.get("/roles").json()["roles"]
        self.roles = {role["name"]: role["id"] for role in listed}

    def tenant(self, name, project):
        projects = self.keystone.get(f"/projects?name={project}").json()["projects"]
        if not projects:
            body = {"project": {"name": project}}
            projects = [self.keystone.post("/projects", json=body).json()["project"]]
        body = {"user": {"name": name, "password": PASSWORD}}
        user = self.keystone.post("/users", json=body).json()["user"]
        self.keystone.put(self._membership(projects[0]["id"], user["id"]))
        return User(self.cloud, name, project)

    def dismiss(self, user):
        """Take the role in the project away."""
        self.keystone.delete(self._membership(user.project, user.id))

    def _membership(self, project, user):
        return f"/projects/{project}/users/{user}/roles/{self.roles['member']}"

    def servers(self, project):
        search = {"all_tenants": 1, "project_id": project}
        return self.nova.servers.list(search_opts=search)


@pytest.fixture(scope="module")
def operator(cloud):
    return Operator(cloud)


@pytest.fixture(scope="module")
def alice(operator):
    return operator.tenant("alice", "demo")


@pytest.fixture(scope="module")
def mallory(operator):
    return operator.tenant("mallory", "other")


@pytest.fixture
def job(alice):
    """A job of alice's that runs; it is cancelled if the test has left it."""
    uuid = alice.submit(size=2)
    alice.await_state(uuid, "running")
    yield uuid
    alice.twotier.delete(f"/v1/jobs/{uuid}")
    wait_for(lambda: alice.job(uuid)["finished_at"], "the end of the job")


def await_looks(user, job):
    """The manager looks at all that was done before, and has done nothing to the job so far.

    A job that comes later runs and ends: each of its steps is one more look.
    """
    later = user.submit()
    user.await_state(later, "running")
    user.ask(later, "complete")
    user.await_state(later, "finished")
    told = user.twotier.get(f"/v1/jobs/{job}/explain").json()
    assert [event["kind"] for event in told["events"]] == ["submitted", "started"]
    assert user.job(job)["state"] == "running"


def locked(operator, project):
    found = operator.servers(project)
    return found if found and all(server.locked for server in found) else None


def test_a_job_runs_in_its_project_without_its_token(operator, alice):
    uuid = alice.submit(size=2, held=True, user_data=USER_DATA)
    [trust] = alice.trusts()
    assert (trust["impersonation"], trust["project_id"]) == (True, alice.project)
    alice.revoke()
    alice.ask(uuid, "release")
    alice.revoke()
    alice.await_state(uuid, "running")
    found = wait_for(lambda: locked(operator, alice.project), "the locks")
    assert len(found) == 2
    for server in found:
        assert (server.tenant_id, server.user_id) == (alice.project, alice.id)
        assert server.locked_reason == f"job {uuid} of nova-twotier: use `openstack twotier job`"
    assert {server.id for server in alice.nova.servers.list()} == {s.id for s in found}
    alice.ask(uuid, "complete")
    alice.await_state(uuid, "finished")
    assert alice.trusts() == []
    assert operator.servers(alice.project) == []
    groups = operator.nova.server_groups.list(all_projects=True)
    assert not [group for group in groups if uuid in group.name]


def test_keystone_keeps_the_job_of_a_trust(alice, cloud):
    """By which trusts are swept that belong to no job."""
    uuid = alice.submit(held=True)
    conf = config.load(["--config-file", cloud.info["files"]["manager_conf"]], "test")
    manager, _options = session_for(conf, "nova")
    [trust] = alice.trusts()
    assert Given(trust["id"], uuid) in Trusts(manager, []).given()
    alice.twotier.delete(f"/v1/jobs/{uuid}")
    alice.await_state(uuid, "cancelled")


def test_the_owner_changes_it_through_the_job_only(operator, alice, job):
    server, other = wait_for(lambda: locked(operator, alice.project), "the locks")
    nova = alice.nova.servers
    for refused in (
        lambda: nova.stop(server.id),
        lambda: nova.delete(server.id),
        lambda: nova.shelve(server.id),
        lambda: nova.reboot(server.id),
        lambda: nova.set_meta(server.id, {"twotier_job": "another"}),
        lambda: nova.delete_meta(server.id, ["twotier_job"]),
    ):
        with pytest.raises(nova_exc.Conflict, match="is locked"):
            refused()
    with pytest.raises(nova_exc.Forbidden):
        nova.unlock(server.id)
    # Nova lets them rename it: nothing hangs on the name.
    nova.update(server.id, name="mine")
    nova.update(other.id, name="tt-999-1")
    await_looks(alice, job)
    alice.ask(job, "complete")
    alice.await_state(job, "finished")
    assert operator.servers(alice.project) == []


def test_a_job_makes_room_and_comes_back(operator, alice):
    """The manager shelves and unshelves servers that are its tenants', and locked."""
    # Their slots are closed: there is no background to move to.
    before = alice.submit(size=2, cpu=1)
    alice.await_state(before, "running")
    first = alice.submit(size=4, cpu=1)
    later = alice.submit(size=2, cpu=1)
    alice.await_state(later, "running")
    alice.ask(before, "complete")
    alice.await_state(first, "running")
    away = [server.status for server in operator.servers(alice.project)]
    assert away.count("SHELVED_OFFLOADED") == 2
    alice.ask(first, "complete")
    alice.await_state(first, "finished")
    alice.await_state(later, "running")
    counts = alice.job(later)
    assert (counts["evictions"], counts["restores"]) == (1, 1)
    found = operator.servers(alice.project)
    assert {(s.status, s.locked, s.tenant_id) for s in found} == {("ACTIVE", True, alice.project)}
    alice.ask(later, "complete")
    alice.await_state(later, "finished")
    assert alice.trusts() == []


def test_nobody_learns_of_it_in_another_project(operator, mallory, job):
    for method, path in (
        ("GET", ""),
        ("DELETE", ""),
        ("GET", "/explain"),
        ("POST", "/complete"),
        ("POST", "/hold"),
    ):
        answer = mallory.twotier.request(f"/v1/jobs/{job}{path}", method)
        assert (answer.status_code, job in answer.text) == (404, False), (method, path)
    assert mallory.twotier.get("/v1/jobs").json()["jobs"] == []
    answer = mallory.twotier.patch("/v1/queue", json={"mode": "paused"})
    assert answer.status_code == 403
    assert operator.twotier.get("/v1/queue").json()["mode"] == "active"


def boot(user, cloud, flavor, hints=None, meta=None, name="tt-1-1"):
    [found] = [each for each in user.nova.flavors.list() if each.name == flavor]
    image = cloud.info["image"]
    options = {"nics": "none", "scheduler_hints": hints, "meta": meta}
    return user.nova.servers.create(name, image, found, **options)


def test_nobody_takes_its_tier_by_a_hint(alice, mallory, cloud, job):
    """Neither another tenant nor the owner, whose job is in the foreground."""
    for user in (mallory, alice):
        server = boot(user, cloud, "twotier.slot", {"twotier:job": job}, name="intruder")
        ended = wait_for(lambda: _settled(user, server), "the refusal")  # noqa: B023
        assert ended.status == "ERROR"
        assert "No valid host was found" in ended.fault["message"]
        ended.delete()
    assert alice.job(job)["state"] == "running"


def _settled(user, server):
    found = user.nova.servers.get(server.id)
    return found if found.status != "BUILD" else None


def test_servers_of_others_that_name_it_are_left_alone(operator, alice, mallory, cloud, job):
    server = boot(mallory, cloud, "plain", meta={"twotier_job": job})
    wait_for(lambda: _settled(mallory, server), "the server")
    await_looks(alice, job)
    alice.ask(job, "complete")
    alice.await_state(job, "finished")
    assert operator.servers(alice.project) == []
    left = mallory.nova.servers.get(server.id)
    assert (left.status, left.locked) == ("ACTIVE", False)
    left.delete()


def test_a_broken_trust_is_told(operator, mallory):
    dismissed = operator.tenant("carol", "other")
    uuid = dismissed.submit(held=True)
    operator.dismiss(dismissed)
    mallory.ask(uuid, "release")
    told = wait_for(lambda: _trouble(mallory, uuid), "the reason")
    assert "does not let the queue manager act for the job's owner any more" in told
    mallory.twotier.delete(f"/v1/jobs/{uuid}")
    wait_for(lambda: mallory.job(uuid)["finished_at"], "the end of the job")


def _trouble(user, uuid):
    reason = user.job(uuid)["reason"] or ""
    return reason if "Keystone" in reason else None


@contextlib.contextmanager
def killed(cloud, name):
    """While a process of the cloud is dead; then it is started again, on its old port."""
    status, layout = cloud.status(), cloud.layout
    [pid] = [row["pid"] for row in status["processes"] if row["name"] == name]
    argv, environment = (
        pathlib.Path(f"/proc/{pid}/{file}").read_text().rstrip("\0").split("\0")
        for file in ("cmdline", "environ")
    )
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)

        def bound():
            with contextlib.suppress(OSError):
                held.bind((ports.ADDRESS, status["ports"][name]))
                return True

        os.kill(pid, signal.SIGKILL)
        # The kernel closes the sockets of its threads some time later. From then on nobody else
        # gets the port, and who connects is refused.
        wait_for(bound, f"the port of {name} is free")
        try:
            yield
        finally:
            held.listen(ports.BACKLOG)
            env = dict(line.split("=", 1) for line in environment)
            env.update(child.environment(name, layout.run, {name: held.fileno()}))
            processes.start(name, argv, layout.log(name), env, [held.fileno()])


def test_keystone_restarts_while_a_job_waits(alice, cloud):
    conf = config.load(["--config-file", cloud.info["files"]["manager_conf"]], "test")
    uuid = alice.submit(size=2, held=True)
    logged = len(cloud.log.read_text())

    def troubled():
        return re.search(" (WARNING|ERROR) ", cloud.log.read_text()[logged:])

    with killed(cloud.fake, "identity"), contextlib.closing(open_store(conf)) as store:
        # The API needs Keystone for that.
        store.hold(store.find(uuid).number, False)
        wait_for(troubled, "the manager notices that Keystone is away")
    alice.await_state(uuid, "running")
    told = alice.twotier.get(f"/v1/jobs/{uuid}/explain").json()
    assert [event["kind"] for event in told["events"]].count("started") == 1
    alice.ask(uuid, "complete")
    alice.await_state(uuid, "finished")


def test_a_trust_that_is_gone_while_a_job_waits_is_told(alice):
    uuid = alice.submit(held=True)
    [trust] = alice.trusts()
    alice.keystone.delete(f"/OS-TRUST/trusts/{trust['id']}")
    alice.ask(uuid, "release")
    told = wait_for(lambda: _trouble(alice, uuid), "the reason")
    assert "or has deleted the trust" in told
    alice.twotier.delete(f"/v1/jobs/{uuid}")
    wait_for(lambda: alice.job(uuid)["finished_at"], "the end of the job")


def test_who_cannot_lend_a_role_gets_no_job(alice):
    """Whoever has an application credential of alice's is not to have more of her than that."""
    body = {"application_credential": {"name": "robot", "secret": PASSWORD}}
    path = f"/users/{alice.id}/application_credentials"
    made = alice.keystone.post(path, json=body).json()["application_credential"]
    robot = v3.ApplicationCredential(alice.auth.auth_url, PASSWORD, made["id"])
    before = alice.trusts()
    answer = alice.twotier.post("/v1/jobs", json={"size": 1}, auth=robot)
    [error] = answer.json()["errors"]
    assert (error["status"], error["code"]) == (403, "twotier.trust.refused")
    assert "use a token that you got with a password" in error["detail"]
    assert alice.trusts() == before


def test_no_secrets_in_the_logs(alice, cloud):
    """The last one: of all that was done before."""
    logs = [cloud.log, cloud.fake.layout.log("twotier")]
    text = "".join(log.read_text() for log in logs)
    assert "started: in the foreground" in text
    tokens = [alice.session.get_token(), *alice.revoked]
    assert len(tokens) == 3
    for secret in (PASSWORD, cloud.info["auth"]["password"], USER_DATA, "tenants-key", *tokens):
        assert secret not in text


def test_keystone_of_the_guide(operator, cloud, monkeypatch, capsys):
    """What the pages have operators do in Keystone; after the others, as it adds a service."""
    for name, value in handover.read(cloud.info).environment().items():
        monkeypatch.setenv(name, value)
    # There is no terminal to ask.
    monkeypatch.setattr(osc_lib.utils, "get_password", lambda *_args, **_options: PASSWORD)
    if not operator.keystone.get("/projects?name=service").json()["projects"]:
        operator.keystone.post("/projects", json={"project": {"name": "service"}})
    # The fake cloud's own; two of one type have to be told apart by their ids.
    for service in operator.keystone.get("/services?type=twotier").json()["services"]:
        operator.keystone.delete(f"/services/{service['id']}")

    manager_conf = f"--config-file={cloud.info['files']['manager_conf']}"

    def run(commands):
        for command in commands:
            program, *words = command.words
            if program == "twotier-manage":
                code = manage.main([*words, manager_conf])
            else:
                code = shell.main(words)
            assert code == 0, f"{command}\n{capsys.readouterr().err}"

    commands = list(commands_of("tests/cloud/test_trusts.py"))
    run(command for command in commands if not removes(command))
    made = User(cloud, "nova-twotier", "service")
    roles = made.auth.get_access(made.session).role_names
    assert "admin" in roles
    endpoints = made.keystone.get("/endpoints?interface=public").json()["endpoints"]
    assert "http://CONTROLLER:8782" in [endpoint["url"] for endpoint in endpoints]
    conf = config.load([manager_conf], "test")
    limits = unified_limits.registered(*session_for(conf, "nova"))
    assert (limits["servers"], limits["class:CUSTOM_TWOTIER_SLOT"]) == (1000, 400)

    run(command for command in commands if removes(command))
    left = operator.keystone
    assert left.get("/users?name=nova-twotier").json()["users"] == []
    assert left.get("/services?type=twotier").json()["services"] == []
    assert "8782" not in left.get("/endpoints").text
