"""The full variant of the fake cloud: Keystone, Glance, a broker, and Nova in many processes."""

import os

import pytest

from nova_twotier.tools.fakecloud import FakeCloud, FakeCloudError, cli
from nova_twotier.tools.fakecloud.servers import Databases
from tests.cloud import federation
from tests.cloud.full import broker
from tests.cloud.gang import HOST, Gang
from tests.cloud.outside import openstack, processes_of, used_vcpus
from tests.cloud.waiting import wait_for
from tests.ports import free_port

pytestmark = pytest.mark.cloud


def test_full_without_broker_is_one_clear_line(tmp_path, capsys):
    port = free_port()
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
    options = {"transport_url": broker(), "database_url": database(kind)}
    cloud = FakeCloud(
        tmp_path,
        hosts=2,
        full=True,
        computes_per_process=1,
        set=[f"api.board_websso={federation.WAY}:ACME"],
        **options,
    )
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
        federation.add_provider(cloud)
        federation.sign_on(f"{cloud.info()['urls']['twotier']}/board")
        with Gang(cloud, 2) as gang:
            gang.await_status("ACTIVE")
            server = gang.first()
            source = getattr(server, HOST)
            server.live_migrate(host=None, block_migration="auto")
            gang.await_move(server.id, lambda host: host != source)
            server.shelve()
            wait_for(
                lambda: gang.nova.servers.get(server.id).status == "SHELVED_OFFLOADED", "shelving"
            )
            server.unshelve()
            gang.await_status("ACTIVE")
        assert used_vcpus(cloud) == 0
    finally:
        cloud.down()
    assert processes_of(tmp_path) == []
