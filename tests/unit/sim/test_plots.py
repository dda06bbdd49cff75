"""Plots: what is drawn, and that files come out of it."""

import itertools
import pathlib
from dataclasses import replace
from unittest import mock

import fixtures
import numpy
import pandas
import testtools

from nova_twotier.sim.plots import (
    files,
    load,
    load_html,
    page,
    picture,
    recorded,
    utilisation,
    words,
)
from tests.unit.sim.result_builders import runs, schedule

PNG = b"\x89PNG\r\n"


def stays(*rows):
    return pandas.DataFrame(rows, columns=["job", "process", "slot", "tier", "begin", "end"])


class TestLoad(testtools.TestCase):
    def test_mean_and_spread_over_seeds(self):
        chart = load.of(runs(policies=("easy",), loads=(0.52,)), "average_bounded_slowdown")
        (curve,) = chart.curves
        self.assertEqual(("easy", (0.52,)), (curve.policy, curve.loads))
        self.assertAlmostEqual(10.0, curve.means[0])
        self.assertAlmostEqual(1.0, curve.spreads[0])
        self.assertAlmostEqual(9.0, curve.low[0])
        # Of a single load, a band would have no width.
        self.assertEqual("mean of 3 seeds, whiskers: one standard deviation", chart.note)
        several = load.of(runs(), "average_bounded_slowdown")
        self.assertEqual("mean of 3 seeds, band: one standard deviation", several.note)

    def test_one_seed_has_no_spread(self):
        chart = load.of(runs(seeds=(0,)), "utilisation")
        self.assertEqual({0.0}, {spread for curve in chart.curves for spread in curve.spreads})
        self.assertEqual("one run a point", chart.note)

    def test_policies_in_the_order_asked_for(self):
        chart = load.of(runs(), "utilisation", ["fcfs", "cmcbf"])
        self.assertEqual(["fcfs", "cmcbf"], [curve.policy for curve in chart.curves])

    def assert_refused(self, text, frame, *args):
        error = self.assertRaises(files.PlotError, load.of, frame, *args)
        self.assertIn(text, str(error))

    def test_refused(self):
        self.assert_refused(
            "there is no metric 'speed'; choose one of: average_wait", runs(), "speed"
        )
        self.assert_refused(
            "the table has no policy 'x', only amcbf,", runs(), "utilisation", ["x"]
        )
        self.assert_refused(
            "no column 'policy'; it is not that of a sweep", schedule(), "utilisation"
        )

    def test_nought_has_no_logarithm(self):
        nought = runs().assign(utilisation=0.0)
        error = self.assertRaises(files.PlotError, load.of, nought, "utilisation", logarithmic=True)
        self.assertIn("utilisation is never above 0", str(error))

    def test_policy_without_a_point(self):
        """A workload whose jobs arrive at once has no load, and one without jobs no waits."""
        for missing in ("load", "utilisation"):
            frame = runs()
            frame.loc[frame["policy"] == "easy", missing] = float("nan")
            self.assert_refused("no run of easy has both a load and util", frame, "utilisation")
            self.assertEqual("fcfs", load.of(frame, "utilisation", ["fcfs"]).curves[0].policy)

    def test_runs_that_differ_otherwise_are_not_averaged(self):
        mixed = pandas.concat([runs(), runs().assign(slots=2)])
        self.assert_refused(
            "runs of slots 1, 2; choose one with --where slots=", mixed, "utilisation"
        )

    def test_labels_have_units(self):
        for metric, label in (
            ("average_wait_seconds", "average wait (s)"),
            ("p90_bounded_slowdown", "90th percentile of bounded slowdown"),
            ("migrations_per_job", "migrations per job"),
            ("utilisation", "CPU utilisation (fraction of busy cycles)"),
        ):
            self.assertEqual(label, words.label(metric))


class TestGantt(testtools.TestCase):
    def test_more_rows_than_a_chart_may_have(self):
        error = self.assertRaises(files.PlotError, recorded.of, self.STAYS, slots=(0, 50_000))
        self.assertIn("50,001 rows are too many for a chart", str(error))

    STAYS = stays(
        (1, 0, 0, "fg", 0.0, 100.0),
        (1, 1, 1, "fg", 0.0, 100.0),
        (1, 2, 3, "fg", 0.0, 100.0),
        (2, 0, 0, "bg", 10.0, 50.0),
        (3, 0, 0, "bg", 20.0, 90.0),
        (4, 0, 0, "bg", 50.0, 60.0),
    )

    def test_background_stays_that_overlap_have_lanes_of_their_own(self):
        chart = recorded.of(self.STAYS)
        lanes = {(stay.job, stay.host): (stay.front, stay.number) for stay in chart.stays}
        self.assertEqual(
            {
                (1, "0"): (True, 0),
                (1, "1"): (True, 0),
                (1, "3"): (True, 0),
                (2, "0"): (False, 0),
                (3, "0"): (False, 1),
                (4, "0"): (False, 0),
            },
            lanes,
        )
        self.assertEqual({(1, 3)}, {(host.slots, host.tiers) for host in chart.layout.hosts})

    def test_no_two_bars_overlap(self):
        chart = recorded.of(schedule(slots=6, jobs=60, background=3))
        bars = sorted(chart.stays, key=lambda stay: (chart.top(stay), stay.begin))
        self.assertLess(len({chart.top(stay) for stay in bars}), len(bars))
        for one, other in itertools.pairwise(bars):
            if chart.top(one) == chart.top(other):
                self.assertLessEqual(one.end, other.begin)

    def test_bars_stay_in_their_slot(self):
        chart = recorded.of(schedule(background=2))
        self.assertEqual({True, False}, {stay.front for stay in chart.stays})
        rows = {row.host.name: row for row in chart.layout.rows}
        for stay in chart.stays:
            row, top = rows[stay.host], chart.top(stay)
            self.assertTrue(row.top <= top)
            self.assertTrue(top + chart.bar <= row.top + chart.layout.height(row.host))

    def test_without_a_background_there_is_no_room_for_it(self):
        chart = recorded.of(self.STAYS[:3])
        self.assertEqual([], list(chart.bands()))

    def test_window(self):
        chart = recorded.of(self.STAYS, begin=30, end=55, slots=(0, 1))
        self.assertEqual(["0", "1"], [host.name for host in chart.layout.hosts])
        self.assertEqual(
            [(1, 30, 55), (1, 30, 55), (2, 30, 50), (3, 30, 55), (4, 50, 55)],
            sorted((stay.job, stay.begin, stay.end) for stay in chart.stays),
        )

    def test_what_ends_outside_of_the_window_has_no_mark_in_it(self):
        frame = stays(
            (1, 0, 0, "fg", 0.0, 40.0), (1, 0, 0, "bg", 40.0, 60.0), (1, 0, 1, "bg", 90.0, 99.0)
        )
        marks = {
            (begin, end): [mark.name for mark, _places in chart.marks()]
            for begin, end in ((0, 99), (10, 39), (0, 50), (50, 70), (80, 90.5))
            for chart in [recorded.of(frame, begin=begin, end=end)]
        }
        self.assertEqual(
            {
                (0, 99): ["swap to the background", "eviction", "resumed"],
                (10, 39): [],
                (0, 50): ["swap to the background"],
                (50, 70): ["eviction"],
                (80, 90.5): ["resumed"],
            },
            marks,
        )

    def test_one_number_a_block_of_slots(self):
        labelled = [(stay.job, stay.host) for stay in recorded.of(self.STAYS).labelled()]
        self.assertEqual([(1, "1"), (1, "3"), (2, "0"), (3, "0"), (4, "0")], sorted(labelled))

    def test_host_with_several_slots(self):
        chart = recorded.of(stays(*((1, n, n // 4, "fg", 0.0, 9.0) for n in range(8))))
        self.assertEqual([4, 4], [host.slots for host in chart.layout.hosts])
        self.assertEqual("hosts: 2, jobs: 1; numbers in the bars are job numbers", chart.note)

    def test_a_process_that_comes_up_from_the_third_tier_is_in_the_slots_foreground(self):
        frame = stays(
            (1, 0, 5, "fg", 0.0, 10.0),
            (2, 0, 5, "bg", 0.0, 40.0),
            (3, 0, 5, "bg", 0.0, 10.0),
            (3, 0, 5, "fg", 10.0, 20.0),
        )
        chart = recorded.of(frame)
        self.assertEqual([(1, 3)], [(host.slots, host.tiers) for host in chart.layout.hosts])
        self.assertEqual({0}, {stay.number for stay in chart.stays if stay.front})
        # An earlier release had a row for a host.
        frame.loc[len(frame)] = (4, 0, 5, "fg", 0.0, 40.0)
        host = recorded.of(frame)
        self.assertEqual([2], [each.slots for each in host.layout.hosts])

    def test_recorded_lanes_are_kept(self):
        frame = stays((1, 0, 0, "fg", 0.0, 9.0), (2, 0, 0, "bg", 0.0, 9.0))
        kept = recorded.of(frame.assign(lane=[2, 1]), hosts=("a",))
        self.assertEqual([2, 1], [stay.number for stay in kept.stays])
        self.assertEqual([3], [host.slots for host in kept.layout.hosts])
        partly = recorded.of(frame.assign(lane=[2, None]), hosts=("a",))
        self.assertEqual([0, 0], [stay.number for stay in partly.stays])

    def test_refused(self):
        for words_, frame, window in (
            (
                "nothing runs on slots 0 to 3 from 200 to 300 s",
                self.STAYS,
                {"begin": 200, "end": 300},
            ),
            (
                "the window from 420000 to 400000 s is empty",
                self.STAYS,
                {"begin": 420_000, "end": 400_000},
            ),
            ("the window from 50 to 50 s is empty", self.STAYS, {"begin": 50, "end": 50}),
            ("no column 'job'; it is not a schedule", runs(), {}),
            ("the schedule is empty", self.STAYS[:0], {}),
        ):
            error = self.assertRaises(files.PlotError, recorded.of, frame, **window)
            self.assertIn(words_, str(error))


class TestUtilisation(testtools.TestCase):
    def test_every_change_of_a_short_schedule(self):
        chart = utilisation.of(TestGantt.STAYS, slots=4)
        front, back = chart.curves
        self.assertEqual([0, 100], front.times.tolist())
        self.assertEqual([3], front.counts.tolist())
        self.assertEqual([0, 10, 20, 50, 60, 90, 100], back.times.tolist())
        self.assertEqual([0, 1, 2, 2, 1, 0], back.counts.tolist())
        self.assertAlmostEqual(1.2, back.mean)
        self.assertEqual("4 slots; every change is drawn", chart.note)

    def test_means_of_a_long_one(self):
        frame = schedule(slots=16, jobs=3000)
        chart = utilisation.of(frame)
        front = frame[frame["tier"] == "fg"]
        mean = (front["end"] - front["begin"]).sum() / (chart.end - chart.begin)
        self.assertAlmostEqual(mean, chart.curves[0].mean, 6)
        self.assertEqual(utilisation.PARTS, len(chart.curves[0].counts))
        self.assertLessEqual(numpy.max(chart.curves[0].counts), 16.000001)

    def test_more_slots_in_use_than_the_machine_has(self):
        error = self.assertRaises(files.PlotError, utilisation.of, TestGantt.STAYS, slots=2)
        self.assertEqual("the machine cannot have 2 slots: 3 are in use at once", str(error))
        self.assertEqual(3, utilisation.of(TestGantt.STAYS, slots=3).slots)

    def test_empty_window(self):
        error = self.assertRaises(
            files.PlotError, utilisation.of, TestGantt.STAYS, begin=50.0, end=50.0
        )
        self.assertEqual("the window from 50 to 50 s is empty", str(error))


class TestFiles(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def charts(self):
        yield "load", load.of(runs(), "average_bounded_slowdown", logarithmic=True)
        yield "gantt", recorded.of(schedule(background=2))
        yield "utilisation", utilisation.of(schedule())

    def test_pictures(self):
        for name, chart in self.charts():
            path = self.directory / f"{name}.png"
            files.draw(chart, path)
            data = path.read_bytes()
            self.assertTrue(data.startswith(PNG))
            self.assertGreater(len(data), 20_000)

    def test_spread_at_a_single_load(self):
        """Whiskers, in the picture and on the page: seeds that differ look unlike one seed."""
        path = self.directory / "load.png"
        drawn = []
        for seeds in ((1,), (0, 1, 2)):
            chart = load.of(runs(loads=(0.7,), seeds=seeds), "utilisation")
            spreads = tuple(replace(curve, spreads=(0.1,)) for curve in chart.curves)
            with mock.patch.object(load.Chart, "note", "the same"):
                files.draw(replace(chart, curves=spreads), path)
            drawn.append(path.read_bytes())
        # Not assertNotEqual, which would print both.
        self.assertTrue(drawn[0] != drawn[1])
        with mock.patch.object(page, "save") as save:
            load_html.draw(chart, path)
        lines = save.call_args[0][0].data
        self.assertEqual(
            [(True, curve.spreads) for curve in chart.curves],
            [(line.error_y.visible, tuple(line.error_y.array)) for line in lines],
        )

    def test_pages_hold_plotly_once_and_need_no_network(self):
        for name, chart in self.charts():
            path = self.directory / f"{name}.html"
            files.draw(chart, path)
            text = path.read_text()
            self.assertEqual(1, text.count("plotly.js v"), name)
            self.assertNotIn("<script src=", text)

    def test_many_curves_look_different(self):
        policies = [f"p{number:02}" for number in range(22)]
        chart = load.of(runs(policies=policies), "utilisation")
        write = mock.Mock(side_effect=lambda _figure, path: path.touch())
        with mock.patch.object(picture, "save", write) as saved:
            files.draw(chart, self.directory / "many.png")
        (axes,) = saved.call_args.args[0].axes
        drawn = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in axes.lines]
        self.assertEqual((22, 22), (len(drawn), len(set(drawn))))
        with mock.patch.object(page, "save", write) as saved:
            files.draw(chart, self.directory / "many.html")
        lines = [trace for trace in saved.call_args.args[0].data if trace.name]
        drawn = [(line.line.color, line.marker.symbol, line.line.dash) for line in lines]
        self.assertEqual((22, 22), (len(drawn), len(set(drawn))))

    def test_other_suffix(self):
        error = self.assertRaises(files.PlotError, files.checked, "a.pdf")
        self.assertEqual("a.pdf: a plot is a file that ends in .png or .html", str(error))
