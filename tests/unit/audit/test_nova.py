"""What an audit reads of Nova's API: pages, microversions, and what a server's JSON means."""

import requests_mock
import testtools
from keystoneauth1 import session, token_endpoint

from nova_twotier.audit.nova import Nova, vm_of
from nova_twotier.audit.state import Vm
from nova_twotier.cloud.errors import CloudError
from nova_twotier.ledger.shape import Shape

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

    def answer(self, path, *answers, **values):
        self.http.get(f"{URL}/{path}", list(answers) or None, **values)

    def versions(self):
        return [request.headers["OpenStack-API-Version"] for request in self.http.request_history]

    def test_servers_of_all_pages_and_projects(self):
        more = [{"rel": "next", "href": "anything"}]
        other = server("b", flavor={})
        self.answer(
            "servers/detail",
            {"json": {"servers": [server("a"), other], "servers_links": more}},
            {"json": {"servers": [server("c")]}},
        )
        self.assertEqual({"a", "c"}, self.nova.vms().keys())
        first, second = self.http.request_history
        self.assertEqual({"all_tenants": ["1"]}, first.qs)
        self.assertEqual(["b"], second.qs["marker"])

    def test_migrations_page_by_uuid(self):
        records = [
            {"id": number, "uuid": f"m{number}", "instance_uuid": "s", "status": "done"}
            for number in (1, 2)
        ]
        more = [{"rel": "next", "href": "anything"}]
        self.answer(
            "os-migrations",
            {"json": {"migrations": records[:1], "migrations_links": more}},
            {"json": {"migrations": records[1:]}},
        )
        found = self.nova.migrations("s")
        self.assertEqual(["m1", "m2"], list(found))
        self.assertEqual(("s", "done"), (found["m2"].vm, found["m2"].status))
        self.assertEqual(["s"], self.http.last_request.qs["instance_uuid"])
        self.assertEqual(["m1"], self.http.last_request.qs["marker"])

    def test_older_nova(self):
        self.answer(
            "servers/s",
            {"status_code": 406, "text": "too new"},
            {"json": {"server": server()}},
            {"json": {"server": server()}},
        )
        self.nova.vm("s")
        self.nova.vm("s")
        self.assertEqual(["compute 2.100", "compute 2.91", "compute 2.91"], self.versions())

    def test_no_such_server(self):
        self.answer("servers/s", status_code=404, json={"itemNotFound": {"code": 404}})
        self.assertIsNone(self.nova.vm("s"))

    def test_not_found_by_others_than_nova(self):
        """A proxy, or a wrong endpoint: nothing is known of any server."""
        for answer in ({"text": "no such page"}, {"json": ["x"]}, {"json": 404}):
            self.answer("servers/s", status_code=404, **answer)
            self.assertRaises(CloudError, self.nova.vm, "s")

    def test_a_collection_that_is_not_found_is_not_empty(self):
        for path, read in (
            ("servers/detail", self.nova.vms),
            ("os-migrations", self.nova.migrations),
            ("os-aggregates", self.nova.shapes),
            ("flavors/detail", self.nova.flavors),
        ):
            for answer in ({"text": "none"}, {"json": {"itemNotFound": {}}}):
                self.answer(path, status_code=404, **answer)
                error = self.assertRaises(CloudError, read)
                self.assertIn("404", str(error))
                self.assertIn("is [nova] right?", str(error))

    def test_servers_of_a_cell_that_is_down_are_listed(self):
        down = {"id": "d", "status": "UNKNOWN", "tenant_id": "p"}
        self.answer("servers/detail", json={"servers": [server("a", flavor={}), down]})
        self.assertEqual(["d"], list(self.nova.vms()))

    def test_shapes(self):
        """A host that is in an aggregate, and has no hypervisor yet, keeps its name."""
        aggregate = {"name": "t", "hosts": ["a", "b"], "metadata": {"twotier:slots": "4"}}
        self.answer("os-aggregates", json={"aggregates": [aggregate]})
        hypervisor = {"service": {"host": "a"}, "hypervisor_hostname": "a.example"}
        self.answer("os-hypervisors/detail", json={"hypervisors": [hypervisor]})
        self.assertEqual({"a.example": Shape(4, 2), "b": Shape(4, 2)}, self.nova.shapes())

    def test_wrong_metadata_is_no_reason_to_retire_hosts(self):
        aggregate = {"name": "t", "hosts": ["a"], "metadata": {"twotier:slots": "four"}}
        self.answer("os-aggregates", json={"aggregates": [aggregate]})
        error = self.assertRaises(CloudError, self.nova.shapes)
        self.assertIn("aggregate t: twotier:slots is 'four'", str(error))

    def test_refusal(self):
        self.answer("servers/detail", status_code=403, text="not\nallowed")
        error = self.assertRaises(CloudError, self.nova.vms)
        self.assertIn("403 not allowed", str(error))
