"""`openstack twotier topology show`: the tree as it is drawn, and as it is for programs."""

import textwrap

import fixtures
import yaml

from nova_twotier.api.site import Site
from nova_twotier.ledger.shape import Shape
from tests.unit.api.network import BG, FG, Network
from tests.unit.client.case import CommandCase

CAROL = "carol:ops:admin"


class TestTopology(CommandCase):
    def setUp(self):
        super().setUp()
        self.network = self.use(Network.of_pods())

    def use(self, network):
        for service in ("placement", "aggregates"):
            self.useFixture(fixtures.MockPatchObject(Site, service, network))
        return network

    def drawn(self, *words):
        return self.succeed("topology", "show", *words, by=CAROL)

    def rows(self, *words):
        return self.shown("topology", "show", *words, by=CAROL)

    def test_the_tree(self):
        self.network.used = {"host111": 300, "host121": 300, "core/pod1/edge1": 300}
        self.network.used["core/pod1/edge2"] = 300
        self.network.held = {("host111", FG): 3, ("host121", FG): 1, ("host212", BG): 4}
        self.assertEqual(
            textwrap.dedent("""\
            +---------------------+--------+------+----------+---------+---------+
            | Name                | Type   | Rate | Residual | FG Free | BG Free |
            +---------------------+--------+------+----------+---------+---------+
            | core                | switch |    - |    -     |      28 |      28 |
            | ├── pod1            | switch | 4000 | 4000     |      12 |      16 |
            | │   ├── edge1       | switch | 2000 | 1700     |       5 |       8 |
            | │   │   ├── host111 | host   | 1000 |  700     |       1 |       4 |
            | │   │   └── host112 | host   | 1000 | 1000     |       4 |       4 |
            | │   └── edge2       | switch | 2000 | 1700     |       7 |       8 |
            | │       ├── host121 | host   | 1000 |  700     |       3 |       4 |
            | │       └── host122 | host   | 1000 | 1000     |       4 |       4 |
            | └── pod2            | switch | 4000 | 4000     |      16 |      12 |
            |     ├── edge1       | switch | 2000 | 2000     |       8 |       4 |
            |     │   ├── host211 | host   | 1000 | 1000     |       4 |       4 |
            |     │   └── host212 | host   | 1000 | 1000     |       4 |       0 |
            |     └── edge2       | switch | 2000 | 2000     |       8 |       8 |
            |         ├── host221 | host   | 1000 | 1000     |       4 |       4 |
            |         └── host222 | host   | 1000 | 1000     |       4 |       4 |
            +---------------------+--------+------+----------+---------+---------+
            """),
            self.drawn(),
        )

    def test_no_deeper(self):
        table = self.drawn("--depth", "2", "-c", "Name", "-c", "FG Free")
        self.assertEqual(
            textwrap.dedent("""\
            +----------+---------+
            | Name     | FG Free |
            +----------+---------+
            | core     |      32 |
            | ├── pod1 |      16 |
            | └── pod2 |      16 |
            +----------+---------+
            """),
            table,
        )
        self.assertEqual(["core"], [row["Name"] for row in self.rows("--depth", "1")])
        code, _out, error = self.openstack("topology", "show", "--depth", "0", by=CAROL)
        self.assertEqual(2, code)
        self.assertIn("'0' is not a whole number of at least 1", error)

    def test_for_programs(self):
        rows = self.rows()
        self.assertEqual(
            {
                "Name": "core/pod1/edge1",
                "Type": "switch",
                "Rate": 2000,
                "Residual": 2000,
                "FG Free": 8,
                "BG Free": 8,
            },
            rows[2],
        )
        self.assertEqual(("core", None), (rows[0]["Name"], rows[0]["Rate"]))
        self.assertEqual("host111", rows[3]["Name"])
        self.assertEqual(rows, yaml.safe_load(self.drawn("-f", "yaml")))
        lines = self.drawn("-f", "csv").splitlines()
        self.assertEqual('"host111","host",1000,1000,4,4', lines[4])

    def test_a_pool(self):
        self.use(Network({"a": Shape(1, 2), "b": Shape(1, 2, pool="gpu")}))
        rows = self.rows("--pool", "gpu")
        self.assertEqual([("root", None, 1), ("b", None, 1)], [_free(row) for row in rows])
        error = self.refused("topology", "show", "--pool", "nope", by=CAROL)
        self.assertEqual("there is no such pool, only default (HTTP 404)", error)

    def test_hosts_and_switches_side_by_side(self):
        shapes = {"b": Shape(1, 2, "hub"), "c": Shape(1, 2, "core/edge"), "a": Shape(1, 2)}
        self.use(Network({**shapes, "d": Shape(1, 2, "core")}))
        lines = self.drawn("-f", "table", "-c", "Name").splitlines()[3:-1]
        self.assertEqual(
            ["a", "core", "├── d", "└── edge", "    └── c", "hub", "└── b"],
            [line.strip("|")[1:].rstrip() for line in lines],
        )

    def test_more_is_reserved_than_there_is(self):
        self.network.used = {"host111": 1200}
        self.assertEqual(-200, self.rows()[3]["Residual"])

    def test_nothing(self):
        self.use(Network({}))
        self.assertEqual([], self.rows())
        self.assertEqual("\n", self.drawn())

    def test_not_for_members(self):
        self.assertIn("(HTTP 403)", self.refused("topology", "show"))


def _free(row):
    return row["Name"], row["Rate"], row["FG Free"]
