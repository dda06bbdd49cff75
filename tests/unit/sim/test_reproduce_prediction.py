"""The studies of predictions from the command line to the report, on tiny workloads."""

import math
from unittest import mock

import pandas

from nova_twotier.sim import cisne as cluster
from nova_twotier.sim import forecasts
from nova_twotier.sim.reproduce import archive, prediction, registry
from nova_twotier.sim.reproduce import cisne as figures
from nova_twotier.sim.reproduce.claims import UNTESTED, Finding
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.workloads import catalogue, swf
from tests.unit.sim.test_reproduce import ReproduceCase


def one_run(place, series, **columns):
    return {"place": place, "series": series, "load": math.nan, **columns}


class TestTraces(ReproduceCase):
    def traces(self):
        directory = self.directory / "traces"
        directory.mkdir()
        for seed, place in enumerate(prediction.PLACES):
            workload = catalogue.load("lublin:150+tsafrir", nodes=64, seed=seed, load=1.5)
            swf.write(directory / f"{archive.TRACES[place].file}.swf", workload.to_swf())
        return directory

    def test_everything(self):
        rows, page = self.works("prediction", "--traces", self.traces(), "--seeds", "1")
        claims = prediction.TRACES.claims
        numbers, found = rows[: -len(claims)], rows[-len(claims) :]
        self.assertEqual(8 * 4 * 7, len(numbers))
        self.assertEqual({None}, {row["aim"] for row in numbers})
        self.assertEqual([claim.text for claim in claims], [row["finding"] for row in found])
        self.check_page(page, 8)
        self.assertIn("<th scope='col'>aim</th>", page)
        self.assertNotIn("<b>nan</b>", page)

    def test_one_trace_only(self):
        traces = self.traces()
        (traces / f"{archive.TRACES['SDSC'].file}.swf").unlink()
        rows, _page = self.works(
            "prediction", "--traces", traces, "--seeds", "1", "--only", "KTH", "--head", "60"
        )
        numbers = rows[: -len(prediction.TRACES.claims)]
        self.assertEqual({"KTH"}, {row["finding"].split(", ")[0] for row in numbers})

    def test_aims_are_measured_on_all_seeds(self):
        def results(ours, naive, covered):
            return Results(
                pandas.DataFrame(
                    one_run(
                        "KTH",
                        "amcbf",
                        **{
                            f"{forecasts.START_ERROR}:sdpn": ours,
                            f"{forecasts.START_ERROR}:requested": naive,
                            f"{forecasts.START_COVERAGE}:sdpn": each,
                        },
                    )
                    for each in covered
                )
            )

        times = prediction._times_better("KTH", "amcbf", "requested")
        covers = prediction._covers(forecasts.START_COVERAGE, "KTH", "amcbf")
        self.assertEqual(Finding(2.5, True), times(results(2, 5, [80])))
        self.assertEqual(Finding(1.5, False), times(results(2, 3, [80])))
        self.assertEqual(Finding(80, True), covers(results(2, 3, [75, 85])))
        self.assertEqual(Finding(80, False), covers(results(2, 3, [65, 95])))
        elsewhere = prediction._times_better("SDSC", "easy", "requested")
        self.assertEqual(UNTESTED, elsewhere(results(2, 3, [80])))


class TestCisne(ReproduceCase):
    def setUp(self):
        super().setUp()
        few = mock.patch.object(cluster, "JOBS", 12)
        few.start()
        self.addCleanup(few.stop)

    def check(self, figure, settings, numbers):
        rows, page = self.works(f"cisne-{figure}", "--seeds", "1")
        self.assertEqual(settings, len(list((self.out / "runs").glob("*.json"))))
        claims = registry.get(f"cisne-{figure}").claims
        self.assertEqual(numbers + len(claims), len(rows))
        self.assertEqual(
            [claim.text for claim in claims], [row["finding"] for row in rows][numbers:]
        )
        self.assertIn("simulated", page)
        return rows

    def test_fig2(self):
        self.check("fig2", 8, 8 * 5)

    def test_fig3(self):
        self.check("fig3", 8, 8 * 5)

    def test_fig4(self):
        self.check("fig4", 6, 2 * 6 * 5)

    def test_table1(self):
        rows = self.check("table1", 1, 3)
        self.assertEqual([2.8, 24, 52], [row["paper"] for row in rows])
        for row in rows:
            self.assertGreater(row["ours"], 0)


class TestClaims(ReproduceCase):
    """Each claim can hold and fail."""

    def results(self, **deviations):
        setups = [*figures.ONE, *figures.FOUR, *figures.SATURATED, *figures.AVERAGED]
        return Results(
            pandas.DataFrame(
                one_run(
                    figures._place(setup),
                    "all",
                    **{
                        f"{metric}:{name}": deviations.get(name.replace("-", "_"), 50.0)
                        for metric in (cluster.TURNAROUND, cluster.WAITING, cluster.EXECUTION)
                        for name in cluster.ESTIMATORS
                    },
                )
                for setup in setups
            )
        )

    def verdicts(self, figure, **deviations):
        claims = registry.get(f"cisne-{figure}").claims
        return [claim.measure(self.results(**deviations)).holds for claim in claims]

    def test_fig2(self):
        found = self.verdicts("fig2", sdpn=20.5, hanzich=20.0, historical=90.0)
        self.assertEqual([True, True, True, True], found)
        found = self.verdicts("fig2", sdpn=60.0, hanzich=70.0, historical=10.0)
        self.assertEqual([False, False, False, True], found)
        self.assertFalse(self.verdicts("fig2", sdpn=5.0)[3])

    def test_fig3(self):
        found = self.verdicts("fig3", sdpn=10.0)
        self.assertEqual([True, True, False, False], found)
        found = self.verdicts("fig3", sdpn=48.0, historical=40.0, hybrid_li=40.0)
        self.assertEqual([False, False, False, True], found)

    def test_fig4(self):
        found = self.verdicts("fig4", historical=10.0, sdpn=20.0, hanzich=30.0)
        self.assertEqual([True, False, True, True, False], found)
        found = self.verdicts("fig4", historical=90.0, sdpn=40.0, hanzich=30.0)
        self.assertEqual([False, True, False, True, False], found)

    def test_fig4_compares_execution_and_wait(self):
        found = self.results(sdpn=20.0, hanzich=30.0)
        found.runs[f"{cluster.WAITING}:sdpn"] = 40.0
        both = registry.get("cisne-fig4").claims[2]
        self.assertEqual(Finding("4 of 8", False), both.measure(found))
