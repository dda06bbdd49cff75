"""The waiting jobs, against a plain sorted list."""

import math
from unittest import mock

import testtools
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from nova_twotier.core import queue
from nova_twotier.core.actions import Tier
from nova_twotier.core.jobs import Job
from nova_twotier.core.queue import Queue
from tests.unit.core.builders import BG, FG, estimate, job


def by_size(jobs):
    return sorted(jobs, key=lambda each: (each.size, each.order))


def by_arrival(jobs):
    """A function that yields the jobs that fit in their order; `fits` tells whether one does."""
    return lambda fits: (each for each in jobs if fits(each))


def by_deadline(jobs):
    """Turns of the shortest first, those who may not run in the foreground not after later ones."""

    def turns(fits):
        given = []
        for each in sorted(jobs, key=lambda each: (each.relative_deadline, each.order)):
            if each in given or not fits(each):
                continue
            for alone in jobs:
                first = not alone.foreground and alone.order < each.order
                if first and alone not in given and fits(alone):
                    given.append(alone)
                    yield alone
            if fits(each):
                given.append(each)
                yield each

    return turns


def may_run(job, tier):
    return job.foreground if tier is FG else job.background


class AgainstAList(RuleBasedStateMachine):
    """Every view of the queue is what one would read off a list of its jobs."""

    inside = Bundle("inside")

    def __init__(self):
        super().__init__()
        self.queue, self.model, self.twins = Queue(), [], []
        self.number = 0

    @rule(
        target=inside,
        size=st.integers(1, 6),
        arrival=st.integers(0, 20),
        expected=estimate,
        only=st.sampled_from((None, None, FG, BG)),
    )
    def add(self, size, arrival, expected, only=None):
        self.number += 1
        added = Job(
            self.number,
            size,
            float(arrival),
            (0.5,) * size,
            estimate=expected,
            rank=None if expected is None else arrival + expected,
            foreground=only is not BG,
            background=only is not FG,
        )
        self.queue.add(added)
        self.model.append(added)
        self.model.sort(key=lambda each: each.order)
        return added

    @rule(count=st.integers(30, 70))
    def add_many(self, count):
        """So many that they are no longer looked at one by one."""
        if len(self.model) < 120:
            for index in range(count):
                self.add(1 + index * 7 % 6, index * 13 % 21, (None, 5.0, 20.0)[index % 3])

    @rule(gone=consumes(inside))
    def remove(self, gone):
        if gone in self.model:
            self.queue.remove(gone)
            self.model.remove(gone)

    @rule()
    def copy(self):
        """The original goes its way, the copy another."""
        self.twins = [*self.twins[-1:], (self.queue, list(self.model))]
        self.queue = self.queue.copy()

    @rule(
        idle=st.integers(0, 9),
        tier=st.sampled_from(Tier),
        takes=st.integers(0, 2**40),
        shortest=st.booleans(),
    )
    def fitting(self, idle, tier, takes, shortest):
        """A caller that starts some of the jobs that it is given, or all of them."""
        idles = {FG: 0, BG: 0, tier: idle}
        given = []
        twin = self.queue.copy()
        allowed = twin.allowed(tier)
        turns = allowed.shortest_first(idles, tier) if shortest else allowed.fitting(idles, tier)
        for index, each in enumerate(turns):
            if takes >> index % 40 & 1:
                twin.remove(each)
                idles[tier] -= each.size
            given.append(each)
        expected, left, room = [], list(self.model), [idle]
        may = [each for each in self.model if may_run(each, tier)]
        turns = (by_deadline if shortest else by_arrival)(may)
        for index, each in enumerate(turns(lambda each: each.size <= room[0])):
            if takes >> index % 40 & 1:
                room[0] -= each.size
                left.remove(each)
            expected.append(each)
        assert given == expected
        assert list(twin) == left

    @rule(
        arrival=st.integers(0, 20),
        slots=st.integers(0, 9),
        extra=st.integers(0, 6),
        end=st.sampled_from((-math.inf, 0.0, 3.0, 8.0, 30.0)),
        starts=st.booleans(),
    )
    def next_beside(self, arrival, slots, extra, end, starts):
        """The earliest that is small or ends in time; the caller may start it."""
        now, order = 3.0, (float(arrival), self.number // 2)
        may = [
            each
            for each in self.model
            if each.order > order
            and each.size <= slots
            and (each.size <= extra or now + each.expected <= end)
        ]
        found = self.queue.next_beside(order, slots, extra, now, end)
        assert found == (may[0] if may else None)
        if starts and found:
            self.queue.remove(found)
            self.model.remove(found)

    @rule(largest=st.integers(0, 7), size=st.integers(1, 7), order=st.integers(0, 21))
    def views(self, largest, size, order):
        firsts = {}
        for each in self.model:
            firsts.setdefault(each.size, each)
        expected = [firsts[size] for size in sorted(firsts) if size <= largest]
        assert self.queue.first_of_each_size(largest) == expected
        after = (float(order), self.number // 2)
        following = [each for each in self.model if each.size == size and each.order > after]
        assert self.queue.next_of_size(size, after) == (following[0] if following else None)
        probe = Job(10**6, 1, float(order), (0.5,))
        passed = any(each.order < probe.order for each in self.model)
        assert self.queue.passed_by(probe) is passed

    @invariant()
    def same_as_the_list(self):
        assert list(self.queue) == self.model
        assert len(self.queue) == len(self.model)
        for tier in Tier:
            assert list(self.queue.allowed(tier)) == [j for j in self.model if may_run(j, tier)]
        assert bool(self.queue) == bool(self.model)
        for each in self.model[:3]:
            assert each.number in self.queue
        assert self.number + 1 not in self.queue
        if self.model:
            assert self.queue[0] == self.model[0]
            assert self.queue[-1] == self.model[-1]
            assert self.queue.smallest_job == by_size(self.model)[0]
            smallest = self.queue.smallest_job.size
            assert self.queue.has_fitting(smallest) and not self.queue.has_fitting(smallest - 1)
        for twin, model in self.twins:
            assert list(twin) == model


class AgainstAListByTurns(AgainstAList):
    """However few they are, the jobs take turns by size as many do."""

    def __init__(self):
        super().__init__()
        patch = mock.patch.object(queue, "_SHORT", -1)
        patch.start()
        self.undo = patch.stop

    def teardown(self):
        self.undo()


class TestAgainstAListByTurns(AgainstAListByTurns.TestCase):
    settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


class TestAgainstAList(AgainstAList.TestCase):
    settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


class TestQueue(testtools.TestCase):
    def test_of_jobs_in_any_order(self):
        first, second, third = job(1), job(2), job(3)
        self.assertEqual([first, second, third], list(Queue([third, first, second])))

    def test_may_change_while_it_is_walked(self):
        waiting = Queue([job(1), job(2), job(3)])
        for each in waiting:
            waiting.remove(each)
        self.assertEqual([], list(waiting))

    def test_nothing_waits(self):
        waiting = Queue()
        self.assertFalse(waiting)
        self.assertRaises(IndexError, lambda: waiting[0])
        self.assertRaises(IndexError, lambda: waiting.smallest_job)
        self.assertRaises(KeyError, waiting.remove, job(1))
        self.assertFalse(waiting.passed_by(job(1)))

    def test_a_job_does_not_pass_itself(self):
        waiting = Queue([job(1)])
        self.assertFalse(waiting.passed_by(job(1)))
        self.assertTrue(waiting.passed_by(job(2)))
