"""One clear line and exit code 2 for every mistake on the command line of the simulator."""

import pathlib
from unittest import mock

from tests.unit.sim.test_cli import CommandCase


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

    def test_places_for_workloads_are_checked_first(self):
        """Before a long trace is read: here, one that is not there."""
        words = "t.txt: a workload is a file that ends in .swf or .swf.gz (a trace), or in .csv or "
        for command in ("convert", "generate"):
            source = ("workload", command, self.path("no.swf"))
            self.refused(words, *source, "--out", self.path("t.txt"))
            self.refused("there is no directory", *source, "--out", self.path("no/t.swf"))
        fit = ("workload", "fit", self.path("no.swf"))
        self.refused("there is no directory", *fit, "--out", self.path("no/t.json"))

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
                "under policies such as amcbf-deadline, which rank running jobs, too, by their run",
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
