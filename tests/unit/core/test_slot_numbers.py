"""Numbers of slots: no two of a tier at a time, and a swap keeps its own if it can."""

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.actions import BG, FG
from nova_twotier.core.slot_numbers import Place, Stay, of_history


def stay(process, tier, begin, end, host="a"):
    return Stay(begin, end, Place(process, host, tier))


def overlap(one, other):
    return one.begin < other.end and other.begin < one.end


class TestHistory(testtools.TestCase):
    def test_the_lowest_that_is_free(self):
        stays = [stay(1, FG, 0, 5), stay(2, FG, 0, 9), stay(3, FG, 5, 9), stay(4, FG, 6, 9)]
        self.assertEqual([0, 1, 0, 2], of_history(stays))

    def test_tiers_and_hosts_have_their_own(self):
        self.assertEqual(
            [0, 0, 0], of_history([stay(1, FG, 0, 5), stay(2, BG, 0, 5), stay(3, FG, 0, 5, "b")])
        )

    def test_a_swap_of_two_jobs_keeps_both_slots(self):
        before = [(1, FG), (2, FG), (3, BG), (4, BG)]
        after = [(4, FG), (3, FG), (2, BG), (1, BG)]
        stays = [stay(process, tier, 0, 5) for process, tier in before]
        stays += [stay(process, tier, 5, 9) for process, tier in after]
        numbers = of_history(stays)
        at = {"before": {}, "after": {}}
        for each, number in zip(stays, numbers, strict=True):
            at["after" if each.begin else "before"][each.place.process] = number
        self.assertEqual(at["before"], at["after"])

    def test_the_foreground_has_no_number_beyond_its_slots(self):
        stays = [stay(1, BG, 0, 5), stay(2, BG, 0, 5), stay(3, BG, 0, 5), stay(3, FG, 5, 9)]
        self.assertEqual([0, 1, 2, 0], of_history(stays, {"a": 2}))
        self.assertEqual([0, 1, 2, 2], of_history(stays))

    @given(
        st.lists(st.tuples(st.sampled_from([FG, BG]), st.integers(0, 30), st.integers(1, 9))),
        st.randoms(),
    )
    def test_no_two_at_a_time(self, drawn, order):
        stays = [stay(n, tier, at, at + length) for n, (tier, at, length) in enumerate(drawn)]
        order.shuffle(stays)
        numbered = list(zip(stays, of_history(stays), strict=True))
        for one, number in numbered:
            others = [
                found
                for other, found in numbered
                if other is not one and other.place.tier is one.place.tier and overlap(one, other)
            ]
            self.assertNotIn(number, others)
            self.assertLessEqual(number, len(others))
