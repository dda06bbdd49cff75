"""`twotier-manage`: exact output, exit codes, and one clear line for every mistake."""

import io
import json
import pathlib
import subprocess
import sys
import textwrap
import types
from contextlib import redirect_stderr, redirect_stdout

import fixtures
import testtools

from nova_twotier.audit.comparison import compare
from nova_twotier.audit.repair import Report
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cmd import manage, manage_ledger
from nova_twotier.db import terms
from nova_twotier.ledger.claims import JobEntry
from nova_twotier.ledger.shape import Shape
from tests.new_databases import new_store
from tests.unit.audit.builders import BG, agreeing, but, claim, host

FINDING = """\
+--------------+---------+------------+----------------------------------+-----------------+
| kind         | subject | is         | should be                        | repair          |
+--------------+---------+------------+----------------------------------+-----------------+
| orphan-claim | x       | holds a bg | nothing: there is no such server | drop its claims |
+--------------+---------+------------+----------------------------------+-----------------+
"""


class ManageCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.conf = self.directory / "nova-twotier.conf"
        self.conf.write_text(f"[DEFAULT]\nstate_path = {self.directory}/state\n")

    def manage(self, *args):
        """Exit code, standard output, standard error."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code = manage.main(["--config-file", str(self.conf), "ledger", *args])
            except SystemExit as exit_:
                code = exit_.code
        return code, out.getvalue(), err.getvalue()

    def cloud(self, state):
        """A cloud that looks like this, or raises this error."""

        def read():
            if isinstance(state, Exception):
                raise state
            return state

        reader = types.SimpleNamespace(state=read, hosts=read)
        if not isinstance(state, Exception):
            reader.nova = types.SimpleNamespace(vms=lambda: state.vms)
            reader.entries = lambda: state.entries
            reader.held = lambda _hosts: state.claims
        self.useFixture(
            fixtures.MonkeyPatch("nova_twotier.cmd.manage_ledger._reader", lambda *_: reader)
        )

    def verify(self, *options):
        return self.manage("verify", "--no-database", "--pause", "0", *options)


class TestOutput(ManageCase):
    def test_clean(self):
        self.cloud(agreeing())
        self.assertEqual((0, "no findings\n", ""), self.verify())
        self.assertEqual((0, "[]\n", ""), self.verify("-f", "json"))
        self.assertEqual((0, "in order\n", ""), self.manage("sync", "--dry-run"))

    def test_findings(self):
        self.cloud(but(claims={"x": [claim("x", "a", BG)]}))
        row = "orphan-claim,x,holds a bg,nothing: there is no such server,drop its claims"
        self.assertEqual((1, FINDING, ""), self.verify())
        csv = f"kind,subject,is,should be,repair\n{row}\n"
        self.assertEqual((1, csv, ""), self.verify("-f", "csv"))
        chosen = ("repair", "--no-database", "--pause", "0", "--dry-run", "-f", "csv", "--kind")
        self.assertEqual((1, csv, ""), self.manage(*chosen, "orphan-claim"))
        self.assertEqual((0, "\n", ""), self.manage(*chosen, "wrong-tier"))

    def test_without_a_manager(self):
        """It is no finding: `repair` needs a stopped manager."""
        self.cloud(agreeing())
        store = new_store(self, f"sqlite:///{self.directory}/state/twotier.sqlite")
        note = "twotier-manage: pool default: no manager yet\n"
        self.assertEqual((0, "[]\n", note), self.manage("verify", "-f", "json"))
        terms.begin(store, "default", "manager")
        with open(self.conf, "a") as conf:
            conf.write("[coordination]\nlease = 3600\n")
        self.assertEqual((0, "no findings\n", ""), self.manage("verify"))

    def test_show(self):
        left = host("b", reserved=1)
        self.cloud(but(shapes={"a": Shape(2, 2, "core/rack1"), "b": None}, hosts={"b": left}))
        hosts = textwrap.dedent("""\
            - host: a
              slots: 2
              tiers: 2
              fg_used: 1
              fg_total: 2
              bg_used: 0
              bg_total: 2
              closed: 0
              cpu_points: 50
              pool: default
              switch: core/rack1
            - host: b
              slots: 2
              tiers: 2
              fg_used: 1
              fg_total: 2
              bg_used: 0
              bg_total: 2
              closed: 1
              cpu_points: 50
              pool: ''
              switch: (in no aggregate)
            """)
        self.assertEqual((0, hosts, ""), self.manage("show", "-f", "yaml"))

    def test_show_jobs(self):
        self.cloud(but(entries={"j": JobEntry("j", BG, 2, {"a": 100, "core/rack1": 50})}))
        lines = 'job,tier,size,links,vms\nj,bg,2,"a 100, core/rack1 50",2\n'
        self.assertEqual((0, lines, ""), self.manage("show", "--jobs", "-f", "csv"))


class TestCommonArguments(ManageCase):
    """They may be given before and after the subcommand."""

    def test_log(self):
        log = self.directory / "manage.log"
        where = [["--log-file", str(log)], [f"--log-dir={self.directory}", "--log-file=manage.log"]]
        command = [sys.executable, "-m", "nova_twotier.cmd.manage", f"--config-file={self.conf}"]
        for args in ([*where[0], "db", "upgrade"], ["db", "upgrade", "--debug", *where[1]]):
            done = subprocess.run([*command, *args], capture_output=True, text=True, check=False)
            self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertIn("Running upgrade", log.read_text())

    def test_a_log_without_a_file_is_apart_from_the_answer(self):
        command = [sys.executable, "-m", "nova_twotier.cmd.manage", f"--config-file={self.conf}"]
        upgrade = [*command, "--debug", "db", "upgrade", "-f", "json"]
        done = subprocess.run(upgrade, capture_output=True, text=True, check=True)
        self.assertTrue(json.loads(done.stdout))
        self.assertIn("Running upgrade", done.stderr)

    def test_directory(self):
        parts = self.directory / "parts"
        parts.mkdir()
        (parts / "wrong.conf").write_text("[manager]\nthreshold = much\n")
        for args in (["--config-dir", str(parts), "show"], ["show", f"--config-dir={parts}"]):
            code, _out, err = self.manage(*args)
            self.assertEqual(2, code)
            self.assertIn(f"[manager]threshold: Value for option threshold from {parts}", err)

    def test_where(self):
        other = self.directory / "other.conf"
        other.write_text("[manager]\nthreshold = much\n")
        first, last = ["--config-file", str(self.conf)], [f"--config-file={other}"]
        words = ["ledger", "verify", "--no-database"]
        for args, said in (
            ([*words, *first], "[nova] has no auth_type"),
            ([*first, *words, *last], "threshold"),
            (["ledger", *last, "verify"], "threshold"),
            ([*words, "--config-file"], "--config-file: expected one argument"),
        ):
            out, err = io.StringIO(), io.StringIO()
            with redirect_stdout(out), redirect_stderr(err):
                try:
                    code = manage.main(args)
                except SystemExit as exit_:
                    code = exit_.code
            self.assertEqual(2, code, args)
            self.assertIn(said, err.getvalue(), args)


class TestMistakes(ManageCase):
    def refused(self, words, *args):
        code, out, err = self.manage(*args)
        self.assertEqual((2, ""), (code, out))
        self.assertIn(words, err)
        return err

    def one_line(self, words, *args):
        self.assertEqual(1, self.refused(words, *args).count("\n"))

    def test_usage(self):
        self.refused("required: sync|show|verify|repair")
        self.refused("invalid choice: 'wrong'", "repair", "--kind", "wrong")
        self.refused("'soon' is not a number of seconds, such as 2", "verify", "--pause", "soon")
        self.refused("'-1' is not a number of seconds", "verify", "--pause=-1")

    def test_no_database(self):
        for verb in ("verify", "repair"):
            self.one_line("there is no manager's database", verb)
        self.assertFalse((self.directory / "state").exists())

    def test_nova_of_another_cloud(self):
        self.cloud(but(vms={"j/0": None, "j/1": None}))
        for verb in ("verify", "repair"):
            self.one_line("Nova knows none of the 2 servers", verb, "--no-database", "--pause=0")

    def test_manager_of_another_machine(self):
        """The lock does not reach it."""
        self.conf.write_text(
            "[database]\nconnection = mysql+pymysql://me:secret@127.0.0.1:1/twotier\n"
        )
        self.one_line("give --manager-is-stopped", "repair")
        for command in (
            ("repair", "--manager-is-stopped"),
            ("repair", "--dry-run"),
            ("verify",),
        ):
            self.one_line("cannot be opened", *command)
        self.one_line("[nova] has no auth_type", "repair", "--no-database")

    def test_cloud_goes_away_during_the_repair(self):
        state = but(claims={"x": [claim("x", "a", BG)]})
        report = Report(repaired=compare(state), trouble=CloudError("Nova does not answer"))
        self.cloud(state)
        self.patch(manage_ledger, "repair", lambda *_: report)
        code, out, err = self.manage("repair", "--no-database", "-f", "csv")
        self.assertEqual((2, "twotier-manage: Nova does not answer\n"), (code, err))
        self.assertIn("orphan-claim,x,", out)
        self.assertIn("done: drop its claims", out)

    def test_no_access(self):
        self.one_line("[nova] has no auth_type", "verify", "--no-database")

    def test_plugin_alone_needs_no_database_library(self):
        program = (
            "import sys; sys.modules['sqlalchemy'] = sys.modules['oslo_db'] = None; "
            "from nova_twotier.cmd import manage; sys.exit(manage.main(sys.argv[1:]))"
        )
        for option, words in (
            ("--no-database", "[nova] has no auth_type"),
            ("--pause=0", "pip install 'nova-twotier[manager]', or give --no-database"),
        ):
            args = ["--config-file", str(self.conf), "ledger", "verify", option]
            done = subprocess.run(
                [sys.executable, "-c", program, *args], capture_output=True, text=True, check=False
            )
            self.assertEqual(2, done.returncode)
            self.assertIn(words, done.stderr)

    def test_wrong_option(self):
        self.conf.write_text("[manager]\nthreshold = much\n")
        self.one_line("threshold", "verify")

    def test_cloud_does_not_answer(self):
        self.cloud(CloudError("Nova does not\nanswer"))
        for verb in ("verify", "repair"):
            self.one_line("twotier-manage: Nova does not answer", verb, "--no-database")
        self.one_line("twotier-manage: Nova does not answer", "show")
        self.one_line("twotier-manage: Nova does not answer", "sync", "--dry-run")
