"""What the node agent reads of its host, on real Placement."""

from nova_twotier.agent.claims import Claim, ClaimReader
from nova_twotier.ledger import claims
from nova_twotier.ledger.claims import Swap
from tests.functional.ledger_case import BG, FG, PROJECT, USER, LedgerTestCase


class TestClaimReader(LedgerTestCase):
    def setUp(self):
        super().setUp()
        self.requests = []
        get = self.ledger.get
        self.ledger.get = lambda url: self.requests.append(url) or get(url)
        self.reader = ClaimReader(self.ledger, "host0")

    def test_claims_of_this_host(self):
        self.assertTrue(self.reader.poll())
        self.assertEqual((self.SLOTS, {}), (self.reader.found.slots, self.reader.found.claims))
        front, back, _other = self.claim(0, FG), self.claim(0, BG), self.claim(1, FG)
        self.assertTrue(self.reader.poll())
        self.assertEqual({front: Claim(FG), back: Claim(BG)}, self.reader.found.claims)
        claims.set_cpu_points(self.ledger, self.tiers, {front: 40})
        self.assertTrue(self.reader.poll())
        self.assertEqual(Claim(FG, 40), self.reader.found.claims[front])
        self.delete(front)
        self.assertTrue(self.reader.poll(whole=True))
        self.assertEqual({back: Claim(BG)}, self.reader.found.claims)

    def test_a_swap(self):
        front, back = self.claim(0, FG), self.claim(0, BG)
        jobs = self.admit(FG, 1), self.admit(BG, 1)
        self.reader.poll()
        swaps = [Swap(jobs[0], 1, BG, (front,)), Swap(jobs[1], 1, FG, (back,))]
        claims.swap(self.ledger, self.tiers, swaps, PROJECT, USER)
        self.assertTrue(self.reader.poll())
        self.assertEqual({front: Claim(BG), back: Claim(FG)}, self.reader.found.claims)

    def test_one_request_while_nothing_changes(self):
        self.claim(0, FG)
        self.reader.poll()
        for _poll in range(2):
            self.requests.clear()
            self.assertFalse(self.reader.poll())
            self.assertEqual(1, len(self.requests))

    def test_a_change_between_its_reads_is_seen_at_the_next_poll(self):
        jobs = self.admit(FG, 1), self.admit(BG, 1)
        front, back = self.claim(0, FG), self.claim(0, BG)
        get = self.ledger.get

        def overtaken(url):
            answer = get(url)
            if url.endswith("/allocations"):
                self.ledger.get = get
                swaps = [Swap(jobs[0], 1, BG, (front,)), Swap(jobs[1], 1, FG, (back,))]
                claims.swap(self.ledger, self.tiers, swaps, PROJECT, USER)
            return answer

        self.ledger.get = overtaken
        self.reader.poll()
        self.assertTrue(self.reader.poll())
        self.assertEqual({front: Claim(BG), back: Claim(FG)}, self.reader.found.claims)

    def test_a_host_that_is_not_in_the_ledger(self):
        self.reader = ClaimReader(self.ledger, "host0 & others")
        self.assertFalse(self.reader.poll())
        self.assertEqual((0, {}), (self.reader.found.slots, self.reader.found.claims))
        self.assertIn("no resource provider host0 & others", self.reader.problem)
        self.roots[0] = self.make_host("host0 & others")
        self.assertFalse(self.reader.poll())
        self.assertIn("no tiers", self.reader.problem)

    def test_a_host_that_is_made_anew(self):
        self.reader.poll()
        self.sync(self.SLOTS, self.TIERS, hosts=[1])
        self.ledger.delete(f"/resource_providers/{self.roots[0]}")
        self.assertTrue(self.reader.poll())
        self.assertEqual(0, self.reader.found.slots)
        self.roots[0] = self.make_host("host0")
        self.sync(3, self.TIERS)
        self.assertTrue(self.reader.poll())
        self.assertEqual((3, ""), (self.reader.found.slots, self.reader.problem))
