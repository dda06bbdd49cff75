"""Waiting for a job: what is shown, and when it ends."""

import argparse
import functools
import io

import fixtures
import testtools

from nova_twotier.client import progress
from nova_twotier.client.rest import ApiError
from nova_twotier.core.reasons import waits
from nova_twotier.db.states import JobState
from tests.unit.client.case import ClientCase


class Terminal(io.StringIO):
    def isatty(self):
        return True


class TestBar(testtools.TestCase):
    def shown(self, stream, options=None):
        self.useFixture(fixtures.MonkeyPatch("sys.stderr", stream))
        with progress.bar(3, "job", options) as bar:
            bar.update()
        return stream.getvalue()

    def test_on_a_terminal_only(self):
        self.assertIn("/3 ", self.shown(Terminal()))
        self.assertIn("/3 ", self.shown(Terminal(), argparse.Namespace(verbose_level=1)))
        self.assertEqual("", self.shown(io.StringIO()))

    def test_openstack_quiet(self):
        self.assertEqual("", self.shown(Terminal(), argparse.Namespace(verbose_level=0)))


class TestDisplay(testtools.TestCase):
    def show(self, stream, *texts):
        times = iter(range(100))
        with progress.Display(stream, now=lambda: next(times)) as display:
            for text in texts:
                display.show(text)
        return stream.getvalue()

    def test_a_line_for_each_change(self):
        self.assertEqual("a\nb\na\n", self.show(io.StringIO(), "a", "a", "b", "b", "a"))

    def test_one_line_on_a_terminal(self):
        shown = self.show(Terminal(), "waits", "runs")
        self.assertEqual("\r\x1b[K0:00:01 waits\r\x1b[K0:00:02 runs\n", shown)

    def test_a_line_of_a_terminal_is_not_wrapped(self):
        self.useFixture(fixtures.EnvironmentVariable("COLUMNS", "20"))
        self.assertEqual(
            "\r\x1b[K0:00:01 a long text\n", self.show(Terminal(), "a long text, too long")
        )

    def test_nothing_shown(self):
        self.assertEqual("", self.show(Terminal()))


class TestWatching(ClientCase):
    def setUp(self):
        super().setUp()
        self.shown = []
        self.pauses = []

    def watch(self, job, *steps, until=progress.STARTED):
        """The state at the end; each step is done in the pause between two polls."""
        todo = iter(steps)

        def sleep(seconds):
            self.pauses.append(seconds)
            next(todo)()

        return progress.watch(self.api, job, self.shown.append, until, sleep)

    def test_until_it_runs(self):
        job = self.api.submit({"size": 1, "name": "solver"})
        state = self.watch(
            job,
            lambda: self.change(job, reason=waits.SLOTS(size=1, idle=0)),
            lambda: self.change(job, state=JobState.STARTING),
            lambda: self.change(job, state=JobState.RUNNING, tier="bg"),
        )
        self.assertEqual("running", state)
        self.assertEqual(
            [
                "job 1 (solver), 1st in the queue: waits; the manager has not decided about it yet",
                "job 1 (solver), 1st in the queue: needs 1 foreground slot, 0 idle",
                "job 1 (solver): its servers are being built",
                "job 1 (solver): runs in the background",
            ],
            self.shown,
        )
        self.assertEqual([progress.INTERVAL] * 3, self.pauses)

    def test_until_it_is_over(self):
        for state in (JobState.FINISHED, JobState.FAILED, JobState.CANCELLED):
            job = self.api.submit({"size": 1})
            end = functools.partial(self.change, job, state=state)
            self.assertEqual(state, self.watch(job, end))
        # Who waits says that it failed.
        self.assertEqual(
            ["job 1: is finished"], [text for text in self.shown if "queue" not in text]
        )

    def test_until_it_has_finished(self):
        job = self.api.submit({"size": 1})
        self.change(job, state=JobState.RUNNING)
        end = functools.partial(self.change, job, state=JobState.FINISHED)
        steps = [*[lambda: None] * 400, end]
        self.assertEqual("finished", self.watch(job, *steps, until=progress.FINISHED))
        self.assertEqual(progress.INTERVAL, self.pauses[0])
        self.assertEqual(progress.LONGEST_INTERVAL, self.pauses[-1])

    def test_an_api_that_is_away_for_a_while(self):
        job = self.api.submit({"size": 1})
        explain = self.api.explain
        answers = iter([ApiError("it does not answer"), ApiError("nor now", 503), None])

        def flaky(uuid):
            error = next(answers)
            if error:
                raise error
            return explain(uuid)

        self.api.explain = flaky
        self.change(job, state=JobState.RUNNING)
        self.assertEqual("running", self.watch(job, lambda: None, lambda: None))
        self.assertEqual(
            ["it does not answer; trying again", "nor now; trying again", "job 1: runs"],
            self.shown,
        )

    def test_a_job_that_is_gone(self):
        error = self.assertRaises(ApiError, self.watch, {"uuid": "nonsense"})
        self.assertEqual(404, error.status)

    def test_an_api_that_is_away_just_when_the_job_is_over(self):
        """The exit code of `job wait` must not be that of a job that failed."""
        pauses, stream = [], io.StringIO()
        self.useFixture(fixtures.MonkeyPatch("time.sleep", pauses.append))
        job = self.api.submit({"size": 1})
        self.change(job, state=JobState.FINISHED)
        show, answers = self.api.job, iter([ApiError("it restarts", 503), None])

        def flaky(uuid):
            if error := next(answers):
                raise error
            return show(uuid)

        self.api.job = flaky
        self.assertEqual(
            "finished", progress.follow(self.api, job, progress.FINISHED, stream)["state"]
        )
        self.assertEqual("job 1: is finished\nit restarts; trying again\n", stream.getvalue())
        self.assertEqual([progress.INTERVAL], pauses)
