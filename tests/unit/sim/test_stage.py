"""Jobs over time on slots that they have for themselves."""

import math

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.actions import FG
from nova_twotier.core.nodes import Nodes
from nova_twotier.sim.stage import Stage
from tests.unit.sim.run_builders import Scene, execution


def scene(nodes=4, cost=20.0):
    return Scene(Nodes(nodes), Stage(cost))


class TestStage(testtools.TestCase):
    def test_job_ends_after_its_run_time(self):
        stage = scene()
        stage.start(5, FG, [0, 1], execution(1, 0, [0.5, 0.5], 10))
        self.assertEqual(15, stage.stage.next_end())
        self.assertEqual({1: 15}, stage.finishes())

    def test_nothing_runs(self):
        stage = Stage(20.0)
        self.assertEqual(math.inf, stage.next_end())
        self.assertEqual([], stage.take_ended(1e9))

    def test_all_jobs_of_an_instant_end_together(self):
        stage = Scene(Nodes(3), Stage(20.0))
        for number, (begin, runtime) in enumerate(((0, 10), (4, 6), (4, 7)), 1):
            stage.start(begin, FG, [number - 1], execution(number, 0, [1.0], runtime))
        self.assertEqual(10, stage.stage.next_end())
        ended = stage.stage.take_ended(10)
        self.assertEqual([1, 2], sorted(done.job.number for done in ended))
        self.assertEqual([3], list(stage.stage.running))
        self.assertEqual(11, stage.stage.next_end())

    def test_job_of_run_time_0_ends_when_it_starts(self):
        stage = scene()
        stage.start(7, FG, [0], execution(1, 0, [1.0], 0))
        self.assertEqual({1: 7}, stage.finishes())

    def test_evicted_job_keeps_its_work_and_pays_when_it_is_restored(self):
        stage, job = scene(), execution(1, 0, [0.5], 100)
        stage.start(0, FG, [0], job)
        stage.evict(30, job)
        self.assertEqual(math.inf, stage.stage.next_end())
        self.assertEqual([1], list(stage.waiting))
        stage.start(50, FG, [1], job)
        self.assertEqual({1: 50 + 20 + 70}, stage.finishes())
        self.assertEqual((1, 1, 0, 0), (job.evictions, job.migrations, job.kills, job.lost))
        # It uses no CPU while it is on its way.
        self.assertEqual(50, job.busy)
        self.assertEqual(0, job.start)

    def test_job_evicted_while_it_is_restored_has_done_nothing(self):
        stage, job = scene(), execution(1, 0, [0.5], 100)
        stage.start(0, FG, [0], job)
        stage.evict(30, job)
        stage.start(50, FG, [1], job)
        stage.evict(65, job)
        stage.start(80, FG, [1], job)
        self.assertEqual({1: 80 + 20 + 70}, stage.finishes())
        self.assertEqual((2, 2), (job.evictions, job.migrations))

    def test_killed_job_starts_anew_without_cost(self):
        stage, job = scene(), execution(1, 0, [0.5], 100)
        stage.start(0, FG, [0], job)
        stage.kill(30, job)
        stage.start(50, FG, [0], job)
        self.assertEqual({1: 150}, stage.finishes())
        self.assertEqual((1, 30, 0, 0), (job.kills, job.lost, job.migrations, job.evictions))
        self.assertEqual(65, job.busy)

    def test_job_killed_when_it_starts_loses_nothing(self):
        stage, job = scene(), execution(1, 0, [0.5], 100)
        stage.start(5, FG, [0], job)
        stage.kill(5, job)
        stage.start(5, FG, [0], job)
        self.assertEqual({1: 105}, stage.finishes())
        self.assertEqual((1, 0), (job.kills, job.lost))

    def test_job_killed_after_an_eviction_loses_all_of_its_work(self):
        stage, job = scene(), execution(1, 0, [0.5], 100)
        stage.start(0, FG, [0], job)
        stage.evict(30, job)
        stage.start(50, FG, [0], job)
        stage.kill(80, job)
        stage.start(90, FG, [0], job)
        self.assertEqual({1: 190}, stage.finishes())
        # 30 s before the eviction, 10 s after the 20 s of the restore.
        self.assertEqual((40, 1), (job.lost, job.migrations))

    def test_first_start_is_what_counts(self):
        stage, job = scene(), execution(1, 0, [0.5], 100)
        stage.start(3, FG, [0], job)
        stage.kill(30, job)
        stage.start(50, FG, [0], job)
        self.assertEqual((3, FG), (job.start, job.first_tier))

    @given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=8))
    def test_any_evictions_add_their_cost_and_nothing_else(self, pauses):
        """Runs of some seconds, each ended by an eviction, and waits of some seconds."""
        stage, job = scene(cost=7.0), execution(1, 0, [0.5], 1000)
        now, work = 0, 1000
        for turn, (ran, waited) in enumerate(pauses):
            stage.start(now, FG, [0], job)
            stage.evict(now + ran, job)
            work -= max(0, ran - (7 if turn else 0))
            now += ran + waited
        stage.start(now, FG, [0], job)
        self.assertEqual({1: now + 7 + work}, stage.finishes())
        self.assertEqual(len(pauses), job.migrations)

    def test_ends_that_are_no_longer_expected_are_forgotten(self):
        stage, job = scene(), execution(1, 0, [0.5], 1e9)
        # They are not the next end, so that nobody comes across them.
        stage.start(0, FG, [1], execution(2, 0, [0.5], 1e6))
        stage.start(0, FG, [2], execution(3, 0, [0.5], 2e6))
        for turn in range(3000):
            stage.start(turn, FG, [0], job)
            stage.evict(turn + 0.5, job)
        self.assertLess(len(stage.stage._ends), 1100)
        stage.start(5000, FG, [0], job)
        self.assertEqual([2, 3, 1], list(stage.finishes()))
