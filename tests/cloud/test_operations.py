"""Every operation of Nova that the queue manager uses, and what a tenant sees of it."""

import pytest

from tests.cloud.gang import HOST, Gang
from tests.cloud.outside import openstack, used_vcpus
from tests.cloud.waiting import wait_for

pytestmark = pytest.mark.cloud


@pytest.fixture(scope="module")
def gang(fakecloud):
    with Gang(fakecloud, 4) as gang:
        gang.await_status("ACTIVE")
        yield gang
    assert used_vcpus(fakecloud) == 0


def test_gang_boots_with_hints_in_its_group(gang):
    servers = gang.await_status("ACTIVE")
    assert {server.name for server in servers} == {f"gang-{number}" for number in range(1, 5)}
    assert set(gang.nova.server_groups.get(gang.group.id).members) == gang.ids


def test_shelve_offloads_at_once_and_unshelve_brings_back(gang, fakecloud):
    for server in gang.servers():
        server.shelve()
    gang.await_status("SHELVED_OFFLOADED")
    # Nova writes that before it forgets the host.
    wait_for(lambda: not any(getattr(s, HOST) for s in gang.servers()), "no host")
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
    with Gang(fakecloud, 2, name="short") as gang:
        gang.await_status("ACTIVE")
        for server in gang.servers():
            server.force_delete()
        gang.await_gone()
    assert used_vcpus(fakecloud) == before


def test_gang_that_does_not_fit_takes_nothing(fakecloud, gang):
    info = fakecloud.info()
    flavor = gang.nova.flavors.create("whole-tier", ram=256, vcpus=info["slots"], disk=0)
    before = used_vcpus(fakecloud)
    with Gang(fakecloud, len(info["hosts"]) * info["tiers"], "large", "whole-tier") as large:
        wait_for(lambda: all(s.status == "ERROR" for s in large.servers()), "the refusal")
        assert "No valid host" in large.first().fault["message"]
        assert used_vcpus(fakecloud) == before
    flavor.delete()


def test_tenants_see_their_own_servers_only(fakecloud, gang):
    alice = fakecloud.nova("alice:demo")
    assert alice.servers.list() == []
    with pytest.raises(Exception, match="403"):
        alice.servers.list(search_opts={"all_tenants": True})
    with pytest.raises(Exception, match="403"):
        alice.aggregates.list()


def test_openstack_command_with_openrc(fakecloud, gang):
    listed = {
        server["Name"]: server
        for server in openstack(fakecloud, "server", "list", "--all-projects")
    }
    assert listed["gang-1"]["Image"] == "cirros-fake"
