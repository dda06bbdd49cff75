"""The links on hosts' ways up, from what the aggregates say."""

import testtools

from nova_twotier.ledger.shape import Shape, capacities, needs, switches, way_up


class TestWayUp(testtools.TestCase):
    def way(self, switch, *uplinks):
        return list(way_up("h", Shape(2, 2, switch, uplinks)).items())

    def test_last_uplink_repeats(self):
        path = "core/pod1/edge3"
        self.assertEqual(
            [("h", 10), ("core/pod1/edge3", 40), ("core/pod1", 40)], self.way(path, 10, 40)
        )
        self.assertEqual(
            [("h", 10), ("core/pod1/edge3", 40), ("core/pod1", 100)], self.way(path, 10, 40, 100)
        )

    def test_under_the_root(self):
        self.assertEqual([("h", 10)], self.way("", 10))
        self.assertEqual([("h", 10)], self.way("core", 10))

    def test_links_that_are_not_counted(self):
        self.assertEqual([], self.way("core/pod1"))

    def test_switches(self):
        self.assertEqual([], switches(""))
        self.assertEqual(["a/b/c", "a/b"], switches("a/b/c"))


class TestNeeds(testtools.TestCase):
    """Two racks of two hosts; a host more at the root, of which no rate is known."""

    SHAPES = {
        "a": Shape(9, 2, "core/x", (1000,)),
        "b": Shape(9, 2, "core/x"),
        "c": Shape(9, 2, "core/y", (1000,)),
        "d": Shape(9, 2, "core/y", (1000,)),
        "e": Shape(9, 2),
    }

    def needs(self, **vms):
        return needs(vms, 10, self.SHAPES, capacities(self.SHAPES)[0])

    def test_the_smaller_side(self):
        self.assertEqual(
            {"a": 20, "core/x": 20, "c": 30, "d": 10, "core/y": 20}, self.needs(a=2, c=4, d=1)
        )

    def test_nothing_where_all_are_on_one_side(self):
        self.assertEqual({}, self.needs(a=3))
        self.assertEqual({"c": 10, "d": 10}, self.needs(c=1, d=3))

    def test_links_of_which_no_rate_is_known(self):
        self.assertEqual({"a": 10}, self.needs(a=1, b=2))
        self.assertEqual({"core/x": 20}, self.needs(b=2, e=2))


class TestCapacities(testtools.TestCase):
    def test_shared_links(self):
        shapes = {
            "h1": Shape(1, 2, "core/a", (10, 40)),
            "h2": Shape(1, 2, "core/a", (20, 40)),
            "h3": Shape(1, 2, "core/b", (10, 80)),
            "h4": Shape(1, 2),
        }
        amounts, problems = capacities(shapes)
        self.assertEqual({"h1": 10, "h2": 20, "h3": 10, "core/a": 40, "core/b": 80}, amounts)
        self.assertEqual([], problems)

    def test_disagreement(self):
        """The least holds, so that nobody is promised what may not be there; and it is said."""
        shapes = {
            "h1": Shape(1, 2, "core/a", (10, 80)),
            "h2": Shape(1, 2, "core/a", (10, 40)),
        }
        amounts, [problem] = capacities(shapes)
        self.assertEqual({"h1": 10, "h2": 10, "core/a": 40}, amounts)
        for part in ("core/a", "40 (host h2)", "80 (host h1)"):
            self.assertIn(part, problem)
