"""What `equality` is asked for is looked at before a cloud is started."""

import io
from contextlib import redirect_stderr

import fixtures
import testtools

from nova_twotier.tools.fakecloud import FakeCloudError
from nova_twotier.tools.replay import equality


class TestBadInput(testtools.TestCase):
    def setUp(self):
        super().setUp()
        cloud = "nova_twotier.tools.replay.equality.FakeCloud"
        self.useFixture(fixtures.MonkeyPatch(cloud, self.no_cloud))

    def no_cloud(self, *_arguments, **_options):
        raise FakeCloudError("was to be started")

    def run_with(self, *words):
        """Exit code, and the last line of what is said."""
        err = io.StringIO()
        with redirect_stderr(err):
            try:
                code = equality.main(list(words))
            except SystemExit as left:
                code = left.code
        return code, err.getvalue().splitlines()[-1]

    def test_no_jobs_to_play(self):
        for option, value, least in (
            ("--jobs", "0", 1),
            ("--jobs", "-3", 1),
            ("--skip", "-1", 0),
            ("--skip", "²", 0),
        ):
            told = f"argument {option}: {value!r} is not a whole number of at least {least}"
            self.assertEqual(
                (2, f"equality: error: {told}"), self.run_with(f"{option}={value}", "fcfs")
            )

    def test_nothing_is_left_of_the_excerpt(self):
        told = "equality: --skip 100: the excerpt has 100 jobs, skip at most 99"
        self.assertEqual((2, told), self.run_with("--skip", "100"))

    def test_one_job_is_left_of_the_excerpt(self):
        self.assertEqual((1, "equality: was to be started"), self.run_with("--skip", "99"))
