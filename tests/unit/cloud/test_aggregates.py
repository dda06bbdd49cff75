"""What operators write into aggregates: taken as it stands, or named and left out."""

import testtools

from nova_twotier.cloud.aggregates import MOST, shapes
from nova_twotier.ledger.shape import Shape


def aggregate(name, hosts, **metadata):
    metadata = {f"twotier:{key}": value for key, value in metadata.items()}
    return {"name": name, "hosts": list(hosts), "metadata": metadata}


class TestShapes(testtools.TestCase):
    def test_one_aggregate(self):
        whole = aggregate(
            "all", "ab", slots="4", tiers="3", switch="core/p1", uplink_mbps="1000, 10000"
        )
        expected = Shape(4, 3, "core/p1", (1000, 10000))
        self.assertEqual(({"a": expected, "b": expected}, []), shapes([whole]))

    def test_defaults(self):
        self.assertEqual(({"a": Shape(4, 2)}, []), shapes([aggregate("all", "a", slots="4")]))

    def test_pools(self):
        found, problems = shapes(
            [
                aggregate("all", "abc", slots="4"),
                aggregate("fast", "b", pool="fast.1"),
                aggregate("odd", "c", pool="../fast"),
                aggregate("named", "a", pool="default"),
            ]
        )
        self.assertEqual({"a": Shape(4, 2), "b": Shape(4, 2, pool="fast.1")}, found)
        [problem] = problems
        self.assertIn("aggregate odd: twotier:pool is '../fast'; give 1 to 63 letters", problem)

    def test_nobody_asked(self):
        strangers = [aggregate("az", "ab"), aggregate("rack", "ab", switch="core/p1", tiers="2")]
        strangers[0]["metadata"]["availability_zone"] = "nova"
        self.assertEqual(({}, []), shapes(strangers))

    def test_several_aggregates(self):
        found, problems = shapes(
            [
                aggregate("all", "ab", slots="4", uplink_mbps="1000"),
                aggregate("rack1", "a", switch="core/r1"),
                aggregate("rack2", "b", switch="core/r2"),
                aggregate("again", "ab", slots="04"),
            ]
        )
        self.assertEqual([], problems)
        expected = {"a": Shape(4, 2, "core/r1", (1000,)), "b": Shape(4, 2, "core/r2", (1000,))}
        self.assertEqual(expected, found)

    def test_contradiction(self):
        found, [problem] = shapes(
            [aggregate("one", "ab", slots="4"), aggregate("two", "bc", slots="8")]
        )
        self.assertEqual({"a": Shape(4, 2), "c": Shape(8, 2)}, found)
        for part in ("host b", "one and two", "twotier:slots"):
            self.assertIn(part, problem)

    def test_bad_values(self):
        good = aggregate("good", "c", slots="2")
        for key, value in (
            ("slots", ""),
            ("slots", "four"),
            ("slots", "0"),
            ("slots", "-1"),
            ("slots", "2.5"),
            ("slots", str(MOST + 1)),
            ("tiers", "0"),
            ("tiers", str(2**31)),
            ("switch", ""),
            ("switch", "/core"),
            ("switch", "core/"),
            ("switch", "core//edge"),
            ("switch", "core/../edge"),
            ("switch", "core/pod 1"),
            ("switch", "core/" + "x" * 180),
            ("uplink_mbps", ""),
            ("uplink_mbps", "1000,"),
            ("uplink_mbps", "1 Gbit/s"),
            ("uplink_mbps", "0"),
            ("uplink_mbps", str(2**31)),
        ):
            bad = aggregate("bad", "ab", **{"slots": "2", key: value})
            found, [problem] = shapes([bad, good])
            self.assertEqual({"c": Shape(2, 2)}, found, (key, value))
            for part in ("aggregate bad", f"twotier:{key} is {value!r}", "give"):
                self.assertIn(part, problem)

    def test_most(self):
        text = str(MOST)
        self.assertEqual(
            ({"a": Shape(MOST, MOST)}, []), shapes([aggregate("x", "a", slots=text, tiers=text)])
        )

    def test_more_uplinks_than_links(self):
        for switch, uplinks in (({}, "1,2"), ({"switch": "core/p1"}, "1,2,3")):
            found, [problem] = shapes(
                [aggregate("all", "a", slots="2", uplink_mbps=uplinks, **switch)]
            )
            self.assertEqual({}, found)
            for part in ("host a", "twotier:uplink_mbps", "links on its way up"):
                self.assertIn(part, problem)
