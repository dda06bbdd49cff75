"""benchmarks/shown_intervals.py compares what users are shown with what came."""

import testtools

from benchmarks.shown_intervals import Looks
from nova_twotier.sim import simulation
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.workloads.workload import Submission, Workload


class TestLooks(testtools.TestCase):
    def held(self, runtimes):
        """What held of a queue of jobs that run one after the other and all ask for 100 s."""
        jobs = [Submission(number, 0.0, 2, each, 100.0) for number, each in enumerate(runtimes, 1)]
        workload, scenario = Workload("equal", 2, tuple(jobs)), Scenario("easy")
        looks = Looks(workload, scenario, every=1)
        simulation.simulate(workload, scenario, watch=looks.watch, ended=looks.ended)
        return looks.held

    def test_what_is_predicted_exactly_holds(self):
        held = self.held([100.0] * 30)
        self.assertEqual({"start", "finish, waiting", "finish, running"}, set(held))
        for kind, each in held.items():
            self.assertTrue(each, kind)
            self.assertTrue(all(each), kind)

    def test_what_comes_otherwise_does_not(self):
        held = self.held([100.0] * 20 + [1.0] * 10)
        self.assertIn(False, held["start"])
        self.assertIn(False, held["finish, running"])
