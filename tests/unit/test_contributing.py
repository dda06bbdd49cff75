"""The examples and the paths of CONTRIBUTING.md."""

import pathlib
import re
from unittest import mock

import fixtures
import testtools

from nova_twotier.core import policies
from nova_twotier.core.qos import URGENT
from nova_twotier.sim.reproduce import runner
from nova_twotier.sim.reproduce.claims import Finding
from nova_twotier.sim.reproduce.experiment import Settings
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads import catalogue
from tests.unit.core import builders
from tests.unit.plugin.fakes import FakePlacement, host, request, summaries

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()


def example(what):
    """The names that the code under a heading defines."""
    [code] = re.findall(rf"^## Write {what}\n.*?^```python\n(.*?)^```", PAGE, re.M | re.S)
    names = {"__name__": "example"}
    exec(compile(code, "CONTRIBUTING.md", "exec"), names)  # noqa: S102
    return names


class TestContributing(testtools.TestCase):
    def test_the_policy(self):
        ljf = example("a policy")["Ljf"]
        self.assertNotIn(ljf.name, policies.POLICIES)
        with mock.patch.dict(policies.POLICIES, {ljf.name: ljf}):
            workload = catalogue.load("lublin:150", nodes=16, load=0.9)
            starts = simulate(workload, Scenario("ljf")).jobs["start"]
            self.assertEqual(150, starts.notna().sum())
            self.assertFalse(starts.equals(simulate(workload, Scenario("fcfs")).jobs["start"]))

    def test_the_policy_knows_classes_of_service(self):
        first = example("a policy")["Ljf"]().first
        urgent, longest = builders.job(1, estimate=1.0, qos=URGENT), builders.job(2, estimate=9.0)
        self.assertEqual(longest, first([longest, builders.job(3, estimate=5.0)]))
        self.assertEqual(urgent, first([longest, urgent]))

    def test_the_filter(self):
        spare_slot = example("a filter")["SpareSlotFilter"]()
        # Open background slots: two, one beside a background VM, one beside a closed one.
        tables = (("a", [], []), ("b", [], [20]), ("c", [100], []))
        FakePlacement(*(summaries(*table) for table in tables)).patch(self)
        for tier, passing in (("bg", "a"), ("fg", "abc")):
            hosts = [host(name) for name, *_points in tables]
            kept = spare_slot.filter_all(hosts, request(tier))
            self.assertEqual(passing, "".join(state.host for state in kept))

    def test_the_experiment(self):
        experiment = example("an experiment")["BACKFILLING"]
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        settings = Settings(seeds=1, model_jobs=200, loads=(0.9,))
        [(_claim, finding)] = runner.run(experiment, settings, directory).findings
        self.assertEqual(Finding("1 of 1", True), finding)

    def test_every_path_is_there(self):
        paths = re.findall(
            r"\b(?:nova_twotier|tests|filters|weighers|benchmarks)/[\w/]+(?:\.py)?", PAGE
        )
        self.assertGreater(len(paths), 10)
        self.assertEqual([], [path for path in paths if not (ROOT / path).exists()])
