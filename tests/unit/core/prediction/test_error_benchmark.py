"""benchmarks/prediction_errors.py tells what is due to run times from what is due to arrivals."""

import pandas
import testtools

from benchmarks.prediction_errors import Told, table
from nova_twotier.core import policies
from nova_twotier.core.prediction.present import Present
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

    def test_the_table(self):
        made = pandas.DataFrame(
            {
                "estimator": ["sdpn"] * 4,
                "job": [1, 2, 3, 4],
                "expected_start": [0.0, 0.0, 1200.0, 60.0],
                "start": [3600.0, 0.0, 0.0, 0.0],
            }
        )
        self.assertEqual(
            [
                "minutes; 4 jobs",
                "                 median    mean  >10 early  >10 late",
                "sdpn               10.5    20.2        25%       25%",
            ],
            table(made).splitlines(),
        )
