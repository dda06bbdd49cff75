"""What policies are told of run times, and what they do when a job outruns it."""

import testtools

from nova_twotier.sim import estimates
from nova_twotier.sim.estimates import InvalidEstimates
from nova_twotier.sim.scenario import InvalidScenario, Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads.workload import Submission, Workload

#: Three short jobs of user 1, one after the other, who asks for far too much.
SHORT = ((0, 1, 10, 5000, 1), (20, 1, 20, 5000, 1), (50, 1, 30, 5000, 1))
#: Then one of two nodes is busy until 1100, and the head needs both.
BUSY = (*SHORT, (100, 1, 1000, 1000, 2), (101, 2, 10, 10, 2))


def run(policy, *rows, nodes=2, **options):
    """The jobs of a run, by number; a row is arrival, size, run time, estimate, user."""
    made = [Submission(number, *row) for number, row in enumerate(rows, start=1)]
    found = simulate(Workload("t", nodes, tuple(made)), Scenario(policy, **options)).jobs
    return found.set_index("job")


class TestSources(testtools.TestCase):
    def told(self, source, *rows):
        return run("easy", *(rows or (*SHORT, (200, 1, 25, 100, 1))), estimates=source)["estimate"]

    def test_what_is_told(self):
        for source, told in (
            ("user", 100),
            ("user-corrected", 100),
            ("exact", 25),
            ("last-two", 25),
            ("twice-last-two", 50),
        ):
            self.assertEqual(told, self.told(source)[4], source)
        self.assertTrue(self.told("missing").isna().all())

    def test_the_median_and_another_quantile_of_similar_jobs(self):
        last = (200, 1, 5, 5000, 1)
        self.assertEqual(20, self.told("historical", *SHORT, last)[4])
        self.assertEqual(30, self.told("historical:0.9", *SHORT, last)[4])
        self.assertEqual(20, self.told("missing-historical", *SHORT, last)[4])

    def test_never_above_the_users_estimate(self):
        last = (200, 1, 5, 15, 1)
        for source in ("historical", "historical:0.9", "twice-last-two"):
            self.assertEqual(15, self.told(source, *SHORT, last)[4], source)
        self.assertEqual(20, self.told("missing-historical", *SHORT, last)[4])

    def test_the_users_estimate_counts_while_little_is_known(self):
        told = self.told("historical", *SHORT, (200, 1, 5, 5000, 1))
        self.assertEqual([5000, 5000, 5000, 20], [told[number] for number in (1, 2, 3, 4)])
        self.assertEqual(5000, self.told("last-two")[2])

    def test_unknown_sources(self):
        for text in ("", "median", "historical:2", "historical:x", "last-two:0.5", "missing:0.5"):
            self.assertRaises(InvalidEstimates, estimates.check, text)
            self.assertRaises(InvalidEstimates, Scenario, "easy", estimates=text)

    def test_a_policy_that_predicts_by_itself(self):
        self.assertRaises(InvalidScenario, Scenario, "easy++", estimates="historical")


class TestEasy(testtools.TestCase):
    LAST = (200, 1, 15, 5000, 1)

    def test_it_backfills_by_predictions(self):
        """The user's estimate would delay the head; 20 s do not."""
        self.assertGreater(run("easy", *BUSY, self.LAST)["start"][6], 1000)
        for source in ("historical", "last-two", "twice-last-two", "exact"):
            self.assertEqual(200, run("easy", *BUSY, self.LAST, estimates=source)["start"][6])

    def test_without_estimates_only_history_backfills(self):
        """Who has a history: job 4, of a user without one, is expected to run as others did."""
        self.assertGreater(run("easy", *BUSY, self.LAST, estimates="missing")["start"][6], 1000)
        found = run("easy", *BUSY, self.LAST, estimates="missing-historical")
        self.assertEqual(200, found["start"][6])

    def test_a_job_that_outruns_its_prediction_is_an_event(self):
        """Job 4 is predicted to end at 120, while its user asked for an hour.

        The last job takes 55 s: beside the head's reservation there is room for it only when job 4
        is expected until 180.
        """
        rows = (
            *SHORT,
            (100, 1, 2000, 3600, 1),
            (101, 2, 10, 10, 2),
            (102, 1, 55, 55, 3),
        )
        found = run("easy", *rows, estimates="historical")
        self.assertEqual(120, found["start"][6])
        self.assertEqual(2100, found["start"][5])


class TestAmcbfDeadline(testtools.TestCase):
    #: A job that is predicted to take 20 s and takes 2000, and one of 500 s.
    ROWS = (*SHORT, (100, 2, 2000, 3600, 1), (110, 2, 500, 500, 2))

    def starts(self, **options):
        return run("amcbf-deadline", *self.ROWS, tiers=1, **options)["start"]

    def test_who_outruns_a_prediction_is_ranked_anew(self):
        """Job 4 is before job 5, whose rank is 610, until it is expected to take 1260 s more."""
        found = self.starts(estimates="last-two")
        self.assertTrue(110 < found[5] < 2100)

    def test_unless_it_keeps_its_rank(self):
        self.assertGreaterEqual(self.starts(estimates="last-two", rerank=False)[5], 2100)

    def test_who_says_too_little(self):
        """Only with corrections does it help nobody to give a short estimate."""
        liar = (*SHORT, (100, 2, 2000, 20, 1), (110, 2, 500, 500, 2))
        for source, at_once in (("user", False), ("user-corrected", True)):
            start = run("amcbf-deadline", *liar, tiers=1, estimates=source)["start"][5]
            self.assertEqual(at_once, start < 2100, source)

    def test_every_job_ends_with_its_work_done(self):
        for source in estimates.KNOWN:
            found = run("amcbf-deadline", *BUSY, *self.ROWS[3:], estimates=source)
            self.assertTrue((found["finish"] - found["start"] >= found["runtime"] - 1e-6).all())
