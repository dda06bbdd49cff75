"""The command line of the simulator: exact output."""

import io
import json
import os
import pathlib
import subprocess
import sys
import textwrap
from contextlib import redirect_stderr, redirect_stdout

import fixtures
import testtools

from nova_twotier.conf.manager import OPTS
from nova_twotier.core import policies
from nova_twotier.sim import metrics, tables, variants
from nova_twotier.sim.cli import main
from nova_twotier.sim.cli.command import Number
from nova_twotier.sim.cli.commands import COMMANDS
from nova_twotier.sim.workloads import swf

LINE = "{} {} 0 {} {} -1 -1 {} {} -1 1 3 3 -1 -1 -1 -1 -1\n"


class CommandCase(testtools.TestCase):
    #: number, submit, run, processes, requested time; the machine has 2 slots
    JOBS = ((1, 0, 100, 2, 120), (2, 10, 100, 2, 120), (3, 20, 50, 1, 60))

    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.source = self.trace("t.swf", *self.JOBS)

    def path(self, name):
        return str(self.directory / name)

    def trace(self, name, *jobs):
        lines = (LINE.format(n, at, run, size, size, wanted) for n, at, run, size, wanted in jobs)
        pathlib.Path(self.path(name)).write_text("; MaxProcs: 2\n" + "".join(lines))
        return self.path(name)

    def main(self, *args):
        """Exit code, standard output, standard error."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code = main([str(arg) for arg in args])
            except SystemExit as exit_:
                code = exit_.code
        return code, out.getvalue(), err.getvalue()

    def works(self, *args):
        """What it prints."""
        code, out, err = self.main(*args)
        self.assertEqual((0, ""), (code, err))
        return out

    def refused(self, words, *args):
        code, out, err = self.main(*args)
        self.assertEqual((2, ""), (code, out), err)
        self.assertEqual(1, err.count("\n"), err)
        self.assertTrue(err.startswith("twotier-sim: "), err)
        self.assertIn(words, err)


class TestRun(CommandCase):
    def run_(self, *args):
        return self.works("run", self.source, "--policy", "fcfs", "--utilisation", "1-1", *args)

    def test_table(self):
        columns = ("jobs", "average_wait_seconds", "average_slowdown", "utilisation")
        shown = [word for column in columns for word in ("-c", column)]
        self.assertEqual(
            textwrap.dedent("""\
            +----------------------+-------+
            | Field                | Value |
            +----------------------+-------+
            | jobs                 | 3     |
            | average_wait_seconds | 90    |
            | average_slowdown     | 2.5   |
            | utilisation          | 0.9   |
            +----------------------+-------+
            """),
            self.run_(*shown),
        )

    def test_json_has_every_metric(self):
        row = json.loads(self.run_("-f", "json"))
        about = ["policy", "workload", "nodes", "load", "seed", "jobs", "rejected"]
        self.assertEqual([*about, *metrics.names()], list(row))
        self.assertEqual(("fcfs", 2, 11.25), (row["policy"], row["nodes"], row["load"]))
        self.assertEqual(520 / 3, row["average_response_seconds"])
        self.assertEqual((250.0, 0.9), (row["makespan_seconds"], row["allocation_share"]))

    def test_yaml_and_value(self):
        self.assertEqual("kills_per_job: 0.0\n", self.run_("-f", "yaml", "-c", "kills_per_job"))
        self.assertEqual("3\n", self.run_("-f", "value", "-c", "jobs"))

    def test_what_has_no_value_is_null(self):
        lone = self.trace("lone.swf", (1, 0, 100, 1, 100))
        args = ("run", lone, "--policy", "fcfs", "-c", "load", "-f")
        self.assertEqual({"load": None}, json.loads(self.works(*args, "json")))
        self.assertIn("| load  | -     |", self.works(*args, "table"))

    def test_a_rounding_error_is_no_wait(self):
        self.assertEqual(["0", "0", "-2"], [Number(v).human_readable() for v in (-4e-14, 0.0, -2)])

    def test_load(self):
        row = json.loads(self.run_("--load", "0.5", "-f", "json"))
        self.assertEqual((0.5, 0.0), (row["load"], row["maximum_wait_seconds"]))

    def test_classes_of_the_trace(self):
        words = ("run", self.source, "--policy", "fcfs", "--qos", "trace")
        self.refused("t names no classes of service; its header needs lines", *words)
        path = pathlib.Path(self.source)
        text = path.read_text().replace(" 3 3 -1 -1 ", " 3 3 -1 7 ")
        path.write_text(f"; Queue: 7 urgent\n{text}")
        row = json.loads(self.run_("--qos", "trace", "-f", "json"))
        self.assertEqual(90.0, row["average_wait_of_urgent_seconds"])

    def test_files(self):
        jobs, schedule = self.path("jobs.parquet"), self.path("schedule.csv")
        self.run_("--jobs-out", jobs, "--schedule-out", schedule)
        self.assertEqual([0, 90, 180], list(tables.read(jobs)["wait"]))
        stays = tables.read(schedule)
        about = ["policy", "workload", "load"]
        self.assertEqual(["job", "process", "slot", "tier", "begin", "end", *about], list(stays))
        self.assertEqual(["fcfs", "t", 11.25], stays[about].iloc[0].tolist())
        self.assertEqual([1, 1, 2, 2, 3], list(stays["job"]))

    def test_job_larger_than_the_machine(self):
        source = self.trace("big.swf", *self.JOBS, (4, 30, 50, 9, 60))
        code, out, err = self.main("run", source, "--policy", "fcfs", "-f", "json")
        self.assertEqual("twotier-sim: 1 job rejected: needs 9 slots; the cluster has 2\n", err)
        row = json.loads(out)
        self.assertEqual((0, 3, 1), (code, row["jobs"], row["rejected"]))
        source = self.trace("two.swf", *self.JOBS, (4, 30, 50, 9, 60), (5, 30, 50, 7, 60))
        _code, _out, err = self.main("run", source, "--policy", "fcfs")
        several = "2 jobs rejected, such as job 4: needs 9 slots; the cluster has 2"
        self.assertEqual(f"twotier-sim: {several}\n", err)

    def test_every_option(self):
        row = json.loads(
            self.works(
                *("run", self.source, "--policy", "cmcbf", "--nodes", "4", "--head", "2"),
                *("--seed", "3", "--slots", "2", "--tiers", "2", "--utilisation", "0.2-0.8"),
                *("--cpu-error", "none", "--no-closing", "--threshold", "0.9"),
                *("--exact-estimates", "--progress", "jss", "--reading", "processes=own"),
                *("--reading", "loss=0,0.1", "--migration-cost", "0", "-f", "json"),
            )
        )
        self.assertEqual((2, 4, 3), (row["jobs"], row["nodes"], row["seed"]))


class TestCompare(CommandCase):
    def test_table(self):
        self.assertEqual(
            textwrap.dedent("""\
            +--------+----------------------+-------------+
            | policy | average_wait_seconds | utilisation |
            +--------+----------------------+-------------+
            | fcfs   | 90                   | 0.9         |
            | easy   | 90                   | 0.9         |
            +--------+----------------------+-------------+
            """),
            self.works(
                *("compare", self.source, "--policy", "fcfs,easy", "--utilisation", "1-1"),
                *("--jobs", "1", "-c", "policy", "-c", "average_wait_seconds", "-c", "utilisation"),
            ),
        )

    def test_key_metrics_and_all(self):
        args = ("compare", self.source, "--policy", "fcfs", "--jobs", "1", "-f", "csv")
        header = self.works(*args).splitlines()[0]
        self.assertTrue(header.startswith('"policy","average_wait_seconds"'), header)
        (row,) = json.loads(self.works(*args[:-1], "json", "--long"))
        self.assertEqual(set(metrics.names()), set(metrics.names()) & set(row))

    def test_what_has_no_value_is_empty_in_csv(self):
        lone = self.trace("lone.swf", (1, 0, 100, 1, 100))
        args = ("compare", lone, "--policy", "fcfs", "--jobs", "1", "--long", "-f", "csv")
        shown = self.works(*args, "-c", "load", "-c", "jobs", "-c", "average_response_seconds")
        self.assertEqual('"load","jobs","average_response_seconds"\n"",1,100.0\n', shown)

    def test_rejected_jobs(self):
        source = self.trace("big.swf", *self.JOBS, (4, 30, 50, 9, 60))
        code, _out, err = self.main("compare", source, "--policy", "fcfs,easy", "--jobs", "1")
        self.assertEqual(0, code)
        self.assertIn("1 job rejected in every run: more processes than the 2 slots of", err)
        self.assertEqual(1, err.count("\n"))


class TestWorkload(CommandCase):
    def test_describe(self):
        row = json.loads(self.works("workload", "describe", self.source, "-f", "json"))
        self.assertEqual((3, 2, 11.25), (row["jobs"], row["nodes"], row["load"]))

    def test_a_sweep_makes_the_same_remarks(self):
        sources = (self.source, self.trace("none.swf", *self.JOBS, (4, 30, -1, 1, 60)))
        code, _out, err = self.main(
            *("sweep", *sources, "--policy", "fcfs,easy", "--load", "0.5,0.9", "--seeds", "2"),
            *("--jobs", "1", "--out", self.path("out")),
        )
        said = "none: left out 1 record without a run time (field 4) or processors (5 and 8)"
        self.assertEqual((0, f"twotier-sim: {said}\n"), (code, err))

    def test_machine_that_the_trace_does_not_name(self):
        path = pathlib.Path(self.source)
        path.write_text(path.read_text().replace("MaxProcs: 2", "MaxProcs: 1,024"))
        args = ("workload", "describe", self.source, "-f", "json")
        code, out, err = self.main(*args)
        self.assertEqual((0, 2), (code, json.loads(out)["nodes"]))
        self.assertEqual(
            "twotier-sim: t: its header has no number of MaxProcs or MaxNodes, so the machine has "
            "the 2 slots of the largest job; --nodes sets others\n",
            err,
        )
        self.assertEqual(1024, json.loads(self.works(*args, "--nodes", "1024"))["nodes"])

    def test_convert(self):
        copy, table = self.path("copy.swf.gz"), self.path("copy.csv")
        self.works("workload", "convert", self.source, "--head", "2", "--out", copy)
        self.assertEqual([1, 2], [record.number for record in swf.read(copy).records])
        args = ("--load", "1", "--exact-estimates", "--out", table)
        self.works("workload", "convert", self.source, *args)
        self.assertEqual([0.0, 112.5, 225.0], list(tables.read(table)["arrival"]))
        self.assertEqual([100, 100, 50], list(tables.read(table)["estimate"]))

    def test_generate(self):
        first, second = self.path("a.swf"), self.path("b.swf")
        for path in (first, second):
            args = ("lublin:50", "--nodes", "32", "--seed", "4", "--out", path)
            self.works("workload", "generate", *args)
        self.assertEqual(50, len(swf.read(first).records))
        texts = [pathlib.Path(path).read_text() for path in (first, second)]
        self.assertEqual(*texts)

    def test_estimates_of_a_model(self):
        out = self.path("t.csv")
        self.works("workload", "generate", "lublin:200+tsafrir", "--out", out)
        jobs = tables.read(out)
        self.assertTrue((jobs["estimate"] >= jobs["runtime"]).all())
        self.assertTrue((jobs["estimate"] > jobs["runtime"]).any())

    def test_fit(self):
        trace, model = self.path("model.swf"), self.path("model.json")
        self.works("workload", "generate", "jann:2000", "--out", trace)
        self.works("workload", "fit", trace, "--out", model)
        self.assertIsInstance(json.loads(pathlib.Path(model).read_text()), dict)

    def test_run_times_that_are_cut_are_said(self):
        source = self.trace(
            "long.swf", *((n, n, 4000 if n < 3 else 60, 1, 9999) for n in range(1, 41))
        )
        args = ("workload", "describe", f"{source}+tsafrir:3600", "-f", "json")
        code, out, err = self.main(*args)
        self.assertEqual(
            "twotier-sim: long: 2 run times were cut to 3600 s, the longest estimate\n", err
        )
        self.assertEqual((0, 3600), (code, json.loads(out)["maximum_runtime_seconds"]))
        self.works("workload", "describe", f"{source}+tsafrir")


class TestPolicies(CommandCase):
    def test_list(self):
        rows = json.loads(self.works("policy", "list", "-f", "json"))
        said = {row["name"]: row["description"] for row in rows}
        self.assertEqual({*policies.POLICIES, *variants.VARIANTS}, set(said))
        for option in OPTS:
            if option.name == "policy":
                for name, summary in option.type.choices.items():
                    self.assertEqual(summary, said[name])


class Terminal(io.StringIO):
    def isatty(self):
        return True


class TestProgress(CommandCase):
    """On a terminal only, on stderr, and gone with --quiet."""

    def shown(self, *args):
        """What a command writes to a terminal."""
        terminal = Terminal()
        with redirect_stderr(terminal), redirect_stdout(io.StringIO()):
            self.assertEqual(0, main([str(arg) for arg in args]))
        return terminal.getvalue()

    def test_commands(self):
        schedule, results = self.path("schedule.csv"), self.path("results")
        one = (self.source, "--policy", "fcfs")
        for words, args in (
            ("/3 ", ("run", *one, "--schedule-out", schedule)),
            (f"drawing {self.path('a.png')}", ("plot", "gantt", schedule, "--out", "a.png")),
            ("drawing ", ("plot", "utilisation", schedule, "--out", "a.png")),
            ("/1 ", ("compare", *one, "--jobs", "1")),
            ("/1 ", ("sweep", *one, "--jobs", "1", "--out", results)),
            ("drawing ", ("plot", "load", results, "--out", "a.png")),
        ):
            args = [self.path(arg) if arg == "a.png" else arg for arg in args]
            self.assertIn(words, self.shown(*args))
            self.assertEqual("", self.shown(*args, "--quiet"))


class TestStandardOutput(CommandCase):
    """Nobody reads what is printed, or there is no room for it."""

    def shell(self, words):
        """Exit code and standard error of the program, in a shell that redirects its output."""
        command = f"{sys.executable} -m nova_twotier.sim.cli {words}"
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
        done = subprocess.run(
            ["sh", "-c", command], env=environment, capture_output=True, text=True, check=False
        )
        self.assertEqual("", done.stdout)
        return done.returncode, done.stderr

    def test_closed(self):
        jobs = self.path("jobs.csv")
        words = f"run {self.source} --policy fcfs --jobs-out {jobs} >&-"
        self.assertEqual((0, ""), self.shell(words))
        self.assertEqual(3, len(tables.read(jobs)))

    def test_full(self):
        for words in ("--help", "--version", "policy list"):
            code, error = self.shell(f"{words} >/dev/full")
            self.assertEqual((2, 1), (code, error.count("\n")), error)
            self.assertIn("No space left on device", error)


class TestHelp(CommandCase):
    def test_version(self):
        self.assertRegex(self.works("--version"), r"^twotier-sim \d+\.\d+\.\d+\n$")

    def test_every_command_and_option_has_help(self):
        for name in COMMANDS:
            self.assertIn(f"\n  {name}  ", f"{self.works('--help')}")
            text = self.works(*name.split(), "--help")
            self.assertEqual(text, self.works("help", *name.split()))
            self.assertIn(f"usage: twotier-sim {name} [-h]", text)

    def test_without_arguments(self):
        self.assertEqual(self.works("--help"), self.works())
