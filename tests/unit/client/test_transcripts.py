"""What doc/tenant.md shows of a session is what the commands print."""

import functools
import itertools
import pathlib
import re
from datetime import datetime

import fixtures

from nova_twotier.client import progress
from nova_twotier.core.reasons import waits
from nova_twotier.db.states import JobState
from tests.documented.runners import commands_of
from tests.unit.api.test_predictions import PredictedCase
from tests.unit.client.case import CommandCase

PAGE = pathlib.Path(__file__).parents[3] / "doc" / "tenant.md"


def transcript(words):
    """What the page shows below a command."""
    [command] = [
        each
        for each in commands_of("tests/unit/client/test_transcripts.py")
        if each.words == ("openstack", "twotier", *words.split())
    ]
    lines = PAGE.read_text().splitlines(keepends=True)[command.line :]
    return "".join(itertools.takewhile(lambda line: line != "```\n", lines))


def seconds(text):
    return datetime.fromisoformat(text).timestamp()


class TestExplain(PredictedCase, CommandCase):
    def setUp(self):
        # "Expected in 22 min" counts from now.
        now = seconds("2026-11-25T02:48:12Z")
        self.useFixture(fixtures.MonkeyPatch("time.time", lambda: now))
        super().setUp()

    def test_a_job_that_waits(self):
        before = [self.submit(name="mesh" if number == 17 else "") for number in range(4, 19)]
        for job in (self.theirs, self.first, self.job, *before):
            self.change(job, state=JobState.RUNNING)
        mesh, solver = before[17 - 4], self.submit(name="solver", size=8)
        self.change(solver, reason=waits.SLOTS(size=8, idle=6))
        times = {
            "start": "2026-11-25T03:10:12Z",
            "start_low": "2026-11-25T02:55:40Z",
            "start_high": "2026-11-25T03:40:25Z",
            "finish": "2026-11-25T04:25:12Z",
            "finish_low": "2026-11-25T03:50:30Z",
            "finish_high": "2026-11-25T06:05:00Z",
        }
        after = {name: seconds(at) - self.now for name, at in times.items()}
        self.predict(solver, starts_after=mesh["number"], smaller=6, **after)
        held = [True] * 83 + [False] * 17, [True] * 79 + [False] * 19
        self.predict_pool(starts=held[0], finishes=held[1])
        shown = transcript("job explain solver")
        fields = re.findall(r"^\| (\w+) +\|", shown, re.M)[1:]
        width = len(shown.splitlines()[0])
        chosen = [word for field in fields for word in ("-c", field)]
        self.assertEqual(
            shown, self.succeed("job", "explain", "solver", "--max-width", str(width), *chosen)
        )


class TestWait(CommandCase):
    def test_one_that_ends_and_one_that_waits(self):
        first, second = self.submit(name="first"), self.submit(name="second")
        self.change(first, state=JobState.RUNNING, tier="fg")
        self.change(second, reason=waits.TOO_LARGE(size=30, slots=12))

        def end_first(_seconds):
            if self.store.job(1).state == JobState.FINISHED:
                raise KeyboardInterrupt
            self.change(first, state=JobState.FINISHED)

        watch = functools.partial(progress.watch, sleep=end_first)
        self.useFixture(fixtures.MockPatchObject(progress, "watch", watch))
        self.assertRaises(KeyboardInterrupt, self.openstack, "job", "wait", "first", "second")
        shown = transcript("job wait first second")
        self.assertEqual(shown, self.stderr.getvalue()[: len(shown)])
