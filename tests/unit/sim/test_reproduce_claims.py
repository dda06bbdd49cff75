"""Numbers and claims of the papers, on results made by hand."""

import math
import pathlib
import random

import fixtures
import pandas
import testtools

from nova_twotier.sim import metrics
from nova_twotier.sim.reproduce import jss_tables, measures, published, registry
from nova_twotier.sim.reproduce.claims import UNTESTED
from nova_twotier.sim.reproduce.experiment import Settings
from nova_twotier.sim.reproduce.numbers import Number
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.workloads import archive

WAIT, SLOWDOWN = measures.AVERAGES
METRICS = (WAIT, SLOWDOWN)
NAN = math.nan
#: Their runs are of traces: they have tests of their own.
NEED_TRACES = (
    *("bursts", "fair-share", "jss2015-table", "symmetry2018-", "policies"),
    "two-tier-bandwidth",
)
#: Experiments whose runs have metrics of their own; see `test_reproduce_prediction`.
OWN_METRICS = ("cisne-", "prediction")


def results(curves, metric=WAIT, place="W", loads=(0.5, 0.7, 0.9)):
    """Results of series with a value a load."""
    return Results(
        pandas.DataFrame(
            [
                {"series": series, "place": place, "load": load, "shown": True, metric: value}
                for series, values in curves.items()
                for load, value in zip(loads, values, strict=True)
            ]
        )
    )


def of_both(curves):
    """The same values for wait and slowdown."""
    found = results(curves)
    return Results(found.runs.assign(**{SLOWDOWN: found.runs[WAIT]}))


def in_places(**curves):
    return Results(
        pandas.concat(results({"A": c, "F": f}, place=p).runs for p, (c, f) in curves.items())
    )


class TestPublished(testtools.TestCase):
    def test_table1_is_complete(self):
        self.assertEqual({"LANL", "CTC", "KTH", "SDSC"}, set(published.TABLE1))
        for trace, shares in published.TABLE1.items():
            self.assertEqual(len(published.TABLE1_SIZES), len(shares))
            self.assertAlmostEqual(100, sum(shares), delta=0.21, msg=trace)

    def test_table2_is_complete(self):
        self.assertEqual(4, len(published.TABLE2))
        for group, traces in published.TABLE2.items():
            self.assertEqual({"LANL", "CTC", "KTH", "SDSC"}, set(traces))
            for values in traces.values():
                self.assertEqual(len(published.TABLE2_COLUMNS), len(values))
                whole = all(isinstance(value, int) for value in values)
                self.assertEqual(group.startswith("maximum"), whole)

    def test_table2_agrees_with_its_claims(self):
        """The paper's own numbers, taken as results, give the numbers that we say are its."""
        rows = [
            {"series": column, "place": trace, "load": NAN, "shown": True, metric: value * unit}
            for group, (metric, unit) in jss_tables._METRICS.items()
            for trace, values in published.TABLE2[group].items()
            for column, value in zip(published.TABLE2_COLUMNS, values, strict=True)
        ]
        paper = Results(pandas.DataFrame(rows))
        for claim in jss_tables.TABLE2.claims:
            finding = claim.measure(paper)
            self.assertIs(True, finding.holds, claim.text)
            if claim.paper != "always":
                self.assertAlmostEqual(claim.paper, finding.ours, delta=0.06, msg=claim.text)


class TestNumber(testtools.TestCase):
    def test_mean_and_spread(self):
        number = Number.of("wait (min)", "KTH", "EASY", 50, [50.0, 60.0, 55.0])
        self.assertEqual((55.0, 50.0, 60.0), (number.ours, number.low, number.high))
        self.assertEqual((10.0, 5.0), (number.percent, number.points))
        self.assertEqual("KTH EASY: wait (min)", number.name)

    def test_below_and_of_nought(self):
        self.assertEqual(-20.0, Number.of("", "", "", 10.0, [8.0]).percent)
        nought = Number.of("", "", "", 0.0, [0.2])
        self.assertTrue(math.isnan(nought.percent))
        self.assertEqual(0.2, nought.points)


class TestResults(testtools.TestCase):
    def test_means_over_seeds(self):
        once, twice = results({"A": [1, 2, 3]}).runs, results({"A": [3, 4, 5]}).runs
        found = Results(pandas.concat([once, twice]))
        self.assertEqual([2, 3, 4], found.means(WAIT)["A"].tolist())
        self.assertEqual([4], found.means(WAIT, "W", lambda load: load > 0.8)["A"].tolist())
        self.assertEqual([], found.means(WAIT, "elsewhere")["A"].tolist())
        self.assertEqual([1, 2, 3, 3, 4, 5], found.values(WAIT, "W", "A"))


class TestMeasures(testtools.TestCase):
    def check(self, ours, holds, measure, found):
        finding = measure(found)
        self.assertIs(holds, finding.holds)
        if isinstance(ours, float):
            self.assertAlmostEqual(ours, finding.ours)
            self.assertIs(float, type(finding.ours))
        else:
            self.assertEqual(ours, finding.ours)

    def test_better(self):
        found = results({"A": [1, 2, 3], "B": [2, 3, 3], "C": [9, 9, 9]})
        self.check("2 of 3", False, measures.better(["A"], ["B"], [WAIT]), found)
        self.check("2 of 3", True, measures.better(["A"], ["B"], [WAIT], most=True), found)
        self.check("6 of 6", True, measures.better(["A", "B"], ["C"], [WAIT]), found)
        self.check("3 of 3", True, measures.better(["C"], ["B"], [WAIT], higher=True), found)
        low = measures.better(["A"], ["B"], [WAIT], loads=lambda load: load < 0.8)
        self.check("2 of 2", True, low, found)
        self.assertEqual(UNTESTED, measures.better(["A"], ["B"], [WAIT], place="X")(found))

    def test_points_that_speak_against_it(self):
        found = results({"A": [1, 2, 3], "B": [2, 1, 3]})
        once = measures.better(["A"], ["B"], [WAIT, WAIT])(found)
        self.assertEqual(("2 of 6", False, ("0.7", "0.9")), tuple(once))
        mostly = measures.better(["B"], ["A"], [WAIT], most=True)(found)
        self.assertEqual(("0.5", "0.9"), mostly.against)
        held = results({"A": [1, 2, 3], "B": [2, 3, 3]})
        self.assertEqual((), measures.better(["A"], ["B"], [WAIT], most=True)(held).against)
        traces = Results(found.runs.assign(load=NAN, place=["KTH", "CTC", "SDSC"] * 2))
        self.assertEqual(("CTC", "SDSC"), measures.better(["A"], ["B"], [WAIT])(traces).against)

    def test_improvement(self):
        found = results({"A": [5, 2, 1], "F": [10, 10, 10]})
        whole = 100 * (0.5 + 0.8 + 0.9) / 3
        self.check(whole, True, measures.improvement("A", "F", WAIT, 75, 3), found)
        self.check(whole, False, measures.improvement("A", "F", WAIT, 94.2, 3), found)
        self.check(whole, True, measures.at_least(70, "A", "F", WAIT), found)
        self.check(whole, False, measures.at_least(80, "A", "F", WAIT), found)

    def test_nothing_to_improve(self):
        found = results({"A": [0, 2, 1], "F": [0, 10, 10]})
        self.check(85.0, True, measures.at_least(0, "A", "F", WAIT), found)
        self.check(0.0, False, measures.at_least(0, "F", "F", WAIT), found)
        idle = results({"A": [0, 0, 0], "F": [0, 0, 0]})
        self.assertEqual(UNTESTED, measures.at_least(0, "A", "F", WAIT)(idle))

    def test_more_improved(self):
        found = results({"A": [5, 5, 5], "F": [10, 10, 10]}).runs
        found[SLOWDOWN] = [2.0] * 3 + [10.0] * 3
        both = Results(found)
        self.check(30.0, True, measures.more_improved("A", "F", SLOWDOWN, WAIT), both)
        self.check(-30.0, False, measures.more_improved("A", "F", WAIT, SLOWDOWN), both)

    def test_more_improved_elsewhere(self):
        found = in_places(F=([1, 1, 1], [10, 10, 10]), J=([2, 2, 2], [10, 10, 10]))
        self.check(10.0, True, measures.more_improved_in("A", "F", WAIT, "F", "J"), found)
        self.check(-10.0, False, measures.more_improved_in("A", "F", WAIT, "J", "F"), found)

    def test_gain(self):
        found = results({"A": [0.50, 0.61, 0.6], "B": [0.51, 0.6, 0.6], "F": [0.5, 0.6, 0.6]})
        self.check(2.0, True, measures.gain(["A", "B"], "F", WAIT, 2.4, 1, place="W"), found)
        self.check(2.0, False, measures.gain(["A", "B"], "F", WAIT, 11, 5, place="W"), found)

    def test_needed_utilisation(self):
        """Processes of 60 % CPU that fill 90 % of the slots: 54 % are used, 60 % at most."""
        found = results({"A": [0.8, 0.72], "E": [0.54, 0.54]}, loads=(0.5, 0.9)).runs
        found["utilisation"] = found[WAIT]
        found["allocation_share"] = [0.95, 0.95, 0.9, 0.9]
        both = Results(found)
        measure = measures.needed(["A"], "E", 25, place="W")
        self.check(0.64 / 0.6, False, measure, both)
        self.check(0.8 / 1.6 / 0.6, True, measures.needed(["A"], "E", 60, place="W"), both)

    def test_ratio(self):
        found = results({"A": [1, 2, 6], "F": [2, 2, 2]})
        self.check(3.0, False, measures.at_most_times(1.4, "A", "F", WAIT), found)
        low = measures.at_most_times(1.4, "A", "F", WAIT, loads=lambda load: load < 0.8)
        self.check(1.0, True, low, found)

    def test_only_above(self):
        found = results({"A": [1, 2, 6], "E": [2, 3, 4], "Z": [9, 9, 9]})
        self.check(0.9, True, measures.only_above(0.8, "E", "A", WAIT, place="W"), found)
        self.check(0.9, False, measures.only_above(0.95, "E", "A", WAIT, place="W"), found)
        self.check("never", False, measures.only_above(0.8, "Z", "A", WAIT, place="W"), found)
        self.check(0.9, False, measures.only_above(1, "E", "A", WAIT, place="W"), found)
        for limit, winner in ((0.3, "E"), (0.9, "Z")):
            measure = measures.only_above(limit, winner, "A", WAIT, place="W")
            self.assertEqual(UNTESTED, measure(found))

    def test_ordered(self):
        found = results({"A": [1, 1, 1], "B": [3, 3, 0], "C": [3, 3, 3]})
        self.check("2 of 2 steps", True, measures.ordered(["A", "B", "C"], WAIT), found)
        self.check("1 of 2 steps", False, measures.ordered(["A", "C", "B"], WAIT), found)

    def test_growth(self):
        found = results({"A": [1, 2, 3], "B": [1, 3, 2]})
        self.check(1.0, True, measures.grows("A", WAIT, place="W", least=0.9), found)
        self.check(0.5, False, measures.grows("B", WAIT, place="W", least=0.9), found)
        one = results({"A": [1]}, loads=(0.5,))
        self.assertEqual(UNTESTED, measures.grows("A", WAIT, place="W", least=0.9)(one))

    def test_peak(self):
        found = results({"A": [1, 2, 3], "B": [1, 3, 2]})
        self.check(0.9, False, measures.peaks_inside("A", WAIT, place="W"), found)
        self.check(0.7, True, measures.peaks_inside("B", WAIT, place="W"), found)
        few = results({"A": [1, 2]}, loads=(0.5, 0.9))
        self.assertEqual(UNTESTED, measures.peaks_inside("A", WAIT, place="W")(few))

    def test_larger_elsewhere(self):
        found = in_places(F=([1, 1, 1], [1, 1, 1]), J=([2, 3, 4], [1, 1, 1]))
        self.check(3.0, True, measures.larger_in("J", "F", "A", WAIT), found)
        self.check(1 / 3, False, measures.larger_in("F", "J", "A", WAIT), found)

    def test_threshold(self):
        found = of_both({"0": [1, 1, 1], "20": [1, 1, 9], "600": [9, 9, 9], "E": [2, 2, 2]})
        levels = {0: "0", 20: "20", 600: "600"}
        for least, holds in ((20, True), (600, False)):
            measure = measures.holds_up_to(least, levels, "E", METRICS, place="W")
            self.check(20.0, holds, measure, found)
        none = measures.holds_up_to(0, {0: "600"}, "E", METRICS, place="W")
        self.check("none", False, none, found)


class TestExperiments(testtools.TestCase):
    """Of every experiment that runs on models: what its claims and plots ask for is there."""

    def settings(self):
        """Their traces are empty: nothing is run."""
        traces = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for log in archive.LOGS.values():
            (traces / log.file).touch()
        return Settings(seeds=2, traces=traces)

    def test_claims_and_plots_fit_the_runs(self):
        rng, settings = random.Random(1), self.settings()
        for name, experiment in registry.EXPERIMENTS.items():
            if name.startswith((*NEED_TRACES, *OWN_METRICS)):
                continue
            rows = [
                {"series": run.series, "place": run.place, "load": run.point.load}
                | {"shown": run.shown, "seed": run.point.scenario.seed}
                | {metric: rng.uniform(1, 2) for metric in metrics.names()}
                for run in experiment.runs(settings)
            ]
            found = Results(pandas.DataFrame(rows))
            tables = list(experiment.tables(found, settings))
            self.assertTrue(experiment.claims or tables, name)
            for claim in experiment.claims:
                self.assertNotEqual(UNTESTED, claim.measure(found), f"{name}: {claim.text}")
            for plot in experiment.plots:
                self.assertFalse(found.means(plot.metric, plot.place).empty)

    def test_every_run_of_an_experiment_is_another(self):
        settings = self.settings()
        for name, experiment in registry.EXPERIMENTS.items():
            if not name.startswith(NEED_TRACES):
                keys = [run.point.key() for run in experiment.runs(settings)]
                self.assertEqual(len(keys), len(set(keys)), name)

    def test_settings_are_heeded(self):
        experiment = registry.get("tpds2013-migration-cost")
        settings = Settings(seeds=1, model_jobs=70, loads=(0.6,), head=50)
        runs = experiment.runs(settings)
        self.assertEqual(12, len(runs))
        self.assertEqual({"feitelson:70", "jann:70"}, {run.point.source for run in runs})
        self.assertEqual({(0.6, 50)}, {(run.point.load, run.point.head) for run in runs})
        (dear,) = {r.point.scenario.migration_cost for r in runs if r.series == "AMCBF 600 s"}
        self.assertEqual(600.0, dear)

    def test_unknown(self):
        error = self.assertRaises(registry.UnknownExperiment, registry.get, "fig4")
        self.assertIn("there is no experiment 'fig4'; choose one of: jss2015-table1", str(error))
