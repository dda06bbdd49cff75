"""Slots of VMs that stay where they are: given back while they are suspended, and claimed again."""

from nova_twotier.ledger import claims, consumers, names, tree
from nova_twotier.ledger.placement import Conflict
from tests.functional.ledger_case import BG, FG, LedgerTestCase


class TestSeats(LedgerTestCase):
    HOSTS = 2
    SLOTS = 1

    def setUp(self):
        super().setUp()
        self.gang = [self.claim(0, FG), self.claim(1, FG)]
        self.seats = {self.gang[0]: "host0", self.gang[1]: "host1"}
        claims.set_cpu_points(self.ledger, self.tiers, dict.fromkeys(self.gang, 70))

    def vacate(self):
        claims.vacate(self.ledger, self.tiers, self.gang)

    def seat(self, tier, **changes):
        claims.seat(self.ledger, self.tiers, {**self.seats, **changes}, tier)

    def resources(self, vm):
        held = consumers.read(self.ledger, vm)
        return {name for resources in held.values() for name in resources}

    def test_the_rest_of_the_claims_stays(self):
        for _twice in range(2):
            self.vacate()
            self.assertEqual({"VCPU"}, self.resources(self.gang[0]))
        self.assertEqual({FG: [0, 0], BG: [0, 0]}, self.usage())

    def test_back_in_either_tier(self):
        for tier, usage in (
            (FG, {FG: [1, 1], BG: [0, 0]}),
            (BG, {FG: [0, 0], BG: [1, 1]}),
        ):
            self.vacate()
            for _twice in range(2):
                self.seat(tier)
                self.assertEqual(usage, self.usage())
        self.assertEqual({"VCPU", names.SLOT}, self.resources(self.gang[0]))

    def test_who_has_its_seat_keeps_its_points(self):
        self.seat(FG)
        self.assertEqual(70, self.points(self.gang[0]))

    def test_all_or_none(self):
        self.vacate()
        self.claim(1, FG)
        error = self.assertRaises(Conflict, self.seat, FG)
        self.assertIn("host host1 in fg", str(error))
        self.assertEqual({FG: [0, 1], BG: [0, 0]}, self.usage())

    def test_not_below_a_closed_slot(self):
        self.vacate()
        tree.set_closed(self.ledger, self.tiers[0], 1)
        self.assertRaises(Conflict, self.seat, BG)
        self.assertEqual({FG: [0, 0], BG: [0, 0]}, self.usage())

    def test_not_on_a_host_without_slots(self):
        self.vacate()
        self.assertRaises(Conflict, self.seat, FG, **{self.gang[0]: "elsewhere"})

    def test_not_for_a_vm_that_is_gone(self):
        self.vacate()
        self.delete(self.gang[1])
        self.assertRaises(Conflict, self.seat, FG)
        self.vacate()
        self.assertEqual({}, consumers.read(self.ledger, self.gang[1]))
