"""What the agent does after changes, and what it leaves alone."""

import logging
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import fixtures
import testtools

from nova_twotier.agent.guests import Busy, HypervisorError, Request
from nova_twotier.agent.reconciler import Reconciler
from nova_twotier.ledger.placement import PlacementUnavailable
from tests.unit.agent.builders import BG, FG, PLAIN, RULES, FakeHost, guest, host_claims

SWEEP = 30.0


class FakeClaims(SimpleNamespace):
    """`found` as a test sets it, and whether it changed."""

    known = None
    away = False
    problem = ""

    def poll(self, whole):
        if self.away:
            raise PlacementUnavailable("Placement does not answer")
        changed, self.known = self.known is not self.found, self.found
        return changed


class TestReconciler(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.now = 0.0
        self.host = FakeHost(guest("a"), guest("x"), guest("other"))
        self.claims = FakeClaims(found=host_claims(a=(FG, 0.5), x=(BG, 0.5)))
        self.reconciler = self.new()
        self.reconciler.step()

    def new(self):
        return Reconciler(self.claims, self.host, RULES, SWEEP, clock=lambda: self.now)

    def weights(self):
        return {uuid: each.weight for uuid, each in self.host.held.items()}

    def step(self):
        self.host.applied.clear()
        self.now += 1.0
        self.reconciler.step()
        return self.host.applied

    def test_the_first_look_sets_everything_that_is_ours(self):
        self.assertEqual({"a": 10000, "x": 100, "other": 1024}, self.weights())
        self.assertEqual(guest("other"), self.host.held["other"])
        self.assertEqual([], self.step())

    def test_a_restart_changes_nothing(self):
        before = dict(self.host.held)
        self.reconciler = self.new()
        self.assertEqual([], self.step())
        self.assertEqual(before, self.host.held)

    def test_a_swap_changes_weights_and_no_pins(self):
        pins = {uuid: each.vcpus for uuid, each in self.host.held.items()}
        self.claims.found = host_claims(a=(BG, 0.5), x=(FG, 0.5))
        self.assertEqual(["a", "x"], sorted(self.step()))
        self.assertEqual({"a": 100, "x": 10000, "other": 1024}, self.weights())
        self.assertEqual(pins, {uuid: each.vcpus for uuid, each in self.host.held.items()})

    def test_a_vm_that_starts_again_gets_its_priority_back(self):
        self.host.held["x"] = guest("x")
        self.assertEqual([], self.step())  # nobody has said so
        self.reconciler.changed("x")
        self.assertEqual(["x"], self.step())
        self.assertEqual(100, self.host.held["x"].weight)

    def test_a_change_behind_its_back_is_mended_by_the_sweep(self):
        self.host.held["x"] = guest("x")
        self.now += SWEEP
        self.assertEqual(["x"], self.step())

    def test_a_paused_vm(self):
        for paused, weight in ((True, 10000), (False, 100)):
            held = self.host.held["x"]
            self.host.held["x"] = guest(
                "x", weight=held.weight, vcpus=held.vcpus, emulator=held.emulator, paused=paused
            )
            self.reconciler.changed("x")
            self.assertEqual(["x"], self.step())
            self.assertEqual(weight, self.host.held["x"].weight)

    def test_a_vm_is_raised_while_something_is_done_to_it(self):
        for busy, weight in ((True, 10000), (False, 100)):
            self.host.held["x"] = replace(self.host.held["x"], busy=busy)
            self.assertEqual(["x"], self.step())  # and no event said so
            self.assertEqual(weight, self.host.held["x"].weight)
            self.assertEqual([], self.step())

    def test_a_vm_that_leaves_is_raised_without_libvirt(self):
        """Nova gives its claim to the migration, and takes it back if that fails."""
        pins = self.host.held["x"].vcpus
        self.claims.found = host_claims(a=(FG, 0.5))
        self.assertEqual([], self.step())
        self.assertEqual((10000, pins), (self.host.held["x"].weight, self.host.held["x"].vcpus))
        for back in (100, 1024):
            self.host.held["x"] = replace(self.host.held["x"], weight=back)
            self.now += SWEEP
            self.assertEqual([], self.step())
            self.assertEqual(10000, self.host.held["x"].weight)
        self.claims.found = host_claims(a=(FG, 0.5), x=(BG, 0.5))
        self.assertEqual(["x"], self.step())
        self.assertEqual(100, self.host.held["x"].weight)

    def test_while_the_host_is_not_in_the_ledger_its_vms_stay_as_they_are(self):
        self.claims.found = host_claims(slots=0)
        self.assertEqual([], self.step())
        self.assertEqual({"a": 10000, "x": 100, "other": 1024}, self.weights())
        self.claims.found = host_claims(a=(FG, 0.5))
        self.step()
        self.assertEqual(10000, self.host.held["x"].weight)

    def test_a_vm_that_leaves_and_cannot_be_read_for_a_moment(self):
        def refuse(uuid):
            if uuid == "x":
                raise HypervisorError("libvirt refuses")

        self.claims.found = host_claims(a=(FG, 0.5))
        self.host.refuses = refuse
        self.reconciler.changed("x")
        self.step()
        self.assertEqual(100, self.host.held["x"].weight)
        self.host.refuses = lambda uuid: None
        self.step()
        self.step()
        self.assertEqual(10000, self.host.held["x"].weight)

    def test_a_vm_that_leaves_and_whose_group_cannot_be_seen(self):
        log = self.useFixture(fixtures.FakeLogger())
        self.claims.found = host_claims(a=(FG, 0.5))
        self.host.lift = lambda uuid, weight: None
        self.step()
        self.step()
        self.assertEqual(1, log.output.count("VM x, which leaves, was to have weight 10000"))

    def test_a_vm_that_has_left_and_comes_back_without_a_claim_is_not_ours(self):
        left = self.host.held.pop("x")
        self.claims.found = host_claims(a=(FG, 0.5))
        self.reconciler.changed("x")
        self.step()
        self.host.held["x"] = left
        self.reconciler.changed("x")
        self.step()
        self.assertEqual(left, self.host.held["x"])

    def test_a_vm_that_leaves_about_which_libvirt_does_not_answer(self):
        self.claims.found = host_claims(a=(FG, 0.5))
        self.step()
        self.host.held["x"] = replace(self.host.held["x"], weight=2)
        for uuid in ("x", None):
            self.reconciler.lift(uuid)
            self.assertEqual(10000, self.host.held["x"].weight)

    def test_a_vm_that_is_being_started(self):
        self.claims.found = host_claims(a=(FG, 0.5), x=(BG, 0.5), y=(BG, 0.5))
        self.step()
        self.host.held["y"] = guest("y", paused=True, busy=True)
        self.assertEqual(["y"], self.step())
        self.assertEqual(10000, self.host.held["y"].weight)

    def test_a_vm_about_which_libvirt_does_not_answer(self):
        """As while libvirt 9.0 waits for the VM's process to end."""
        released, asked = threading.Event(), Request("x")

        def hang(uuid):
            self.host.asks = asked
            self.assertTrue(released.wait(120))
            self.host.asks = None
            return False

        self.host.is_busy = hang
        thread = threading.Thread(target=self.reconciler.run, args=(0.01,))
        thread.start()
        deadline = time.monotonic() + 60
        while self.host.held["x"].weight != 10000 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual({"a": 10000, "x": 10000, "other": 1024}, self.weights())
        self.host.is_busy = lambda uuid: False
        released.set()
        while self.host.held["x"].weight != 100 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(100, self.host.held["x"].weight)
        self.reconciler.lift("other")
        self.assertEqual(1024, self.host.held["other"].weight)
        self.reconciler.stop()
        thread.join(30)
        self.assertFalse(thread.is_alive())

    def test_libvirt_does_not_say_which_vm_it_waits_for(self):
        self.step()
        self.assertEqual(100, self.host.held["x"].weight)
        self.reconciler.lift(None)
        self.assertEqual({"a": 10000, "x": 10000, "other": 1024}, self.weights())

    def test_a_vm_that_a_dead_agent_left_raised_is_lowered(self):
        self.host.held["x"] = replace(self.host.held["x"], weight=10000)
        self.reconciler = self.new()
        self.assertEqual(["x"], self.step())
        self.assertEqual(100, self.host.held["x"].weight)

    def test_a_vm_that_leaves(self):
        del self.host.held["x"]
        self.claims.found = host_claims(a=(BG, 0.5), x=(FG, 0.5))
        self.assertEqual(["a"], self.step())
        self.reconciler.changed("x")
        self.assertEqual([], self.step())

    def test_while_placement_is_away_the_last_claims_hold(self):
        self.claims.away = True
        self.host.held["x"] = guest("x")
        self.reconciler.changed("x")
        self.assertEqual(["x"], self.step())
        self.assertEqual(100, self.host.held["x"].weight)

    def test_while_libvirt_is_away_nothing_is_lost(self):
        def refuse(uuid):
            raise HypervisorError("libvirt does not answer")

        for changed in ("x", None):
            self.host.refuses = refuse
            self.host.held["x"] = guest("x")
            self.reconciler.changed(changed)
            self.assertEqual([], self.step())
            self.host.refuses = lambda uuid: None
            self.assertEqual(["x"], self.step())

    def test_a_vm_that_cannot_be_read_keeps_nobody_waiting(self):
        """libvirt refuses while it starts a VM."""

        def refuse(uuid):
            if uuid == "x":
                raise HypervisorError("Failed to create v2 cgroup")

        self.host.held = {uuid: guest(uuid) for uuid in ("x", "a")}
        self.host.refuses = refuse
        self.reconciler.changed(None)
        self.assertEqual(["a"], self.step())
        self.host.refuses = lambda uuid: None
        self.assertEqual(["x"], self.step())

    def test_a_vm_that_cannot_be_read_for_long_is_reported(self):
        def refuse(uuid):
            if uuid == "x":
                raise HypervisorError("domain is not running")

        log = self.useFixture(fixtures.FakeLogger(level=logging.WARNING))
        self.host.refuses = refuse
        self.reconciler.changed("x")
        self.step()
        self.assertEqual("", log.output)
        self.step()
        self.assertIn("VM x cannot be read: domain is not running", log.output)

    def test_what_is_refused_is_tried_again(self):
        def refuse(guest, wanted):
            raise HypervisorError("Failed to create v2 cgroup")

        apply, self.host.apply = self.host.apply, refuse
        self.claims.found = host_claims(a=(BG, 0.5), x=(FG, 0.5))
        self.step()
        self.host.apply = apply
        self.assertEqual(["a", "x"], sorted(self.step()))

    def test_a_vm_that_is_being_saved_is_tried_again(self):
        def refuse(guest, wanted):
            raise Busy("it is being saved")

        apply, self.host.apply = self.host.apply, refuse
        self.host.held["x"] = guest("x")
        self.reconciler.changed("x")
        self.assertEqual([], self.step())
        self.host.apply = apply
        self.assertEqual(["x"], self.step())
        self.assertEqual([], self.step())

    def test_it_stops_at_once(self):
        thread = threading.Thread(target=self.reconciler.run, args=(3600.0,))
        thread.start()
        self.reconciler.stop()
        thread.join(30)
        self.assertFalse(thread.is_alive())

    def test_too_few_cpus_for_the_slots(self):
        self.host = FakeHost(guest("a"))
        self.claims.found = host_claims(slots=8, a=(FG, 0.5))
        self.reconciler = self.new()
        self.assertEqual(["a"], self.step())
        self.assertEqual(PLAIN["vcpus"], self.host.held["a"].vcpus)
        self.assertEqual(10000, self.host.held["a"].weight)
