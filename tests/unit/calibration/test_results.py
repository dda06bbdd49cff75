"""The results file, and what an earlier one says about a run."""

import dataclasses
import json
import pathlib

import fixtures
import testtools

from nova_twotier.calibration import plot, results, table
from nova_twotier.calibration.points import Verdict
from tests.unit.calibration import builders


class TestResults(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.directory / "results.json"
        self.points = [builders.point(0.5), builders.point(0.9)]

    def test_every_turn_is_in_it(self):
        turns = list(builders.turns(0.5, [0.01] * 5, [0.4] * 5))
        results.write(self.path, {"kernel": "6.1"}, turns, self.points)
        content = json.loads(self.path.read_text())
        self.assertEqual(len(turns), len(content["turns"]))
        self.assertEqual({"kernel": "6.1"}, content["conditions"])
        self.assertEqual("worth it", content["points"][0]["verdict"])

    def compared(self, then, now):
        results.write(self.path, {}, [], then)
        return results.compare(now, results.read_points(self.path))

    def test_comparison_with_an_earlier_run(self):
        now = [builders.point(0.5), builders.point(0.9, loss=0.3), builders.point(1.0)]
        self.assertEqual(
            "The earlier run's medians lie within this run's intervals, of the points with a "
            "verdict in both runs (2): loss at 1, efficiency at 2",
            self.compared([*self.points, builders.point(0.7)], now),
        )

    def test_points_without_a_verdict_are_not_compared(self):
        drifted = dataclasses.replace(builders.point(0.5), verdict=Verdict.DRIFT)
        for then, now in ((drifted, builders.point(0.5)), (builders.point(0.5), drifted)):
            self.assertEqual(
                "No point has a verdict in this run and in the earlier one: they cannot be "
                "compared",
                self.compared([then], [now]),
            )

    def test_a_file_of_something_else(self):
        for text in ("", "[]", "{}"):
            self.path.write_text(text)
            self.assertRaises(results.NotResults, results.read_points, self.path)

    def test_table(self):
        text = table.render([builders.point(0.5, progress=0.4, jitter=0.01)], "VMs (kvm)")
        lines = text.splitlines()
        self.assertEqual("Measured with VMs (kvm)", lines[1].strip("| "))
        row = [cell.strip() for cell in lines[5].strip("|").split("|")]
        self.assertEqual(
            ["single", "nice", "0.500", "1.0 [-1.0 .. 3.0]", "0.80 [0.76 .. 0.84]"], row[:5]
        )
        self.assertEqual(["5", "worth it"], row[-2:])

    def test_plot(self):
        path = self.directory / "plot.png"
        plot.draw([*self.points, builders.point(0.5, layout="spread")], "VMs (kvm)", path)
        self.assertTrue(path.read_bytes().startswith(b"\x89PNG"))
