"""What real Placement answers to the plugin's read of the hosts."""

from unittest import mock

from nova_twotier.ledger import claims, names, reading, tree
from tests.functional.ledger_case import BG, FG, LedgerTestCase


class TestReading(LedgerTestCase):
    HOSTS = 3
    TIERS = 3

    def setUp(self):
        super().setUp()
        claims.set_cpu_points(self.ledger, self.tiers, {self.claim(0, FG): 40})
        self.claim(1, FG)
        self.claim(1, FG)
        tree.set_closed(self.ledger, self.tiers[2], 2)

    def views(self, url):
        """By host, of the answer as it is: to be understood undecoded, and in its order."""
        version = {"OpenStack-API-Version": f"placement {names.MICROVERSION}"}
        text = self.ledger._adapter.get(url, headers=version).text
        read = mock.Mock(wraps=reading._summaries)
        with (
            mock.patch.object(reading.json, "loads", side_effect=AssertionError(text)),
            mock.patch.object(reading, "_summaries", read),
        ):
            found = reading.scan_host_views(text)
        self.assertEqual([mock.call(text, FG)], read.mock_calls)
        return {name: found.get(root) for name, root in zip("abc", self.roots, strict=True)}

    def test_both_tiers_of_hosts_with_room_in_one(self):
        everything = self.views(reading.CANDIDATES_URL)
        self.assertEqual((2, 1, 200, 40), everything["a"].fg[1:])
        self.assertEqual((4, 0, 400, 0), everything["a"].bg[1:])
        self.assertEqual(names.child_uuid(self.roots[1], BG), everything["b"].bg.provider)
        front = self.views(reading.candidates_url(FG))
        self.assertEqual({**everything, "b": None}, front)
        back = self.views(reading.candidates_url(BG))
        self.assertEqual({**everything, "c": None}, back)

    def test_one_host(self):
        found = self.views(reading.candidates_url(FG, self.roots[0]))
        self.assertEqual(2, found["a"].slots)
        self.assertEqual([None, None], [found["b"], found["c"]])
