"""The programs of the previous release are replaced by these while jobs run on a real Nova."""

import json
import shutil
import subprocess
import sys

import pytest

from nova_twotier.db import migration
from tests import previous_release
from tests.cloud.upgrade import POOL, TOKEN, Site, stop
from tests.cloud.waiting import wait_for

pytestmark = pytest.mark.cloud

FG, BG, WAITS, DONE = ("running", "fg"), ("running", "bg"), ("queued", None), ("finished", None)


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """The directory of the previous release's code."""
    directory = tmp_path_factory.mktemp("old")
    previous_release.unpack(directory)
    return directory


@pytest.fixture(scope="module")
def pool(fakecloud):
    """A pool of one host, which few servers fill."""
    nova = fakecloud.nova()
    aggregate = nova.aggregates.create(POOL, None)
    host = fakecloud.info()["hosts"][0]
    nova.aggregates.add_host(aggregate, host)
    nova.aggregates.set_metadata(aggregate, {"twotier:pool": POOL})
    yield
    nova.aggregates.remove_host(aggregate, host)
    nova.aggregates.delete(aggregate)


@pytest.fixture
def site(fakecloud, pool, old, tmp_path):
    with Site(fakecloud, tmp_path, old) as site:
        yield site


@pytest.fixture
def slots(fakecloud):
    return fakecloud.info()["slots"]


def version(site, release):
    return site.run(release, "manage", "db", "version", "-f", "json")


def listed_by_old_client(old, url):
    """Names and states of the jobs that are not over, as the old command shows them."""
    login = ["--os-auth-type", "admin_token", "--os-token", TOKEN, "--os-endpoint", url]
    words = [*login, "twotier", "job", "list", "-f", "json"]
    ran = subprocess.run(
        [sys.executable, "-m", "openstackclient.shell", *words],
        cwd=old,
        env=previous_release.environment(old),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return {(row["Name"], row["State"]) for row in json.loads(ran.stdout)}


def test_jobs_go_on_after_an_upgrade(site, old, slots):
    manager, (api, url) = site.manager("old"), site.api("old")
    early = site.submit(url, "early", 1)
    site.await_states(url, **{early: FG})
    site.complete(url, early)
    site.await_states(url, **{early: DONE})
    front = site.submit(url, "front", slots)
    site.await_states(url, **{front: FG})
    behind = site.submit(url, "behind", 2)
    first, second = site.submit_array(url, "sweep", "0-1", most=1)
    waiting = site.submit(url, "waiting", slots)
    site.await_states(url, **{front: FG, behind: BG, first: BG, second: WAITS, waiting: WAITS})
    before = site.traces()
    assert len(before) == slots + 3
    stop(manager)
    stop(api)

    code, said = version(site, "new")
    assert code == 1 and previous_release.SCHEMA in said, said
    code, said = site.run("new", "manage", "db", "upgrade")
    assert code == 0, said
    code, said = version(site, "new")
    assert code == 0 and migration.NEWEST in said, said

    manager, (api, url) = site.manager("new"), site.api("new")
    site.await_leader(manager, "new")
    # When it has started this one, it has decided about all that it found.
    late = site.submit(url, "late", 1)
    site.await_states(url, **{late: BG, front: FG, behind: BG, first: BG, second: WAITS})
    after = site.traces()
    assert {server: after[server] for server in before} == before
    assert listed_by_old_client(old, url) == {
        ("front", "running"),
        ("behind", "running"),
        ("sweep", "running"),
        ("sweep", "queued"),
        ("waiting", "queued"),
        ("late", "running"),
    }

    site.complete(url, front, late)
    wait_for(lambda: site.look(url)[waiting]["state"] == "running", "the waiting job to start")
    site.complete(url, first)
    wait_for(lambda: site.look(url)[second]["state"] == "running", "the second task to start")
    site.complete(url, behind, second, waiting)
    wait_for(lambda: {job["state"] for job in site.look(url).values()} == {"finished"}, "the end")
    site.check_end()
    code, said = site.run("new", "manage", "ledger", "verify")
    assert code == 0, said


def test_database_then_managers_then_apis(site, slots):
    """The order of an upgrade without an interruption, and what programs that are late say."""
    old_manager, (old_api, old_url) = site.manager("old"), site.api("old")
    first = site.submit(old_url, "first", slots - 1)
    site.await_states(old_url, **{first: FG})
    before = site.traces()
    code, said = site.run("new", "manage", "db", "upgrade")
    assert code == 0, said

    # The old programs work on, but cannot be started again.
    for program in ("manager", "api"):
        code, said = site.run("old", program)
        assert code == 1, said
        assert f"schema is {migration.NEWEST}, which this nova-twotier does not know" in said
    # An API that comes too early does no harm.
    _new_api, new_url = site.api("new")
    second = site.submit(new_url, "second", 1)
    site.await_states(new_url, **{first: FG, second: FG})

    new_manager = site.manager("new")
    log = site.directory / "new-manager.log"
    wait_for(lambda: "Standing by" in log.read_text(), "a standby")
    stop(old_manager)
    site.await_leader(new_manager, "new")
    third = site.submit(old_url, "third", 2)
    site.await_states(old_url, **{first: FG, second: FG, third: BG})
    assert site.jobs(new_url).keys() == site.jobs(old_url).keys()
    stop(old_api)
    after = site.traces()
    assert {server: after[server] for server in before} == before
    site.complete(new_url, first, second, third)
    site.await_states(new_url, **dict.fromkeys((first, second, third), DONE))
    site.check_end()
    code, said = site.run("new", "manage", "ledger", "verify")
    assert code == 0, said


def test_back_to_the_previous_release(site):
    """The backup knows nothing of a job that was submitted since: its servers are deleted."""
    manager, (api, url) = site.manager("old"), site.api("old")
    kept = site.submit(url, "kept", 2)
    site.await_states(url, **{kept: FG})
    before = site.traces()
    stop(manager)
    stop(api)
    backup = shutil.copytree(site.database.parent, site.directory / "backup")
    manager, (api, url) = site.manager("new"), site.api("new")
    forgotten = site.submit(url, "forgotten", 1)
    site.await_states(url, **{forgotten: FG, kept: FG})
    stop(manager)
    stop(api)

    code, said = site.run("old", "manager")
    assert code == 1 and "does not know" in said, said
    shutil.rmtree(site.database.parent)
    shutil.copytree(backup, site.database.parent)
    code, said = site.run("old", "manage", "ledger", "verify")
    assert code == 1 and "orphan-entry" in said, said
    nova = site.cloud.nova
    lost = site.traces().keys() - before.keys()
    assert len(lost) == 1
    for server in lost:
        nova.servers.delete(server)
    wait_for(lambda: site.traces().keys() == before.keys(), "deletion")
    code, said = site.run("old", "manage", "ledger", "repair")
    assert code == 0, said
    manager, (api, url) = site.manager("old"), site.api("old")
    assert site.jobs(url).keys() == {kept}
    site.await_leader(manager, "old")
    assert site.traces() == before
    site.complete(url, kept)
    site.await_states(url, **{kept: DONE})
    code, said = site.run("old", "manage", "ledger", "verify")
    assert code == 0, said
