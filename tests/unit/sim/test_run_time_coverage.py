"""How often the quantiles of similar past jobs hold."""

import math

import testtools

from nova_twotier.sim import run_time_coverage
from tests.unit.sim.run_builders import jobs


def coverage(*runtimes, users=None):
    """Of jobs of one node and user, one after the other, each with ample time asked for."""
    rows = [(1000 * number, 1, each, 900) for number, each in enumerate(runtimes)]
    frame = jobs(1, "fcfs", *rows).reset_index()
    users = dict.fromkeys(frame["job"], 7) if users is None else users
    found = run_time_coverage.coverage(frame, users)
    names = run_time_coverage.BELOW, run_time_coverage.WITHIN, run_time_coverage.ABOVE
    return [found[name] for name in names]


class TestCoverage(testtools.TestCase):
    def test_below_within_and_above(self):
        """Of the first three, too little is known; then 10 to 30 is all that there is."""
        self.assertEqual([0, 100, 0], coverage(10, 10, 10, 10))
        self.assertEqual([0, 0, 100], coverage(10, 10, 10, 11))
        self.assertEqual([25, 50, 25], coverage(10, 30, 20, 25, 5, 40, 20))

    def test_nothing_to_tell(self):
        self.assertTrue(all(map(math.isnan, coverage(10, 10, 10))))

    def test_a_job_that_takes_no_time(self):
        self.assertEqual([0, 100, 0], coverage(0, 0, 0, 0))
