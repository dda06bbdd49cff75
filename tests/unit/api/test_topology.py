"""The tree of switches and hosts, and what is left of its links."""

import fixtures
from requests_mock.contrib import fixture as requests_mock_fixture

from nova_twotier.api import topology
from nova_twotier.api.site import Site
from nova_twotier.ledger import names
from nova_twotier.ledger.placement import NotFound
from nova_twotier.ledger.shape import Shape
from tests.unit.api.case import ApiCase
from tests.unit.api.network import BG, FG, Network

CAROL = "carol:ops:admin"


class NetworkCase(ApiCase):
    def use(self, network):
        """The cloud has this network."""
        for service in ("placement", "aggregates"):
            self.useFixture(fixtures.MockPatchObject(Site, service, network))
        return network

    def shown(self, path="/v1/topology"):
        return self.answered(200, self.get(path, CAROL))


class TestTree(NetworkCase):
    def test_switches_and_hosts(self):
        network = self.use(Network.of_pods())
        network.used = {"host111": 300, "core/pod1/edge1": 300, "core/pod1": 0}
        network.held = {("host111", FG): 3, ("host111", BG): 1}
        shown = self.shown()
        self.assertEqual(
            [
                ("core", None, None),
                ("core/pod1", 4000, 0),
                ("core/pod1/edge1", 2000, 300),
                ("core/pod1/edge2", 2000, 0),
                ("core/pod2", 4000, 0),
                ("core/pod2/edge1", 2000, 0),
                ("core/pod2/edge2", 2000, 0),
            ],
            [tuple(switch.values()) for switch in shown["switches"]],
        )
        self.assertEqual(8, len(shown["hosts"]))
        self.assertEqual(
            {
                "name": "host111",
                "pool": "default",
                "switch": "core/pod1/edge1",
                "rate": 1000,
                "used": 300,
                "foreground": {"places": 4, "used": 3, "cpu": 0.0},
                "background": {"places": 4, "used": 1, "cpu": 0.0},
            },
            shown["hosts"][0],
        )

    def test_a_pool(self):
        self.use(
            Network(
                {
                    "a": Shape(2, 2, "core/edge1", (100,)),
                    "b": Shape(2, 2, "core/edge2", (100,), "gpu"),
                }
            )
        )
        shown = self.shown("/v1/topology?pool=gpu")
        self.assertEqual(["b"], [host["name"] for host in shown["hosts"]])
        self.assertEqual(["core", "core/edge2"], [switch["path"] for switch in shown["switches"]])
        self.assertEqual({"switches": [], "hosts": []}, self.shown("/v1/topology?pool=none"))

    def test_links_that_are_not_counted(self):
        self.use(Network({"a": Shape(2, 2, "core/edge1"), "b": Shape(2, 2, "core/edge1", (100,))}))
        shown = self.shown()
        self.assertEqual(
            {"a": (None, None), "b": (100, 0)},
            {host["name"]: (host["rate"], host["used"]) for host in shown["hosts"]},
        )
        self.assertEqual({"path": "core/edge1", "rate": 100, "used": 0}, shown["switches"][1])

    def switches_of(self, **paths):
        self.use(Network({host: Shape(1, 2, path) for host, path in paths.items()}))
        return {host["name"]: host["switch"] for host in self.shown()["hosts"]}

    def test_hosts_that_name_no_switch(self):
        """They are linked to the root, if it is known which."""
        self.assertEqual({"a": "root"}, self.switches_of(a=""))
        self.assertEqual({"a": "core", "b": "core/edge"}, self.switches_of(a="", b="core/edge"))
        self.assertEqual(
            {"a": None, "b": "core", "c": "hub"}, self.switches_of(a="", b="core", c="hub")
        )

    def test_hosts_that_left(self):
        network = self.use(Network.of_pods())
        left = Network.of_pods()
        del left.by_name["host111"]
        self.useFixture(fixtures.MockPatchObject(Site, "aggregates", left))
        self.assertNotIn("host111", [host["name"] for host in self.shown()["hosts"]])
        self.assertIn("host111", network.by_name)

    def test_no_ledger_yet(self):
        self.use(Network({}))
        self.assertEqual({"switches": [], "hosts": []}, self.shown())


class TestLinks(NetworkCase):
    def test_those_that_are_full_and_overfull(self):
        network = Network.of_pods()
        network.used = {"host111": 1000, "host112": 1200, "host121": 999}
        found = topology.read_links(network)
        self.assertEqual(14, len(found))
        self.assertEqual(
            [(1000, 1000), (1000, 1200), (1000, 999)],
            [found[link] for link in ("host111", "host112", "host121")],
        )

    def test_one_that_goes_meanwhile(self):
        network = Network.of_pods()
        network.used = {"host111": 1000}
        about = network._about

        def gone(uuid, what):
            if uuid == names.link_uuid("host111"):
                raise NotFound("404", 404)
            return about(uuid, what)

        network._about = gone
        self.assertNotIn("host111", topology.read_links(network))


NOVA = "http://nova.test/v2.1"


class TestAggregates(ApiCase):
    OPTIONS = f"""
[placement]
auth_type = none
endpoint_override = http://placement.test
[nova]
auth_type = none
endpoint_override = {NOVA}
"""

    def setUp(self):
        super().setUp()
        self.http = self.useFixture(requests_mock_fixture.Fixture())
        network = Network({"node1.test": Shape(1, 2), "node2.test": Shape(1, 2)})
        self.useFixture(fixtures.MockPatchObject(Site, "placement", network))

    def aggregate(self, *hosts, **metadata):
        keys = {f"twotier:{key}": value for key, value in metadata.items()}
        return {"id": 1, "name": "rack", "hosts": list(hosts), "metadata": keys}

    def hypervisors(self, *hosts):
        """A page of them."""
        return {
            "hypervisors": [
                {"id": host, "hypervisor_hostname": f"{host}.test", "service": {"host": host}}
                for host in hosts
            ]
        }

    def test_hosts_go_by_the_names_of_their_hypervisors(self):
        """Nova shows hypervisors in pages."""
        aggregate = self.aggregate("node1", "node2", slots="1", switch="core/edge")
        self.http.get(f"{NOVA}/os-aggregates", json={"aggregates": [aggregate]})
        url = f"{NOVA}/os-hypervisors/detail"
        for marker, hosts in (("", ["node1"]), ("?marker=node1", ["node2"]), ("?marker=node2", [])):
            self.http.get(f"{url}{marker}", json=self.hypervisors(*hosts))
        shown = self.answered(200, self.get("/v1/topology", CAROL))
        self.assertEqual(
            [("node1.test", "core/edge"), ("node2.test", "core/edge")],
            [(host["name"], host["switch"]) for host in shown["hosts"]],
        )

    def test_what_is_wrong_is_left_out(self):
        right, wrong = (self.aggregate(f"node{n}.test", slots=n) for n in ("1", "2"))
        wrong["metadata"]["twotier:switch"] = "no path"
        self.http.get(f"{NOVA}/os-aggregates", json={"aggregates": [right, wrong]})
        self.http.get(f"{NOVA}/os-hypervisors/detail", json={"hypervisors": []})
        shown = self.answered(200, self.get("/v1/topology", CAROL))
        self.assertEqual(["node1.test"], [host["name"] for host in shown["hosts"]])

    def test_nova_does_not_answer(self):
        self.http.get(f"{NOVA}/os-aggregates", status_code=503)
        [detail] = self.refused(503, "service.unavailable", self.get("/v1/topology", CAROL))
        self.assertEqual("Nova does not answer; try again later", detail)
        self.assertIn("Could not read the host aggregates", self.logged.output)


class TestNoNova(NetworkCase):
    def test_it_is_said_in_the_log(self):
        network = Network.of_pods()
        self.useFixture(fixtures.MockPatchObject(Site, "placement", network))
        self.refused(503, "service.unavailable", self.get("/v1/topology", CAROL))
        self.assertIn("[nova] has no auth_type", self.logged.output)
