"""The forward run against examples worked out by hand; that it equals the simulator, see
tests/unit/sim/test_forecasts.py."""

import math

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.prediction import forward
from nova_twotier.core.prediction.pace import DEDICATED, Seated
from nova_twotier.core.prediction.present import Forecast, Present
from nova_twotier.core.prediction.sdpn import Slowdowns
from nova_twotier.core.progress import Progress
from nova_twotier.core.snapshot import Snapshot
from tests.unit.core.builders import BG, FG, cluster, hosts, job, jobs

#: Efficiency 0.5, no loss: numbers that one can reckon with.
PLAIN = Progress(loss=(0.0, 0.0), eff_single=(0.5, 0.5), eff_parallel=(0.5, 0.0, 0.5, 0.5))
SEATED = Seated(Slowdowns(progress=PLAIN))


def queue(policy, on, waiting, now=0.0, **options):
    return Present(Snapshot(on, waiting), policies.get(policy), now, **options)


def run(present, remaining, pace=DEDICATED, target=None):
    return forward.run(present, lambda job: float(remaining[job.number]), pace, target)


class TestByHand(testtools.TestCase):
    def test_jobs_start_as_slots_become_free(self):
        on = cluster(4)
        on.start(job(1, 2), FG)
        on.start(job(2, 2), FG)
        found = run(queue("fcfs", on, [job(3, 4), job(4, 1)], 100.0), {1: 10, 2: 20, 3: 5, 4: 7})
        self.assertEqual(
            {
                1: Forecast(100, 110),
                2: Forecast(100, 120),
                3: Forecast(120, 125),
                4: Forecast(125, 132),
            },
            found,
        )

    def test_the_policy_decides_by_the_estimates_of_users_not_by_the_expected_run_times(self):
        on = cluster(4)
        on.start(job(1, 3, estimate=100), FG, until=100.0)
        waiting = [job(2, 4, estimate=10), job(3, 1, estimate=200), job(4, 1, estimate=50)]
        found = run(queue("easy", on, waiting), {1: 10, 2: 10, 3: 1, 4: 30})
        # Job 3 would delay job 2 by its estimate; job 4 would not, and delays it in fact. Nobody
        # decides before job 1 ends: the pass of the present is over.
        self.assertEqual((10, 20, 20), tuple(found[number].start for number in (2, 3, 4)))

    def test_a_job_that_fits_never_is_predicted_to_start_never(self):
        on = cluster(2)
        on.start(job(1, 2), FG)
        found = run(queue("fcfs", on, [job(2, 3), job(3, 1)]), {1: 5, 2: 1, 3: 1})
        self.assertEqual({1: (0, 5), 2: (math.inf,) * 2, 3: (math.inf,) * 2}, found)

    def test_jobs_that_end_together_are_one_event(self):
        """Job 4 does not start on the slot of the first, to be evicted after the second."""
        on = cluster(2, tiers=1)
        on.start(job(1, 1), FG)
        on.start(job(2, 1), FG)
        found = run(queue("ambf", on, [job(3, 2), job(4, 1)]), {1: 5, 2: 5, 3: 10, 4: 1})
        self.assertEqual((Forecast(5, 15), Forecast(15, 16)), (found[3], found[4]))

    def test_the_background_is_slower_until_the_foreground_leaves(self):
        on = cluster(1)
        on.start(job(1, 1, 0.5), FG)
        on.start(job(2, 1, 0.5), BG)
        found = run(queue("amcbf", on, []), {1: 10, 2: 10}, SEATED)
        # Half speed for 10 s, then the foreground is its own.
        self.assertEqual({1: (0, 10), 2: (0, 15)}, found)

    def test_an_eviction_saves_the_work_and_a_restore_costs_time(self):
        on = cluster(2, tiers=1)
        on.start(job(1, 1), FG)
        on.start(job(3, 1), FG)
        found = run(queue("cmbf", on, [job(2, 2)], cost=20.0), {1: 10, 2: 5, 3: 30})
        # Job 3 has 20 s left when job 2 evicts it, and is restored when that ends.
        self.assertEqual({1: (0, 10), 2: (10, 15), 3: (0, 15 + 20 + 20)}, found)

    def test_a_job_that_is_just_starting_can_be_evicted_later(self):
        on = cluster(2, tiers=1)
        on.start(job(1, 1), FG)
        on.adopt(on.remove(on.start(job(3, 1), FG).job)._replace(pinned=True))
        found = run(queue("cmbf", on, [job(2, 2)]), {1: 10, 2: 5, 3: 30})
        self.assertEqual(Forecast(10, 15), found[2])
        self.assertTrue(on.runs[3].pinned)

    def test_a_job_that_waits_with_its_state_saved_pays_for_the_restore(self):
        on = cluster(1, tiers=1)
        on.start(job(1, 1), FG)
        present = queue("cmbf", on, [job(2, 1)], done={2: 7.0}, cost=20.0)
        self.assertEqual(Forecast(10, 33), run(present, {1: 10, 2: 3})[2])

    def test_a_kill_loses_all_work(self):
        on = cluster(2)
        on.start(job(1, 1, 1.0), FG)
        on.start(job(3, 1, 1.0, background=False), FG)
        # Job 2 needs both slots, and kills job 3 when job 1 leaves.
        found = run(queue("acfcfs", on, [job(2, 2, 1.0)], done={3: 50.0}), {1: 10, 2: 5, 3: 100})
        self.assertEqual(Forecast(10, 15), found[2])
        self.assertEqual(15 + 150, found[3].finish)


class TestShared(testtools.TestCase):
    """One run answers for the whole queue."""

    @given(st.data())
    def test_a_target_gets_the_answer_of_the_whole_queue(self, data):
        policy = data.draw(st.sampled_from(sorted(policies.POLICIES)))
        on = Hosts(data.draw(hosts(tiers=(2,))))
        waiting = [
            each
            for each in data.draw(jobs(max_size=on.idle[FG] if on.idle[FG] < 4 else 4))
            if not each.mbps
        ]
        if not waiting:
            return
        snapshot = Snapshot(on, waiting)
        chosen = policies.get(policy)
        chosen.schedule(snapshot, policies.policy.Event(7), 5.0)
        present = Present(snapshot, chosen, 5.0)
        remaining = {each.number: data.draw(st.floats(0, 100)) for each in waiting}
        before = (len(snapshot.queue), dict(snapshot.cluster.runs))
        everything = run(present, remaining, SEATED)
        self.assertEqual({each.number for each in waiting}, set(everything))
        target = data.draw(st.sampled_from(sorted(everything)))
        self.assertEqual(everything[target], run(present, remaining, SEATED, target)[target])
        for found in everything.values():
            self.assertLessEqual(5.0, found.start)
            self.assertLessEqual(found.start, found.finish)
        self.assertEqual(before, (len(snapshot.queue), dict(snapshot.cluster.runs)))
