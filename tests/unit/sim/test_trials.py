"""What is tried where claims do not hold: which runs change, and where the outcome is told."""

import json
from unittest import mock

import pandas
import testtools

from nova_twotier.sim.reproduce import document, readings, registry, runner, trials
from nova_twotier.sim.reproduce.claims import UNTESTED, Claim, Finding
from nova_twotier.sim.reproduce.experiment import Experiment, Run, Settings
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.sweep import Point
from tests.unit.sim.test_reproduce import ReproduceCase

POLICIES = ("easy", "ambf", "amcbf", "cmcbf")


def points(settings):
    """A run of each policy and seed."""
    source = f"lublin:{settings.model_jobs or 30}"
    return [
        Run(policy, "W", Point(source, Scenario(policy, seed=seed), load=0.7, nodes=64))
        for policy in POLICIES
        for seed in range(settings.seeds)
    ]


def experiment(*verdicts, tried=()):
    claims = tuple(
        Claim(f"c{index}", "", "yes", "", lambda _results, holds=holds: Finding("x", holds))
        for index, holds in enumerate(verdicts)
    )
    return Experiment("it", "Paper", "this", runs=points, claims=claims, trials=tried)


class TestTrials(testtools.TestCase):
    def changed(self, trial, **settings):
        """The runs with a trial, as (policy, reading, seed), which differ from those without."""
        given, each = Settings(seeds=1, **settings), experiment()
        before = {run.point for run in map(_frozen, each.runs(given))}
        after = map(_frozen, each.under(trial).runs(given))
        return {run.series: run.point for run in after if run.point not in before}

    def test_readings_are_of_policies_with_two_tiers(self):
        changed = self.changed(trials.reading(draw="slice", floor=0.0))
        self.assertEqual({"amcbf", "cmcbf"}, set(changed))
        self.assertIn("slice", changed["amcbf"])

    def test_they_are_named_by_their_fields(self):
        trial = trials.reading(processes="own", floor=0.0)
        self.assertEqual("processes=own floor=0", trial.name)

    def test_the_waiting_head_is_of_amcbf(self):
        changed = self.changed(trials.WAITING_HEAD)
        self.assertEqual(["amcbf"], list(changed))
        self.assertIn("amcbf-waiting-head", changed["amcbf"])

    def test_bandwidth(self):
        given = Scenario("fcfs", topology="fat-tree:4:1000", bandwidth="normal:300")
        for text, expected in (("by-size", "by-size:300"), ("by-size:250", "by-size:250")):
            trial = trials.bandwidth(text)
            self.assertEqual(f"bandwidth={text}", trial.name)
            self.assertEqual(expected, trial.scenario(given).bandwidth)

    def test_more_seeds(self):
        for given, expected in ((1, 3), (5, 5)):
            runs = experiment().under(trials.MORE_SEEDS).runs(Settings(seeds=given))
            self.assertEqual(expected * len(POLICIES), len(runs))

    def test_more_jobs_than_otherwise(self):
        more = experiment().under(trials.more_jobs(30))
        for given, expected in ((None, "lublin:150"), (8, "lublin:40")):
            runs = more.runs(Settings(seeds=1, model_jobs=given))
            self.assertEqual({expected}, {run.point.source for run in runs})


def _frozen(run):
    """With a point that can be in a set."""
    return Run(run.series, run.place, repr(run.point))


class TestRunner(ReproduceCase):
    def run_(self, *verdicts):
        each = experiment(*verdicts, tried=(trials.WAITING_HEAD, trials.MORE_SEEDS))
        return runner.run_with_trials(each, Settings(seeds=1), self.out, jobs=1, progress=False)

    def test_made_where_a_claim_does_not_hold(self):
        found = self.run_(True, False)
        self.assertEqual(["amcbf-waiting-head", "3 seeds"], list(found.tried))
        # What does not change is not run again.
        self.assertEqual(4 + 1 + 2 * 4, found.done)
        self.assertEqual(found.done, len(found.simulated))

    def test_not_made_where_all_hold_or_cannot_be_tested(self):
        self.assertEqual(({}, 4), ((found := self.run_(True, None)).tried, found.done))

    def test_in_the_report_and_the_document(self):
        doc = self.directory / "doc.md"
        doc.write_text(f"{document.BEGIN}{document.END}")
        failing = experiment(False, True, tried=(trials.WAITING_HEAD,))
        with mock.patch.dict(registry.EXPERIMENTS, {"it": failing}, clear=True):
            _rows, page = self.works("it", "--seeds", "1", "--tried", "--doc", doc)
        self.assertIn("What was tried for those that do not hold", page)
        text = doc.read_text()
        self.assertIn("`twotier-sim reproduce it --seeds 1 --tried`; 1 of 2", text)
        self.assertIn(
            "| claim | as above | amcbf-waiting-head |\n|---|---|---|\n| c0 | x | x |\n", text
        )

    def test_only_if_asked_for(self):
        with mock.patch.dict(
            registry.EXPERIMENTS, {"it": experiment(False, tried=(trials.SLICES,))}
        ):
            _rows, page = self.works("it", "--seeds", "1")
        self.assertNotIn("What was tried", page)


class TestSection(testtools.TestCase):
    def section(self, *tried):
        """Of one claim that does not hold, and what it gives under the trials a, b..."""
        each = experiment(False)
        pairs = [(each.claims[0], Finding("2 of 3", False, ("0.5", "0.9")))]
        named = {name: [finding] for name, finding in zip("abc", tried, strict=False)}
        return document.section(
            runner.Outcome(each, Settings(), Results(pandas.DataFrame()), [], pairs, 0, 0.0, named),
            "it",
        )

    def test_a_trial_helps(self):
        text = self.section(Finding("1 of 3", False), Finding("3 of 3", True), UNTESTED)
        self.assertIn("| 2 of 3 | **no** (at 0.5, 0.9): reason not found; holds with b |\n\n", text)
        self.assertIn("| c0 | 2 of 3 | 1 of 3 | 3 of 3 (holds) | - |", text)

    def test_none_helps(self):
        text = self.section(Finding("1 of 3", False))
        self.assertIn("reason not found; nothing tried helps |", text)


class TestReadings(ReproduceCase):
    def test_jss(self):
        options = ("--seeds", "1", "--head", "40", "--traces", self.traces())
        rows, page = self.works("jss2015-readings", *options)
        self.assertEqual([trial.name for trial in readings.JSS], [row["row"] for row in rows])
        for row in rows:
            for trace in ("KTH", "CTC", "SDSC", "LANL"):
                self.assertRegex(row[trace], r"^[+-]\d+ / [+-]\d+ / [+-]\d+$")
            # On some of these short traces, nothing waits.
            self.assertEqual("-", row["rms"])
        self.assertIn("draw=slice", page)

    def test_jss_of_some_traces(self):
        options = ("--seeds", "1", "--head", "40", "--traces", self.traces())
        rows, _page = self.works("jss2015-readings", *options, "--only", "KTH,SDSC")
        self.assertEqual(["row", "KTH", "SDSC", "rms"], list(rows[0]))
        runs = len(list(self.out.glob("runs/*.json")))
        self.assertEqual(2 * 3 * len(readings.JSS), runs)

    def test_the_deviation_is_from_what_is_printed(self):
        """Runs that give twice the printed waits of KTH, and the printed ones elsewhere."""
        printed = readings.published.TABLE2[readings.PRINTED_WAIT]
        columns = readings.published.TABLE2_COLUMNS
        rows = [
            {
                "series": f"{policy}, {trial.name}",
                "place": trace,
                "load": float("nan"),
                readings.WAIT: 60 * values[columns.index(policy)] * (1 + (trace == "KTH")),
            }
            for trial in readings.JSS
            for trace, values in printed.items()
            for policy in ("CCFCFS", "ACFCFS", "ACFCFS100")
        ]
        (table,) = readings._jss_tables(Results(pandas.DataFrame(rows)), Settings())
        near = ["+0 / +0 / +0"] * 3
        # Two of eight logarithms are that of 2.
        self.assertEqual(["+100 / +100 / +100", *near, "35"], [*table.rows["draw=slice"]])

    def test_tpds(self):
        options = ("--seeds", "1", "--model-jobs", "60", "--loads", "0.7,0.9")
        rows, _page = self.works("tpds2013-readings", *options)
        names = [trial.name for trial in readings.TPDS[1:]]
        self.assertEqual(
            [(place, name) for place in ("FWorkload", "JWorkload") for name in names],
            [(row["table"], row["row"]) for row in rows],
        )
        keys = [json.loads(path.read_text())["policy"] for path in self.out.glob("runs/*.json")]
        self.assertEqual(4, keys.count("amcbf-waiting-head"))
