"""Many writers at once, in threads, on real Placement: nothing is given twice, nothing is lost."""

import threading
import uuid
from concurrent import futures

from nova_twotier.ledger import claims, names, retry, tree
from nova_twotier.ledger.placement import Conflict, Placement, PlacementError, StaleGeneration
from tests.functional.ledger_case import BG, FG, PROJECT, USER, LedgerTestCase

WRITERS = 4
ROUNDS = 6


class Serving(Placement):
    """This process's Placement has one connection to its database: one request at a time.

    Between any two requests of a writer come those of others.
    """

    def __init__(self, client):
        self._adapter = client._adapter
        self._lock = threading.Lock()

    def _request(self, method, url, body=None):
        with self._lock:
            return super()._request(method, url, body)


class TestRaces(LedgerTestCase):
    HOSTS = 1
    SLOTS = 3

    def setUp(self):
        super().setUp()
        self.tiers = self.sync(self.SLOTS, 2, switch="core/rack", uplinks=(1000,))
        self.ledger = Serving(self.ledger)
        self.gate = threading.Barrier(WRITERS)

    def race(self, *works):
        """Run each of `WRITERS` works in a thread of its own, at once; their results."""

        def run(work):
            self.gate.wait(60)
            return work()

        with futures.ThreadPoolExecutor(WRITERS) as pool:
            return [run.result(120) for run in [pool.submit(run, work) for work in works]]

    def patiently(self, write):
        """As a caller does: what was overtaken too often is tried again at the next poll."""
        while True:
            try:
                return write()
            except StaleGeneration:
                continue
            except Conflict:
                return None

    def test_last_bandwidth(self):
        """Of 16 jobs that want 300 of 1000 Mbit/s each, three have it, and only in whole."""

        def admit_some():
            jobs = [str(uuid.uuid4()) for _ in range(4)]
            links = {"host0": 300, "core/rack": 300}
            for job in jobs:
                self.patiently(
                    lambda job=job: claims.admit(self.ledger, job, 1, FG, PROJECT, USER, links)
                )

        self.race(*[admit_some] * WRITERS)
        entries = claims.read_jobs(self.ledger)
        self.assertEqual([{"host0": 300, "core/rack": 300}] * 3, [entry.links for entry in entries])

    def test_one_consumer(self):
        """A swap there and back, CPU points, moves of its job and closing: each has its effect."""
        vms = {FG: self.claim(0, FG), BG: self.claim(0, BG)}
        jobs = {tier: self.admit(tier, 1, links={"host0": 100}) for tier in vms}

        def swap():
            for turn in range(ROUNDS + 1):
                swaps = [
                    claims.Swap(jobs[tier], 1, tier if turn % 2 else tier.other, (vm,))
                    for tier, vm in vms.items()
                ]
                self.patiently(
                    lambda swaps=swaps: claims.swap(self.ledger, self.tiers, swaps, PROJECT, USER)
                )

        def points():
            for amount in range(ROUNDS):
                given = dict.fromkeys(vms.values(), 10 + amount)
                self.patiently(
                    lambda given=given: claims.set_cpu_points(self.ledger, self.tiers, given)
                )

        def close():
            for turn in range(ROUNDS + 1):
                closed = 1 + turn % 2
                self.patiently(
                    lambda closed=closed: tree.set_closed(self.ledger, self.tiers[0], closed)
                )

        def reshape():
            for turn in range(ROUNDS):
                slots = self.SLOTS + 1 - turn % 2
                self.patiently(
                    lambda slots=slots: self.sync(slots, 2, switch="core/rack", uplinks=(1000,))
                )

        self.race(swap, points, close, reshape)
        self.assertEqual({vms[FG]: ("host0", BG), vms[BG]: ("host0", FG)}, self.held())
        self.assertEqual([10 + ROUNDS - 1] * 2, [self.points(vm) for vm in vms.values()])
        self.assertEqual((self.SLOTS, 0), self.inventory(0, FG))
        # What was closed while there was a slot more stays withheld until it is said again.
        total, withheld = self.inventory(0, BG)
        self.assertEqual(self.SLOTS, total)
        self.assertIn(withheld, (1, 2))
        entries = {entry.uuid: entry for entry in claims.read_jobs(self.ledger)}
        for tier, job in jobs.items():
            self.assertEqual((tier.other, {"host0": 100}), (entries[job].tier, entries[job].links))

    def test_leaving_while_vms_come(self):
        """Whoever had a place before its host left has it after; nobody comes later."""
        came = []

        def claim():
            for _vm in range(ROUNDS):
                try:
                    vm = self.patiently(lambda: self.claim(0, FG))
                except PlacementError as error:
                    self.assertEqual(400, error.status, "its provider is gone")
                    return
                if vm:
                    came.append(vm)

        def leave():
            return self.patiently(lambda: self.sync(2, 2, hosts=[]))

        self.race(claim, claim, claim, leave)
        held = claims.read_claims(self.ledger, self.tiers)
        self.assertEqual(set(came), set(held))
        self.assertLessEqual(len(came), self.SLOTS)
        providers = self.generations()
        self.assertEqual(bool(came), names.child_name("host0", FG) in providers)

    def test_bounded(self):
        """A write that is always overtaken ends."""
        self.assertLessEqual(retry.ATTEMPTS, 20)
        self.assertLess(sum(retry.PAUSE * 2**n for n in range(retry.ATTEMPTS - 1)), 2.0)
