"""The API's list of hosts, from real Placement."""

from nova_twotier.api import hosts
from nova_twotier.core.actions import Tier
from nova_twotier.ledger import claims, tree
from tests.functional.ledger_case import BG, FG, LedgerTestCase


class TestHosts(LedgerTestCase):
    def rows(self):
        return {name: hosts.row(name, view) for name, view in hosts.read_hosts(self.ledger).items()}

    def test_an_idle_host(self):
        self.assertEqual(["host0", "host1"], list(self.rows()))
        idle = {"places": 2, "used": 0, "cpu": 0.0}
        self.assertEqual(
            {
                "name": "host0",
                "slots": 2,
                "tiers": 2,
                "closed": 0,
                "foreground": idle,
                "background": idle,
                "drain": None,
            },
            self.rows()["host0"],
        )

    def test_full_hosts_are_among_them(self):
        vms = [self.claim(0, tier) for tier in Tier for _ in range(self.SLOTS)]
        claims.set_cpu_points(self.ledger, self.tiers, {vms[0]: 80, vms[1]: 15, vms[2]: 40})
        self.claim(1, FG)
        rows = self.rows()
        self.assertEqual({"places": 2, "used": 2, "cpu": 0.95}, rows["host0"]["foreground"])
        self.assertEqual({"places": 2, "used": 2, "cpu": 0.4}, rows["host0"]["background"])
        self.assertEqual((2, 2), (rows["host0"]["slots"], rows["host0"]["tiers"]))
        self.assertEqual(1, rows["host1"]["foreground"]["used"])

    def test_closed_slots(self):
        tree.set_closed(self.ledger, self.tiers[0], 1)
        row = self.rows()["host0"]
        self.assertEqual((1, 1), (row["closed"], row["background"]["places"]))
        for tier, vms in ((FG, 2), (BG, 1)):
            for _ in range(vms):
                self.claim(0, tier)
        self.assertEqual(1, self.rows()["host0"]["closed"])


class TestOneTier(LedgerTestCase):
    TIERS = 1

    def test_nothing_is_closed(self):
        row = hosts.row("host0", hosts.read_hosts(self.ledger)["host0"])
        self.assertEqual((2, 1, 0), (row["slots"], row["tiers"], row["closed"]))
        for _ in range(self.SLOTS):
            self.claim(0, FG)
        row = hosts.row("host0", hosts.read_hosts(self.ledger)["host0"])
        self.assertEqual((2, 1, 0), (row["slots"], row["tiers"], row["closed"]))
        self.assertEqual(0, row["background"]["places"])
