"""How full slots were: every second of every stay is in some cell, and no cell is too full."""

import fixtures
import numpy
import testtools

from nova_twotier.sim.plots import density, files, recorded
from tests.unit.sim.result_builders import schedule
from tests.unit.sim.test_plots import stays


class TestDensity(testtools.TestCase):
    def assert_all_time_is_there(self, frame, chart):
        width = (chart.end - chart.begin) / density.COLUMNS
        for tier, name in zip(chart.tiers, ("fg", "bg"), strict=True):
            of_tier = frame[frame["tier"] == name]
            busy = (of_tier["end"] - of_tier["begin"]).sum()
            self.assertAlmostEqual(busy, chart.in_use(tier).sum() * width, 3)

    def test_all_time_is_there(self):
        frame = schedule(slots=16, jobs=500)
        chart = density.of(frame)
        self.assert_all_time_is_there(frame, chart)
        for tier in chart.tiers:
            self.assertEqual((16, density.COLUMNS), tier.cells.shape)
            self.assertTrue(tier.cells.min() >= 0 and tier.cells.max() <= 1 + 1e-9)

    def test_many_slots_share_rows(self):
        frame = schedule(slots=1000, jobs=500)
        chart = density.of(frame)
        self.assertEqual((4, 250), (chart.group, len(chart.tiers[0].cells)))
        self.assertEqual(("0", "996"), (chart.label(0), chart.label(249)))
        self.assert_all_time_is_there(frame, chart)

    def test_the_last_row_has_the_slots_that_are_left(self):
        frame = stays(*((1, n, n, "fg", 0.0, 9.0) for n in range(257)))
        chart = density.of(frame)
        self.assertEqual((2, 1.0), (chart.group, chart.sizes[-1]))
        self.assertTrue(numpy.allclose(1, chart.tiers[0].cells))

    def test_cells(self):
        end = float(density.COLUMNS)
        frame = stays(
            (1, 0, 0, "fg", 0.0, end), (2, 0, 1, "fg", 1.5, 3.25), (3, 0, 1, "bg", 4.25, 4.75)
        )
        front, back = density.of(frame).tiers
        self.assertTrue((front.cells[0] == 1).all())
        self.assertEqual([0, 0.5, 1, 0.25, 0], front.cells[1, :5].tolist())
        self.assertEqual([0.5, 0], back.cells[1, 4:6].tolist())

    def test_window(self):
        frame = stays((1, 0, 0, "fg", 0.0, 100.0), (2, 0, 5, "fg", 50.0, 80.0))
        chart = density.of(frame, begin=60, end=100, slots=(5, 6))
        self.assertEqual((60, 100, 30.0 - 10), (chart.begin, chart.end, 20.0))
        self.assertAlmostEqual(20.0, chart.in_use(chart.tiers[0]).sum() * chart.part)

    def test_one_tier(self):
        chart = density.of(stays((1, 0, 0, "fg", 0.0, 100.0)))
        self.assertEqual(["foreground"], [tier.name for tier in chart.tiers])

    def test_what_colours_stand_for(self):
        (slot,) = density.of(stays((1, 0, 0, "fg", 0.0, 100.0))).tiers
        chart = density.of(stays(*((1, n, 0, "fg", 0.0, 9.0) for n in range(4))), hosts=("a",))
        (host,) = chart.tiers
        self.assertEqual("foreground: processes at a time on a host", chart.scale(host))
        self.assertEqual((4, "a", "host"), (chart.top(host), chart.label(0), chart.row))
        one = density.of(stays((1, 0, 0, "fg", 0.0, 100.0)))
        self.assertEqual("foreground: share of the time in use", one.scale(slot))


class TestBars(testtools.TestCase):
    def test_too_many(self):
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.sim.plots.recorded.MOST", 10))
        error = self.assertRaises(files.PlotError, recorded.of, schedule(slots=8, jobs=40))
        self.assertIn("bars are too many for a chart, which may have 10; name", str(error))

    def test_hosts_and_dates(self):
        frame = stays((1, 0, 0, "fg", 0.0, 100.0), (2, 0, 1, "bg", 10.0, 50.0))
        chart = recorded.of(frame, hosts=("a", "b"), dated=True)
        self.assertEqual(("host", "time (UTC)"), (chart.row, chart.axis))
        self.assertEqual(["a", "b"], [name for _height, name in chart.labels(9)])
        self.assertEqual("1970-01-01 00:01:40", chart.moment(100))
        self.assertEqual("hosts: 2, jobs: 2; numbers in the bars are job numbers", chart.note)
        self.assertEqual("Schedule, 1970-01-01 00:00:00 to 1970-01-01 00:01:40 UTC", chart.heading)

    def test_times_that_are_no_numbers(self):
        frame = stays((1, 0, 0, "fg", "soon", "later"))
        error = self.assertRaises(files.PlotError, recorded.of, frame)
        self.assertIn("column 'begin' of the schedule has values that are no numbers", str(error))
