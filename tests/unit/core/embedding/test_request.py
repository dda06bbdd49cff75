"""What may be asked for, and what the tenant is told."""

import testtools

from nova_twotier.core import embedding
from nova_twotier.core.embedding import InvalidRequest, Request, State, Topology
from nova_twotier.core.jobs import InvalidJob
from tests.unit.core.builders import job


class TestRequest(testtools.TestCase):
    def test_of_a_job(self):
        self.assertEqual(Request(3, 251), Request.of(job(1, size=3, mbps=250.5)))
        self.assertEqual(Request(1, 0), Request.of(job(1)))

    def test_refuses(self):
        for mbps in (-1, 0.5, True, None):
            wrong = self.assertRaises(InvalidRequest, Request, 1, mbps)
            self.assertIn("give whole Mbit/s, 0 or more", str(wrong))
        self.assertRaises(InvalidJob, Request, 0, 1)

    def test_hose(self):
        needs = [Request(5, 100).hose(below) for below in range(6)]
        self.assertEqual([0, 100, 200, 200, 100, 0], needs)


class TestRejection(testtools.TestCase):
    def reasons(self, size, mbps, state):
        embeds = embedding.ALGORITHMS.values()
        return {str(embed(Request(size, mbps), state).reason) for embed in embeds}

    def setUp(self):
        super().setUp()
        self.tree = Topology.from_paths(dict.fromkeys("abc", "core"), dict.fromkeys("abc", 400))

    def test_more_than_there_is(self):
        self.assertEqual(
            {"needs 7 foreground slots, 4 idle"},
            self.reasons(7, 0, State(self.tree, 2, closed=["b"])),
        )

    def test_more_than_is_free(self):
        state = State(self.tree, 2, free={"a": 0, "b": 1})
        self.assertEqual(
            {"needs 6 foreground slots, 3 idle"},
            self.reasons(6, 0, state),
        )
        full = State(self.tree, 1, free=dict.fromkeys("abc", 0))
        self.assertEqual({"needs 1 foreground slot, 0 idle"}, self.reasons(1, 0, full))

    def test_bandwidth(self):
        self.assertEqual(
            {
                "no switch has 6 free slots below it with 300 Mbit/s each: 6 are free, but not "
                "with as much bandwidth"
            },
            self.reasons(6, 300, State(self.tree, 2)),
        )
