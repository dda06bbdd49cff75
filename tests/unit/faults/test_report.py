"""What is written can be read, put together, and shown as a table."""

import pathlib

import fixtures
import testtools

from nova_twotier.tools.fakecloud import FakeCloudError, servers
from nova_twotier.tools.faults import cli, databases, report
from nova_twotier.tools.faults.outcome import Outcome
from nova_twotier.tools.faults.scenarios import SCENARIOS
from nova_twotier.tools.replay.errors import UsageError

GOOD = Outcome(
    "host",
    "hosts die",
    7,
    {"jobs": 60},
    destroyed=1234.5,
    recovery={"host": [1.0, 3.0]},
    seconds=61.2,
)
BAD = Outcome("silence", "nothing is heard", 7, {"jobs": 8}, 1, 2, 50.0, problems=["one", "two"])
SKIPPED = Outcome("blackout", "all is away", 7, skipped="RabbitMQ does not answer")
SOAK = Outcome("soak", "many", 7, {"jobs": 9}, figures={"memory (MiB)": 90.5})


class TestReport(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def test_table(self):
        lines = report.table([GOOD, BAD, SKIPPED, SOAK]).splitlines()
        columns = {line.count("|") for line in lines[:6]}
        self.assertEqual({lines[0].count("|")}, columns)
        self.assertEqual(
            "| **host**: hosts die | 60 | 0 | 0 | 0 | 1,234 | 2.0 s (3.0 s) | 61 s | 7 | yes |",
            lines[2],
        )
        self.assertIn("| 8 | 1 | 2 | 50 | 0 | - |", lines[3])
        self.assertTrue(lines[3].endswith("| no: 2 |"))
        self.assertIn("RabbitMQ does not answer", lines[4])
        self.assertEqual("soak: memory (MiB) 90.5.", lines[-1])

    def test_a_run_that_could_not_begin(self):
        failed = Outcome("kills", "again", 7, problems=["no database server answers"])
        self.assertIn("| no: 1 |", report.table([failed]))

    def test_the_later_report_of_a_scenario_counts(self):
        report.write([GOOD, BAD], self.directory / "all")
        again = Outcome("silence", "nothing is heard", 8, {"jobs": 8})
        report.write([again], self.directory / "again")
        files = [self.directory / each / report.FILE for each in ("all", "again")]
        self.assertEqual([GOOD, again], report.read(files))

    def test_no_report(self):
        file = self.directory / "faults.json"
        file.write_text("[]")
        self.assertRaises(UsageError, report.read, [file])

    def test_the_command_prints_it_and_runs_nothing(self):
        report.write([GOOD], self.directory)
        printed = self.useFixture(fixtures.StringStream("stdout"))
        with fixtures.MonkeyPatch("sys.stdout", printed.stream):
            code = cli.main(["--table", str(self.directory / report.FILE)])
        printed.stream.seek(0)
        self.assertEqual((0, report.table([GOOD])), (code, printed.stream.read()))


class TestMissing(testtools.TestCase):
    def test_a_full_cloud_needs_a_broker(self):
        def refuse(url):
            raise FakeCloudError(f"RabbitMQ does not answer at {url}")

        self.useFixture(fixtures.MonkeyPatch(f"{servers.__name__}.check_broker", refuse))
        self.assertIn("RabbitMQ", cli.missing(SCENARIOS["blackout"]))
        self.assertEqual("", cli.missing(SCENARIOS["kills"]))

    def test_a_restart_of_the_database_needs_a_server(self):
        nobody = ("mysql+pymysql://root@127.0.0.1:9/", "postgresql+psycopg://p@127.0.0.1:9/p")
        self.useFixture(fixtures.MonkeyPatch(f"{databases.__name__}.USUAL", nobody))
        self.useFixture(fixtures.MonkeyPatch(f"{servers.__name__}.check_broker", lambda _url: None))
        found = {name for name, scenario in SCENARIOS.items() if cli.missing(scenario)}
        self.assertEqual({"database", "all", "blackout", "split"}, found)
        self.assertIn("no database server answers", cli.missing(SCENARIOS["all"]))
        # Whoever names a server wants it, and not to be told that nothing was tried.
        self.assertEqual("", cli.missing(SCENARIOS["all"], nobody[0]))
