"""Symmetry 2018 from the command line to the report, on tiny workloads; and its own claims."""

import math
import random
from unittest import mock

import pandas
import testtools

from nova_twotier.sim import metrics
from nova_twotier.sim.reproduce import (
    registry,
    symmetry_claims,
    symmetry_embedding,
    symmetry_scheduling,
    symmetry_setting,
)
from nova_twotier.sim.reproduce.claims import UNTESTED
from nova_twotier.sim.reproduce.experiment import Settings
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.workloads import catalogue, swf
from tests.unit.sim.test_reproduce import ReproduceCase
from tests.unit.sim.test_reproduce_claims import results

SERIES = len(symmetry_setting.EMBEDDINGS)
NETWORKS = len(symmetry_setting.NETWORKS)


class TestFigures(ReproduceCase):
    def traces(self):
        directory = self.directory / "traces"
        directory.mkdir()
        for seed, source in enumerate(symmetry_setting.TRACES.values()):
            workload = catalogue.load("lublin:20", nodes=64, seed=seed)
            swf.write(directory / f"{source.file}.swf", workload.to_swf())
        return directory

    def works_on_traces(self, figure, *args):
        options = ("--traces", self.traces(), "--seeds", "1", "--loads", "0.6,0.9", *args)
        return self.works(f"symmetry2018-{figure}", *options)

    def check_claims(self, figure, rows, numbers=0):
        claims = registry.get(f"symmetry2018-{figure}").claims
        self.assertEqual(
            [claim.text for claim in claims], [row["finding"] for row in rows][numbers:]
        )

    def runs(self):
        return len(list((self.out / "runs").glob("*.json")))

    def test_table1(self):
        rows, page = self.works_on_traces("table1")
        self.assertEqual(8, len(rows))
        self.assertEqual([72.4, 1000, 251, 100], [row["paper"] for row in rows[:4]])
        self.assertEqual(20, rows[1]["ours"])
        self.check_page(page, 4)

    def test_fig2(self):
        rows, page = self.works("symmetry2018-fig2")
        self.assertEqual(["1", "2, 3, 4, 5, 6, 7"], [row["ours"] for row in rows])
        self.assertEqual([True, True], [row["holds"] for row in rows])
        self.check_page(page, 1)

    def test_fig4(self):
        with mock.patch.object(symmetry_embedding, "MEANS", (50, 700)):
            rows, page = self.works("symmetry2018-fig4", "--seeds", "1", "--model-jobs", "25")
        self.check_claims("fig4", rows)
        self.assertEqual(NETWORKS * (SERIES + 1) * 2, self.runs())
        self.assertIn("<dt>Average bandwidth (Mbit/s)</dt><dd>50, 700</dd>", page)
        self.check_page(page, 2 * NETWORKS)

    def test_fig5(self):
        rows, page = self.works_on_traces("fig5", "--loads", "0.8")
        self.check_claims("fig5", rows)
        self.assertEqual(NETWORKS * 2 * SERIES, self.runs())
        self.check_page(page, 2 * NETWORKS)

    def test_fig6(self):
        rows, page = self.works_on_traces("fig6")
        self.check_claims("fig6", rows)
        self.assertEqual(NETWORKS * 2 * 2 * 5, self.runs())
        self.check_page(page, 2 * NETWORKS)

    def test_fig7_has_the_same_runs(self):
        settings = Settings(traces=self.traces(), seeds=1, loads=(0.6,))
        runs = [
            registry.get(f"symmetry2018-{figure}").runs(settings) for figure in ("fig6", "fig7")
        ]
        self.assertEqual(*runs)
        self.assertEqual(NETWORKS * 2 * 5, len(runs[0]))

    def test_fig8(self):
        rows, page = self.works_on_traces("fig8")
        self.check_claims("fig8", rows, numbers=4 * NETWORKS)
        self.assertEqual(
            [350, 350, 200, 200] * NETWORKS, [row["paper"] for row in rows[: 4 * NETWORKS]]
        )
        self.assertEqual(NETWORKS * 2 * 2 * 4, self.runs())
        self.check_page(page, 2 * NETWORKS + 1)

    def test_claims_and_plots_fit_the_runs(self):
        rng = random.Random(1)
        settings = Settings(traces=self.traces(), seeds=2)
        for figure in ("fig4", "fig5", "fig6", "fig7", "fig8"):
            experiment = registry.get(f"symmetry2018-{figure}")
            runs = experiment.runs(settings)
            self.assertEqual(len(runs), len({run.point.key() for run in runs}), figure)
            found = Results(pandas.DataFrame([_row(run, rng) for run in runs]))
            for claim in experiment.claims:
                self.assertNotEqual(UNTESTED, claim.measure(found), f"{figure}: {claim.text}")
            for plot in experiment.plots:
                self.assertFalse(found.means(plot.metric, plot.place).empty)

    def test_missing_traces(self):
        self.refused(
            "has no KTH-SP2-1996-2.1-cln, NASA-iPSC-1993-3.1-cln; name another directory",
            *("symmetry2018-fig6", "--traces", self.directory, "--out", self.out),
        )

    def test_migrations_are_totals(self):
        """The most of all loads, in each seed's runs."""
        found = results({"BgMBF": (0.1, 0.3, 0.2), "BgMBF as printed": (0.4, 0.1, 0.1)})
        runs = found.runs.rename(columns={found.runs.columns[-1]: "migrations_per_job"})
        runs = runs.assign(jobs=50, seed=0)
        places = [runs.assign(place=place) for place in symmetry_setting.PLACES]
        found = type(found)(pandas.concat(places))
        numbers = symmetry_scheduling._fig8_numbers(found, None)
        self.assertEqual([20.0, 15.0] * 2 * NETWORKS, [number.ours for number in numbers])


def _row(run, rng):
    load = run.point.load if run.at is None else run.at
    about = {"series": run.series, "place": run.place, "load": load, "jobs": 1000}
    values = {metric: rng.uniform(1, 2) for metric in metrics.names()}
    # Falls, so that a slower fall can be told.
    values["accept_rate"] /= 1 + load
    return about | {"shown": run.shown, "seed": run.point.scenario.seed} | values


class TestClaims(testtools.TestCase):
    RATES = {"A": (1.0, 0.9, 0.8, 0.8), "B": (1.0, 0.9, 0.7, 0.5)}

    def found(self, curves=RATES, **options):
        return results(curves, "accept_rate", loads=(0.5, 0.6, 0.7, 0.8), **options)

    def test_improved_at(self):
        def measure(at, least):
            finding = symmetry_claims.improved_at(at, "A", "B", "accept_rate", least, place="W")
            return finding(self.found())

        self.assertAlmostEqual(60.0, measure(0.8, 10).ours)
        self.assertEqual([True, False], [measure(0.8, least).holds for least in (10, 61)])
        self.assertEqual(UNTESTED, measure(0.9, 10))

    def test_margin_grows(self):
        def measure(one, other, curves=self.RATES):
            finding = symmetry_claims.margin_grows(one, other, "accept_rate", place="W")
            return finding(self.found(curves))

        self.assertAlmostEqual(20.0, measure("A", "B").ours)
        self.assertEqual([True, False], [measure(*pair).holds for pair in ("AB", "BA")])
        lone = {"A": (1.0, math.nan, math.nan, math.nan), "B": (1.0,) * 4}
        self.assertEqual(UNTESTED, measure("A", "B", lone))

    def test_falls(self):
        for values, holds in (((4, 3, 2, 1), True), ((1, 2, 3, 4), False), ((4, 2, 3, 1), False)):
            measure = symmetry_claims.falls("A", "accept_rate", place="W", most=-0.9)
            self.assertIs(holds, measure(self.found({"A": values})).holds, values)

    def test_descends_slower(self):
        def measure(one, other):
            finding = symmetry_claims.descends_slower(one, [other], "accept_rate", place="W")
            return finding(self.found())

        self.assertAlmostEqual(0.4, measure("A", "B").ours)
        self.assertEqual([True, False], [measure(*pair).holds for pair in ("AB", "BA")])

    def test_near_each_other(self):
        curves = {"A": (1, 1, 1, 1), "B": (2, 2, 2, 2), "F": (9, 9, 9, 9)}

        def measure(group, outsider):
            finding = symmetry_claims.near_each_other(group, outsider, "accept_rate", place="W")
            return finding(self.found(curves))

        self.assertAlmostEqual(1 / 7, measure("AB", "F").ours)
        self.assertEqual([True, False], [measure("AB", "F").holds, measure("AF", "B").holds])

    def test_costs_less(self):
        found = self.found({"A": (0.1, 0.2, 0.3, 0.4)})
        runs = found.runs.rename(columns={"accept_rate": "migrations_per_job"})
        found = type(found)(runs.assign(average_response_seconds=100.0))
        for limit, holds in ((0.1, True), (0.07, False)):
            finding = symmetry_claims.costs_less("A", 20.0, limit, place="W")(found)
            self.assertAlmostEqual(0.08, finding.ours)
            self.assertIs(holds, finding.holds)
