"""Expected starts and ends, as people see them."""

import fixtures
import testtools

from nova_twotier.client import columns, progress
from nova_twotier.client.rest import Api
from tests.unit.client.case import CommandCase

START = {
    "predicted_start": "2026-11-25T03:10:29.000+00:00",
    "predicted_start_low": "2026-11-25T02:55:00.000+00:00",
    "predicted_start_high": "2026-11-25T03:40:00.000+00:00",
}


class TestWords(testtools.TestCase):
    def test_an_interval(self):
        shown = columns.with_expectations(START)
        self.assertEqual([name.replace("predicted", "expected") for name in START], list(shown))
        self.assertEqual("2026-11-25T03:10:29Z (02:55:00 to 03:40:00, 80 %)", self.human(shown))

    def test_an_interval_over_midnight(self):
        later = START | {"predicted_start_high": "2026-11-26T00:40:00.000+00:00"}
        self.assertEqual(
            "2026-11-25T03:10:29Z (2026-11-25T02:55:00Z to 2026-11-26T00:40:00Z, 80 %)",
            self.human(columns.with_expectations(later)),
        )

    def test_no_interval_and_no_time(self):
        alone = {name: START[name] if name == "predicted_start" else None for name in START}
        self.assertEqual("2026-11-25T03:10:29Z", self.human(columns.with_expectations(alone)))
        nothing = columns.with_expectations(dict.fromkeys(START))
        self.assertIsNone(columns.cell("expected_start", nothing["expected_start"]))
        # An API of an earlier release predicts nothing.
        self.assertEqual({"size": 1}, columns.with_expectations({"size": 1}))

    def human(self, shown):
        return columns.cell("expected_start", shown["expected_start"]).human_readable()

    def test_how_often_intervals_have_held(self):
        none, some = {"held": 0, "of": 0}, {"held": 83, "of": 100}
        for starts, finishes, text in (
            (none, none, "too few jobs have ended yet to give an interval"),
            (
                some,
                none,
                "intervals of starts: held for 83 of the last 100 jobs; "
                "intervals of finishes: too few jobs have ended yet to give an interval",
            ),
        ):
            cell = columns.cell("predictions", {"starts": starts, "finishes": finishes})
            self.assertEqual(text, cell.human_readable())

    def test_the_line_of_one_who_waits(self):
        job = {"number": 7, "name": "solver"}
        explanation = {"position": 2, "reason": "waits", **START}
        self.assertEqual(
            "job 7 (solver), 2nd in the queue: waits; expected to start at 2026-11-25T03:10:29Z",
            progress._line(job, explanation),
        )
        running = {"position": None, "reason": "runs", "predicted_finish": START["predicted_start"]}
        self.assertEqual(
            "job 7 (solver): runs; expected to end at 2026-11-25T03:10:29Z",
            progress._line(job, running),
        )


class TestList(CommandCase):
    """Expected times in a list: one cell for people, one column for each bound for programs."""

    HEADINGS = ("Expected Start", "Expected Start Low", "Expected Start High")

    def setUp(self):
        super().setUp()
        nothing = dict.fromkeys(name.replace("start", "finish") for name in START)
        job = {**self.submit(), **START, **nothing}
        self.useFixture(fixtures.MockPatchObject(Api, "jobs", return_value=[job]))

    def test_for_programs(self):
        [brief], [long] = self.shown("job", "list"), self.shown("job", "list", "--long")
        self.assertEqual(list(START.values()), [long[name] for name in self.HEADINGS])
        self.assertEqual(START["predicted_start"], brief["Expected Start"])
        self.assertEqual(
            [None] * 3, [long[name.replace("Start", "Finish")] for name in self.HEADINGS]
        )

    def test_for_people(self):
        table = self.succeed("job", "list", "--long")
        self.assertIn("| 2026-11-25T03:10:29Z (02:55:00 to 03:40:00, 80 %) |", table)
        self.assertNotIn("Expected Start Low", table)
        self.assertIn("| 2026-11-25T03:10:29Z |", self.succeed("job", "list"))
        low = self.succeed("job", "list", "--long", "-c", "Expected Start Low")
        self.assertIn("| 2026-11-25T02:55:00Z |", low)
