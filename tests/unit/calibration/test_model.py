"""The model file, and that the simulator and the manager read it."""

import io
import json
import pathlib
from contextlib import redirect_stdout

import fixtures
import testtools

from nova_twotier import conf
from nova_twotier.calibration.model import NoModel, model
from nova_twotier.calibration.points import points
from nova_twotier.core.progress import MODELS, InvalidModel
from nova_twotier.sim import calibration
from nova_twotier.sim.cli import main
from tests.unit.calibration import builders

NOT_WORTH = {"loss": 0.1, "progress": 0.01}
CONDITIONS = {"kernel": "6.1", "cpus": (0, 1)}


def measured(layouts=("single", "parallel")):
    """Points at which a background is worth it up to 0.9."""
    return [
        builders.point(utilisation, layout=layout, **kind)
        for layout in layouts
        for utilisation, kind in ((0.5, {}), (0.9, {"loss": -0.002}), (1.0, NOT_WORTH))
    ]


class TestModel(testtools.TestCase):
    def test_content(self):
        found = model(measured(), "nice", 0.0, CONDITIONS)
        self.assertEqual([0.0, 0.1], found["loss"])
        self.assertEqual([0.25, 0.9], found["eff_single"])
        self.assertEqual([0.6833, 0.3753, 0.25, 0.9], found["eff_parallel"])
        self.assertAlmostEqual(0.932, found["threshold"], 2)
        self.assertEqual({"mechanism": "nice", **CONDITIONS}, found["conditions"])

    def test_one_cpu_says_nothing_about_parallel_jobs(self):
        found = model(measured(["single"]), "nice", 0.0, {})
        self.assertNotIn("eff_parallel", found)
        self.assertIn("threshold", found)

    def test_no_threshold_unless_all_layouts_show_one(self):
        found = model(measured()[:-1], "nice", 0.0, {})
        self.assertNotIn("threshold", found)

    def test_no_model_without_verdicts(self):
        turns = list(builders.turns(0.5, [0.01] * 4, [0.4] * 4))
        self.assertRaisesRegex(
            NoModel,
            "no point of nice with a single-process background has a verdict",
            model,
            points(turns, builders.BOUNDS),
            "nice",
            0.0,
            {},
        )


class TestReaders(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def file(self, content=None):
        path = self.directory / "model.json"
        path.write_text(json.dumps(content or model(measured(), "nice", 0.0, CONDITIONS)))
        return str(path)

    def test_progress_and_threshold(self):
        path = self.file()
        self.assertEqual((0.25, 0.9), calibration.get(path).eff_single)
        self.assertEqual(MODELS["tpds"].floor, calibration.get(path).floor)
        self.assertAlmostEqual(0.932, calibration.threshold(path), 2)
        self.assertIsNone(calibration.threshold("tpds"))

    def test_wrong_threshold(self):
        for value in (1.5, "high", True):
            with testtools.ExpectedException(InvalidModel, ".*threshold is .*from 0 to 1"):
                calibration.get(self.file({"threshold": value}))

    def simulated(self, *options):
        out = io.StringIO()
        arguments = ["run", "feitelson:200", "--policy", "cmcbf", "--load", "0.9", "-f", "json"]
        with redirect_stdout(out):
            self.assertEqual(0, main([*arguments, *options]))
        return json.loads(out.getvalue())

    def test_the_simulator_closes_slots_at_the_measured_threshold(self):
        path = self.file({"threshold": 0.3})
        self.assertEqual(
            self.simulated("--threshold", "0.3"),
            self.simulated("--model", path),
        )
        self.assertEqual(self.simulated(), self.simulated("--model", path, "--threshold", "0.96"))

    def manager(self, text):
        path = self.directory / "nova-twotier.conf"
        path.write_text(f"[manager]\n{text}\n")
        return conf.load(["--config-file", str(path)], "test").manager.threshold

    def test_the_manager_goes_by_it_unless_it_is_configured(self):
        path = self.file({"threshold": 0.9})
        self.assertEqual(0.9, self.manager(f"model = {path}"))
        self.assertEqual(0.8, self.manager(f"model = {path}\nthreshold = 0.8"))
        self.assertEqual(0.96, self.manager(f"model = {self.file({'loss': [0, 0.01]})}"))

    def test_a_file_that_the_manager_cannot_use(self):
        for path in ("/nowhere/model.json", self.file({"threshold": 7})):
            with testtools.ExpectedException(conf.ConfigError, r"\[manager\]model: "):
                self.manager(f"model = {path}")
