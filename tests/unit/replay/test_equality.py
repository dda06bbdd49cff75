"""`equality` checks what it is asked for before it starts a cloud, and says what it compared."""

import io
from contextlib import redirect_stderr, redirect_stdout

import fixtures
import testtools

from nova_twotier.core import policies
from nova_twotier.tools.fakecloud import FakeCloudError
from nova_twotier.tools.replay import equality
from nova_twotier.tools.replay.verify import Verdict


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

    def test_no_such_policy(self):
        code, told = self.run_with("lifo")
        self.assertEqual(2, code)
        self.assertIn("there is no policy 'lifo'; choose one of: acfcfs, ambf,", told)

    def test_every_policy_is_taken(self):
        said = (1, "equality: was to be started")
        self.assertEqual(said, self.run_with(*policies.POLICIES))

    def test_one_job_is_left_of_the_excerpt(self):
        self.assertEqual((1, "equality: was to be started"), self.run_with("--skip", "99"))


class TestRuns(testtools.TestCase):
    """Clouds and verdicts are made up."""

    def setUp(self):
        super().setUp()
        self.clouds, self.verdict = [], Verdict({"start fg immediate": 2, "evict": 1}, [], [])
        out = self.useFixture(fixtures.TempDir()).path
        self.out = f"--out={out}"
        for name, fake in (
            ("FakeCloud", self.cloud),
            ("_link", lambda cloud: cloud.append("links")),
            ("_run", self.run_of),
        ):
            self.useFixture(fixtures.MonkeyPatch(f"{equality.__name__}.{name}", fake))

    def cloud(self, _directory, tiers, **_size):
        self.clouds.append(Cloud([tiers]))
        return self.clouds[-1]

    def run_of(self, cloud, policy, _directory, jobs):
        cloud.append(policy)
        self.assertEqual("links" in cloud, any(job.mbps for job in jobs))
        return self.verdict

    def main(self, *policies):
        out = io.StringIO()
        with redirect_stdout(out):
            code = equality.main([self.out, *policies])
        return code, out.getvalue()

    def test_all_on_the_clouds_that_they_need(self):
        code, _said = self.main()
        plain, linked, deep = self.clouds
        self.assertEqual(0, code)
        self.assertEqual([2, "links"], linked[:2])
        self.assertEqual({"sbf", "bgmbf", "bgmbf-sdf"}, set(linked[2:]))
        self.assertEqual([3, "ktier-cmbf"], deep)
        self.assertEqual(2, plain[0])
        self.assertEqual(set(policies.POLICIES), {*plain[1:], *linked[2:], *deep[1:]})

    def test_bandwidth_wherever_it_can_be_guaranteed(self):
        """A tier more does not matter; a policy that cannot guarantee it has a cloud without."""
        self.assertEqual(0, self.main("--bandwidth", "amcbf", "easy", "sbf", "ktier-cmbf")[0])
        self.assertEqual(
            [[2, "easy"], [2, "links", "amcbf", "sbf"], [3, "links", "ktier-cmbf"]], self.clouds
        )

    def test_kinds_are_counted(self):
        said = "fcfs: 3 decisions, the same as the simulator's (0 s)\n"
        said += "     1 evict\n     2 start fg immediate\n"
        self.assertEqual((0, said), self.main("fcfs"))

    def test_a_difference(self):
        self.verdict = Verdict({"evict": 1}, ["-evict job 1"], [])
        said = "fcfs: 1 decisions, not the same as the simulator's (0 s)\n     1 evict\n"
        self.assertEqual((1, f"{said}  -evict job 1\n"), self.main("fcfs"))

    def test_nothing_was_decided(self):
        self.verdict = Verdict({}, [], [])
        said = "fcfs: no decisions, so nothing was compared (0 s)\n"
        self.assertEqual((1, said), self.main("fcfs"))


class Cloud(list):
    """Its tiers, and what happens on it."""

    def info(self):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        """Nothing is up."""
