"""Fair share: offsets grow with use, decay, stay below their bound, and starve nobody."""

import math

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.cluster import Host
from nova_twotier.core.fair_share import FairShare, InvalidFairShare, Uses, is_ahead
from nova_twotier.core.snapshot import Snapshot
from tests.unit.core.builders import BG, FG, job
from tests.unit.core.driver import Driver

HOUR = 3600.0
rules = st.builds(
    FairShare,
    half_life=st.floats(60, 1e6),
    background=st.floats(0, 1),
    longest=st.floats(0, 1e6),
)
#: Owner, tier, slots, begin, length.
stays = st.tuples(
    st.sampled_from("abc"),
    st.sampled_from((FG, BG)),
    st.integers(1, 50),
    st.floats(0, 1e5),
    st.floats(0, 1e5),
)
histories = st.lists(stays, max_size=12)
NOW = 2e5


def lately(rule, history, now=NOW):
    uses = Uses(rule)
    for owner, tier, slots, begin, length in history:
        uses.add(owner, tier, slots, begin, begin + length, now)
    return uses


def followed(rule, history):
    """The same, while it happens."""
    changes = []
    for owner, tier, slots, begin, length in history:
        changes.append((begin, owner, tier, slots))
        changes.append((begin + length, owner, tier, -slots))
    uses = Uses(rule)
    for at, owner, tier, slots in sorted(changes, key=lambda change: change[0]):
        uses.hold(owner, tier, slots, at)
    return uses


class TestUse(testtools.TestCase):
    def test_who_has_always_held_slots_uses_them(self):
        uses = Uses(FairShare(half_life=HOUR, background=0.25))
        uses.hold("a", FG, 3, 0.0)
        uses.hold("a", BG, 4, 0.0)
        self.assertAlmostEqual(2.0, uses.use("a", HOUR))
        self.assertAlmostEqual(4.0, uses.use("a", 100 * HOUR))
        uses.hold("a", FG, -3, 100 * HOUR)
        self.assertAlmostEqual(2.5, uses.use("a", 101 * HOUR))

    def test_of_nobody(self):
        self.assertEqual(0.0, Uses(FairShare()).use("a", 5.0))

    @given(rules, histories)
    def test_read_from_the_records_or_followed_it_is_the_same(self, rule, history):
        read, seen = lately(rule, history), followed(rule, history)
        for owner in "abc":
            self.assertTrue(
                math.isclose(read.use(owner, NOW), seen.use(owner, NOW), rel_tol=1e-9, abs_tol=1e-9)
            )

    @given(rules, histories, st.floats(0, 1e6), st.floats(0, 1e6))
    def test_it_decays(self, rule, history, pause, longer):
        """By half in each half-life, for whoever holds nothing."""
        uses = lately(rule, history)
        before = uses.use("a", NOW + pause)
        after = uses.use("a", NOW + pause + longer)
        self.assertTrue(math.isclose(after, before * 2 ** -(longer / rule.half_life)))


class TestOffset(testtools.TestCase):
    def test_of_what_is_due_it_is_half_of_the_bound(self):
        rule = FairShare(longest=100.0)
        found = [round(rule.offset(use, 4.0), 1) for use in (0, 2, 4, 8, 400)]
        self.assertEqual([0.0, 29.3, 50.0, 75.0, 100.0], found)

    def test_the_pool_is_shared_by_those_who_use_it(self):
        rule = FairShare(half_life=HOUR, longest=100.0)
        uses = Uses(rule)
        uses.hold("a", FG, 5, 0.0)
        now = 100 * HOUR
        self.assertAlmostEqual(rule.offset(5, 10), uses.offset("a", 10, now))
        uses.hold("b", FG, 1, 0.0)
        self.assertAlmostEqual(rule.offset(5, 5), uses.offset("a", 10, now))
        self.assertEqual(0.0, uses.offset("new", 10, now))

    @given(rules, histories, stays, st.integers(0, 100))
    def test_it_grows_with_use_and_is_bounded(self, rule, history, stay, slots):
        more = ("a", *stay[1:])
        before = lately(rule, history).offset("a", slots, NOW)
        after = lately(rule, [*history, more]).offset("a", slots, NOW)
        self.assertTrue(0 <= before <= rule.longest)
        self.assertTrue(before <= after <= rule.longest, (before, after))

    @given(rules, histories, st.integers(1, 100), st.floats(0, 1e6))
    def test_it_shrinks_while_its_owner_uses_nothing(self, rule, history, slots, pause):
        uses = lately(rule, history)
        before = uses.offset("a", slots, NOW)
        after = uses.offset("a", slots, NOW + pause)
        self.assertTrue(after <= before or math.isclose(after, before), (before, after))

    @given(rules, histories, st.integers(1, 100), st.floats(0, 1e5), st.floats(1, 1e5))
    def test_no_job_is_passed_for_longer_than_the_bound(self, rule, history, slots, at, later):
        """Whatever others use, those that arrive later than the bound are behind it."""
        uses = lately(rule, history)
        first, second = NOW + at, NOW + at + rule.longest + later
        ours = job(1, arrival=first, offset=uses.offset("a", slots, first))
        theirs = job(2, arrival=second, offset=uses.offset("new", slots, second))
        self.assertLess(ours.order, theirs.order)

    def test_parameters_out_of_range(self):
        for values in (
            {"half_life": 0.0},
            {"half_life": math.nan},
            {"background": 1.5},
            {"longest": -1.0},
            {"longest": math.inf},
        ):
            self.assertRaises(InvalidFairShare, FairShare, **values)


class TestPlaces(testtools.TestCase):
    def test_behind_the_arrival(self):
        self.assertEqual((150.0, 3), job(3, arrival=100.0, offset=50.0).order)

    def test_behind_the_deadline(self):
        """Policies that order by something of their own keep the offset."""
        admitted = policies.get("amcbf-deadline").admit(
            job(3, arrival=100.0, estimate=20.0, offset=50.0)
        )
        self.assertEqual((170.0, 3), admitted.order)
        self.assertEqual(100.0, admitted.arrival)

    def test_who_is_ahead(self):
        driver = Driver(self, "fcfs", [Host("a", 1)])
        driver.arrive(job(1, arrival=0.0, offset=50.0))
        snapshot = Snapshot(driver.cluster)
        for offset, ahead in ((30.0, True), (60.0, False)):
            late = job(2, arrival=10.0, offset=offset)
            snapshot.queue.add(late)
            self.assertEqual(ahead, is_ahead(snapshot, late))
            snapshot.queue.remove(late)
        waiting, late = job(2, arrival=60.0, offset=40.0), job(3, arrival=70.0)
        snapshot.queue.add(waiting)
        self.assertFalse(is_ahead(snapshot, waiting))
        snapshot.queue.add(late)
        self.assertTrue(is_ahead(snapshot, late))
