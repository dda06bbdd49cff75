"""The study of two tiers with guaranteed bandwidth, from the command line to the report."""

import pandas
import testtools

from nova_twotier.core.actions import BG, FG
from nova_twotier.sim import background_use
from nova_twotier.sim.reproduce import symmetry_setting, two_tier_bandwidth
from nova_twotier.sim.reproduce.experiment import Settings
from nova_twotier.sim.workloads import catalogue, swf
from tests.unit.sim.test_reproduce import ReproduceCase

SERIES = len(two_tier_bandwidth.SCENARIOS)


class TestStudy(ReproduceCase):
    def traces(self):
        directory = self.directory / "traces"
        directory.mkdir()
        for seed, source in enumerate(symmetry_setting.TRACES.values()):
            workload = catalogue.load("lublin:40", nodes=400, seed=seed)
            swf.write(directory / f"{source.file}.swf", workload.to_swf())
        return directory

    def test_everything(self):
        rows, page = self.works(
            *("two-tier-bandwidth", "--traces", self.traces()),
            *("--seeds", "1", "--loads", "0.6,0.9"),
        )
        self.assertEqual(
            [claim.text for claim in two_tier_bandwidth.STUDY.claims],
            [row["finding"] for row in rows],
        )
        for row in rows:
            self.assertIsNotNone(row["holds"], row["finding"])
        # Two traces at two loads; those without a network are the same on both networks.
        runs = [*(self.out / "runs").glob("*.json")]
        self.assertEqual(2 * 2 * (2 * (SERIES - 1) + 1), len(runs))
        self.check_page(page, len(two_tier_bandwidth.STUDY.plots))
        for place in two_tier_bandwidth.PLACES:
            self.assertIn(f"<caption>{place}</caption>", page)
        table = pandas.read_csv(self.out / "sweep.csv")
        held = table.groupby(["policy", table["tiers"].fillna(0)])[background_use.HELD].max()
        self.assertEqual(0, held["bgmbf", 0])
        self.assertEqual(0, held["amcbf", 1])
        self.assertGreater(held["amcbf", 0], 0)

    def test_all_but_the_runs_without_a_network_have_guarantees(self):
        runs = two_tier_bandwidth.STUDY.runs(Settings(traces=self.traces(), seeds=1, loads=(0.6,)))
        for run in runs:
            scenario = run.point.scenario
            there = run.series != two_tier_bandwidth.NO_NETWORK
            self.assertEqual(there, scenario.topology is not None)
            self.assertEqual(there, scenario.bandwidth is not None)


class TestBackgroundUse(testtools.TestCase):
    def test_shares(self):
        jobs = pandas.DataFrame(
            {
                "size": [1, 4, 1],
                "runtime": [100.0, 25.0, 50.0],
                "tier": [BG, FG, FG],
                "background_time": [120.0, 5.0, 0.0],
            }
        )
        found = background_use.summarise(jobs)
        self.assertAlmostEqual(1 / 3, found[background_use.STARTED])
        self.assertAlmostEqual(140 / 250, found[background_use.HELD])
