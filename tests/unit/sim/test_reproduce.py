"""`reproduce` from the command line to the report, on tiny traces and workloads."""

import csv
import io
import json
import math
import pathlib
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from unittest import mock

import fixtures
import testtools

from nova_twotier.sim import sweep
from nova_twotier.sim.cli import main
from nova_twotier.sim.cli.reproduce import Amount
from nova_twotier.sim.reproduce import archive, jss_tables, registry, report_tables
from nova_twotier.sim.reproduce.numbers import Number
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads import catalogue, swf

#: Elements that have no end tag.
VOID = {"meta", "img", "br"}
LINE = "{} {} 0 {} {} -1 -1 {} {} -1 1 3 3 -1 -1 -1 -1 -1\n"


class Page(HTMLParser):
    """What a file refers to, and whether its elements are closed."""

    def __init__(self, text):
        super().__init__()
        self.references, self.open, self.tags = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.references += [value for name, value in attributes if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class ReproduceCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.out = self.directory / "out"

    def traces(self, left_out=()):
        directory = self.directory / "traces"
        directory.mkdir()
        for seed, (name, source) in enumerate(archive.TRACES.items()):
            if name not in left_out:
                workload = catalogue.load("lublin:60", nodes=64, seed=seed)
                swf.write(directory / f"{source.file}.swf", workload.to_swf())
        return directory

    def main(self, *args):
        """Exit code, standard output, standard error."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code = main(["reproduce", *(str(arg) for arg in args)])
            except SystemExit as exit_:
                code = exit_.code
        return code, out.getvalue(), err.getvalue()

    def works(self, name, *args, form="json"):
        """The rows, or the text of another form; the report."""
        arguments = (name, "--out", self.out, "--jobs", "1", "-f", form, *args)
        code, out, err = self.main(*arguments)
        path = self.out / "report.html"
        self.assertEqual((0, f"twotier-sim: the report is {path}\n"), (code, err))
        return json.loads(out) if form == "json" else out, path.read_text(encoding="utf-8")

    def refused(self, words, *args):
        code, out, err = self.main(*args)
        self.assertEqual((2, ""), (code, out), err)
        self.assertEqual(1, err.count("\n"), err)
        self.assertIn(words, err)

    def check_page(self, text, pictures):
        page = Page(text)
        self.assertEqual([], page.open)
        self.assertEqual(pictures, page.tags.count("img"))
        self.assertEqual(pictures, len(page.references))
        for reference in page.references:
            self.assertTrue(reference.startswith("data:image/png;base64,"), reference[:40])
        for outside in ("<script", "<link", "@import", "url("):
            self.assertNotIn(outside, text)


class TestTable2(ReproduceCase):
    def test_everything(self):
        traces = self.traces()
        rows, page = self.works("jss2015-table2", "--traces", traces, "--seeds", "2")
        numbers = rows[: 4 * 4 * 6]
        self.assertEqual(len(jss_tables.TABLE2.claims), len(rows) - len(numbers))
        columns = ["finding", "paper", "ours", "low", "high", "deviation_percent", "holds"]
        self.assertEqual(columns, list(rows[0]))
        kth = next(row for row in numbers if row["finding"] == "KTH FCFS: average wait (min)")
        workload = catalogue.load(str(traces / "KTH-SP2-1996-2.swf"), nodes=100)
        jobs = simulate(workload, Scenario("fcfs")).jobs
        ours = (jobs["finish"] - jobs["arrival"] - jobs["runtime"]).mean() / 60
        self.assertAlmostEqual(ours, kth["ours"])
        self.assertAlmostEqual(100 * (ours / 6498.2 - 1), kth["deviation_percent"])
        self.assertEqual((6498.2, None), (kth["paper"], kth["holds"]))
        self.assertEqual(4 * (3 + 3 * 2), len(list((self.out / "runs").glob("*.json"))))
        self.check_page(page, 4)
        self.assertIn("36, of which 36 in this call; means over the seeds 0, 1", page)
        self.assertIn("jss: loss 0.005-0.04", page)

    def test_second_call_takes_what_is_there(self):
        args = ("jss2015-table2", "--traces", self.traces(), "--head", "40")
        first, _page = self.works(*args, "--seeds", "2")
        second, page = self.works(*args, "--seeds", "2")
        self.assertEqual(first, second)
        self.assertIn("36, of which 0 in this call", page)
        self.assertIn("Only the first 40 jobs of each workload were taken", page)
        # Fewer seeds: those that are there beyond them do not count.
        _rows, page = self.works(*args, "--seeds", "1")
        self.assertIn("24, of which 0 in this call; means over the seeds 0<", page)

    def test_columns_without_seeds_draw_nothing(self):
        path = self.traces() / "KTH-SP2-1996-2.swf"
        for column in jss_tables._CERTAIN:
            scenario = jss_tables._SCENARIOS[column]
            waits = [
                simulate(catalogue.load(str(path), nodes=16), other).jobs["finish"].tolist()
                for other in (scenario, Scenario(**(vars(scenario) | {"seed": 7})))
            ]
            self.assertEqual(*waits)

    def test_longest_first_and_each_trace_once(self):
        args = ("jss2015-table2", "--traces", self.traces(), "--seeds", "2")
        sweep._workload.cache_clear()
        load = sweep.catalogue.load
        with mock.patch.object(sweep.catalogue, "load", side_effect=load) as loading:
            self.works(*args)
        names = [pathlib.Path(call.args[0]).name.split("-")[0] for call in loading.call_args_list]
        self.assertEqual(["LANL", "CTC", "SDSC", "KTH"], names)


class TestTable1(ReproduceCase):
    def test_everything(self):
        rows, page = self.works("jss2015-table1", "--traces", self.traces())
        self.assertEqual(36, len(rows))
        self.assertIn("deviation_points", rows[0])
        self.assertNotIn("holds", rows[0])
        lanl = [row for row in rows if row["finding"].startswith("LANL ")]
        self.assertAlmostEqual(100, sum(row["ours"] for row in lanl))
        self.assertEqual(63.6, lanl[5]["paper"])
        self.check_page(page, 1)
        self.assertIn("of less work than the mean", page)

    def jobs(self):
        path = self.directory / "t.swf"
        # number, submit, run, processes: the mean run time is 40, and only the last is long.
        jobs = ((1, 0, 10, 1), (2, 1, 10, 2), (3, 2, 20, 3), (4, 3, 10, 4), (5, 4, 150, 128))
        lines = (LINE.format(n, at, run, size, size, run) for n, at, run, size in jobs)
        path.write_text("; MaxProcs: 256\n" + "".join(lines))
        return catalogue.load(str(path)).jobs

    def test_shares(self):
        jobs = self.jobs()
        self.assertEqual([25.0, 25.0, 50.0, 0, 0, 0, 0, 0, 0], jss_tables.short_shares(jobs))
        self.assertEqual([50.0, 50.0], jss_tables.short_shares(jobs[:3])[:2])
        median = jss_tables.short_shares(jobs, *jss_tables._SHORTNESS["shorter than the median"])
        # Nothing is below the median of 10, 10, 10, 20 and 150 s.
        self.assertEqual([0.0] * 9, median)

    def test_nearest_limit(self):
        jobs = self.jobs()
        for printed, expected in (
            # Below 20 s there are one job each of 1, 2 and 4 processes, and two of 4 below 150 s.
            ((100 / 3, 100 / 3, 100 / 3, 0, 0, 0, 0, 0, 0), 0),
            ((25.0, 25.0, 50.0, 0, 0, 0, 0, 0, 0), 0),
            ((25.0, 25.0, 40.0, 0, 0, 0, 0, 10.0, 0), 10),
            ((20.0, 20.0, 40.0, 0, 0, 0, 0, 20.0, 0), 0),
        ):
            self.assertAlmostEqual(expected, jss_tables.nearest_limit(jobs, printed), 9)


class TestFigures(ReproduceCase):
    SMALL = ("--model-jobs", "80", "--seeds", "1", "--loads", "0.6,0.9")

    def test_jss(self):
        rows, page = self.works("jss2015-fig4", *self.SMALL)
        self.assertEqual(["finding", "paper", "ours", "holds"], list(rows[0]))
        self.assertEqual(len(registry.get("jss2015-fig4").claims), len(rows))
        self.assertEqual({94.2, 97.5}, {row["paper"] for row in rows} & {94.2, 97.5})
        self.check_page(page, 4)
        self.assertIn("80 of FWload", page)
        self.assertIn("--model-jobs 80 --loads 0.6,0.9</code>", page)

    def test_tpds(self):
        out, page = self.works("tpds2013-fig4", *self.SMALL, form="csv")
        first, *_others = csv.DictReader(io.StringIO(out))
        self.assertEqual("CMBF and AMBF outperform FCFS", first["finding"])
        self.check_page(page, 5)
        # The runs at saturation serve a claim and are in no plot.
        self.assertNotIn("<th scope='row'>2</th>", page)
        self.assertEqual(6 * 2 + 3, len(list((self.out / "runs").glob("*.json"))))

    def test_table_for_people(self):
        out, _page = self.works("tpds2013-cpu-usage", *self.SMALL, form="table")
        self.assertRegex(out, r"\| 95 % +\| ")
        self.assertRegex(out, r"\| (yes|no|-) +\|\n")


class TestNamesAndMistakes(ReproduceCase):
    def test_names(self):
        code, out, _err = self.main("list", "-f", "json")
        self.assertEqual(
            (0, list(registry.EXPERIMENTS)), (code, [r["name"] for r in json.loads(out)])
        )
        self.assertEqual((0, out, ""), self.main("--list", "-f", "json"))
        self.assertEqual(33, len(registry.EXPERIMENTS))

    def test_mistakes(self):
        self.refused("which one? `reproduce list` prints the names")
        self.refused("there is no experiment 'table2'; choose one of: jss2015-table1, ", "table2")
        self.refused(
            "--seeds: '0' must be a whole number, 1 or more", "tpds2013-fig3", "--seeds", 0
        )
        self.refused("argument --loads: ", "tpds2013-fig3", "--loads", "x")

    def test_missing_traces(self):
        directory = self.traces(left_out=["CTC", "KTH"])
        for name in ("jss2015-table1", "jss2015-table2"):
            args = (name, "--traces", directory, "--out", self.out)
            self.refused(
                f"{directory}: has no CTC-SP2-1996-3.1-cln, KTH-SP2-1996-2; name another directory "
                "with --traces, or run: twotier-sim traces fetch CTC-SP2-1996-3.1-cln "
                f"KTH-SP2-1996-2 --out {directory}",
                *args,
            )
        self.assertFalse(self.out.exists())

    def test_columns_are_refused_before_the_runs(self):
        with mock.patch.object(sweep, "resume", side_effect=KeyError("begun")):
            for name, words in (
                ("tpds2013-fig3", "choose from: finding, paper, ours, holds"),
                (
                    "cisne-table1",
                    "choose from: finding, paper, ours, low, high, deviation_percent",
                ),
                ("all", "choose from: experiment, hold, do_not, not_tested"),
                ("list", "choose from: name, source, description"),
            ):
                words = f"there is no column 'nope'; {words}\n"
                self.refused(words, name, "--out", self.out, "-c", "nope")
        self.assertFalse(self.out.exists())

    def test_output_that_cannot_be_written(self):
        (self.directory / "file").write_text("")
        self.refused(
            "file/runs: Not a directory", "tpds2013-fig3", "--out", self.directory / "file"
        )


class TestWording(testtools.TestCase):
    def number(self, paper, ours):
        return Number.of("wait", "KTH", "EASY", paper, [ours])

    def test_numbers_without_columns(self):
        self.assertEqual("KTH EASY: wait", self.number(10.0, 11.0).name)
        self.assertEqual("KTH: wait", Number.of("wait", "KTH", "", 10.0, [11.0]).name)

    def test_a_ratio_to_nothing_is_valid_json(self):
        endless, plain = Amount(math.inf, "times"), Amount(1.5, "times")
        self.assertEqual([None, 1.5], [each.machine_readable() for each in (endless, plain)])
        self.assertEqual("inf times", endless.human_readable())

    def test_deviation(self):
        self.assertEqual("+10.0 %", report_tables.deviation(self.number(10.0, 11.0), False))
        self.assertEqual("-1.0 points", report_tables.deviation(self.number(10.0, 9.0), True))
        self.assertEqual("-", report_tables.deviation(self.number(0.0, 9.0), False))

    def test_cells(self):
        for ours, chip in (
            (104.0, "<span class='chip'>+4.0 %"),
            (120.0, "<span class='chip over'>▲ +20.0 %"),
            (150.0, "<span class='chip over far'>▲ +50.0 %"),
            (60.0, "<span class='chip under far'>▼ -40.0 %"),
        ):
            self.assertIn(chip, report_tables._cell(self.number(100.0, ours), False))

    def test_amounts(self):
        self.assertEqual("-", report_tables.amount(None, "%"))
        self.assertEqual("never", report_tables.amount("never", "%"))
        self.assertEqual("94.2 %", report_tables.amount(94.2, "%"))
        self.assertEqual("0.85", report_tables.amount(0.85))
