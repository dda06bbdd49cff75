"""A manager that is paused just before it writes to Placement, and replaced meanwhile.

It has polled and decided while it led. When it goes on it must not write: its successor has. Then
the successor brings all jobs to their end.
"""

import fixtures

from nova_twotier.db import terms
from nova_twotier.db.states import JobState, Preemption
from nova_twotier.db.terms import Deposed
from nova_twotier.ledger import claims, tree
from nova_twotier.ledger.names import DEFAULT_POOL
from tests.functional.manager_case import ManagerTestCase

#: The second job swaps with the first when that ends.
SWAP = {"arrivals": [(0, 4, 0.5), (0, 4, 0.5)], "lives": [6, 20]}
#: The third passes the second, which waits for all slots, and makes room for it later.
EVICTION = {
    "arrivals": [(0, 4, 1.0), (1, 6, 1.0), (12, 2, 1.0, Preemption.SUSPEND)],
    "lives": [30, 10, 40],
}


class TestDeposed(ManagerTestCase):
    def replaced_at(self, module, name, jobs, when=lambda *_arguments: True):
        """Replace the manager when it is about to call a function, for the first time that its
        arguments are such."""
        self.cloud(seed=5)
        write, found = getattr(module, name), []

        def paused(*arguments, **values):
            if found or not when(*arguments):
                return write(*arguments, **values)
            found.append(self.manager_ledger)
            terms.begin(self.store, DEFAULT_POOL, "successor")
            before = self.manager_ledger.writes
            self.assertRaises(Deposed, write, *arguments, **values)
            self.assertEqual(before, self.manager_ledger.writes)
            raise Deposed

        self.useFixture(fixtures.MonkeyPatch(f"{module.__name__}.{name}", paused))
        jobs = self.play("amcbf", **jobs)
        [ledger] = found
        self.assertIsNot(ledger, self.manager_ledger)
        self.assertEqual({JobState.FINISHED}, {job.state for job in jobs})
        self.check_clean()

    def test_making_the_tree(self):
        self.replaced_at(tree, "prepare", SWAP)

    def test_hosts_of_the_tree(self):
        self.sync(self.SLOTS, self.TIERS, hosts=())
        self.replaced_at(tree, "sync_hosts", SWAP)

    def test_closing_slots(self):
        self.replaced_at(tree, "set_closed", EVICTION, lambda _ledger, _host, closed: closed)

    def test_admitting_a_job(self):
        self.replaced_at(claims, "admit", SWAP)

    def test_cpu_points(self):
        self.replaced_at(claims, "set_cpu_points", SWAP)

    def test_swapping(self):
        self.replaced_at(claims, "swap", SWAP)

    def test_vacating_the_slots_of_a_suspended_job(self):
        self.replaced_at(claims, "vacate", EVICTION)

    def test_seating_a_suspended_job(self):
        self.replaced_at(claims, "seat", EVICTION)

    def test_releasing_a_job(self):
        self.replaced_at(claims, "release", SWAP)
