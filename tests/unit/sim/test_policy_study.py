"""The study of policies from the command line to the report, on tiny traces."""

import dataclasses
import math
import random

import pandas
import testtools

from nova_twotier.sim import metrics
from nova_twotier.sim.reproduce import measures, policy_study
from nova_twotier.sim.reproduce.claims import UNTESTED, Finding
from nova_twotier.sim.reproduce.experiment import Settings
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.workloads import catalogue, swf
from tests.unit.sim.test_reproduce import ReproduceCase


class TestStudy(ReproduceCase):
    def traces(self, names=policy_study.TRACES):
        directory = self.directory / "traces"
        directory.mkdir()
        for seed, name in enumerate(names):
            workload = catalogue.load("lublin:40", nodes=64, seed=seed)
            # Policies predict by user.
            jobs = tuple(job._replace(user=job.number % 3) for job in workload.jobs)
            workload = dataclasses.replace(workload, jobs=jobs)
            swf.write(directory / f"{policy_study.TRACES[name].file}.swf", workload.to_swf())
        return directory

    def runs(self):
        return len(list((self.out / "runs").glob("*.json")))

    def test_everything(self):
        args = ("--traces", self.traces(), "--seeds", "1", "--loads", "0.6,0.9")
        rows, page = self.works("policies", *args)
        claims = [claim.text for claim in policy_study.STUDY.claims]
        self.assertEqual(claims, [row["finding"] for row in rows])
        self.assertEqual({"finding", "aim", "measured", "holds"}, set(rows[0]))
        self.check_page(page, 2 * len(policy_study.TRACES))
        for caption in ("KTH, as logged", "NASA, robustness", "Starvation bound of amcbf-deadline"):
            self.assertIn(f"<caption>{caption}</caption>", page)
        self.assertIn("What was aimed at", page)

    def test_claims_and_plots_fit_the_runs(self):
        rng = random.Random(1)
        study, settings = policy_study.STUDY, Settings(traces=self.traces(), seeds=2)
        runs = study.runs(settings)
        rows = [
            {"series": run.series, "place": run.place, "load": run.point.load}
            | {"shown": run.shown, "seed": run.point.scenario.seed}
            | {metric: rng.uniform(1, 2) for metric in metrics.names()}
            for run in runs
        ]
        found = Results(pandas.DataFrame(rows))
        for claim in study.claims:
            self.assertNotEqual(UNTESTED, claim.measure(found), claim.text)
        for plot in study.plots:
            self.assertFalse(found.means(plot.metric, plot.place).empty)
        # Only the costs of 20 s are those of the runs as logged.
        keys = {run.point.key() for run in runs}
        self.assertEqual(len(policy_study.TRACES) * 2 * 2, len(runs) - len(keys))

    def test_a_part(self):
        """Only the traces that are wanted need to be there."""
        args = ("--traces", self.traces(["KTH"]), "--seeds", "2")
        rows, page = self.works("policies", *args, "--only", "KTH,as-logged")
        self.assertEqual(8 + 3 * 2, self.runs())
        tested = [row["finding"] for row in rows if row["measured"] is not None]
        self.assertTrue(all(name.startswith("KTH, as logged") for name in tested), tested)
        self.check_page(page, 0)
        self.assertIn("--only KTH,as-logged", page)

    def test_a_part_that_there_is_not(self):
        self.refused("policies has no part 'XYZ'; there are: LANL, ", "policies", "--only", "XYZ")
        self.refused("has no part 'KTH'; there are: none", "jss2015-table1", "--only", "KTH")


def seeds(**waits):
    """Results of a place, at its own load, with a value a seed."""
    return Results(
        pandas.DataFrame(
            [
                {"series": name, "place": "W", "load": math.nan, "seed": seed, "wait": value}
                for name, values in waits.items()
                for seed, value in enumerate(values)
            ]
        )
    )


class TestMeasures(testtools.TestCase):
    def test_never_above(self):
        measure = measures.never_above(0.5, "a", "b", "wait", place="W")
        self.assertEqual(Finding(0.5, True), measure(seeds(a=[1, 3], b=[2, 9])))
        self.assertEqual(Finding(0.75, False), measure(seeds(a=[1, 3], b=[9, 4])))
        self.assertEqual(UNTESTED, measure(seeds(a=[1, 3])))
        elsewhere = measures.never_above(0.5, "a", "b", "wait", place="X")
        self.assertEqual(UNTESTED, elsewhere(seeds(a=[1, 3], b=[2, 9])))

    def test_better_in_pairs(self):
        measure = measures.better_in_pairs((("a", "b"), ("c", "d")), ("wait",), place="W")
        self.assertEqual(Finding("2 of 2", True), measure(seeds(a=[1, 3], b=[2, 9], c=[1], d=[2])))
        self.assertEqual(Finding("1 of 2", False), measure(seeds(a=[1, 3], b=[2, 9], c=[2], d=[2])))
        self.assertEqual(Finding("1 of 1", True), measure(seeds(a=[1, 3], b=[2, 9])))
        self.assertEqual(UNTESTED, measure(seeds(a=[1, 3])))
