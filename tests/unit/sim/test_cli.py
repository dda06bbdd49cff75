"""The command line: exact output, and one clear line and exit code 2 for every mistake."""

import io
import json
import os
import pathlib
import subprocess
import sys
import textwrap
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

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


class TestSweepAndPlots(CommandCase):
    def test_sweep_then_plot(self):
        out = self.path("results")
        args = ("sweep", self.source, "--policy", "fcfs,easy", "--load", "0.5:0.9:0.2")
        args += ("--seeds", "2", "--jobs", "1", "--out", out)
        table = pathlib.Path(out) / "sweep.csv"
        self.assertEqual(f"12 runs done, 0 were there: {table}\n", self.works(*args))
        self.assertEqual(f"0 runs done, 12 were there: {table}\n", self.works(*args))
        for results in (out, table):
            picture = self.path("load.png")
            args = ("plot", "load", results, "--metric", "average_response_seconds", "--log")
            self.works(*args, "--policy", "easy", "--where", "seed=1", "--out", picture)
            self.assertTrue(pathlib.Path(picture).exists())

    def test_classes_of_service_are_plotted(self):
        out, picture = self.path("results"), self.path("load.png")
        args = ("sweep", "lublin:50", "--policy", "amcbf", "--load", "0.6,0.8", "--jobs", "1")
        self.works(*args, "--qos", "scavenger=0.5", "--out", out)
        self.works("plot", "load", out, "--out", picture)
        metric = ("--metric", "average_wait_of_scavenger_seconds")
        self.works("plot", "load", out, *metric, "--out", picture)

    def test_what_is_given_twice_is_one_run(self):
        out = self.path("results")
        args = ("sweep", self.source, self.source, "--policy", "fcfs", "--load", "0.5,0.5")
        table = pathlib.Path(out) / "sweep.csv"
        told = self.works(*args, "--jobs", "1", "--out", out)
        self.assertEqual(f"1 run done, 0 were there: {table}\n", told)

    def test_schedule_then_plots(self):
        schedule = self.path("schedule.csv")
        self.works("run", self.source, "--policy", "fcfs", "--schedule-out", schedule)
        for plot, options in (("gantt", ("--slots", "0-1")), ("utilisation", ("--nodes", "2"))):
            picture, page = self.path(f"{plot}.png"), self.path(f"{plot}.html")
            args = ("--begin", "10", "--end", "240", "--out", picture, "--out", page)
            self.works("plot", plot, schedule, *options, *args)
            self.assertTrue(pathlib.Path(picture).exists() and pathlib.Path(page).exists())

    def schedule(self):
        path = self.path("schedule.csv")
        self.works("run", self.source, "--policy", "fcfs", "--schedule-out", path)
        return path

    def drawn(self, page):
        """What a page draws, without plotly itself."""
        return pathlib.Path(page).read_text().rpartition("Plotly.newPlot")[2]

    def test_more_bars_than_can_be_read(self):
        schedule, page = self.schedule(), self.path("a.html")
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.sim.plots.recorded.READABLE", 3))
        args = ("plot", "gantt", schedule, "--out", page)
        code, out, err = self.main(*args)
        self.assertEqual((0, ""), (code, out))
        self.assertRegex(
            err, r"^twotier-sim: 5 bars cannot be read in one chart, so .*--begin.*\n$"
        )
        self.assertIn(
            "share of the time in use",
            pathlib.Path(page).read_text().rpartition("Plotly.newPlot")[2],
        )
        for options in (("--bars",), ("--end", "90"), ("--slots", "1-1")):
            self.works(*args, *options)
            drawn = self.drawn(page)
            self.assertNotIn("share of the time in use", drawn)
            self.assertIn("fcfs on t, load 11.2", drawn)

    def test_density_of_few_bars(self):
        picture = self.path("a.png")
        self.works("plot", "gantt", self.schedule(), "--density", "--out", picture)
        self.assertTrue(pathlib.Path(picture).exists())
        self.refused("not allowed with", "plot", "gantt", "a.csv", "--density", "--bars")

    def test_schedule_of_the_queue_manager(self):
        schedule, page = pathlib.Path(self.path("live.csv")), self.path("live.html")
        schedule.write_text(
            "job,process,host,tier,from,to\n1,0,node-2,fg,1795000000.000,1795003600.000\n"
            "2,0,node-10,bg,1795000900.000,\n"
        )
        os.utime(schedule, (1795007200, 1795007200))
        window = ("--begin", "2026-11-18T11:10", "--end", "2026-11-18T13:00+01:00")
        for options in ((), window, ("--density",), ("--slots", "0-31")):
            self.works("plot", "gantt", schedule, "--out", page, *options)
            drawn = self.drawn(page)
            for words in ("Queue manager, 2026-11-18 1", "node-2", "node-10", "time (UTC)"):
                self.assertIn(words, drawn)
        for plot in ("gantt", "utilisation"):
            self.works("plot", plot, schedule, "--out", page)
            # As text: numbers would be shown in the reader's local time.
            self.assertIn('"2026-11-18 11:06:40.000000"', self.drawn(page))
        self.refused(
            "--begin: 'noon' must be a number of seconds",
            *("plot", "gantt", schedule, "--begin", "noon", "--out", page),
        )

    def test_loads_in_per_cent(self):
        for loads in ("80", "0.5,80", "10:80:10"):
            args = ("sweep", self.source, "--policy", "fcfs", "--load", loads)
            self.refused("did you mean 0.8?", *args, "--out", self.path("results"))
        self.refused("did you mean 0.8?", "run", self.source, "--load", "80")

    def test_plot_mistakes(self):
        schedule = self.path("schedule.csv")
        self.works("run", self.source, "--policy", "fcfs", "--schedule-out", schedule)
        out = self.path("a.png")
        for words, args in (
            ("a plot is a file that ends in", ("gantt", schedule, "--out", "a.pdf")),
            ("No such file or directory", ("gantt", self.path("no.csv"), "--out", out)),
            ("it is not that of a sweep", ("load", schedule, "--out", out)),
            ("nothing runs on slots 5 to 7", ("gantt", schedule, "--slots", "5-7", "--out", out)),
            ("no such directory or table", ("load", self.path("none"), "--out", out)),
            ("has no finished runs", ("load", self.directory, "--out", out)),
            ("must be COLUMN=VALUE", ("load", schedule, "--where", "x", "--out", out)),
        ):
            self.refused(words, "plot", *args)


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


class TestMistakes(CommandCase):
    def words(self):
        path = pathlib.Path(self.path("t.csv"))
        path.write_text("job begin\n")
        return path

    def refused_run(self, words, *args):
        self.refused(words, "run", self.source, "--policy", "fcfs", *args)

    def test_policy_that_does_not_exist(self):
        for command in ("run", "compare"):
            args = (command, self.source, "--policy", "nope")
            self.refused("there is no policy 'nope'; choose one of: ", *args)

    def test_sources(self):
        for words, source in (
            ("no.swf cannot be read: No such file or directory", self.path("no.swf")),
            ("fetch CTC-SP2-1996-3.1-cln --out dir", "dir/CTC-SP2-1996-3.1-cln.swf"),
            ("say how many jobs, such as lublin:1000", "lublin"),
            ("Is a directory", self.directory),
            ("t.csv:1: is not a record of the Standard Workload Format", self.words()),
            ("has no jobs", self.trace("empty.swf")),
            ("field 2 (submit) is -5", self.trace("early.swf", (1, -5, 10, 1, 10))),
            ("unknown model 'nomodel'; there are feitelson, jann, ", "nomodel:10"),
            ("'many' is no number of jobs; write lublin:1000", "lublin:many"),
        ):
            self.refused(words, "run", source, "--policy", "fcfs")
            self.refused(words, "compare", source, "--policy", "fcfs")
            self.refused(words, "workload", "describe", source)

    def test_options(self):
        for words, *args in (
            ("--nodes: '0' must be a whole number, 1 or more", "--nodes", "0"),
            ("--head: 'all' must be a whole number, 1 or more", "--head", "all"),
            ("--seed: '-1' must be a whole number, 0 or more", "--seed", "-1"),
            ("--load: '0' must be a load above 0", "--load", "0"),
            ("--utilisation: '0.8-0.2' must be LOW-HIGH", "--utilisation", "0.8-0.2"),
            ("--utilisation: '40-100' must be LOW-HIGH", "--utilisation", "40-100"),
            ("--cpu-error: 'some' must be 'none' or a number 0 to 1", "--cpu-error", "some"),
            ("--threshold: '96' must be a number 0 to 1", "--threshold", "96"),
            ("--migration-cost: '-3' must be a number of seconds", "--migration-cost", "-3"),
            ("--migration-cost: 'nan' must be a number of seconds", "--migration-cost", "nan"),
            ("'draw=often': draw is 'often'; choose one of: mean, job", "--reading", "draw=often"),
            ("'x=1': 'x' is unknown; there are loss", "--reading", "x=1"),
            ("progress model 'none' is not one of tpds, jss", "--progress", "none"),
            ("out.txt: a table is a file that ends in .csv", "--jobs-out", "out.txt"),
            ("unrecognized arguments: --foo", "--foo"),
            ("invalid choice: 'xml'", "-f", "xml"),
            ("there is no column 'nope'; choose from: policy, workload, ", "-c", "nope"),
            ("there is no column 'nope'", "-c", "jobs", "-c", "nope"),
        ):
            self.refused_run(words, *args)

    def test_columns_are_refused_before_the_run(self):
        run = (self.source, "--policy", "fcfs", "-c", "policy", "-c", "nope")
        with mock.patch("nova_twotier.sim.simulation.simulate", side_effect=KeyError("begun")):
            for args in (
                ("run", *run),
                ("run", *run, "--qos", "urgent=0.5"),
                ("compare", *run, "--jobs", "1"),
                ("compare", *run, "--jobs", "1", "--long"),
            ):
                self.refused("there is no column 'nope'; choose from: policy, ", *args)
        urgent = ("--qos", "urgent=0.5", "-c", "average_wait_of_urgent_seconds", "--jobs", "1")
        self.works("compare", *run[:3], *urgent, "--long")
        listed = ("traces", "list", "-c", "nope")
        self.refused("there is no column 'nope'; choose from: name,", *listed)

    def test_options_that_contradict_each_other(self):
        for words, *args in (
            (
                "--exact-estimates: not allowed with argument --estimates",
                *("--estimates", "last-two", "--exact-estimates"),
            ),
            (
                "--understated is of users' estimates, and --estimates missing has none",
                *("--estimates", "missing", "--understated", "0.5"),
            ),
            (
                "--understated is of users' estimates, and --estimates exact has none",
                *("--exact-estimates", "--understated", "0.5"),
            ),
            ("--keep-rank is of predictions, and --estimates user has none", "--keep-rank"),
            (
                "--keep-rank is of predictions, and --estimates exact has none",
                *("--keep-rank", "--exact-estimates"),
            ),
            (
                "--keep-rank says nothing but under policies such as amcbf-deadline",
                *("--keep-rank", "--estimates", "historical"),
            ),
            ("--deadline-factor says nothing but under amcbf-deadline", "--deadline-factor", "2"),
            (
                "--estimates and --understated say nothing with --no-queue",
                *("--no-queue", "--estimates", "last-two"),
            ),
            ("say nothing with --no-queue", "--no-queue", "--exact-estimates"),
            ("say nothing with --no-queue", "--no-queue", "--understated", "0.5"),
            ("--no-closing says nothing without --cpu-error none", "--no-closing"),
            ("say nothing without --fair-share", "--half-life", "60"),
            ("--embedding says nothing without --topology", "--embedding", "oktopus"),
        ):
            self.refused_run(words, *args)

    def test_one_policy_that_an_option_is_for_is_enough(self):
        compared = ("compare", self.source, "--policy", "fcfs,amcbf-deadline", "--jobs", "1")
        self.works(*compared, "--deadline-factor", "2")
        self.works(*compared, "--keep-rank", "--estimates", "historical")
        at = ("--at", "15", "--under", "fcfs", "--deadline-factor", "2")
        self.works("what-if", self.source, *at, "--policy", "amcbf-deadline")

    def test_hosts_that_make_up_no_machine(self):
        for words, *args in (
            (
                "t is for 100 nodes, which is no multiple of 16 slots: give --nodes 96 or 112",
                *("--nodes", "100", "--slots", "16"),
            ),
            ("t is for 2 nodes, which is no multiple of 4 slots: give --nodes 4", "--slots", "4"),
        ):
            self.refused(words, "run", self.source, "--policy", "fcfs", *args)
            self.refused(words, "compare", self.source, "--policy", "fcfs", *args)
            self.refused(words, "what-if", self.source, "--at", "9", "--under", "fcfs", *args)
            out = ("--out", self.path("out"), "--jobs", "1")
            self.refused(words, "sweep", self.source, "--policy", "fcfs", *args, *out)

    def test_predictions_by_user_without_users(self):
        for what, *args in (
            ("the predictions of easy++", "--policy", "easy++"),
            ("estimates last-two", "--policy", "easy", "--estimates", "last-two"),
            ("estimates twice-last-two", *("--policy", "easy", "--estimates", "twice-last-two")),
        ):
            words = f"lublin:9 has no users for {what}; take a trace with them"
            self.refused(words, "run", "lublin:9", *args)
            self.refused(words, "compare", "lublin:9", *args)
            out = ("--out", self.path("out"), "--jobs", "1")
            self.refused(words, "sweep", "lublin:9", *args, *out)
            self.works("run", self.source, *args)

    def test_every_source_and_policy_is_looked_at_before_the_first_run(self):
        out = ("--out", self.path("out"), "--jobs", "1")
        late = self.trace("late.swf", (1, 0, 1e9, 2, 120), (2, 10_000_000_000, 1e9, 2, 120))
        with mock.patch("nova_twotier.sim.simulation.simulate", side_effect=KeyError("begun")):
            for words, *args in (
                ("no.swf cannot be read", "lublin:9", self.path("no.swf"), "--policy", "fcfs"),
                ("no users for the predictions of easy++", "lublin:9", "--policy", "fcfs,easy++"),
                ("it must be 0 to 1e+11", late, "--policy", "fcfs", "--load", "0.5,0.0001"),
                ("lublin:9 names no classes", "lublin:9", "--policy", "fcfs", "--qos", "trace"),
                (
                    "lublin:9 has no users for fair share",
                    *(self.source, "lublin:9", "--policy", "fcfs", "--fair-share", "user"),
                ),
            ):
                self.refused(words, "sweep", *args, *out)
            policies = ("--policy", "fcfs,easy++", "--jobs", "1")
            words = "no users for the predictions of easy++"
            self.refused(words, "compare", "lublin:9", *policies)
        self.assertFalse((self.directory / "out").exists())

    def test_loads_of_a_sweep(self):
        for loads in ("0.9:0.5:0.1", "0.5:0.9", "0.5:0.9:0", "a", "0.5,,0.6", "0.5:9e9:0.1"):
            args = ("sweep", self.source, "--policy", "fcfs", "--out", self.path("out"))
            self.refused("argument --load: ", *args, "--load", loads)
        self.assertFalse((self.directory / "out").exists())

    def test_output_that_cannot_be_written(self):
        self.refused_run(
            "no/jobs.csv: there is no directory ", "--jobs-out", self.path("no/jobs.csv")
        )

        with mock.patch("nova_twotier.sim.schedules.read", side_effect=KeyError("begun")):
            for kind in ("gantt", "utilisation"):
                plot = ("plot", kind, "a.csv", "--out", self.path("no/a.png"))
                self.refused("no/a.png: there is no directory ", *plot)

    def test_two_tables_in_one_file(self):
        words = "--jobs-out and --schedule-out need a file each"
        one, same = self.path("a.csv"), self.path(f"../{self.directory.name}/a.csv")
        self.refused_run(words, "--jobs-out", one, "--schedule-out", same)
        self.assertFalse(pathlib.Path(one).exists())

    def test_dask_that_is_not_installed(self):
        words = ("compare", self.source, "--policy", "fcfs", "--dask", "tcp://127.0.0.1:1")
        with mock.patch.dict("sys.modules", {"distributed": None}):
            self.refused("pip install 'nova-twotier[dask]'", *words)

    def test_commands(self):
        self.refused("there is no command 'rn'; see --help", "rn")
        self.refused("plot is one of: plot gantt, plot load, plot utilisation", "plot")
        self.refused("the following arguments are required: SOURCE, --policy", "run")

    def test_a_fault_of_ours_is_called_so(self):
        with mock.patch("nova_twotier.sim.simulation.simulate", side_effect=KeyError("size")):
            code, _out, err = self.main("run", self.source, "--policy", "fcfs")
        self.assertEqual(1, code)
        self.assertIn("KeyError is a fault of this program; twotier-sim --debug shows where", err)

    def test_packages_that_are_not_installed(self):
        missing = ModuleNotFoundError("No module named 'pandas'")
        with mock.patch("nova_twotier.sim.simulation.simulate", side_effect=missing):
            code, _out, err = self.main("run", self.source, "--policy", "fcfs")
        self.assertEqual(1, code)
        self.assertIn("pip install 'nova-twotier[sim]'", err)
        self.assertNotIn("fault", err)

    def test_debug_raises(self):
        code, _out, err = self.main("--debug", "run", self.path("no.swf"), "--policy", "fcfs")
        self.assertEqual(1, code)
        self.assertIn("Traceback", err)


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
