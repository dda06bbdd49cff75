"""Jobs over time on slots that they have for themselves."""

import math

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.actions import FG
from nova_twotier.core.nodes import Nodes
from nova_twotier.sim.running_jobs import RunningJobs
from tests.unit.sim.run_builders import Scene, execution


def make_scene(nodes=4, cost=20.0):
    return Scene(Nodes(nodes), RunningJobs(cost))


class TestRunningJobs(testtools.TestCase):
    def test_job_ends_after_its_run_time(self):
        scene = make_scene()
        scene.start(5, FG, [0, 1], execution(1, 0, [0.5, 0.5], 10))
        self.assertEqual(15, scene.running.next_end())
        self.assertEqual({1: 15}, scene.finishes())

    def test_nothing_runs(self):
        running = RunningJobs(20.0)
        self.assertEqual(math.inf, running.next_end())
        self.assertEqual([], running.take_ended(1e9))

    def test_all_jobs_of_an_instant_end_together(self):
        scene = Scene(Nodes(3), RunningJobs(20.0))
        for number, (begin, runtime) in enumerate(((0, 10), (4, 6), (4, 7)), 1):
            scene.start(begin, FG, [number - 1], execution(number, 0, [1.0], runtime))
        self.assertEqual(10, scene.running.next_end())
        ended = scene.running.take_ended(10)
        self.assertEqual([1, 2], sorted(done.job.number for done in ended))
        self.assertEqual([3], list(scene.running.jobs))
        self.assertEqual(11, scene.running.next_end())

    def test_job_of_run_time_0_ends_when_it_starts(self):
        scene = make_scene()
        scene.start(7, FG, [0], execution(1, 0, [1.0], 0))
        self.assertEqual({1: 7}, scene.finishes())

    def test_evicted_job_keeps_its_work_and_pays_when_it_is_restored(self):
        scene, job = make_scene(), execution(1, 0, [0.5], 100)
        scene.start(0, FG, [0], job)
        scene.evict(30, job)
        self.assertEqual(math.inf, scene.running.next_end())
        self.assertEqual([1], list(scene.waiting))
        scene.start(50, FG, [1], job)
        self.assertEqual({1: 50 + 20 + 70}, scene.finishes())
        self.assertEqual((1, 1, 0, 0), (job.evictions, job.migrations, job.kills, job.lost))
        # It uses no CPU while it is on its way.
        self.assertEqual(50, job.busy)
        self.assertEqual(0, job.start)

    def test_job_evicted_while_it_is_restored_has_done_nothing(self):
        scene, job = make_scene(), execution(1, 0, [0.5], 100)
        scene.start(0, FG, [0], job)
        scene.evict(30, job)
        scene.start(50, FG, [1], job)
        scene.evict(65, job)
        scene.start(80, FG, [1], job)
        self.assertEqual({1: 80 + 20 + 70}, scene.finishes())
        self.assertEqual((2, 2), (job.evictions, job.migrations))

    def test_killed_job_starts_anew_without_cost(self):
        scene, job = make_scene(), execution(1, 0, [0.5], 100)
        scene.start(0, FG, [0], job)
        scene.kill(30, job)
        scene.start(50, FG, [0], job)
        self.assertEqual({1: 150}, scene.finishes())
        self.assertEqual((1, 30, 0, 0), (job.kills, job.lost, job.migrations, job.evictions))
        self.assertEqual(65, job.busy)

    def test_job_killed_when_it_starts_loses_nothing(self):
        scene, job = make_scene(), execution(1, 0, [0.5], 100)
        scene.start(5, FG, [0], job)
        scene.kill(5, job)
        scene.start(5, FG, [0], job)
        self.assertEqual({1: 105}, scene.finishes())
        self.assertEqual((1, 0), (job.kills, job.lost))

    def test_job_killed_after_an_eviction_loses_all_of_its_work(self):
        scene, job = make_scene(), execution(1, 0, [0.5], 100)
        scene.start(0, FG, [0], job)
        scene.evict(30, job)
        scene.start(50, FG, [0], job)
        scene.kill(80, job)
        scene.start(90, FG, [0], job)
        self.assertEqual({1: 190}, scene.finishes())
        # 30 s before the eviction, 10 s after the 20 s of the restore.
        self.assertEqual((40, 1), (job.lost, job.migrations))

    def test_first_start_is_what_counts(self):
        scene, job = make_scene(), execution(1, 0, [0.5], 100)
        scene.start(3, FG, [0], job)
        scene.kill(30, job)
        scene.start(50, FG, [0], job)
        self.assertEqual((3, FG), (job.start, job.first_tier))

    @given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=8))
    def test_any_evictions_add_their_cost_and_nothing_else(self, pauses):
        """Runs of some seconds, each ended by an eviction, and waits of some seconds."""
        scene, job = make_scene(cost=7.0), execution(1, 0, [0.5], 1000)
        now, work = 0, 1000
        for turn, (ran, waited) in enumerate(pauses):
            scene.start(now, FG, [0], job)
            scene.evict(now + ran, job)
            work -= max(0, ran - (7 if turn else 0))
            now += ran + waited
        scene.start(now, FG, [0], job)
        self.assertEqual({1: now + 7 + work}, scene.finishes())
        self.assertEqual(len(pauses), job.migrations)

    def test_ends_that_are_no_longer_expected_are_forgotten(self):
        scene, job = make_scene(), execution(1, 0, [0.5], 1e9)
        # They are not the next end, so that nobody comes across them.
        scene.start(0, FG, [1], execution(2, 0, [0.5], 1e6))
        scene.start(0, FG, [2], execution(3, 0, [0.5], 2e6))
        for turn in range(3000):
            scene.start(turn, FG, [0], job)
            scene.evict(turn + 0.5, job)
        self.assertLess(len(scene.running._ends), 1100)
        scene.start(5000, FG, [0], job)
        self.assertEqual([2, 3, 1], list(scene.finishes()))
