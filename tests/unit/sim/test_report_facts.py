"""What a report says was run: simulations, jobs, and what was left out."""

import math
from unittest import mock

import pandas
import testtools

from nova_twotier.sim.plots import picture
from nova_twotier.sim.reproduce import report
from nova_twotier.sim.reproduce.experiment import Experiment, Settings
from nova_twotier.sim.reproduce.numbers import Number
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.reproduce.runner import Outcome

RUN = {"place": "KTH", "jobs": 40, "rejected": 0, "head": None, "topology": None}
CUT = "Only the first 40 jobs of each workload were taken"


def page(*runs, head=None, numbers=(), done=0, simulated=()):
    settings = Settings(seeds=1, head=head)
    results = Results(pandas.DataFrame([RUN | run for run in runs]))
    experiment = Experiment("it", "Paper", "this")
    keys = frozenset(simulated)
    outcome = Outcome(experiment, settings, results, list(numbers), [], done, 0.0, simulated=keys)
    return report.page(outcome, "twotier-sim")


class TestNumbers(testtools.TestCase):
    def drawn(self, *printed):
        """What the report calls them, and the words of its picture."""
        numbers = [Number.of("g", "r", str(n), paper, [1.0]) for n, paper in enumerate(printed)]
        with mock.patch.object(picture, "save") as save:
            text = page(numbers=numbers)
        legend = save.call_args[0][0].legends[0]
        return text, [each.get_text() for each in legend.get_texts()]

    def test_beside_those_of_the_paper(self):
        text, legend = self.drawn(2.0, math.nan)
        self.assertIn("<h2>Ours beside the paper's</h2>", text)
        self.assertEqual(["paper", "ours"], legend)

    def test_where_the_paper_prints_none(self):
        text, legend = self.drawn(math.nan, math.nan)
        self.assertIn("<h2>What was measured</h2>", text)
        self.assertNotIn("the paper's, and the deviation", text)
        self.assertEqual(["measured"], legend)
        self.assertNotIn("ours", text)


class TestFacts(testtools.TestCase):
    def test_a_run_of_two_series_is_one_simulation(self):
        self.assertIn("2, of which 1 in this call", page({}, {}, {}, done=1, simulated="ab"))

    def test_jobs_that_were_rejected_are_jobs_of_the_workload(self):
        text = page({"jobs": 37, "rejected": 3}, {"jobs": 39, "rejected": 1})
        self.assertIn("<dt>Jobs</dt><dd>40 of KTH</dd>", text)

    def test_why_jobs_were_rejected(self):
        self.assertIn("Up to 3 jobs a run need more slots than there are.", page({"rejected": 3}))
        linked = page({"rejected": 3, "topology": "fat-tree:6"}, {})
        self.assertIn("Up to 3 jobs a run were rejected.", linked)
        self.assertNotIn("Up to", page({}))

    def test_first_jobs_only(self):
        self.assertIn(CUT, page({"head": 40}, head=40))
        self.assertIn(CUT, page(numbers=[Number.of("g", "r", "c", 1.0, [1.0])], head=40))
        self.assertNotIn(CUT, page({"head": 40}))

    def test_experiments_from_which_no_job_is_left_out(self):
        """CISNE has its own jobs, the figure of weights none; others take fewer anyway."""
        cisne = {name: value for name, value in RUN.items() if name != "head"}
        results = Results(pandas.DataFrame([cisne]))
        of = Outcome(Experiment("it", "P", "t"), Settings(head=40), results, [], [], 0, 0.0)
        for text in (page(head=40), page({"head": 20}, head=40), report.page(of, "")):
            self.assertNotIn("Only the first", text)
