"""What is read of Nova: all pages of everything, and never less without an error."""

import requests_mock
import testtools
from keystoneauth1 import exceptions as ksa_exc
from keystoneauth1 import session, token_endpoint

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.reader import Reader
from nova_twotier.ledger.shape import Shape
from tests.unit.cloud.listings import serve

URL = "http://nova.test/v2.1"
SLOTS = {"twotier:slots": "4"}


class ReaderCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.http = requests_mock.Mocker()
        self.http.start()
        self.addCleanup(self.http.stop)
        self.reader = Reader(session.Session(auth=token_endpoint.Token(URL, "token")))

    def serve(self, path, items, page=2, **options):
        return serve(self.http, f"{URL}/{path}", items, page=page, **options)


class TestPages(ReaderCase):
    def test_everything_of_more_than_one_page(self):
        items = [{"id": f"{n}", "uuid": f"m{n}", "name": f"n{n}"} for n in range(5)]
        for path, key, read in (
            ("servers/detail", "id", self.reader.servers),
            ("flavors/detail", "id", self.reader.flavors),
            ("os-migrations", "uuid", self.reader.migrations),
            ("os-server-groups", "id", self.reader.server_groups),
        ):
            for several in (items, items[:4], items[:1], []):
                self.serve(path, several, key=key)
                self.assertEqual(several, read(), path)

    def test_the_names_of_hosts_of_more_than_one_page(self):
        found = [
            {"id": f"{n}", "service": {"host": f"h{n}"}, "hypervisor_hostname": f"h{n}.example"}
            for n in range(5)
        ]
        self.serve("os-hypervisors/detail", found)
        names = self.reader.host_names()
        self.assertEqual(
            ("h4.example", "h4"), (names.hypervisor("h4"), names.service("h4.example"))
        )
        self.assertEqual(("new", "new"), (names.hypervisor("new"), names.service("new")))

    def test_a_page_from_which_nova_left_something_out(self):
        """Nova counts a page first, then leaves items out, and then gives no link to the next."""
        pages = ([{"id": "a"}], [{"id": "b"}, {"id": "c"}], [])
        self.http.get(f"{URL}/servers/detail", [{"json": {"servers": page}} for page in pages])
        self.assertEqual(["a", "b", "c"], [each["id"] for each in self.reader.servers()])

    def unknown_markers(self, *unknown, page=("a", "b", "c"), last=("d",), **links):
        """The servers of two pages, of which Nova knows some only when it lists them."""

        def answer(request, context):
            marker = request.qs.get("marker", [None])[0]
            if marker in unknown:
                context.status_code = 400
                return {"badRequest": {"message": f"marker [{marker}] not found", "code": 400}}
            if marker is None:
                return {"servers": [{"id": each} for each in page], **links}
            left = [*page, *last]
            return {"servers": [{"id": each} for each in left[left.index(marker) + 1 :]]}

        self.http.get(f"{URL}/servers/detail", json=answer)
        return {server["id"] for server in self.reader.servers()}

    def test_a_page_that_ends_with_a_server_that_nova_does_not_know(self):
        self.assertEqual({"a", "b", "c", "d"}, self.unknown_markers("c"))
        self.assertEqual({"a", "b", "c", "d"}, self.unknown_markers("b", "c", "d"))

    def test_a_page_of_servers_that_nova_does_not_know(self):
        self.assertEqual({"a"}, self.unknown_markers("a", page=["a"], last=[]))
        error = self.assertRaises(
            CloudError, self.unknown_markers, "a", page=["a"], servers_links=[{"rel": "next"}]
        )
        self.assertIn("marker [a] not found", str(error))

    def test_the_query_is_repeated_for_each_page(self):
        asked = self.serve("servers/detail", [{"id": "a"}, {"id": "b"}], page=1)
        list(self.reader.each_server("2026-01-01T00:00:00+00:00"))
        for request, marker in zip(asked.request_history, (None, "a", "b"), strict=True):
            self.assertEqual(["1"], request.qs["all_tenants"])
            self.assertEqual(["2026-01-01t00:00:00+00:00"], request.qs["changes-since"])
            self.assertEqual([marker] if marker else None, request.qs.get("marker"))

    def changes(self, *pages, linked=False):
        """Count the requests of a list of changes, once a page has been seen to hold four."""
        servers = [{"id": f"{n}", "status": "ACTIVE"} for n in range(4)]
        self.serve("servers/detail", servers, page=4)
        self.reader.servers()
        links = {"servers_links": [{"rel": "next"}]} if linked else {}
        answers = [{"json": {"servers": page, **links}} for page in (*pages, [])]
        asked = self.http.get(f"{URL}/servers/detail", answers)
        found = list(self.reader.each_server("2026-01-01T00:00:00+00:00"))
        self.assertEqual([each for page in pages for each in page], found)
        return len(asked.request_history)

    def test_no_page_of_changes_is_requested_after_one_that_had_room_for_more(self):
        self.assertEqual(1, self.changes([{"id": f"{n}", "status": "ACTIVE"} for n in range(3)]))
        self.assertEqual(1, self.changes([{"id": "a", "status": "BUILD"}]))

    def test_a_page_of_changes_that_may_have_been_full(self):
        """Servers that are being built may have been counted twice."""
        full = [{"id": f"{n}", "status": "ACTIVE"} for n in range(4)]
        doubled = [{"id": "a", "status": "BUILD"}, {"id": "b", "status": "BUILD"}]
        for page in (full, doubled):
            self.assertEqual(2, self.changes(page, [{"id": "last", "status": "ACTIVE"}]))

    def test_a_page_of_changes_with_a_link_to_the_next_one(self):
        self.assertEqual(2, self.changes([{"id": "a", "status": "ACTIVE"}], linked=True))

    def test_migrations_of_one_server(self):
        asked = self.serve("os-migrations", [{"uuid": "m"}], key="uuid")
        self.assertEqual([{"uuid": "m"}], self.reader.migrations("s"))
        self.assertEqual(["s"], asked.request_history[0].qs["instance_uuid"])

    def test_actions_of_a_server(self):
        log = [{"request_id": f"req-{n}", "action": "stop"} for n in range(3)]
        pages = [{"json": {"instanceActions": page}} for page in (log[:2], log[2:], [])]
        asked = self.http.get(f"{URL}/servers/s/os-instance-actions", pages)
        self.assertEqual(log, self.reader.instance_actions("s"))
        markers = [request.qs.get("marker") for request in asked.request_history]
        self.assertEqual([None, ["req-1"], ["req-2"]], markers)

    def test_no_page_is_asked_for_after_a_server_of_a_cell_that_is_down(self):
        """Nova finds no marker there; it puts such servers first, on the first page."""
        down = {"id": "d", "status": "UNKNOWN"}
        for servers in ([down], [down, {"id": "a", "status": "ACTIVE"}]):
            asked = self.serve("servers/detail", servers)
            self.assertEqual(servers, self.reader.servers())
            self.assertNotIn("d", [r.qs.get("marker", [""])[0] for r in asked.request_history])


class TestServer(ReaderCase):
    def test_found(self):
        self.http.get(f"{URL}/servers/s", json={"server": {"id": "s"}})
        self.assertEqual({"id": "s"}, self.reader.server("s"))

    def test_not_found_by_nova(self):
        self.http.get(f"{URL}/servers/s", status_code=404, json={"itemNotFound": {"code": 404}})
        self.assertIsNone(self.reader.server("s"))

    def test_not_found_by_others_than_nova(self):
        """A proxy, or a wrong endpoint: nothing is known of any server."""
        for answer in ({"text": "no such page"}, {"json": ["x"]}, {"json": 404}):
            self.http.get(f"{URL}/servers/s", status_code=404, **answer)
            self.assertEqual(404, self.assertRaises(CloudError, self.reader.server, "s").status)

    def test_no_answer_is_not_absence(self):
        for error in (ksa_exc.ConnectFailure("refused"), ksa_exc.ConnectTimeout("slow")):
            self.http.get(f"{URL}/servers/s", exc=error)
            found = self.assertRaises(CloudError, self.reader.server, "s")
            self.assertEqual((0, True), (found.status, found.passing))
        self.http.get(f"{URL}/servers/s", status_code=500, text="oops")
        self.assertTrue(self.assertRaises(CloudError, self.reader.server, "s").passing)
        self.http.get(f"{URL}/servers/s", text="<html>")
        error = self.assertRaises(CloudError, self.reader.server, "s")
        self.assertIn("is [nova] right?", str(error))


class TestMicroversions(ReaderCase):
    def versions(self):
        return [request.headers["OpenStack-API-Version"] for request in self.http.request_history]

    def test_hints_of_an_older_nova(self):
        older = {"status_code": 406, "text": "too new"}
        self.http.get(f"{URL}/servers/s", [older, {"json": {"server": {}}}])
        self.reader.server("s", hints=True)
        self.reader.server("s", hints=True)
        self.assertEqual(["compute 2.100", "compute 2.91", "compute 2.91"], self.versions())

    def test_servers_without_their_hints(self):
        """Nova reads the request of each server anew to show them."""
        self.serve("servers/detail", [])
        self.reader.servers()
        self.assertEqual(["compute 2.91"], self.versions())

    def test_hypervisors_without_their_uptime(self):
        """From 2.88 on, Nova may ask each of them for it."""
        self.serve("os-hypervisors/detail", [])
        self.reader.host_names()
        self.assertEqual(["compute 2.87"], self.versions())


class TestRefusals(ReaderCase):
    def test_what_was_refused_and_what_to_look_at(self):
        self.http.get(f"{URL}/servers/detail", status_code=403, text="not\nallowed")
        error = self.assertRaises(CloudError, self.reader.servers)
        self.assertIn("Nova refused GET /servers/detail?all_tenants=1: 403 not allowed", str(error))
        self.assertIn("is [nova] right?", str(error))
        self.assertEqual((403, False), (error.status, error.passing))

    def test_what_nova_says(self):
        answer = {"computeFault": {"message": "Unexpected\nAPI Error.", "code": 500}}
        self.http.get(f"{URL}/os-hypervisors/detail", status_code=500, json=answer)
        error = self.assertRaises(CloudError, self.reader.host_names)
        self.assertIn(": 500 Unexpected API Error.; see nova-api's log", str(error))
        self.assertEqual((500, True), (error.status, error.passing))

    def test_a_collection_that_is_not_found_is_not_empty(self):
        self.http.get(requests_mock.ANY, status_code=404, json={"itemNotFound": {}})
        for read in (
            self.reader.servers,
            self.reader.migrations,
            self.reader.flavors,
            self.reader.server_groups,
            self.reader.computes,
            self.reader.host_names,
            self.reader.shapes,
        ):
            self.assertEqual(404, self.assertRaises(CloudError, read).status)


class TestShapes(ReaderCase):
    def aggregates(self, *found):
        self.serve("os-aggregates", list(found))

    def test_by_the_names_of_hypervisors(self):
        """A host that is in an aggregate, and has no hypervisor yet, keeps its name."""
        self.aggregates({"name": "t", "hosts": ["a", "b"], "metadata": SLOTS})
        found = {"id": "1", "service": {"host": "a"}, "hypervisor_hostname": "a.example"}
        self.serve("os-hypervisors/detail", [found])
        shapes = {"a.example": Shape(4, 2), "b": Shape(4, 2)}
        self.assertEqual((shapes, []), self.reader.shapes())

    def test_what_is_wrong(self):
        self.aggregates({"name": "t", "hosts": ["a"], "metadata": {"twotier:slots": "four"}})
        shapes, [problem] = self.reader.shapes()
        self.assertEqual({}, shapes)
        self.assertIn("aggregate t: twotier:slots is 'four'", problem)


class TestUptime(ReaderCase):
    """Nova finds hypervisors by a part of their names, and asks each that it shows in detail."""

    def serve_hosts(self, *names):
        found = [{"id": f"id-{name}", "hypervisor_hostname": name} for name in names]
        self.http.get(f"{URL}/os-hypervisors", json={"hypervisors": found})

    def answer(self, **shown):
        values = {"hypervisor_hostname": "host1", "state": "up", **shown}
        date = {"Date": "Thu, 01 Jan 1970 04:00:00 GMT"}
        self.http.get(f"{URL}/os-hypervisors/id-host1", json={"hypervisor": values}, headers=date)

    def test_of_the_one_that_is_meant(self):
        """By Nova's clock: the manager's may be another."""
        self.serve_hosts("host10", "host1")
        self.answer(uptime=" 04:00:00 up  3:00,  0 users")
        self.assertEqual(3600.0, self.reader.booted_at("host1"))

    def test_of_a_driver_that_does_not_say(self):
        self.serve_hosts("host1")
        self.answer(uptime=None)
        self.assertIsNone(self.reader.booted_at("host1"))

    def test_of_a_host_that_is_down(self):
        self.serve_hosts("host1")
        self.answer(uptime=None, state="down")
        error = self.assertRaises(CloudError, self.reader.booted_at, "host1")
        self.assertTrue(error.passing)

    def test_of_none(self):
        self.serve_hosts("host10")
        self.assertIsNone(self.reader.booted_at("host1"))
        self.http.get(
            f"{URL}/os-hypervisors", status_code=404, json={"itemNotFound": {"message": "none"}}
        )
        self.assertIsNone(self.reader.booted_at("host1"))

    def test_no_answer_is_none(self):
        self.serve_hosts("host1")
        url = f"{URL}/os-hypervisors"
        for path in (f"{url}/id-host1", url):
            for status in (500, 429):
                self.http.get(path, status_code=status, text="not now")
                error = self.assertRaises(CloudError, self.reader.booted_at, "host1")
                self.assertEqual((status, True), (error.status, error.passing))
