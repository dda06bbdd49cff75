"""The API's topology, from the links and hosts of real Placement and Nova's aggregates."""

from nova_twotier.api import hosts, topology
from nova_twotier.api.aggregates import Aggregates
from nova_twotier.ledger import tree
from nova_twotier.ledger.shape import Shape
from tests.functional.base import CloudTestCase
from tests.functional.ledger_case import FG, LedgerTestCase
from tests.functional.operator_case import OperatorMixin


class TestTopology(LedgerTestCase):
    SHAPES = {
        "host0": Shape(2, 2, "core/rack1", (100, 150)),
        "host1": Shape(2, 2, "core/rack1", (100, 150)),
        "host2": Shape(2, 2, "core/rack2"),
    }
    HOSTS = len(SHAPES)

    def shown(self):
        """Rate and reserved Mbit/s of every link up, by what is below it."""
        views, links = hosts.read_hosts(self.ledger), topology.read_links(self.ledger)
        found = topology.tree(self.SHAPES, views, links)
        ends = [(each["path"], each) for each in found["switches"]]
        ends += [(each["name"], each) for each in found["hosts"]]
        return {name: (each["rate"], each["used"]) for name, each in ends}

    def test_before_there_are_links(self):
        self.assertEqual({}, topology.read_links(self.ledger))

    def test_what_is_left(self):
        tree.sync_hosts(self.ledger, self.SHAPES)
        expected = {
            "core": (None, None),
            "core/rack1": (150, 0),
            "core/rack2": (None, None),
            "host0": (100, 0),
            "host1": (100, 0),
            "host2": (None, None),
        }
        self.assertEqual(expected, self.shown())
        self.admit(FG, 2, links={"host0": 60, "core/rack1": 60})
        self.assertEqual(expected | {"host0": (100, 60), "core/rack1": (150, 60)}, self.shown())

    def test_full_links(self):
        tree.sync_hosts(self.ledger, self.SHAPES)
        self.admit(FG, 2, links={"host0": 100, "core/rack1": 150})
        shown = self.shown()
        self.assertEqual([(100, 100), (150, 150)], [shown["host0"], shown["core/rack1"]])
        tree.sync_hosts(self.ledger, {**self.SHAPES, "host0": Shape(2, 2, "core/rack1", (40, 150))})
        self.assertEqual((40, 100), self.shown()["host0"])


class TestAggregates(OperatorMixin, CloudTestCase):
    PLUGIN = False

    def test_of_nova(self):
        self.aggregate_of(["host0"], slots=2, switch="core/rack1", uplink_mbps="100,150")
        self.aggregate_of(["host1"], switch="core/rack2")
        shapes = Aggregates(self.as_admin()).shapes()
        self.assertEqual({"host0": Shape(2, 2, "core/rack1", (100, 150))}, shapes)
