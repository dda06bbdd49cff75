"""benchmarks/prediction_errors.py tells what is due to run times from what is due to arrivals."""

import pandas
import testtools

from benchmarks.prediction_errors import Drawn, Told, table
from nova_twotier.core import policies
from nova_twotier.core.prediction.present import Past, Present
from nova_twotier.core.prediction.sdpn import Sdpn
from nova_twotier.core.snapshot import Snapshot
from tests.unit.core.builders import FG, cluster, job


class TestErrors(testtools.TestCase):
    def test_only_what_it_is_told_is_known(self):
        on = cluster(1, tiers=1)
        on.start(job(1, estimate=100), FG)
        waiting = [job(2, estimate=50)]
        present = Present(Snapshot(on, waiting), policies.get("fcfs"), 0.0, done={1: 5.0})
        true = {1: 30.0, 2: 20.0}
        for running, waiting, expected in (
            (False, False, (95, 145)),
            (True, False, (25, 75)),
            (False, True, (95, 115)),
            (True, True, (25, 45)),
        ):
            found = Told(true, running=running, waiting=waiting).predict(present)
            self.assertEqual(expected, tuple(found[2]))

    def test_half_of_what_is_left_is_known(self):
        on = cluster(1, tiers=1)
        on.start(job(1, estimate=125), FG)
        present = Present(Snapshot(on, [job(2)]), policies.get("fcfs"), 0.0, done={1: 25.0})
        told = Told({1: 425.0}, running=True, waiting=False, share=0.5)
        # The geometric mean of 100 and 400 seconds.
        self.assertAlmostEqual(200.0, told.predict(present)[2].start)

    def test_draws_from_the_run_times_of_similar_jobs(self):
        """Of two jobs that run, the first to end is earlier than the median of either."""
        on = cluster(2, tiers=1)
        for number in (1, 2):
            on.start(job(number), FG)
        present = Present(Snapshot(on, [job(3)]), policies.get("fcfs"), 0.0)
        starts = {}
        for estimator in (Sdpn(), Drawn()):
            for number, seconds in enumerate(range(100, 1000, 100)):
                past = job(10 + number)
                estimator.learn(Past(past, None, 0.0, seconds, seconds))
            starts[type(estimator)] = estimator.predict(present)[3].start
        median, drawn = starts.values()
        self.assertEqual(500.0, median)
        self.assertLess(drawn, median)
        self.assertGreaterEqual(drawn, 100.0)

    def test_the_table(self):
        made = pandas.DataFrame(
            {
                "estimator": ["sdpn"] * 4,
                "job": [1, 2, 3, 4],
                "made": [0.0, 0.0, 10.0, 20.0],
                "expected_start": [0.0, 0.0, 1200.0, 60.0],
                "corrected_start": [0.0, 0.0, 600.0, 120.0],
                "start": [3600.0, 0.0, 0.0, 0.0],
            }
        )
        self.assertEqual(
            [
                "minutes; 4 jobs",
                "                    median   first  second corrected    mean  >10 early  >10 late",
                "sdpn                  10.5    30.0    10.5       6.0    20.2        25%       25%",
            ],
            table(made).splitlines(),
        )
