"""The Gantt chart of a replay: each VM has a lane, and what became of it."""

import pathlib
from types import SimpleNamespace

import fixtures
import testtools

from nova_twotier.ledger.tree import Shape
from nova_twotier.sim.plots import files
from nova_twotier.sim.plots.stays import End
from nova_twotier.tools.replay import chart
from nova_twotier.tools.replay.clock import Clock
from nova_twotier.tools.replay.player import QueueLength
from nova_twotier.tools.replay.recorder import Interval, Kind
from tests.unit.replay.fakes import BG, FG, SHAPES, roster


def interval(job, host, tier, begin, end, came=Kind.START, left=Kind.END):
    return Interval(job, 0, host, tier, begin, came, end, left)


def player(*intervals):
    return SimpleNamespace(
        recorder=SimpleNamespace(intervals=list(intervals)),
        roster=roster(*[([0.5], 10.0)] * 5),
        queue_lengths=[QueueLength(0.0, 2), QueueLength(5.0, 1), QueueLength(12.0, 0)],
        clock=Clock(0.0, 3600.0),
        elapsed=lambda: 20.0,
    )


class TestChart(testtools.TestCase):
    def of(self, *intervals, shapes=SHAPES):
        return chart.of(player(*intervals), "demo", shapes)

    def test_what_became_of_each(self):
        drawn = self.of(
            interval(1, "h1", FG, 0, 5),
            interval(1, "h1", BG, 5, 7, Kind.SWAP),
            interval(1, "h2", BG, 7, 9, Kind.MIGRATE),
            interval(1, "h2", FG, 12, 14, Kind.RESTORE),
            interval(2, "h1", FG, 0, 6, left=Kind.EVICT),
            interval(3, "h2", FG, 0, None, left=None),
        )
        found = {(stay.job, stay.begin): (stay.ended_by, stay.resumed) for stay in drawn.stays}
        self.assertEqual(
            {
                (1, 0): (End.SWAP, False),
                (1, 5): (End.MOVE, False),
                (1, 7): (End.EVICTION, False),
                (1, 12): (None, True),
                # It waited when the replay was interrupted.
                (2, 0): (End.EVICTION, False),
                (3, 0): (None, False),
            },
            found,
        )
        self.assertEqual([20.0], [stay.end for stay in drawn.stays if stay.job == 3])

    def test_what_is_said_of_a_stay(self):
        drawn = self.of(interval(2, "h1", FG, 1, 3), interval(2, "h1", BG, 3, 9, Kind.SWAP))
        self.assertEqual(
            [
                "job 2, process 0",
                "j-2, 1 processes; CPU 0.50",
                "host h1, slot 0, foreground",
                "1 s to 3 s (2 s, then swap)",
                "trace 1.00 to 3.00 h",
            ],
            drawn.text(drawn.stays[0]),
        )
        self.assertEqual(("demo", "wall time (s)"), (drawn.heading, drawn.axis))

    def test_all_hosts_have_rows_also_without_jobs(self):
        drawn = self.of(interval(1, "h1", FG, 0, 5))
        names = [name for _height, name in drawn.labels(100)]
        self.assertEqual(["h1  0", "1", "h2  0", "1"], names)

    def test_more_vms_than_slots_are_all_seen(self):
        one = {"h1": Shape(1, 2)}
        drawn = self.of(
            *(interval(job, "h1", tier, 0, 5) for job in (1, 2) for tier in (FG, BG)), shapes=one
        )
        self.assertEqual(4, len({drawn.top(stay) for stay in drawn.stays}))

    def test_files(self):
        drawn = self.of(interval(1, "h1", FG, 0, 5, left=Kind.EVICT))
        for name in ("a.png", "a.html"):
            path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / name
            files.draw(drawn, path)
            self.assertGreater(path.stat().st_size, 10_000)
        text = path.read_text()
        for words in ("jobs wait", "eviction", "wall time (s)"):
            self.assertIn(words, text)
