"""The provisional command line: exact output, and one clear line for every mistake."""

import io
import json
import pathlib
import textwrap
from contextlib import redirect_stderr, redirect_stdout

import fixtures
import testtools

from nova_twotier.cmd import manager, twotier
from nova_twotier.manager.db.store import Store


class CommandCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.conf = self.directory / "nova-twotier.conf"
        self.conf.write_text(f"[DEFAULT]\nstate_path = {self.directory}/state\n")
        self.store = Store(f"sqlite:///{self.directory}/state/twotier.sqlite")
        self.addCleanup(self.store.close)

    def run_main(self, main, *args):
        """Exit code, standard output, standard error."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code = main(["--config-file", str(self.conf), *args])
            except SystemExit as exit_:
                code = exit_.code
        return code, out.getvalue(), err.getvalue()

    def twotier(self, *args):
        return self.run_main(twotier.main, *args)


class TestJobs(CommandCase):
    def test_an_empty_queue(self):
        self.assertEqual((0, "no jobs\n", ""), self.twotier("job", "list"))

    def test_list(self):
        self.store.submit(4, [0.6], name="solver", at=0)
        code, out, _err = self.twotier("job", "list")
        self.assertEqual(0, code)
        self.assertEqual(
            textwrap.dedent("""\
            +--------+--------+------+--------+------+---------------------------+--------+
            | number | name   | size | state  | tier | submitted                 | reason |
            +--------+--------+------+--------+------+---------------------------+--------+
            | 1      | solver | 4    | queued |      | 1970-01-01T00:00:00+00:00 |        |
            +--------+--------+------+--------+------+---------------------------+--------+
            """),
            out,
        )

    def test_submit_then_show_as_json(self):
        code, out, _err = self.twotier(
            "job", "submit", "--size", "2", "--cpu", "0.4,0.9", "-f", "json"
        )
        self.assertEqual((0, 1), (code, json.loads(out)["number"]))
        code, out, _err = self.twotier("job", "show", "1", "-f", "json")
        shown = json.loads(out)
        self.assertEqual([0.9, 0.4], shown["cpu"])
        self.assertTrue(shown["events"][0].endswith("submitted"))

    def test_wishes_are_left_for_the_manager(self):
        self.store.submit(1, [1.0])
        self.twotier("job", "cancel", "1")
        self.assertEqual("cancel", self.store.job(1).wish)


class TestMistakes(CommandCase):
    def refused(self, code, words, *args):
        got, out, err = self.twotier(*args)
        self.assertEqual((code, ""), (got, out))
        self.assertEqual(1, err.count("\n"), err)
        self.assertIn(words, err)
        self.assertEqual([], self.store.jobs())

    def test_size(self):
        for size in ("0", "-3"):
            self.refused(
                2,
                "a job needs a whole number of processes, at least 1",
                "job",
                "submit",
                f"--size={size}",
            )

    def test_cpu(self):
        for cpu in ("1.2", "-0.1", "nan"):
            self.refused(
                2,
                "give the share of a CPU a process uses, 0 to 1",
                "job",
                "submit",
                "--size",
                "2",
                f"--cpu={cpu}",
            )
        self.refused(
            2,
            "give numbers 0 to 1, separated by commas",
            "job",
            "submit",
            "--size",
            "2",
            "--cpu",
            "much",
        )
        self.refused(
            2,
            "cpu has 3 values for 2 processes",
            "job",
            "submit",
            "--size",
            "2",
            "--cpu",
            "0.1,0.2,0.3",
        )

    def test_no_such_job(self):
        self.refused(1, "there is no job 7", "job", "show", "7")

    def test_wrong_option(self):
        self.conf.write_text("[manager]\npolicy = best\n")
        self.refused(1, "policy", "job", "list")

    def test_no_such_file(self):
        self.conf = self.directory / "other.conf"
        self.refused(1, "no such configuration file", "job", "list")

    def test_database_that_cannot_be(self):
        self.conf.write_text("[database]\nconnection = sqlite:////proc/none/x.sqlite\n")
        self.refused(1, "cannot be opened", "job", "list")


class TestManagerMistakes(CommandCase):
    def test_no_cloud_configured(self):
        code, _out, err = self.run_main(manager.main)
        self.assertEqual(1, code)
        self.assertIn("option [manager]flavor is not set", err)

    def test_no_credentials(self):
        with self.conf.open("a") as conf:
            conf.write("[manager]\nflavor = f\nimage = i\n")
        code, _out, err = self.run_main(manager.main)
        self.assertEqual(1, code)
        self.assertIn("[nova] has no auth_type", err)
