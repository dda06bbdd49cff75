"""Claims and job entries on real Placement, also when somebody else writes at the same time."""

import uuid

from nova_twotier.ledger import claims, names, retry, tree
from nova_twotier.ledger.claims import Swap
from nova_twotier.ledger.placement import Conflict, StaleGeneration
from tests.functional.ledger_case import BG, FG, PROJECT, USER, LedgerTestCase, Overtaken, job_tier


class TestJobEntry(LedgerTestCase):
    def test_admit_change_release(self):
        job = self.admit(BG, 3)
        entry = self.ledger.get(f"/allocations/{job}")
        self.assertEqual(
            {names.jobs_uuid(): {names.JOB_SIZE[BG]: 3}},
            {uuid: each["resources"] for uuid, each in entry["allocations"].items()},
        )
        self.assertEqual(names.JOB_CONSUMER, entry["consumer_type"])
        self.assertEqual((PROJECT, USER), (entry["project_id"], entry["user_id"]))
        for tier in (FG, FG, BG):
            self.admit(tier, 3, job)
            self.assertEqual(tier, job_tier(self.ledger, job))
        for _attempt in range(2):
            claims.release(self.ledger, job)
            self.assertIsNone(job_tier(self.ledger, job))
        self.admit(FG, 3, job)
        self.assertEqual(FG, job_tier(self.ledger, job))

    def test_another_request_boots_it(self):
        """A manager that is started again makes its requests under another id."""
        job = self.admit(FG, 3)
        claims.admit(self.ledger, job, 3, FG, PROJECT, "req-of-the-next")
        entry = self.ledger.get(f"/allocations/{job}")
        self.assertEqual((PROJECT, "req-of-the-next"), (entry["project_id"], entry["user_id"]))

    def test_overtaken(self):
        """An entry that somebody else makes between read and write is seen, then changed."""
        job = self.admit(FG, 1)
        claims.release(self.ledger, job)
        ledger = Overtaken(self.ledger, lambda number: self.admit(FG, 3, job), times=1)
        claims.admit(ledger, job, 4, BG, PROJECT, USER)
        self.assertEqual(2, ledger.writes)
        self.assertEqual(BG, job_tier(self.ledger, job))


class TestSwap(LedgerTestCase):
    SLOTS = 1

    def setUp(self):
        super().setUp()
        self.fronts = [self.claim(host, FG) for host in (0, 1)]
        self.backs = [self.claim(host, BG) for host in (0, 1)]
        self.front, self.back = self.admit(FG, 2), self.admit(BG, 2)
        self.seats = self.held()

    def swap(self, ledger, fronts=None, backs=None):
        fronts = self.fronts if fronts is None else fronts
        backs = self.backs if backs is None else backs
        swaps = [Swap(self.front, 2, BG, tuple(fronts)), Swap(self.back, 2, FG, tuple(backs))]
        claims.swap(ledger, self.tiers, swaps, PROJECT, USER)

    def check(self, exchanged):
        expected = {
            vm: (host, tier.other if exchanged else tier) for vm, (host, tier) in self.seats.items()
        }
        self.assertEqual(expected, self.held())
        self.assertEqual({FG: [1, 1], BG: [1, 1]}, self.usage())
        tiers = [job_tier(self.ledger, job) for job in (self.front, self.back)]
        self.assertEqual([BG, FG] if exchanged else [FG, BG], tiers)

    def test_at_full_capacity(self):
        self.swap(self.ledger)
        self.check(exchanged=True)
        self.swap(self.ledger)
        self.check(exchanged=True)

    def test_points_go_along(self):
        points = {self.fronts[0]: 90, self.backs[0]: 30}
        claims.set_cpu_points(self.ledger, self.tiers, points)
        self.swap(self.ledger)
        self.assertEqual(points, {vm: self.points(vm) for vm in points})

    def test_without_room(self):
        error = self.assertRaises(Conflict, self.swap, self.ledger, backs=[])
        self.assertNotIsInstance(error, StaleGeneration)
        self.check(exchanged=False)

    def test_vm_without_a_claim(self):
        gone = self.backs.pop()
        self.assertRaises(Conflict, self.swap, self.ledger, backs=[*self.backs, gone[::-1]])
        self.check(exchanged=False)

    def test_under_closed_slots(self):
        """Who loses the foreground may take the place of who leaves a slot that is closed."""
        for host in self.tiers:
            tree.set_closed(self.ledger, host, 1)
        self.swap(self.ledger)
        self.check(exchanged=True)

    def overtake(self, number):
        claims.set_cpu_points(self.ledger, self.tiers, {self.backs[0]: 10 + number})

    def test_repeats_when_overtaken(self):
        ledger = Overtaken(self.ledger, self.overtake, times=2)
        self.swap(ledger)
        self.assertEqual(3, ledger.writes)
        self.check(exchanged=True)
        self.assertEqual(12, self.points(self.backs[0]), "the other's write is kept")

    def test_gives_up_when_always_overtaken(self):
        ledger = Overtaken(self.ledger, self.overtake, times=retry.ATTEMPTS)
        self.assertRaises(StaleGeneration, self.swap, ledger)
        self.assertEqual(retry.ATTEMPTS, ledger.writes)
        self.check(exchanged=False)
        self.assertEqual(10 + retry.ATTEMPTS, self.points(self.backs[0]))

    def test_vm_deleted_meanwhile(self):
        """A VM that is deleted between read and write does not come back as a claim."""
        vm = self.backs[0]
        ledger = Overtaken(self.ledger, lambda n: self.ledger.delete(f"/allocations/{vm}"), times=1)
        self.assertRaises(Conflict, self.swap, ledger)
        self.assertNotIn(vm, self.held())
        self.assertEqual({FG: [1, 1], BG: [0, 1]}, self.usage())


class TestPoints(LedgerTestCase):
    def test_set_change_and_take_away(self):
        vm = self.claim(0, BG)
        for amount in (0, 70, 100, 30, 0):
            claims.set_cpu_points(self.ledger, self.tiers, {vm: amount})
            self.assertEqual(amount, self.points(vm))
            self.assertEqual({vm: ("host0", BG)}, self.held())

    def test_of_a_vm_that_is_gone(self):
        vm = self.claim(0, FG)
        self.ledger.delete(f"/allocations/{vm}")
        claims.set_cpu_points(self.ledger, self.tiers, {vm: 50})
        self.assertEqual({}, self.held())

    def test_on_a_closed_slot(self):
        vm = self.claim(0, BG)
        tree.set_closed(self.ledger, self.tiers[0], 2)
        claims.set_cpu_points(self.ledger, self.tiers, {vm: 50})
        self.assertEqual(50, self.points(vm))


class TestClosing(LedgerTestCase):
    SLOTS = 2
    TIERS = 3

    def close(self, slots):
        tree.set_closed(self.ledger, self.tiers[0], slots)

    def test_withholds_places(self):
        self.close(1)
        self.assertEqual((4, 2), self.inventory(0, BG))
        first, _second = self.claim(0, BG), self.claim(0, BG)
        self.assertRaises(Conflict, self.claim, 0, BG)
        self.claim(0, FG)

        self.close(2)
        self.assertEqual({FG: [1, 0], BG: [2, 0]}, self.usage())
        self.ledger.delete(f"/allocations/{first}")
        self.assertRaises(Conflict, self.claim, 0, BG)

        self.close(0)
        self.assertEqual((4, 0), self.inventory(0, BG))
        for _place in range(3):
            self.claim(0, BG)
        self.assertRaises(Conflict, self.claim, 0, BG)

    def test_twice_changes_nothing(self):
        self.close(1)
        before = self.generations()
        self.close(1)
        self.assertEqual(before, self.generations())

    def test_more_than_there_are(self):
        self.close(9)
        self.assertEqual((4, 4), self.inventory(0, BG))

    def test_without_background(self):
        self.tiers = self.sync(2, 1)
        self.close(1)
        self.assertEqual((0, 0), self.inventory(0, BG))


class TestSwapAfterEvacuation(LedgerTestCase):
    def test_the_slot_that_was_left_behind_stays_as_it_is(self):
        """The swap succeeds although the old host has no room in the other tier."""
        old, new = self.tiers
        job, vm = self.admit(FG, 1), str(uuid.uuid4())
        slots = {host.provider[FG]: {"resources": {names.SLOT: 1}} for host in (old, new)}
        body = {
            "allocations": slots,
            "project_id": PROJECT,
            "user_id": USER,
            "consumer_generation": None,
            "consumer_type": names.VM_CONSUMER,
        }
        self.ledger.put(f"/allocations/{vm}", body)
        tree.set_closed(self.ledger, old, self.SLOTS)
        with self.assertRaisesRegex(Conflict, "host0 in bg"):
            claims.swap(self.ledger, self.tiers, [Swap(job, 1, BG, (vm,))], PROJECT, USER)
        swap = Swap(job, 1, BG, (vm,), hosts={vm: new.name})
        claims.swap(self.ledger, self.tiers, [swap], PROJECT, USER)
        found = claims.read_claims(self.ledger, self.tiers)[vm]
        self.assertEqual({(old.name, FG), (new.name, BG)}, {(c.host, c.tier) for c in found})
