"""Jobs that share slots: what they advance, worked out by hand; and one model in two ways."""

import random
from statistics import fmean

import testtools

from nova_twotier.core.actions import BG, FG
from nova_twotier.core.cluster import Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.nodes import Nodes
from nova_twotier.core.progress import Draw, Processes, Progress
from nova_twotier.sim.many_hosts import ManyHosts
from nova_twotier.sim.many_nodes import ManyNodes
from tests.unit.sim.run_builders import (
    BY_ARRIVAL,
    PLAIN,
    Scene,
    execution,
    hosts,
    run,
    running_on,
)

LOSS = Progress(loss=(0.1, 0.3), eff_single=(0.8, 1.0), eff_parallel=(0.5, 0.0, 0.5, 0.5))


def reading(processes):
    return Progress(
        loss=PLAIN.loss,
        eff_single=PLAIN.eff_single,
        eff_parallel=PLAIN.eff_parallel,
        processes=Processes(processes),
    )


class SharedCase(testtools.TestCase):
    def cluster(self, nodes):
        raise NotImplementedError

    def make_scene(self, nodes, model=PLAIN, **options):
        cluster = self.cluster(nodes)
        return Scene(cluster, running_on(cluster, model, **options))

    def assert_finishes(self, expected, scene):
        found = scene.finishes()
        self.assertEqual(set(expected), set(found))
        for number, finish in expected.items():
            self.assertAlmostEqual(finish, found[number], 9, f"job {number}")


class Rates:
    """Without a policy."""

    def test_foreground_above_background_loses(self):
        scene = self.make_scene(2, LOSS)
        scene.start(0, FG, [0, 1], execution(1, 0, [0.5, 0.5], 100))
        scene.start(10, BG, [1], execution(2, 0, [0.5], 18))
        # One of its slots is enough: 0.8 from 10 to 30, when 2 ends (0.9 of 20 s).
        self.assert_finishes({1: 10 + 20 + (100 - 10 - 16), 2: 30}, scene)

    def test_background_below_nothing_runs_at_full_speed(self):
        scene = self.make_scene(2, LOSS)
        scene.start(3, BG, [0, 1], execution(1, 0, [1.0, 1.0], 100))
        self.assert_finishes({1: 103}, scene)

    def test_background_beside_foreground_on_other_slots(self):
        scene = self.make_scene(3, LOSS)
        scene.start(0, FG, [2], execution(1, 0, [0.9], 50))
        scene.start(0, BG, [0, 1], execution(2, 0, [0.7, 0.7], 100))
        self.assert_finishes({1: 50, 2: 100}, scene)

    def test_background_advances_as_its_slowest_process(self):
        scene = self.make_scene(3)
        scene.start(0, FG, [0, 1], execution(1, 0, [0.8, 0.6], 1000))
        # 0.2 of 0.5, 0.4 of 0.8, and all of 0.6: half of the least of 0.4, 0.5 and 1.
        scene.start(0, BG, [1, 2, 0], execution(2, 0, [0.8, 0.6, 0.5], 20))
        self.assert_finishes({1: 1000, 2: 100}, scene)

    def test_idle_share_that_is_more_than_enough(self):
        scene = self.make_scene(1)
        scene.start(0, FG, [0], execution(1, 0, [0.3], 1000))
        scene.start(0, BG, [0], execution(2, 0, [0.5], 90))
        self.assert_finishes({1: 1000, 2: 100}, scene)

    def test_floor(self):
        scene = self.make_scene(1)
        scene.start(0, FG, [0], execution(1, 0, [0.95], 1000))
        scene.start(0, BG, [0], execution(2, 0, [0.8], 9))
        # 0.9 * 0.05 / 0.8, and with a higher floor 0.9 * 0.2 / 0.8.
        self.assert_finishes({1: 1000, 2: 160}, scene)
        high = Progress(loss=(0, 0), floor=0.2)
        scene = self.make_scene(1, high)
        scene.start(0, FG, [0], execution(1, 0, [0.95], 1000))
        scene.start(0, BG, [0], execution(2, 0, [0.8], 9))
        self.assert_finishes({1: 1000, 2: 40}, scene)

    def test_background_stalls_under_a_slot_that_closes(self):
        scene = self.make_scene(1)
        scene.start(0, BG, [0], execution(1, 0, [0.8], 100))
        scene.start(10, FG, [0], execution(2, 0, [1.0], 200))
        # 0.9 * 0.04 / 0.8 for 200 s.
        self.assert_finishes({1: 10 + 200 + (90 - 9), 2: 210}, scene)

    def test_background_that_gets_nothing_waits(self):
        scene = self.make_scene(2, Progress(loss=(0, 0), floor=0.0))
        scene.start(0, BG, [0, 1], execution(1, 0, [0.8, 0.8], 100))
        scene.start(10, FG, [0], execution(2, 0, [1.0], 200))
        self.assert_finishes({1: 300, 2: 210}, scene)

    def test_true_utilisation_counts_not_the_known_one(self):
        scene = self.make_scene(1)
        scene.start(0, FG, [0], execution(1, 0, [0.5], 1000, true=[0.9]))
        scene.start(0, BG, [0], execution(2, 0, [0.9], 18, true=[0.4]))
        # 0.9 * 0.1 / 0.4
        self.assert_finishes({1: 1000, 2: 80}, scene)

    def test_process_that_uses_no_cpu(self):
        scene = self.make_scene(1)
        scene.start(0, FG, [0], execution(1, 0, [0.0], 1000))
        scene.start(0, BG, [0], execution(2, 0, [0.0], 90))
        self.assert_finishes({1: 1000, 2: 100}, scene)

    def test_rates_follow_what_is_above(self):
        scene = self.make_scene(1)
        scene.start(0, BG, [0], execution(1, 0, [0.5], 100))
        scene.start(10, FG, [0], execution(2, 0, [0.75], 40))
        scene.start(60, FG, [0], execution(3, 0, [0.9], 20))
        # Alone until 10, at 0.45 until 50, alone until 60, at 0.18 until 80.
        self.assert_finishes({1: 80 + 100 - 10 - 18 - 10 - 3.6, 2: 50, 3: 80}, scene)

    def test_swap_in_the_middle_keeps_the_work(self):
        scene, job = self.make_scene(1), execution(2, 0, [0.5], 100)
        scene.start(0, FG, [0], execution(1, 0, [0.5], 50))
        scene.start(10, BG, [0], job)
        scene.until(50)
        scene.move(50, job, FG, [0])
        # 0.9 of 40 s, and then at full speed.
        self.assert_finishes({1: 50, 2: 50 + 100 - 36}, scene)
        self.assertEqual((1, 0, 40), (job.swaps, job.migrations, job.background))

    def test_swap_down_and_up(self):
        scene, job = self.make_scene(1), execution(1, 0, [0.5], 100)
        scene.start(0, FG, [0], job)
        scene.move(20, job, BG, [0])
        scene.start(20, FG, [0], execution(2, 0, [0.5], 10))
        scene.move(30, job, FG, [0])
        self.assert_finishes({1: 30 + 100 - 20 - 9, 2: 30}, scene)
        self.assertEqual(2, job.swaps)

    def test_migration_takes_its_cost_without_progress(self):
        scene, job = self.make_scene(3, LOSS), execution(2, 0, [0.5, 0.5], 100)
        scene.start(0, FG, [0], execution(1, 0, [0.5], 1000))
        scene.start(0, BG, [0, 1], job)
        scene.move(40, job, FG, [2, 1])
        # Half of 40 s; from 60 on at full speed; 1 has a neighbour until 40 only.
        self.assert_finishes({1: 40 + 1000 - 32, 2: 40 + 20 + 80}, scene)
        self.assertEqual((1, 0, 40), (job.migrations, job.swaps, job.background))

    def test_migrating_job_disturbs_its_new_neighbour_at_once(self):
        scene, job = self.make_scene(2, LOSS), execution(2, 0, [0.5], 90)
        scene.start(0, FG, [1], execution(1, 0, [0.5], 100))
        scene.start(0, FG, [0], job)
        scene.evict(45, job)
        scene.start(50, BG, [1], job)
        # 70 + 45 / 0.9 = 120; 1 runs at 0.8 from 50 on.
        self.assert_finishes({1: 50 + 50 / 0.8, 2: 112.5 + (45 - 42.5 * 0.9)}, scene)

    def test_swap_while_it_still_migrates(self):
        scene, job = self.make_scene(2), execution(1, 0, [0.5], 100)
        scene.start(0, BG, [0], job)
        scene.move(30, job, FG, [1])
        scene.move(35, job, BG, [1])
        scene.move(40, job, FG, [1])
        self.assert_finishes({1: 50 + 70}, scene)
        self.assertEqual((1, 2), (job.migrations, job.swaps))

    def test_kill_loses_the_work(self):
        scene, job = self.make_scene(1), execution(2, 0, [0.5], 100)
        scene.start(0, FG, [0], execution(1, 0, [0.5], 50))
        scene.start(0, BG, [0], job)
        scene.kill(40, job)
        scene.start(60, FG, [0], job)
        self.assert_finishes({1: 50, 2: 160}, scene)
        self.assertAlmostEqual(36, job.lost)
        self.assertEqual((1, 0, 40), (job.kills, job.migrations, job.background))

    def test_eviction_keeps_the_work(self):
        scene, job = self.make_scene(1), execution(2, 0, [0.5], 100)
        scene.start(0, FG, [0], execution(1, 0, [0.5], 50))
        scene.start(0, BG, [0], job)
        scene.evict(40, job)
        scene.start(60, FG, [0], job)
        self.assert_finishes({1: 50, 2: 60 + 20 + 64}, scene)
        self.assertEqual((0, 1, 1), (job.lost, job.migrations, job.evictions))

    def test_cpu_that_is_used(self):
        scene = self.make_scene(2)
        front, back = execution(1, 0, [0.8, 0.6], 100), execution(2, 0, [0.5, 0.3], 50)
        scene.start(0, FG, [0, 1], front)
        scene.start(0, BG, [1, 0], back)
        # 0.4 and 0.2 are left for it: half of 2/3 of a second a second.
        self.assert_finishes({1: 100, 2: 100 + 50 - 100 / 3}, scene)
        self.assertAlmostEqual(140, front.busy)
        self.assertAlmostEqual(100 * (0.4 + 0.2) + (50 - 100 / 3) * 0.8, back.busy)

    def test_cpu_that_is_used_changes_though_the_rate_does_not(self):
        scene, job = self.make_scene(2), execution(3, 0, [0.8, 0.8], 100)
        scene.start(0, FG, [0], execution(1, 0, [0.8], 1000))
        scene.start(0, BG, [0, 1], job)
        scene.start(100, FG, [1], execution(2, 0, [0.5], 100))
        scene.until(200)
        scene.evict(300, job)
        # An eighth of its speed all the time: 0.2 of one node, and 0.8, 0.5, 0.8 of the other.
        self.assertAlmostEqual(100 - 300 / 8, job.remaining)
        self.assertAlmostEqual(300 * 0.2 + 100 * (0.8 + 0.5 + 0.8), job.busy)


class Readings:
    def alternating(self, processes):
        """Finish of a job whose processes are slow one after the other."""
        scene = self.make_scene(2, reading(processes))
        scene.start(0, FG, [0], execution(1, 0, [0.5], 10))
        scene.start(0, FG, [1], execution(2, 0, [0.75], 10))
        job = execution(3, 0, [0.5, 0.5], 10)
        scene.start(0, BG, [0, 1], job)
        scene.until(10)
        scene.start(10, FG, [0], execution(4, 0, [0.75], 1000))
        scene.start(10, FG, [1], execution(5, 0, [0.5], 1000))
        finishes = scene.finishes()
        self.assertEqual(2010, finishes[4] + finishes[5] - 10)
        return finishes[3]

    def test_slowest(self):
        # 0.25 all the time
        self.assertAlmostEqual(40, self.alternating("slowest"))

    def test_own(self):
        # 5 done of one, 2.5 of the other; then 5 at 0.25, and 7.5 at 0.5.
        self.assertAlmostEqual(30, self.alternating("own"))

    def test_mean(self):
        # (0.5 + 0.25) / 2
        self.assertAlmostEqual(10 / 0.375, self.alternating("mean"))

    def test_own_work_is_kept_by_a_swap_and_an_eviction(self):
        scene = self.make_scene(2, reading("own"))
        job = execution(3, 0, [0.5, 0.5], 20)
        scene.start(0, FG, [0], execution(1, 0, [0.75], 10))
        scene.start(0, FG, [1], execution(2, 0, [0.5], 10))
        scene.start(0, BG, [0, 1], job)
        scene.until(10)
        scene.move(10, job, FG, [0, 1])
        # 17.5 and 15 are left, then 15.5 and 13.
        scene.evict(12, job)
        scene.start(50, FG, [1, 0], job)
        self.assert_finishes({1: 10, 2: 10, 3: 50 + 20 + 15.5}, scene)

    def test_own_work_that_is_lost_is_that_of_the_slowest(self):
        scene = self.make_scene(2, reading("own"))
        job = execution(3, 0, [0.5, 0.5], 20)
        scene.start(0, FG, [0], execution(1, 0, [0.75], 10))
        scene.start(0, FG, [1], execution(2, 0, [0.5], 10))
        scene.start(0, BG, [0, 1], job)
        scene.kill(8, job)
        scene.start(10, FG, [1, 0], job)
        self.assert_finishes({1: 10, 2: 10, 3: 30}, scene)
        self.assertEqual(2, job.lost)

    def efficiency(self, draw, seed):
        """Speed of a job of four processes below others that leave it what it wants."""
        model = Progress(loss=(0, 0), eff_parallel=(0.43, 0.14, 0.2, 0.8), draw=Draw(draw))
        scene = self.make_scene(4, model, seed=seed)
        scene.start(0, FG, range(4), execution(1, 0, [0.5] * 4, 10000))
        scene.start(0, BG, range(4), execution(2, 0, [0.5] * 4, 100))
        return 100 / scene.finishes()[2]

    def test_drawn_by_the_seed(self):
        for draw in ("job", "process"):
            drawn = [self.efficiency(draw, seed) for seed in range(20)]
            self.assertEqual(drawn, [self.efficiency(draw, seed) for seed in range(20)])
            self.assertEqual(20, len(set(drawn)), draw)
            self.assertTrue(0.2 <= min(drawn) <= max(drawn) <= 0.8)

    def test_mean_is_not_drawn(self):
        self.assertEqual(1, len({self.efficiency("mean", seed) for seed in range(5)}))

    def test_slowest_of_many_draws_is_slower_than_one(self):
        jobs, processes = (
            sum(self.efficiency(draw, seed) for seed in range(40)) for draw in ("job", "process")
        )
        self.assertLess(processes, 0.8 * jobs)

    def test_slices_are_not_drawn_but_their_slowest_counts(self):
        """As the mean of many draws, however much the processes are hindered."""
        rng = random.Random(1)
        cpu = [0.5, 0.9, 0.4, 0.7, 1.0, 0.6]
        for idle in ([1.0] * 6, [0.04] * 6, [0.3, 0.9, 0.2, 0.5, 0.45, 0.6], [1.0] * 5 + [0.1]):
            draws, slices = (
                Progress(eff_parallel=(0.43, 0.14, 0.2, 0.8), draw=draw)
                for draw in (Draw.PROCESS, Draw.SLICE)
            )
            drawn = [draws.background(idle, cpu, draws.efficiency(6, rng)) for _ in range(4000)]
            rate, burn = slices.background(idle, cpu, slices.efficiency(6, rng))
            self.assertAlmostEqual(1, fmean(one for one, _burn in drawn) / rate, delta=0.01)
            self.assertEqual(drawn[0][1], burn)

    def test_a_slice_of_one_process_or_of_one_efficiency_is_its_mean(self):
        for size, bounds in ((1, (0.43, 0.14, 0.2, 0.8)), (4, (0.43, 0.0, 0.2, 0.8))):
            mean, slices = (
                Progress(eff_parallel=bounds, draw=draw) for draw in (Draw.MEAN, Draw.SLICE)
            )
            idle, cpu = [0.5] * size, [0.8] * size
            eff = mean.efficiency(size, random.Random(1))
            self.assertEqual(eff, slices.efficiency(size, random.Random(1)))
            ours, theirs = (model.background(idle, cpu, eff)[0] for model in (slices, mean))
            self.assertAlmostEqual(theirs, ours, places=12)

    def test_drawn_anew_each_time_that_it_enters_the_background(self):
        scene = self.make_scene(1, Progress(loss=(0, 0), draw=Draw.JOB))
        job = execution(2, 0, [0.1], 1000)
        scene.start(0, FG, [0], execution(1, 0, [0.1], 10000))
        scene.start(0, BG, [0], job)
        rates = []
        for turn in range(1, 6):
            before = job.remaining
            scene.evict(100 * turn, job)
            rates.append((before - job.remaining) / (100 - 20 * (turn > 1)))
            scene.start(100 * turn, BG, [0], job)
        self.assertEqual(5, len(set(rates)))
        self.assertTrue(0.8 <= min(rates) <= max(rates) <= 1.0, rates)


class Policies:
    """Small workloads under the policies."""

    def finishes(self, policy, nodes, *executions, model=PLAIN, **options):
        done = run(policy, self.cluster(nodes), *executions, model=model, **options)
        return done, {number: round(job.finish, 9) for number, job in done.items()}

    def test_below_another_and_then_up(self):
        for policy in BY_ARRIVAL:
            done, finishes = self.finishes(
                policy,
                2,
                execution(1, 0, [0.5, 0.5], 100),
                execution(2, 10, [0.5, 0.5], 80),
                model=LOSS,
            )
            # From 10 on 1 runs at 0.8, 2 at half speed until 1 ends.
            end = 10 + 90 / 0.8
            self.assertEqual({1: end, 2: end + 80 - (end - 10) / 2}, finishes, policy)
            self.assertEqual(
                ([0, 1], BG), ([job.swaps for job in done.values()], done[2].first_tier)
            )

    def test_back_to_full_speed_when_the_background_is_done(self):
        for policy in BY_ARRIVAL:
            _done, finishes = self.finishes(
                policy,
                2,
                execution(1, 0, [0.5, 0.5], 100),
                execution(2, 10, [0.5, 0.5], 40),
                model=LOSS,
            )
            self.assertEqual({1: 10 + 80 + (90 - 64), 2: 90}, finishes, policy)

    def test_nothing_below_a_hot_process(self):
        for policy in BY_ARRIVAL:
            done, finishes = self.finishes(
                policy, 2, execution(1, 0, [0.96, 0.5], 100), execution(2, 10, [0.5, 0.5], 50)
            )
            self.assertEqual({1: 100, 2: 150}, finishes, policy)
            self.assertEqual(FG, done[2].first_tier)

    def test_evicted_job_falls_on_its_slot_and_rises_again(self):
        for policy in ("cmcbf", "amcbf"):
            done, finishes = self.finishes(
                policy,
                2,
                execution(1, 0, [0.5], 10),
                execution(2, 1, [0.5, 0.5], 10),
                execution(3, 2, [0.5], 30, estimate=1),
                model=Progress(loss=(0, 0), eff_single=(0.5, 0.5), eff_parallel=(0.5, 0, 0, 1)),
            )
            # 2 is below until 10 (4.5 done); then 3 (8 done) changes places with it until 15.5.
            self.assertEqual({1: 10, 2: 15.5, 3: 15.5 + 30 - 8 - 2.75}, finishes, policy)
            self.assertEqual([0, 1, 2], [done[number].swaps for number in (1, 2, 3)])
            self.assertEqual({0}, {job.migrations + job.evictions for job in done.values()})

    def partly(self, policy):
        """When 3 fits the foreground, one of its processes has its node's, the other does not."""
        return self.finishes(
            policy,
            3,
            execution(1, 0, [0.1], 100),
            execution(2, 0, [0.5], 20),
            execution(4, 0, [0.2], 10),
            execution(5, 5, [0.5, 0.5], 100),
        )

    def test_migrating_policies_move_a_process(self):
        for policy in ("cmcbf", "amcbf", "ktier-cmbf"):
            done, finishes = self.partly(policy)
            # Half of 15 s, and 20 s for the way.
            self.assertEqual({1: 100, 2: 20, 4: 10, 5: 20 + 20 + 92.5}, finishes, policy)
            self.assertEqual((1, 0, 0), (done[5].migrations, done[5].swaps, done[5].lost))

    def test_tentative_policies_start_it_anew(self):
        for policy in ("ccfcfs", "acfcfs"):
            done, finishes = self.partly(policy)
            self.assertEqual({1: 100, 2: 20, 4: 10, 5: 120}, finishes, policy)
            self.assertEqual((0, 1, 7.5), (done[5].migrations, done[5].kills, done[5].lost))

    def test_closed_slot(self):
        """A job comes up that closes the slot of another in the background."""
        rows = (
            execution(1, 0, [0.5, 0.5], 10),
            execution(2, 1, [1.0, 1.0, 1.0], 50),
            execution(3, 2, [0.5], 100),
        )
        # 2 is at a quarter of its speed until 10, when 3 has done 8 s.
        done, finishes = self.finishes("cmcbf", 3, *rows)
        end = 10 + 50 - 9 / 4
        self.assertEqual({1: 10, 2: end, 3: end + 20 + 92}, finishes)
        self.assertEqual((1, 1, 0), (done[3].evictions, done[3].migrations, done[3].kills))


class TestNodes(Rates, Readings, Policies, SharedCase):
    def cluster(self, nodes):
        return Nodes(nodes)


class TestManyNodes(Rates, Readings, Policies, SharedCase):
    def cluster(self, nodes):
        return ManyNodes(nodes)


class TestHosts(Rates, Readings, Policies, SharedCase):
    def cluster(self, nodes):
        return hosts(nodes)


class TestManyHosts(Rates, Readings, Policies, SharedCase):
    def cluster(self, nodes):
        return ManyHosts(nodes, 1)


class SlotsOfAHost:
    """What only hosts with several slots or tiers have."""

    def make_scene(self, slots, tiers=2, model=PLAIN):
        cluster = self.host(slots, tiers)
        return Scene(cluster, running_on(cluster, model))

    def test_background_finds_the_idle_slot(self):
        scene = self.make_scene(2, model=LOSS)
        scene.start(0, FG, [0], execution(1, 0, [0.9], 100))
        scene.start(0, BG, [0], execution(2, 0, [0.9], 100))
        self.assertEqual({1: 100, 2: 100}, scene.finishes())

    def test_hottest_foreground_beside_the_least_background(self):
        scene = self.make_scene(2)
        scene.start(0, FG, [0, 0], execution(1, 0, [0.8, 0.4], 1000))
        scene.start(0, BG, [0, 0], execution(2, 0, [0.6, 0.4], 100))
        # 0.6 finds 0.6; 0.4 finds 0.2: half of a half.
        self.assertAlmostEqual(400, scene.finishes()[2])

    def test_who_is_below_whom_follows_from_who_is_there(self):
        scene = self.make_scene(2)
        scene.start(0, FG, [0], execution(1, 0, [0.5], 10))
        scene.start(0, FG, [0], execution(2, 0, [0.75], 1000))
        scene.start(0, BG, [0], execution(3, 0, [0.5], 100))
        # Below 1 at 0.9, then on the slot that 1 left.
        self.assertAlmostEqual(10 + 91, scene.finishes()[3])

    def test_several_in_the_background_share_what_is_left(self):
        scene = self.make_scene(1, tiers=3, model=LOSS)
        scene.start(0, FG, [0], execution(1, 0, [0.5], 1000))
        scene.start(0, BG, [0], execution(2, 0, [0.4], 90))
        scene.start(0, BG, [0], execution(3, 0, [0.2], 90))
        # The one that wants more has 0.5, which is enough; 0.1 is half of what the other wants.
        found = scene.finishes()
        self.assertAlmostEqual(100, found[2])
        self.assertAlmostEqual(100 + 45 / 0.9, found[3])
        self.assertAlmostEqual(150 + 1000 - 150 * 0.8, found[1])

    def test_first_in_the_background_alone_with_another_is_at_full_speed(self):
        scene = self.make_scene(1, tiers=3)
        scene.start(0, BG, [0], execution(1, 0, [0.8], 100))
        scene.start(0, BG, [0], execution(2, 0, [0.4], 90))
        # 0.9 * 0.2 / 0.4 for 100 s.
        found = scene.finishes()
        self.assertAlmostEqual(100, found[1])
        self.assertAlmostEqual(100 + 45, found[2])


class TestSlotsOfAHost(SlotsOfAHost, testtools.TestCase):
    def host(self, slots, tiers):
        return Hosts([Host("a", slots, tiers)])


class TestSlotsOfManyHosts(SlotsOfAHost, testtools.TestCase):
    def host(self, slots, tiers):
        return ManyHosts(1, slots, tiers)
