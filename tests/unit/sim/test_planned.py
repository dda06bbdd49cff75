"""The forecast of a batch system: reservations in one tier, by requested times."""

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.sim import forecasts
from nova_twotier.sim.planned import Planned
from nova_twotier.sim.scenario import Scenario
from tests.unit.sim.run_builders import workload


class TestPlanned(testtools.TestCase):
    def planned(self, jobs, policy):
        _result, found = forecasts.simulate(jobs, Scenario(policy), {"planned": Planned()})
        return found.set_index("job")

    @given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 60)), max_size=12))
    def test_it_is_the_plan_of_conservative_backfilling(self, waiting):
        """With exact requests and no later arrivals, all comes as it was planned."""
        rows = [(0, 4, 50, 50), *((1, size, run, run) for size, run in waiting)]
        found = self.planned(workload(4, *rows), "conservative")
        self.assertEqual(len(waiting), len(found))
        self.assertEqual(found.start.tolist(), found.expected_start.tolist())

    def test_under_easy_no_waiting_job_is_delayed_by_a_later_one(self):
        """Job 5 fits when job 2 has ended, but would delay job 3, whose reservation is at 100."""
        rows = [(0, 2, 100, 100), (0, 1, 40, 40), (1, 3, 10, 10), (2, 4, 10, 10), (3, 2, 120, 120)]
        found = self.planned(workload(4, *rows), "easy")
        self.assertEqual([100, 110, 120], found.expected_start.tolist())

    def test_the_background_is_not_planned(self):
        """Job 2 runs there when job 3 arrives: its turn comes first, but not in the plan."""
        found = self.planned(workload(2, (0, 2, 100, 150), (0, 2, 500), (1, 2, 10)), "amcbf")
        self.assertEqual([3], found.index.tolist())
        # Both share their slots with job 2, which costs them a little.
        self.assertAlmostEqual(150, found.expected_start[3], delta=5)
        self.assertAlmostEqual(100, found.start[3], delta=5)
