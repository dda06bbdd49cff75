"""Whoever may not write to Placement any more writes nothing, and reads as before."""

from unittest import mock

import fixtures
import testtools

from nova_twotier.ledger import consumers
from nova_twotier.ledger.placement import FencedPlacement, StaleGeneration


class Revoked(Exception):
    """There is no permit."""


class TestFencedPlacement(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch("time.sleep", lambda _seconds: None))
        self.placement, self.permits = mock.Mock(), mock.Mock()
        self.placement.get.return_value = {"allocations": {}}
        self.fenced = FencedPlacement(self.placement, self.permits)

    def test_each_write_asks(self):
        self.assertIs(self.placement.put.return_value, self.fenced.put("/x", {"a": 1}))
        self.assertIs(self.placement.post.return_value, self.fenced.post("/x", {"a": 2}))
        self.assertIs(self.placement.delete.return_value, self.fenced.delete("/x"))
        self.assertEqual(3, self.permits.call_count)
        calls = [mock.call.put("/x", {"a": 1}), mock.call.post("/x", {"a": 2})]
        self.assertEqual([*calls, mock.call.delete("/x")], self.placement.mock_calls)

    def test_no_permit_no_write(self):
        self.permits.side_effect = Revoked
        for write in (self.fenced.put, self.fenced.post):
            self.assertRaises(Revoked, write, "/x", {})
        self.assertRaises(Revoked, self.fenced.delete, "/x")
        self.assertEqual([], self.placement.mock_calls)

    def test_reads_do_not_ask(self):
        self.permits.side_effect = Revoked
        self.assertEqual({"allocations": {}}, self.fenced.get("/x"))

    def test_a_repeated_write_asks_again(self):
        """Its generations are new, and so they would not stop it."""
        self.placement.post.side_effect = StaleGeneration("409")
        self.permits.side_effect = [None, None, Revoked]
        changes = {"job": lambda _before: {"provider": {"CUSTOM": 1}}}
        self.assertRaises(Revoked, consumers.rewrite, self.fenced, changes, {})
        self.assertEqual(2, self.placement.post.call_count)
