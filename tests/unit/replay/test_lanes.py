"""Every VM has a line of its own while it is there, and keeps its slot when it can."""

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.actions import Tier
from nova_twotier.tools.replay import chart
from nova_twotier.tools.replay.lanes import assign, lanes
from nova_twotier.tools.replay.recorder import Interval, Kind
from tests.unit.replay.fakes import BG, FG, SHAPES


def interval(job, host, tier, begin, end, came=Kind.START):
    return Interval(job, 0, host, tier, begin, came, end, Kind.END)


class TestLanes(testtools.TestCase):
    def test_foreground_stands_above_the_background_of_its_slot(self):
        first = lanes(SHAPES)[:4]
        self.assertEqual([(0, FG), (0, BG), (1, FG), (1, BG)], [(x.slot, x.tier) for x in first])

    def test_a_swap_of_two_jobs_keeps_both_slots(self):
        places = assign(
            [
                interval(1, "h1", FG, 0, 5),
                interval(2, "h1", FG, 0, 5),
                interval(3, "h1", BG, 1, 5),
                interval(4, "h1", BG, 1, 5),
                interval(1, "h1", BG, 5, 9, Kind.SWAP),
                interval(2, "h1", BG, 5, 9, Kind.SWAP),
                interval(3, "h1", FG, 5, 9, Kind.SWAP),
                interval(4, "h1", FG, 5, 9, Kind.SWAP),
            ],
            SHAPES,
        )
        slots = {}
        for each, lane in places:
            slots.setdefault(each.job, set()).add(lane.slot)
        self.assertEqual([1, 1, 1, 1], [len(slots[job]) for job in (1, 2, 3, 4)])

    @given(st.lists(st.tuples(st.sampled_from(list(Tier)), st.integers(0, 30), st.integers(1, 9))))
    def test_no_two_share_a_line_while_the_host_is_not_overfull(self, drawn):
        taken = []
        for job, (tier, begin, length) in enumerate(drawn):
            new = interval(job, "h1", tier, begin, begin + length)
            together = [
                old
                for old in taken
                if old.tier is tier and old.begin < new.end and new.begin < old.end
            ]
            crowd = max(
                (sum(o.begin <= t < o.end for o in together) for t in range(new.begin, new.end)),
                default=0,
            )
            if crowd < 2:
                taken.append(new)
        places = assign(taken, SHAPES)
        self.assertEqual(len(taken), len(places))
        for one, lane in places:
            for two, other in places:
                if one is not two and lane == other:
                    self.assertTrue(one.end <= two.begin or two.end <= one.begin)


class TestColours(testtools.TestCase):
    def test_a_job_keeps_its_colour_and_neighbours_differ(self):
        colours = [chart.colour(number) for number in range(1, 101)]
        self.assertEqual(colours, [chart.colour(number) for number in range(1, 101)])
        self.assertEqual(len(colours), len(set(colours)))
