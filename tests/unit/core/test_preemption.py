"""Who takes foreground slots from whom."""

import testtools

from nova_twotier.core.policies.preemption import held_by_later, select
from tests.unit.core.builders import job


class TestSelect(testtools.TestCase):
    def choose(self, candidates, holders, idle, only_head=False):
        """Numbers of the chosen, and of the evicted with their preemptors."""
        selection = select(candidates, holders, idle, only_head)
        for number, (victim, preemptor) in selection.evicted.items():
            self.assertEqual(number, victim.number)
            self.assertLess(preemptor.order, victim.order)
        evicted = {number: by.number for number, (_victim, by) in selection.evicted.items()}
        return [each.number for each in selection.chosen], evicted

    def test_idle_slots_by_arrival(self):
        waiting = [job(3, 1), job(1, 2), job(2, 2)]
        self.assertEqual(([1, 3], {}), self.choose(waiting, [], 3))

    def test_takes_from_later_arrivals_only(self):
        self.assertEqual(([], {}), self.choose([job(2, 2)], [job(1, 1), job(3, 1)], 0))
        self.assertEqual(([2], {3: 2}), self.choose([job(2, 2)], [job(1, 1), job(3, 1)], 1))

    def test_takes_nothing_when_that_is_not_enough(self):
        self.assertEqual(([], {}), self.choose([job(1, 4)], [job(2, 1), job(3, 1)], 1))

    def test_the_latest_first(self):
        self.assertEqual(([1], {4: 1}), self.choose([job(1)], [job(2), job(3), job(4)], 0))

    def test_spares_the_smallest(self):
        holders = [job(2, 3), job(3, 1), job(4, 1)]
        for only_head in (False, True):
            self.assertEqual(([1], {2: 1}), self.choose([job(1, 3)], holders, 0, only_head))

    def test_who_lost_may_take_in_turn(self):
        """4 is spared, but 3, which arrived earlier, has a right to its slot."""
        holders = [job(2, 3), job(3, 2), job(4, 1)]
        self.assertEqual(([1], {2: 1, 4: 3}), self.choose([job(1, 4)], holders, 0))

    def test_only_the_head_takes(self):
        holders = [job(2, 3), job(3, 2), job(4, 1)]
        evicted = {2: 1, 3: 1}
        self.assertEqual(([1], evicted), self.choose([job(1, 4)], holders, 0, only_head=True))

        waiting, holders = [job(1, 9), job(2, 2)], [job(3, 1), job(4, 1)]
        self.assertEqual(([2], {3: 2, 4: 2}), self.choose(waiting, holders, 0))
        self.assertEqual(([], {}), self.choose(waiting, holders, 0, only_head=True))

    def test_the_head_moves_on(self):
        waiting, holders = [job(1, 1), job(2, 2)], [job(3, 1), job(4, 1)]
        chosen = self.choose(waiting, holders, 1, only_head=True)
        self.assertEqual(([1, 2], {3: 2, 4: 2}), chosen)

    def test_held_by_later(self):
        self.assertEqual(5, held_by_later(job(2), [job(1, 7), job(2, 9), job(3, 4), job(4)]))
