"""Expected starts and ends, as people see them."""

import testtools

from nova_twotier.client import columns, progress

START = {
    "predicted_start": "2026-11-25T03:10:29.000+00:00",
    "predicted_start_low": "2026-11-25T02:55:00.000+00:00",
    "predicted_start_high": "2026-11-25T03:40:00.000+00:00",
}


class TestWords(testtools.TestCase):
    def test_an_interval(self):
        shown = columns.with_expectations(START)
        self.assertEqual(["expected_start"], list(shown))
        self.assertEqual("2026-11-25 03:10 UTC (02:55 to 03:40, 80 %)", self.human(shown))

    def test_an_interval_over_midnight(self):
        later = START | {"predicted_start_high": "2026-11-26T00:40:00.000+00:00"}
        self.assertEqual(
            "2026-11-25 03:10 UTC (2026-11-25 02:55 to 2026-11-26 00:40, 80 %)",
            self.human(columns.with_expectations(later)),
        )

    def test_no_interval_and_no_time(self):
        alone = {name: START[name] if name == "predicted_start" else None for name in START}
        self.assertEqual("2026-11-25 03:10 UTC", self.human(columns.with_expectations(alone)))
        nothing = columns.with_expectations(dict.fromkeys(START))
        self.assertEqual("", self.human(nothing))
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
            "job 7 (solver), 2nd in the queue: waits; expected to start at 2026-11-25 03:10 UTC",
            progress._line(job, explanation),
        )
        running = {"position": None, "reason": "runs", "predicted_finish": START["predicted_start"]}
        self.assertEqual(
            "job 7 (solver): runs; expected to end at 2026-11-25 03:10 UTC",
            progress._line(job, running),
        )
