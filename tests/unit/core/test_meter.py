"""When a measurement closes and opens a slot, and when it is news."""

import dataclasses

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.meter import Meter, MeterRules

RULES = MeterRules(window=4.0, close_samples=3, open_samples=5)


class Vm:
    """A VM of two CPUs that is sampled each second, and whose points in the ledger follow."""

    def __init__(self, held=None, rules=RULES):
        self.meter = Meter(rules)
        self.held, self.now, self.used = held, 0.0, 0.0
        self.published = []

    def run(self, *shares):
        """Use such shares of its CPUs, for a second each."""
        for share in shares:
            self.now += 1.0
            self.used += 2 * share
            self.meter.add(self.now, self.used, 2, self.held)
            news = self.meter.news(self.held)
            if news is not None:
                self.held = news
                self.published.append(news)
        return self


class TestMeter(testtools.TestCase):
    def test_it_says_nothing_before_a_window_has_passed(self):
        vm = Vm().run(1, 1, 1, 1)
        self.assertIsNone(vm.meter.level)
        self.assertEqual(1.0, vm.run(1).meter.level)

    def test_the_level_is_the_mean_over_the_window(self):
        self.assertAlmostEqual(0.5, Vm().run(0, 1, 0, 1, 0, 1).meter.level)
        self.assertAlmostEqual(0.25, Vm().run(1, 1, 1, 1, 0, 0, 1, 0).meter.level)

    def test_a_slot_closes_after_some_samples_and_opens_after_more(self):
        vm = Vm(held=50).run(*[0.5] * 8)
        self.assertEqual([], vm.published)
        # Four seconds until the window is full of it, and two more samples.
        vm.run(*[1] * 5)
        self.assertFalse(vm.meter.closed)
        self.assertEqual([100], vm.run(1).published)
        # Below 90 % after a second already.
        vm.run(*[0.5] * 4)
        self.assertTrue(vm.meter.closed)
        self.assertEqual([100, 50], vm.run(0.5).published)
        self.assertFalse(vm.meter.closed)

    def test_a_slot_that_closes_again_and_again_stays_closed_for_longer(self):
        """Otherwise each cycle of a VM would cost others a preemption."""
        cycle = [*[1] * 12, *[0.2] * 12]
        vm = Vm(held=50).run(*cycle * 20)
        flips = [points for points in vm.published if points == 100]
        self.assertLess(len(flips), 4)
        self.assertTrue(vm.meter.closed)
        vm.run(*[0.2] * 100)
        self.assertFalse(vm.meter.closed, "but not for ever")
        # After it was low for long, it begins as before.
        vm.run(*[0.2] * 300, *[1] * 10, *[0.2] * 7)
        self.assertFalse(vm.meter.closed)

    def test_between_the_bounds_a_slot_stays_as_it_is(self):
        self.assertEqual([], Vm(held=100).run(*[0.93] * 40).published)
        self.assertEqual([], Vm(held=90).run(*[0.93] * 40).published)

    def test_points_that_somebody_else_writes_hold_until_they_are_contradicted(self):
        """The queue manager writes those of a VM that has migrated in after it runs."""
        busy = Vm().run(*[1] * 4)
        busy.held = 100
        self.assertEqual([], busy.run(*[1] * 20).published)
        idle = Vm(held=50).run(*[0.5] * 20)
        idle.held = 100
        self.assertEqual([], idle.run(*[0.5] * 4).published)
        self.assertEqual([50], idle.run(0.5).published)

    def test_thresholds_that_are_no_exact_numbers(self):
        """100 * 0.55 is more than 55, and 100 * 0.29 less than 29."""
        for percent in (29, 55):
            bound = percent / 100
            rules = dataclasses.replace(RULES, close_at=bound, open_below=bound - 0.05)
            self.assertEqual([percent - 1], Vm(rules=rules).run(*[bound - 0.001] * 40).published)
            self.assertEqual([percent], Vm(rules=rules).run(*[bound + 0.001] * 40).published)

    def test_thresholds_below_the_least_points(self):
        """As if to switch off the background: an idle VM is news once, not at each sample."""
        for bound in (0.0, 0.01):
            rules = dataclasses.replace(RULES, close_at=bound, open_below=bound)
            self.assertEqual([1], Vm(rules=rules).run(*[0.0] * 60).published)

    def test_a_square_wave_closes_nothing(self):
        """Whose period is shorter than the window."""
        self.assertEqual([], Vm(held=50).run(*[1, 0] * 30).published)
        self.assertEqual([], Vm(held=50).run(*[1, 1, 0, 0] * 30).published)

    def test_a_declaration_holds_until_it_is_contradicted_for_a_while(self):
        self.assertEqual([], Vm(held=60).run(*[0.4] * 40).published)
        vm = Vm(held=61).run(*[0.4] * 8)
        self.assertEqual([], vm.published)
        self.assertEqual([40], vm.run(0.4).published)
        self.assertEqual([40], vm.run(*[0.55] * 40).published, "within the tolerance")

    def test_what_was_unknown_is_news(self):
        self.assertEqual([40], Vm().run(*[0.4] * 9).published)
        self.assertEqual([1], Vm().run(*[0] * 9).published, "Placement knows no claim of 0")
        self.assertEqual([100], Vm().run(*[1] * 7).published, "it closes its slot")

    def test_a_vm_that_starts_again_is_measured_anew(self):
        vm = Vm(held=50).run(*[0.5] * 8)
        vm.used = -0.5
        vm.run(0.5)
        self.assertEqual(0.5, vm.meter.level)
        self.assertEqual([100], vm.run(*[1] * 9).published)

    @given(
        st.lists(st.floats(0, 1), max_size=60),
        st.none() | st.integers(1, 100),
    )
    def test_the_ledger_ends_up_as_hot_as_the_slot_is_closed(self, shares, held):
        vm = Vm(held).run(*shares)
        if vm.meter.level is not None and vm.held is not None:
            self.assertEqual(vm.meter.closed, vm.held >= 96)
        self.assertTrue(all(1 <= points <= 100 for points in vm.published))
        for before, after in zip(vm.published, vm.published[1:], strict=False):
            self.assertTrue(
                abs(after - before) > RULES.tolerance or (after >= 96) != (before >= 96)
            )
