"""What the start of a waiting job depends on."""

import math

import testtools

from nova_twotier.core import policies, prediction
from nova_twotier.core.prediction.present import Forecast, Past, Present
from nova_twotier.core.prediction.questions import Question, answer
from nova_twotier.core.prediction.unblocking import enders, largest_startable
from nova_twotier.core.snapshot import Snapshot
from tests.unit.core.builders import FG, cluster, job


def present(policy, slots, running, waiting, **more):
    on = cluster(slots, tiers=1)
    for each in running:
        on.start(each, FG, until=each.expected)
    return Present(Snapshot(on, waiting), policies.get(policy), 0.0, **more)


class TestSmaller(testtools.TestCase):
    def size(self, policy, slots, running, waiting):
        """Of the last waiting job."""
        shown = present(policy, slots, running, waiting)
        found = largest_startable(shown, waiting[-1])
        self.assertEqual(len(waiting), len(shown.snapshot.queue))
        return found

    def test_the_head_starts_with_as_many_processes_as_slots_are_idle(self):
        for idle in range(1, 8):
            running = [job(1, 8 - idle)]
            self.assertEqual(idle, self.size("fcfs", 8, running, [job(2, 8)]))

    def test_no_slot_is_idle(self):
        self.assertIsNone(self.size("fcfs", 4, [job(1, 4)], [job(2, 3)]))

    def test_one_process_cannot_be_fewer(self):
        self.assertIsNone(self.size("fcfs", 4, [job(1, 4)], [job(2, 1)]))

    def test_the_policy_decides_not_the_idle_slots(self):
        waiting = [job(2, 8, estimate=50), job(3, 6, estimate=50)]
        self.assertIsNone(self.size("fcfs", 8, [job(1, 4, estimate=10)], waiting))
        # Six slots are reserved from 10 s on, and the job does not end before.
        waiting = [job(2, 6, estimate=50), job(3, 6, estimate=50)]
        self.assertEqual(2, self.size("easy", 8, [job(1, 4, estimate=10)], waiting))


class TestEnders(testtools.TestCase):
    def test_the_first_of_those_that_end_together(self):
        forecasts = {1: Forecast(0, 10), 2: Forecast(0, 10), 3: Forecast(10, 15)}
        self.assertEqual({10: 1, 15: 3}, enders(forecasts))


class TestAnswer(testtools.TestCase):
    def test_all_of_a_queue(self):
        shown = present("fcfs", 4, [job(1, 2)], [job(2, 4), job(3, 1)])
        estimator = prediction.get("sdpn")
        past = [Past(job(9, 2), None, 0.0, 70.0, 70.0)]
        found = answer(estimator, Question(past, shown, near=1))
        self.assertEqual(Forecast(0, 70), found.forecasts[1])
        self.assertEqual(Forecast(70, 140), found.forecasts[2])
        self.assertEqual({1: 1.0}, found.rates)
        self.assertEqual({2: 2}, found.smaller)

    def test_what_is_known_to_be_left_is_not_estimated(self):
        left = {-1: math.inf, 1: 0.0}
        shown = present("fcfs", 4, [job(-1, 2), job(1, 2)], [job(2, 2), job(3, 3)], left=left)
        for name in prediction.ESTIMATORS:
            found = prediction.get(name).predict(shown)
            self.assertEqual((math.inf, 0.0), (found[-1].finish, found[1].finish), name)
        found = prediction.get("sdpn").predict(shown)
        self.assertEqual((0.0, math.inf), (found[2].start, found[3].start))
