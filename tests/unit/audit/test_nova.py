"""What an audit reads of Nova's API, and what a server's JSON means."""

import requests_mock
import testtools
from keystoneauth1 import session, token_endpoint

from nova_twotier.audit.nova import Nova, vm_of
from nova_twotier.audit.state import Migration, Vm
from nova_twotier.cloud.errors import CloudError
from tests.unit.cloud.listings import serve

URL = "http://nova.invalid/v2.1"
SLOT_FLAVOR = {"extra_specs": {"resources:CUSTOM_TWOTIER_SLOT": "1"}}


def server(uuid="s", **values):
    return {"id": uuid, "status": "ACTIVE", "flavor": SLOT_FLAVOR, **values}


class TestServers(testtools.TestCase):
    def test_of_a_job_of_the_manager(self):
        got = vm_of(
            server(
                name="tt-7-3",
                metadata={"twotier_job": "j"},
                scheduler_hints={"twotier:job": ["j"]},
                tenant_id="project",
                user_id="user",
                **{
                    "OS-EXT-STS:task_state": "migrating",
                    "OS-EXT-SRV-ATTR:host": "a",
                    "OS-EXT-SRV-ATTR:hypervisor_hostname": "a.example",
                    "OS-EXT-SRV-ATTR:launch_index": 2,
                },
            )
        )
        hosts = frozenset({"a", "a.example"})
        self.assertEqual(
            Vm("s", "ACTIVE", "migrating", hosts, True, "j", 2, "project", "user"), got
        )

    def test_process(self):
        """Only what the manager booted is one, whatever its tenant calls it, or writes to it."""
        index = {"OS-EXT-SRV-ATTR:launch_index": 11}
        named = {"metadata": {"twotier_job": "j"}}
        hinted = {"scheduler_hints": {"twotier:job": "j"}}
        for values, process in (
            ({"name": "renamed", **named, **hinted}, ("j", 11)),
            # Nova shows no hints at the older microversion.
            ({"name": "tt-7-12", **named}, ("j", 11)),
            ({"name": "tt-7-12", **hinted}, ("j", None)),
            ({"name": "tt-7-12", **named, "scheduler_hints": {}}, (None, None)),
            ({**hinted, "metadata": {"twotier_job": "another"}}, ("j", None)),
        ):
            got = vm_of(server(**values, **index))
            self.assertEqual(process, (got.job, got.index))

    def test_of_others(self):
        got = vm_of(server(flavor={"extra_specs": {}}, scheduler_hints=None))
        self.assertEqual(Vm("s", "ACTIVE", None, frozenset(), ours=False), got)

    def test_in_a_cell_that_is_down(self):
        got = vm_of({"id": "s", "status": "UNKNOWN", "tenant_id": "p"})
        self.assertEqual((False, frozenset()), (got.settled, got.hosts))


class TestNova(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.http = requests_mock.Mocker()
        self.http.start()
        self.addCleanup(self.http.stop)
        self.nova = Nova(session.Session(auth=token_endpoint.Token(URL, "token")))

    def answer(self, path, **values):
        self.http.get(f"{URL}/{path}", **values)

    def test_servers_that_concern_us(self):
        asked = serve(self.http, f"{URL}/servers/detail", [server("a"), server("b", flavor={})])
        self.assertEqual({"a"}, self.nova.vms().keys())
        # With their hints.
        version = asked.request_history[0].headers["OpenStack-API-Version"]
        self.assertEqual("compute 2.100", version)

    def test_migrations(self):
        record = {"id": 1, "uuid": "m", "instance_uuid": "s", "status": "done"}
        serve(self.http, f"{URL}/os-migrations", [record], key="uuid")
        self.assertEqual({"m": Migration("m", "s", "done")}, self.nova.migrations("s"))

    def test_no_such_server(self):
        self.answer("servers/s", status_code=404, json={"itemNotFound": {"code": 404}})
        self.assertIsNone(self.nova.vm("s"))

    def test_servers_of_a_cell_that_is_down_are_listed(self):
        down = {"id": "d", "status": "UNKNOWN", "tenant_id": "p"}
        self.answer("servers/detail", json={"servers": [server("a", flavor={}), down]})
        self.assertEqual(["d"], list(self.nova.vms()))

    def test_keys_of_all_aggregates(self):
        """Also of those without hosts, and of those that give no slots."""
        slots, rack = {"twotier:slots": "4"}, {"twotier:swich": "core/x"}
        found = [
            {"name": "t", "hosts": ["a"], "metadata": slots},
            {"name": "r", "hosts": [], "metadata": rack},
        ]
        self.answer("os-aggregates", json={"aggregates": found})
        expected = {"t": {"twotier:slots"}, "r": {"twotier:swich"}}
        self.assertEqual(expected, self.nova.aggregates())

    def test_wrong_metadata_is_no_reason_to_retire_hosts(self):
        aggregate = {"name": "t", "hosts": ["a"], "metadata": {"twotier:slots": "four"}}
        self.answer("os-aggregates", json={"aggregates": [aggregate]})
        error = self.assertRaises(CloudError, self.nova.shapes)
        self.assertIn("aggregate t: twotier:slots is 'four'", str(error))

    def test_few_of_many_errors_are_listed(self):
        hosts = [f"host{number}" for number in range(1000)]
        aggregates = [
            {"name": name, "hosts": hosts, "metadata": {"twotier:slots": name}} for name in "45"
        ]
        self.answer("os-aggregates", json={"aggregates": aggregates})
        error = self.assertRaises(CloudError, self.nova.shapes)
        self.assertIn("and 990 more", str(error))
