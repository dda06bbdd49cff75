"""Which processes of a host share a slot."""

from collections import Counter

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.slots import (
    THRESHOLD,
    Slot,
    arrange,
    background_places,
    closed_slots,
    is_hot,
    offered,
    tiers_of,
)
from tests.unit.core.builders import utilisation


@st.composite
def loads(draw):
    """Slots of a host, and its processes by tier; the background may be more than there is room."""
    slots = draw(st.integers(1, 5))
    fg = draw(st.lists(utilisation, max_size=slots))
    bg = draw(st.lists(utilisation, max_size=8))
    return (
        slots,
        {f"fg{n}": cpu for n, cpu in enumerate(fg)},
        {f"bg{n}": cpu for n, cpu in enumerate(bg)},
    )


class TestPlaces(testtools.TestCase):
    """Open and closed slots, and the background places that they make."""

    def test_example(self):
        self.assertEqual(8, background_places(4, 3))
        self.assertEqual(6, background_places(4, 3, closed=1))
        self.assertEqual((3, 1), (tiers_of(4, 8), closed_slots(4, 3, open_places=6)))

    @given(st.integers(0, 9), st.integers(1, 5), st.integers(0, 12))
    def test_closed_slots_are_found_again(self, slots, tiers, closed):
        places = background_places(slots, tiers, closed)
        self.assertGreaterEqual(places, 0)
        expected = min(closed, slots) if tiers > 1 else 0
        self.assertEqual(expected, closed_slots(slots, tiers, places))
        self.assertEqual(tiers if slots else 1, tiers_of(slots, background_places(slots, tiers)))

    def test_a_slot_that_is_open_in_part_is_closed(self):
        self.assertEqual(1, closed_slots(4, 3, open_places=7))

    def test_more_open_than_there_are(self):
        """The ledger still has the places of a host that was larger."""
        self.assertEqual(0, closed_slots(2, 2, open_places=5))

    def test_offered(self):
        self.assertEqual([3, 0, 0], [offered(4, reserved) for reserved in (1, 4, 6)])


class TestArrange(testtools.TestCase):
    @given(loads())
    def test_every_process_has_one_seat(self, drawn):
        slots, fg, bg = drawn
        seats = arrange(slots, fg, bg)
        self.assertEqual(slots, len(seats))
        self.assertEqual(
            Counter(list(fg)), Counter(seat.fg for seat in seats if seat.fg is not None)
        )
        self.assertEqual(Counter(list(bg)), Counter(key for seat in seats for key in seat.bg))

    @given(loads())
    def test_none_under_a_closed_slot_while_one_is_open(self, drawn):
        slots, fg, bg = drawn
        seats = arrange(slots, fg, bg)
        closed = [seat.fg is not None and is_hot(fg[seat.fg]) for seat in seats]
        if not all(closed):
            for seat, is_closed in zip(seats, closed, strict=True):
                self.assertFalse(is_closed and seat.bg)

    @given(loads())
    def test_open_slots_share_evenly(self, drawn):
        slots, fg, bg = drawn
        seats = arrange(slots, fg, bg)
        shares = [len(seat.bg) for seat in seats if seat.fg is None or not is_hot(fg[seat.fg])] or [
            len(seat.bg) for seat in seats
        ]
        self.assertLessEqual(max(shares) - min(shares), 1)

    @given(loads())
    def test_hot_beside_little(self, drawn):
        """Of two slots with one background process each, the hotter one has the smaller demand."""
        slots, fg, bg = drawn
        seats = arrange(slots, fg, bg)
        pairs = [(fg.get(seat.fg, 0.0), bg[seat.bg[0]]) for seat in seats if len(seat.bg) == 1]
        for hotter, more in pairs:
            for cooler, less in pairs:
                self.assertFalse(hotter > cooler and more > less, pairs)

    @given(loads(), st.randoms())
    def test_stable(self, drawn, random):
        """One more background process of the least demand moves none of the others."""
        slots, fg, bg = drawn
        seats = arrange(slots, fg, bg)
        grown = arrange(slots, fg, {**bg, "new": 0.0})
        for before, after in zip(seats, grown, strict=True):
            self.assertEqual(before.fg, after.fg)
            self.assertEqual(before.bg, tuple(key for key in after.bg if key != "new"))

    def test_example(self):
        fg = {"hot": 0.97, "warm": 0.7, "cool": 0.2}
        bg = {"big": 0.9, "small": 0.1, "medium": 0.5}
        self.assertEqual(
            [
                Slot(None, ("big",)),
                Slot("cool", ("medium",)),
                Slot("warm", ("small",)),
                Slot("hot", ()),
            ],
            arrange(4, fg, bg),
        )

    def test_equals_keep_their_order(self):
        self.assertEqual(
            [Slot("a", ("x",)), Slot("b", ("y",))],
            arrange(2, {"a": 0.5, "b": 0.5}, {"x": 0.5, "y": 0.5}),
        )

    def test_all_closed(self):
        seats = arrange(2, {"a": THRESHOLD, "b": 1.0}, {"x": 0.5, "y": 0.4, "z": 0.3})
        self.assertEqual([Slot("a", ("x", "z")), Slot("b", ("y",))], seats)

    def test_threshold_is_a_choice(self):
        fg, bg = {"a": 0.8, "b": 0.5}, {"x": 0.5, "y": 0.4}
        self.assertEqual([("x",), ("y",)], [seat.bg for seat in arrange(2, fg, bg)])
        self.assertEqual([("x", "y"), ()], [seat.bg for seat in arrange(2, fg, bg, 0.8)])

    def test_too_many_in_the_foreground(self):
        self.assertRaises(ValueError, arrange, 1, {"a": 0.1, "b": 0.1}, {})
