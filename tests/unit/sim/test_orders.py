"""Orders and predictions that only the simulator has, and estimates that are understated."""

import math

import testtools

from nova_twotier.core.policies.policy import Policy
from nova_twotier.sim import variants
from nova_twotier.sim.scenario import InvalidScenario, Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads.workload import Submission, Workload
from tests.unit.core.builders import job
from tests.unit.sim.run_builders import jobs


def starts(policy, *rows, nodes=2, **options):
    """The start of each job, in seconds; a row is arrival, size, runtime, estimate, user."""
    made = [Submission(number, *row) for number, row in enumerate(rows, start=1)]
    found = simulate(Workload("t", nodes, tuple(made)), Scenario(policy, **options)).jobs
    return found.set_index("job")["start"].to_dict()


class TestLearnedOrders(testtools.TestCase):
    """Table 3 of SC 2017, reckoned by hand for r = 100 s, n = 4, s = 1000 s."""

    ONE = job(1, 4, arrival=1000.0, estimate=100.0)

    def test_as_they_are_printed(self):
        for name, rank in (
            ("easy-f1", 2 * 4 + 870 * 3),
            ("easy-f2", 10 * 4 + 25_600 * 3),
            ("easy-f3", 100 * 4 + 6_860_000 * 3),
            ("easy-f4", 100 * 2 + 530_000 * 3),
            ("amcbf-f4", 100 * 2 + 530_000 * 3),
        ):
            self.assertAlmostEqual(rank, variants.get(name).rank(self.ONE), msg=name)

    def test_a_first_job_without_run_time(self):
        for name in ("easy-f1", "easy-f2", "easy-f3", "easy-f4"):
            self.assertTrue(math.isfinite(variants.get(name).rank(job(1, arrival=0, estimate=0))))

    def test_they_decide(self):
        """The shortest of those that arrive at much the same time, late in the trace."""
        late = 1e6
        rows = ((0, 100, 100), (1, 50, 1000), (2, 50, 10_000), (3, 50, 100))
        found = starts("easy-f4", *((late + at, 2, *times) for at, *times in rows))
        self.assertEqual({1: late, 4: late + 100, 2: late + 150, 3: late + 200}, found)


class TestEasyPlusPlus(testtools.TestCase):
    #: Two short jobs of user 1, one after the other; then one node is busy until 1000, and the head
    #: needs both.
    BEFORE = ((0, 1, 10, 500, 1), (20, 1, 20, 500, 1), (100, 1, 900, 900, 2), (101, 2, 10, 10, 2))

    def test_who_was_short_before_is_predicted_to_be(self):
        """Its estimate would delay the head; 15 s do not."""
        rows = (*self.BEFORE, (200, 1, 15, 5000, 1))
        self.assertEqual(200, starts("easy++", *rows)[5])
        self.assertGreater(starts("easy", *rows)[5], 1000)

    def test_without_two_jobs_of_its_user_the_estimate_counts(self):
        for user in (3, -1):
            rows = (*self.BEFORE, (200, 1, 15, 5000, user))
            self.assertGreater(starts("easy++", *rows)[5], 1000)

    def test_no_prediction_is_above_the_estimate(self):
        long = ((0, 1, 500, 500, 1), (0, 1, 500, 500, 1))
        rows = (*long, (600, 1, 900, 900, 2), (601, 2, 10, 10, 2), (1450, 1, 20, 40, 1))
        self.assertEqual(1450, starts("easy++", *rows)[5])

    def test_who_outruns_its_prediction_is_predicted_anew(self):
        """Job 3 was to end at 115, and is not expected "at any moment" for ever: job 5 fits beside
        the head's reservation only when that is further away."""
        before = ((0, 1, 10, 500, 1), (20, 1, 20, 500, 1))
        rows = (*before, (100, 1, 5000, 9000, 1), (101, 2, 10, 10, 2), (200, 1, 30, 50, 3))
        self.assertEqual(200, starts("easy++", *rows)[5])

    def test_shortest_first(self):
        """From 51 to 100 there is one node beside the head's reservation."""
        busy = ((0, 1, 100, 100), (1, 1, 50, 50))
        rows = (*busy, (2, 2, 10, 10), (3, 1, 45, 45), (4, 1, 30, 30))
        self.assertEqual({1: 0, 2: 1, 3: 100, 4: 110, 5: 51}, starts("easy++", *rows))

    def test_each_run_has_its_own_memory(self):
        rows = (*self.BEFORE, (200, 1, 15, 5000, 1))
        self.assertEqual(starts("easy++", *rows), starts("easy++", *rows))
        self.assertIsNot(variants.get("easy++"), variants.get("easy++"))


class TestUsers(testtools.TestCase):
    MADE = Workload("t", 2, (Submission(1, 0.0, 1, 5.0, 9.0, 7), Submission(2, 1.0, 1, 5.0, 9.0)))

    def test_of_a_trace_and_back(self):
        trace = self.MADE.to_swf()
        self.assertEqual([7, -1], [record.user for record in trace.records])
        self.assertEqual(self.MADE, Workload.from_swf(trace, name="t"))

    def test_scaled_to_a_load(self):
        self.assertEqual([7, -1], [job.user for job in self.MADE.scaled(0.5).jobs])


class TestUnderstated(testtools.TestCase):
    ROWS = tuple((number, 1, 30, 100) for number in range(40))

    def estimates(self, share, **options):
        return jobs(4, "easy", *self.ROWS, understated=share, **options)["estimate"].tolist()

    def test_none_some_and_all(self):
        self.assertEqual({100.0}, set(self.estimates(0.0)))
        self.assertEqual({10.0}, set(self.estimates(1.0)))
        half = self.estimates(0.5)
        self.assertEqual({10.0, 100.0}, set(half))
        self.assertEqual(half, self.estimates(0.5))
        self.assertNotEqual(half, self.estimates(0.5, seed=1))

    def test_a_tenth_of_exact_estimates(self):
        self.assertEqual({3.0}, set(self.estimates(1.0, estimates="exact")))

    def test_a_share(self):
        for share in (-0.1, 1.1):
            self.assertRaises(InvalidScenario, Scenario, "easy", understated=share)
        self.assertRaises(InvalidScenario, Scenario, "easy", deadline_factor=-1.0)


class TestDeadlineFactor(testtools.TestCase):
    def test_it_decides_who_is_first(self):
        """Of those that wait for the first job, one is 80 s shorter and arrived 50 s later."""
        rows = ((0, 2, 100, 10), (1, 2, 90, 90), (51, 2, 10, 10))
        first = {}
        for factor in (0.0, 0.5, 1.0):
            found = starts("amcbf-deadline", *rows, deadline_factor=factor, tiers=1)
            first[factor] = min((2, 3), key=found.get)
        self.assertEqual({0.0: 2, 0.5: 2, 1.0: 3}, first)

    def test_every_policy_takes_one(self):
        for name in variants.VARIANTS:
            self.assertIsInstance(variants.get(name, 2.0), Policy)
