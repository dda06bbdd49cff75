"""The time-shared cluster of CISNE: node selection, local load, and mutual slowdowns."""

import random

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core import policies, prediction
from nova_twotier.core.actions import FG
from nova_twotier.sim import cisne, crowd, engine
from nova_twotier.sim.cisne import Setup
from nova_twotier.sim.crowd import Crowd, LocalUsers, TimeShared
from nova_twotier.sim.execution import Execution
from tests.unit.core.builders import job
from tests.unit.core.builders import jobs as drawn_jobs


class Quiet(LocalUsers):
    """Nobody but the parallel jobs."""

    def __init__(self, saturated=0):
        super().__init__(saturated, random.Random(0))
        self.load = [0.0] * crowd.NODES

    def until(self, now):
        pass


def run(*jobs, level=4, users=None):
    """When each of the jobs that run 100 s ends."""
    executions = [Execution(each, each.cpu, 100.0) for each in jobs]
    running = TimeShared(users or Quiet())
    done = engine.run(executions, policies.get("fcfs"), Crowd(level, uniform=False), running)
    return {each.job.number: each.finish for each in done}


def at_once(number, size, cpu, mbps=0.0):
    return job(number, size, cpu, arrival=0.0, mbps=mbps)


class TestCrowd(testtools.TestCase):
    def test_normal_chooses_the_least_loaded_nodes(self):
        nodes = Crowd(4, uniform=False)
        nodes.start(job(1, 8, 0.8), FG)
        self.assertEqual(tuple(range(8, 16)), nodes.start(job(2, 8, 0.2), FG).hosts)
        self.assertEqual(tuple(range(8, 12)), nodes.start(job(3, 4, 0.2), FG).hosts)

    def test_uniform_puts_unlike_processes_together_on_evenly_filled_nodes(self):
        nodes = Crowd(4, uniform=True)
        nodes.start(job(1, 8, 0.8), FG)
        nodes.start(job(2, 8, 0.2), FG)
        self.assertEqual(tuple(range(8, 12)), nodes.start(job(3, 4, 0.8), FG).hosts)
        self.assertEqual(tuple(range(4)), nodes.start(job(4, 4, 0.2), FG).hosts)

    @given(st.integers(1, 4), st.booleans(), drawn_jobs(max_size=8))
    def test_never_more_than_its_level(self, level, uniform, jobs):
        nodes = Crowd(level, uniform)
        for each in jobs:
            if nodes.fits(each, FG):
                run = nodes.start(each, FG)
                self.assertEqual(each.size, len(run.hosts))
        self.assertLessEqual(max(nodes.used[FG]), level)
        self.assertEqual(nodes.used, nodes.copy().used)

    def test_processes_of_a_job_are_spread(self):
        nodes = Crowd(2, uniform=False)
        nodes.start(job(1, 14, 0.5), FG)
        self.assertEqual(8, len(set(nodes.start(job(2, 8, 0.5), FG).hosts)))


class TestTimeShared(testtools.TestCase):
    def test_alone_at_full_speed(self):
        self.assertEqual({1: 100}, run(at_once(1, 8, 0.5)))

    def test_a_process_shares_its_cpu_with_those_that_compute(self):
        # 16 nodes with a process of each job: 0.5 computing, beside 0.5.
        found = run(at_once(1, 16, 0.5), at_once(2, 16, 0.5))
        for finish in found.values():
            self.assertAlmostEqual(100 * (0.5 * 1.5 + 0.5), finish)

    def test_one_job_a_node(self):
        self.assertEqual({1: 100, 2: 200}, run(at_once(1, 16, 0.5), at_once(2, 16, 0.5), level=1))

    def test_local_users_and_saturated_links_slow_jobs_down(self):
        busy = Quiet()
        busy.load = [0.0] * 15 + [0.5]
        self.assertAlmostEqual(150, run(at_once(1, 16, 0.5), users=busy)[1])
        narrow = run(at_once(1, 16, 0.5, mbps=600.0), users=Quiet(saturated=8))[1]
        self.assertAlmostEqual(100 * (0.5 + 0.5 * 600 / 300), narrow)


class TestLocalUsers(testtools.TestCase):
    def test_load_is_15_percent_on_average_and_changes(self):
        users = LocalUsers(8, random.Random(3))
        seen = []
        for now in range(0, 20000, 50):
            users.until(now)
            seen += users.load
        self.assertAlmostEqual(crowd.LOCAL, sum(seen) / len(seen), delta=0.02)
        self.assertEqual(8, sum(node.local_mbps > 100 for node in users.nodes(0)))

    def test_windows_average_the_last_samples(self):
        users = LocalUsers(0, random.Random(3))
        off = dict.fromkeys((0, 30, 120), 0.0)
        for now in range(500, 20000, 100):
            users.until(now)
            self.assertEqual(users.load, [node.local for node in users.nodes(0)])
            for window in off:
                off[window] += sum((n.local - crowd.LOCAL) ** 2 for n in users.nodes(window))
        self.assertGreater(off[0], off[30])
        self.assertGreater(off[30], off[120])


class TestRun(testtools.TestCase):
    def test_every_job_is_predicted_by_every_estimator_and_repeats(self):
        def predictions():
            estimators = {name: prediction.get(name) for name in ("sdpn", "historical")}
            return cisne.run(Setup(backfilling=True), estimators, seed=5).drop(columns="seconds")

        found = predictions()
        self.assertEqual(
            {"sdpn": cisne.JOBS, "historical": cisne.JOBS}, dict(found.estimator.value_counts())
        )
        self.assertTrue((found.start <= found.finish).all())
        self.assertTrue(found.equals(predictions()))

    def found(self, **setup):
        return cisne.run(Setup(**setup), {"sdpn": prediction.get("sdpn")}, seed=5)

    def test_the_window_changes_the_predictions_alone(self):
        short, long = self.found(window=0), self.found(window=120)
        self.assertEqual(short.finish.tolist(), long.finish.tolist())
        self.assertNotEqual(short.expected_finish.tolist(), long.expected_finish.tolist())

    def test_node_selection_and_saturation_change_what_happens(self):
        plain = self.found().finish.tolist()
        self.assertNotEqual(plain, self.found(uniform=True).finish.tolist())
        self.assertNotEqual(plain, self.found(saturated=True).finish.tolist())
