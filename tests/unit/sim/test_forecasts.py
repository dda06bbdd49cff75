"""Predictions during a run: the forward run is the simulator's future; what came is kept."""

import pandas
import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core import prediction
from nova_twotier.core.prediction import forward
from nova_twotier.core.prediction.present import Present
from nova_twotier.core.prediction.sdpn import Sdpn
from nova_twotier.sim import forecasts, simulation, variants
from nova_twotier.sim.scenario import InvalidScenario, Scenario
from nova_twotier.sim.workloads.workload import Submission, Workload
from tests.unit.sim.run_builders import ONE_TIER, TWO_TIER, workload

EVERY = sorted(ONE_TIER + TWO_TIER)
#: Policies with a memory of their own, and those that can be run forward.
REMEMBERING = ("easy++", "bgmbf-as-printed", "bgmbf-sdf-as-printed")
FORWARD = sorted({*EVERY, *variants.VARIANTS} - {*REMEMBERING})
TIMES = st.integers(1, 60)


class Oracle:
    """Predicts with the true run times when the last job has arrived."""

    def __init__(self, jobs, scenario):
        self.runtimes = {job.number: job.runtime for job in jobs.jobs}
        self.last = jobs.jobs[-1].arrival
        self.scenario = scenario
        self.found = None

    def watch(self, snapshot, waiting, running, now):
        if now < self.last or self.found is not None:
            return
        done = {
            number: job.done(now) for each in (waiting, running) for number, job in each.items()
        }
        self.running = set(running)
        policy = variants.get(self.scenario.policy)
        present = Present(snapshot, policy, now, done, cost=self.scenario.migration_cost)
        self.found = forward.run(
            present,
            lambda job: self.runtimes[job.number] - done[job.number],
            Sdpn().pace(present),
        )


class TestOracle(testtools.TestCase):
    @given(st.sampled_from(EVERY), st.integers(1, 2), st.data())
    def test_with_true_run_times_the_forecast_is_what_happens(self, policy, slots, data):
        rows = data.draw(
            st.lists(
                st.tuples(st.integers(0, 20), st.integers(1, 4), TIMES, TIMES),
                min_size=1,
                max_size=12,
            )
        )
        self.check(rows, policy, slots)

    def test_who_shares_a_slot_depends_on_arrivals_only(self):
        """Two background processes of equal utilisation have come to a host in either order."""
        rows = [(0, 1, 1), (0, 4, 13), *[(1, 1, 1)] * 2, (1, 1, 26), (1, 2, 23), (2, 2, 5)]
        rows += [(3, 2, 1), (4, 1, 29), (5, 1, 1)]
        for policy in ("amcbf", "cmcbf"):
            self.check([(*row, row[-1]) for row in rows], policy, slots=2)

    def check(self, rows, policy, slots):
        rows = [
            (arrival, size, run, max(run, request)) for arrival, size, run, request in sorted(rows)
        ]
        jobs = workload(4, *rows)
        # Nobody is on his way when the forecast is made.
        scenario = Scenario(policy, slots=slots, migration_cost=0.0)
        oracle = Oracle(jobs, scenario)
        happened = simulation.simulate(jobs, scenario, watch=oracle.watch).jobs.set_index("job")
        for number, (start, finish) in oracle.found.items():
            self.assertAlmostEqual(happened.finish[number], finish, places=6)
            if number not in oracle.running and happened.start[number] >= oracle.last:
                self.assertAlmostEqual(happened.start[number], start, places=6)


class TestSimulate(testtools.TestCase):
    def simulate(self, jobs, policy="fcfs", names=("requested", "sdpn"), **options):
        estimators = {name: prediction.get(name) for name in names}
        return forecasts.simulate(jobs, Scenario(policy, **options), estimators)

    def test_only_jobs_that_wait_are_predicted(self):
        jobs = workload(2, (0, 2, 100, 150), (10, 1, 5, 50), (10, 1, 5, 50), (500, 2, 9))
        _result, found = self.simulate(jobs)
        self.assertEqual({2, 3}, set(found.job))
        self.assertEqual(4, len(found))
        requested = found[found.estimator == "requested"].set_index("job")
        self.assertEqual([10, 10], requested.made.tolist())
        self.assertEqual([150, 150], requested.expected_start.tolist())
        self.assertEqual([100, 100], requested.start.tolist())
        self.assertEqual([200, 200], requested.expected_finish.tolist())
        self.assertEqual([105, 105], requested.finish.tolist())

    def test_under_every_policy_each_job_that_waits_on_arrival_is_predicted(self):
        rows = [(3 * (n // 2), 1 + n % 4, 5 + 7 * n % 60, 5 + 11 * n % 90) for n in range(40)]
        jobs = workload(4, *((at, size, run, max(run, ask)) for at, size, run, ask in rows))
        for policy in FORWARD:
            waited = set()

            def watch(_snapshot, waiting, _running, now, waited=waited):
                waited |= {number for number, each in waiting.items() if each.job.arrival == now}

            simulation.simulate(jobs, Scenario(policy), watch=watch)
            _result, found = self.simulate(jobs, policy, names=("requested",))
            self.assertGreater(len(waited), 10, policy)
            self.assertEqual(sorted(waited), sorted(found.job), policy)

    def test_policies_that_remember_are_refused(self):
        jobs = workload(1, (0, 1, 10), (1, 1, 5))
        for policy in REMEMBERING:
            error = self.assertRaises(InvalidScenario, self.simulate, jobs, policy)
            self.assertIn(f"{policy} remembers the past", str(error))

    def test_learns_from_ended_jobs_of_the_same_user(self):
        """A day of one user's jobs that run for a tenth of what they ask for."""
        rows = [
            Submission(number, 50.0 * number, 2, 60.0, 600.0, user=7) for number in range(1, 60)
        ]
        _result, found = self.simulate(Workload("t", 2, tuple(rows)))
        error = (found.expected_start - found.start).abs().groupby(found.estimator).median()
        self.assertLess(error["sdpn"], error["requested"] / 10)
        late = found[(found.job > 40) & (found.estimator == "sdpn")]
        self.assertFalse(late.start_low.isna().any())
        self.assertTrue(((late.start_low <= late.start) & (late.start <= late.start_high)).all())

    def test_the_run_is_as_without_predictions(self):
        rows = [(7 * n % 40, 1 + n % 4, 5 + n % 9, 30) for n in range(40)]
        jobs = workload(4, *sorted(rows))
        for policy in ("easy", "amcbf", "acfcfs"):
            result, found = self.simulate(jobs, policy, tuple(prediction.ESTIMATORS))
            plain = simulation.simulate(jobs, Scenario(policy))
            pandas.testing.assert_frame_equal(plain.jobs, result.jobs)
            starts = plain.jobs.set_index("job").start
            self.assertEqual(starts[found.job].tolist(), found.start.tolist())

    def test_a_job_that_starts_and_ends_at_once(self):
        jobs = workload(1, (0, 1, 10), (1, 1, 0), (1, 1, 5))
        _result, found = self.simulate(jobs, names=("requested",))
        self.assertEqual([10, 10], found.set_index("job").start[[2, 3]].tolist())
        self.assertEqual([10, 15], found.set_index("job").finish[[2, 3]].tolist())
