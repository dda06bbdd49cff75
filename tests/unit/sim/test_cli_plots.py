"""The commands `sweep` and `plot` of the simulator."""

import os
import pathlib

import fixtures

from tests.unit.sim.test_cli import CommandCase


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
