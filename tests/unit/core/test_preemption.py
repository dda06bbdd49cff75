"""Who takes foreground slots from whom."""

from functools import partial
from unittest import mock

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core import queue
from nova_twotier.core.cluster import Run
from nova_twotier.core.policies import preemption
from nova_twotier.core.policies.preemption import Holders, select, spared
from nova_twotier.core.policies.turns import select_in_turn
from nova_twotier.core.queue import Queue
from nova_twotier.core.snapshot import NONE_AWAY
from tests.unit.core.builders import FG, held_by_later, job


def evictable(holders):
    """What a cluster answers on which these jobs hold the foreground."""
    runs = [Run(each, FG, ()) for each in sorted(holders, key=lambda each: each.order)]
    return lambda after: [run for run in runs if run.job.order > after]


class TestSelect(testtools.TestCase):
    def choose(self, candidates, holders, idle, only_head=False):
        """Numbers of the chosen, and of the evicted with their preemptors."""
        rule = select_in_turn if only_head else select
        selection = rule(Queue(candidates), Queue(), evictable(holders), idle)
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

    def test_who_runs_in_the_background_is_a_candidate(self):
        """2 runs in the background; it comes before 3, which waits."""
        holders = evictable([job(4, 2)])
        selection = select(Queue([job(1, 9), job(3, 2)]), Queue([job(2, 2)]), holders, 0)
        self.assertEqual([2], [each.number for each in selection.chosen])
        self.assertEqual([4], list(selection.evicted))

    def test_none_evicts_behind_one_that_is_away(self):
        wants, holders = job(2, 2), [job(3, 1), job(4, 1)]
        for away, expected in ((job(9).order, [2]), (job(1).order, [])):
            found = select_in_turn(Queue([wants]), Queue(), evictable(holders), 0, away=away)
            self.assertEqual(expected, [each.number for each in found.chosen])
            self.assertEqual([3, 4] if expected else [], sorted(found.evicted))

    def test_the_shortest_backfill_first(self):
        """1 cannot start; 3 arrived after 2, but its time from arrival to deadline is shorter."""
        waiting = [
            job(1, 9, arrival=1.0, rank=2.0),
            job(2, 2, arrival=2.0, rank=90.0),
            job(3, 2, arrival=60.0, rank=95.0),
        ]
        for below, waits in ([], waiting), (waiting[1:2], [waiting[0], waiting[2]]):
            for shortest, chosen in ((False, [2]), (True, [3])):
                found = select_in_turn(
                    Queue(waits), Queue(below), evictable([]), 3, shortest_first=shortest
                )
                self.assertEqual(chosen, [each.number for each in found.chosen])


def plain(candidates, holders, idle, only_head, shortest=False, away=NONE_AWAY):
    """Algorithm 1 of TPDS 2013 as it is printed: one candidate after the other, by arrival.

    Jobs that arrived later are collected, the latest first, until their slots suffice; the smallest
    of them are spared as long as what is too much covers them. Who is evicted is a candidate again.

    :param only_head: whether only the first that does not fit may evict (AMBF).
    :param shortest: whether the others backfill by relative deadline.
    :param away: none behind this position may evict.
    """
    candidates = sorted(candidates, key=lambda each: each.order)
    held = sorted(holders, key=lambda each: each.order)
    chosen, evicted = [], {}
    head = True
    while candidates:
        if shortest and not head:
            candidates.sort(key=lambda each: (each.relative_deadline, each.order))
        one = candidates.pop(0)
        if one.size > idle and (head or not only_head) and one.order < away:
            later = [each for each in held if each.order > one.order]
            if one.size <= idle + sum(each.size for each in later):
                collected = []
                while idle + sum(each.size for each in collected) < one.size:
                    collected.append(later.pop())
                surplus = idle + sum(each.size for each in collected) - one.size
                for each in sorted(collected, key=lambda each: (each.size, each.order)):
                    if each.size > surplus:
                        break
                    surplus -= each.size
                    collected.remove(each)
                for each in collected:
                    held.remove(each)
                    idle += each.size
                    evicted[each.number] = each, one
                candidates = sorted([*candidates, *collected], key=lambda each: each.order)
        if one.size <= idle:
            idle -= one.size
            # It may have been evicted, and get its slots back in its turn.
            if one.number in evicted:
                del evicted[one.number]
            else:
                chosen.append(one)
        else:
            head = False
    return chosen, evicted


@st.composite
def contests(draw):
    """Jobs that wait, rise or hold, some of them of the same arrival, and the idle slots."""
    shapes = st.tuples(
        st.integers(1, 9),
        st.integers(0, 12),
        st.integers(0, 12),
        st.sampled_from(("waits", "waits", "below", "holds")),
    )
    drawn = draw(st.lists(shapes, max_size=30))
    parts = {"waits": [], "below": [], "holds": []}
    for number, (size, arrival, runtime, part) in enumerate(drawn, start=1):
        rank = float(arrival + runtime)
        parts[part].append(job(number, size, arrival=float(arrival), rank=rank))
    return parts, draw(st.integers(0, draw(st.sampled_from((1, 4, 12)))))


class TestAgainstThePlainLoop(testtools.TestCase):
    """Few of the waiting jobs are looked at, and it is decided as if all had been."""

    @settings(max_examples=400)
    @given(contests(), st.sampled_from((-1, 50)))
    def test_all_evict(self, contest, few):
        """Whether there are few, of whom it looks at each, or many."""
        parts, idle = contest
        with mock.patch.object(preemption, "_FEW", few):
            self.same(parts, idle, select, only_head=False)

    @settings(max_examples=400)
    @given(
        contests(),
        st.booleans(),
        st.one_of(st.just(NONE_AWAY), st.tuples(st.floats(0, 24), st.just(0))),
        st.sampled_from((-1, 50)),
    )
    def test_only_the_head_evicts(self, contest, shortest, away, few):
        parts, idle = contest
        rule = partial(select_in_turn, away=away, shortest_first=shortest)
        with mock.patch.object(queue, "_SHORT", few):
            self.same(parts, idle, rule, only_head=True, shortest=shortest, away=away)

    def same(self, parts, idle, rule, **how):
        holders = sorted(parts["holds"], key=lambda each: each.order)
        waiting, below = Queue(parts["waits"]), Queue(parts["below"])
        selection = rule(waiting, below, evictable(holders), idle)
        chosen, evicted = plain([*parts["waits"], *parts["below"]], holders, idle, **how)
        self.assertEqual(chosen, selection.chosen)
        self.assertEqual(evicted, selection.evicted)
        self.assertEqual(sorted(parts["waits"], key=lambda each: each.order), list(waiting))
        # What is given away was there.
        used = sum(each.size for each in selection.chosen)
        freed = sum(victim.size for victim, _by in selection.evicted.values())
        self.assertLessEqual(used, idle + freed)

    @settings(max_examples=300)
    @given(
        st.lists(st.tuples(st.integers(1, 8), st.integers(0, 12)), max_size=20),
        st.integers(0, 20),
        st.tuples(st.integers(1, 20), st.integers(0, 12)),
    )
    def test_holders(self, drawn, idle, wanted):
        """What later arrivals hold, and who of them has to go."""
        held = [job(n, size, arrival=float(at)) for n, (size, at) in enumerate(drawn, start=1)]
        held.sort(key=lambda each: each.order)
        one = job(0, wanted[0], arrival=float(wanted[1]))
        holders = Holders([Run(each, FG, ()) for each in held])
        self.assertEqual(sum(each.size for each in held), holders.slots)
        self.assertEqual(held_by_later(one, held), holders.later(one))
        enough = one.size <= idle + held_by_later(one, held)
        collected = holders.collect(one, idle) if enough else []
        self.assertEqual(enough and one.size > idle, bool(collected))
        self.assertEqual(list(reversed(held))[: len(collected)], collected)
        if collected:
            got = idle + sum(each.size for each in collected)
            self.assertTrue(got - collected[-1].size < one.size <= got)
            self.assertGreater(collected[-1].order, one.order)
            for each in spared(collected, got - one.size):
                holders.remove(each)
                held.remove(each)
            self.assertEqual(held_by_later(one, held), holders.later(one))
            self.assertEqual(sum(each.size for each in held), holders.slots)

    @given(st.lists(st.integers(1, 8), max_size=10), st.integers(0, 20))
    def test_spared(self, sizes, surplus):
        """The smallest stay, as many as there is room for; never one less than could."""
        collected = [job(number, size) for number, size in enumerate(sizes, start=1)]
        going = spared(collected, surplus)
        staying = [each for each in collected if each not in going]
        room = surplus - sum(each.size for each in staying)
        self.assertGreaterEqual(room, 0)
        for each in going:
            self.assertGreater(each.size, room)
            self.assertTrue(all(other.size <= each.size for other in staying))
