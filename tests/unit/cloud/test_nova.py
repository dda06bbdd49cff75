"""What the manager asks Nova, and what it makes of the answers."""

import pathlib

import fixtures
import requests_mock
import testtools

from nova_twotier import conf as config
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.servers import Server
from nova_twotier.ledger.tree import Shape
from tests.unit.cloud.listings import serve
from tests.unit.manager import builders

NOVA = "http://nova.test/v2.1"
OPTIONS = f"""
[nova]
auth_type = admin_token
endpoint = {NOVA}
token = admin
[manager]
flavor = slot
image = 8c0d7d7e-6f5e-4c3c-9a3b-1f2e3d4c5b6a
"""
SLOTS = {"twotier:slots": "4"}
VM = Server("vm", "job", 0, "ACTIVE", None, "a.example")


class TestNames(testtools.TestCase):
    """A nova-compute `a` whose hypervisor, and so whose provider in Placement, is `a.example`."""

    def setUp(self):
        super().setUp()
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "nova-twotier.conf")
        path.write_text(OPTIONS)
        self.cloud = Cloud(config.load(["--config-file", str(path)], "test"))
        self.nova = requests_mock.Mocker()
        self.nova.start()
        self.addCleanup(self.nova.stop)
        self.answer("os-aggregates", "aggregates", name="hpc", hosts=["a"], metadata=SLOTS)
        self.answer("os-services", "services", host="a", status="enabled", state="up")
        self.answer(
            "os-hypervisors/detail",
            "hypervisors",
            service={"host": "a"},
            hypervisor_hostname="a.example",
        )

    def answer(self, path, collection, **item):
        self.nova.get(f"{NOVA}/{path}", json={collection: [{"id": 1, **item}]})

    def test_hosts_are_called_as_in_placement(self):
        [(name, host)] = self.cloud.hosts().items()
        self.assertEqual(("a.example", Shape(4, 2), True), (name, host.shape, host.enabled))

    def test_a_cell_that_is_down_leaves_the_hosts_unknown(self):
        """Nova shows its services without a state; these are not down."""
        self.answer("os-services", "services", host="a", status="UNKNOWN", binary="nova-compute")
        self.assertRaises(CloudError, self.cloud.hosts)

    def test_hosts_that_left_the_aggregates_are_still_heard_of(self):
        self.answer("os-aggregates", "aggregates", name="plain", hosts=["a"], metadata={})
        [(name, host)] = self.cloud.hosts().items()
        self.assertEqual(("a.example", None, True), (name, host.shape, host.up))

    def test_live_migration_names_the_service(self):
        self.cloud.hosts()
        asked = self.nova.post(f"{NOVA}/servers/vm/action", json={})
        for target, expected in (("a.example", "a"), (None, None)):
            self.cloud.live_migrate(VM, target)
            self.assertEqual(expected, asked.last_request.json()["os-migrateLive"]["host"])

    def test_server_groups_are_deleted_with_their_doubles(self):
        of = builders.job()
        groups = [{"id": str(number), "name": f"twotier-{of.uuid}"} for number in range(2)]
        groups.insert(1, {"id": "stranger", "name": "twotier-other"})
        serve(self.nova, f"{NOVA}/os-server-groups", groups, page=2)
        deleted = self.nova.delete(requests_mock.ANY, status_code=204)
        self.cloud.delete_server_group(of)
        paths = [request.path.rpartition("/")[2] for request in deleted.request_history]
        self.assertEqual(["0", "1"], paths)
