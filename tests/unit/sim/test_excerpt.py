"""A workload that is part of the project, under the policies, against fixed numbers.

`data/lublin-600.swf` was made by the project's own model, and kept, so that a change of the model
does not change it (the CPU utilisations are drawn anew):

    twotier-sim workload generate lublin:600+tsafrir --nodes 64 --load 0.9 --seed 1 --out FILE

The numbers are what this simulator gave when it agreed with the printed numbers and the reference
values of `test_traces.py`, whose traces not everybody has. FCFS and EASY are also compared job by
job with `textbook.py`. A change that changes a number has to say why.
"""

import pathlib
from functools import cache

import ddt
import testtools

from nova_twotier.sim import metrics
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads import catalogue
from tests.unit.sim import textbook

FILE = pathlib.Path(__file__).parent / "data" / "lublin-600.swf"
JOBS = 600

#: Average and maximum wait (s), average and maximum bounded slowdown, and the jobs' migrations,
#: evictions, kills and swaps.
EXPECTED = {
    "fcfs": (66079.921, 258181.965, 2195.545, 25756.065, 0, 0, 0, 0),
    "easy": (15375.307, 162582.703, 314.262, 13258.153, 0, 0, 0, 0),
    "conservative": (19606.963, 185714.465, 350.049, 13027.817, 0, 0, 0, 0),
    "cmbf": (22194.87, 147486.03, 690.825, 6711.06, 263, 263, 0, 0),
    "ambf": (17208.684, 116792.103, 510.468, 6700.087, 137, 137, 0, 0),
    "cmcbf": (8757.519, 91072.943, 177.454, 3816.762, 316, 122, 0, 71),
    "amcbf": (8717.426, 90997.619, 179.118, 4489.708, 266, 97, 0, 48),
    "ktier-cmbf": (12292.821, 107583.151, 223.134, 5068.161, 414, 154, 0, 61),
    "ccfcfs": (17800.478, 150686.236, 385.608, 9056.774, 0, 0, 60, 29),
    "acfcfs": (14804.347, 147675.563, 209.73, 9501.151, 0, 0, 130, 35),
}


@cache
def workload():
    return catalogue.load(str(FILE))


@ddt.ddt
class TestExcerpt(testtools.TestCase):
    @ddt.data(*EXPECTED)
    def test_fixed_numbers(self, policy):
        progress = "jss" if policy in ("ccfcfs", "acfcfs") else "tpds"
        found = simulate(workload(), Scenario(policy, progress=progress))
        row = metrics.summarise(found)
        self.assertEqual((JOBS, 64), (row["jobs"], row["nodes"]))
        amounts = [
            round(row[name], 3)
            for quantity in ("wait_seconds", "bounded_slowdown")
            for name in (f"average_{quantity}", f"maximum_{quantity}")
        ]
        counts = [int(found.jobs[count].sum()) for count in metrics.COUNTS]
        self.assertEqual(EXPECTED[policy], (*amounts, *counts))

    @ddt.data("fcfs", "easy")
    def test_the_textbook_starts_every_job_at_the_same_time(self, policy):
        made = workload()
        expected = textbook.starts(made.jobs, made.nodes, backfill=policy == "easy")
        found = simulate(made, Scenario(policy)).jobs
        self.assertEqual(expected, dict(zip(found["job"], found["start"], strict=True)))
        self.assertEqual(JOBS, len(expected))
