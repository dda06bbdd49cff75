"""Weights and pins that follow from the claims."""

from dataclasses import replace

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.agent.claims import Claim
from nova_twotier.agent.guests import Priority
from nova_twotier.agent.priority import Rules, priorities
from tests.unit.agent.builders import BG, CPUS, FG, RULES, guest, host_claims


class TestPriorities(testtools.TestCase):
    def test_weights_and_slots(self):
        claims = host_claims(a=(FG, 0.5), x=(BG, 0.5))
        wanted = priorities(claims, [guest("a"), guest("x")], RULES)
        emulator = frozenset({0, 1})
        self.assertEqual(Priority(10000, frozenset({2, 3}), emulator), wanted["a"])
        self.assertEqual(Priority(100, frozenset({4, 5}), emulator), wanted["x"])

    def test_a_vm_without_a_claim_is_not_ours(self):
        self.assertEqual({}, priorities(host_claims(), [guest("other")], RULES))

    def test_a_claim_without_a_vm_takes_no_slot(self):
        """A VM that is still on its way here, or has left."""
        claims = host_claims(slots=1, gone=(FG, 1.0), x=(BG, 0.5))
        self.assertEqual(["x"], [*priorities(claims, [guest("x")], RULES)])

    def test_a_paused_vm_is_in_nobodys_way(self):
        claims = host_claims(x=(BG, 0.5))
        self.assertEqual(10000, priorities(claims, [guest("x", paused=True)], RULES)["x"].weight)

    def test_a_vm_to_which_something_is_done(self):
        claims = host_claims(x=(BG, 0.5))
        rules = replace(RULES, background_idle=True)
        for busy, weight, idle in ((True, 10000, False), (False, 100, True)):
            wanted = priorities(claims, [guest("x", busy=busy)], rules)["x"]
            self.assertEqual((weight, idle), (wanted.weight, wanted.idle))

    def test_only_the_background_is_idle(self):
        claims = host_claims(a=(FG, 0.5), x=(BG, 0.5))
        rules = replace(RULES, background_idle=True)
        guests = [guest("a"), guest("x"), guest("other")]
        wanted = priorities(claims, guests, rules)
        self.assertEqual({"a": False, "x": True}, {vm: each.idle for vm, each in wanted.items()})
        [unweighed] = priorities(claims, [guest("x", weight=None)], rules).values()
        self.assertFalse(unweighed.idle)

    def test_the_weight_of_an_idle_vm_does_not_count(self):
        idle = guest("x", weight=3, idle=True)
        self.assertTrue(Priority(100, idle=True).is_in_force(idle))
        self.assertFalse(Priority(3).is_in_force(idle))
        self.assertFalse(Priority(100, idle=True).is_in_force(guest("x", weight=100)))

    def test_a_vm_that_leaves_keeps_its_slot_while_there_is_room(self):
        """Else a new one would share a CPU with it although another is idle."""
        first, second = frozenset({2, 3}), frozenset({4, 5})
        left = Claim(FG, 50)
        old = guest("old", vcpus=(first,))
        for claims, where in (
            ({"a": (FG, 0.5)}, {second}),
            ({"a": (FG, 0.5), "b": (FG, 0.5)}, {first, second}),
        ):
            guests = [old, *map(guest, claims)]
            wanted = priorities(host_claims(**claims), guests, RULES, {"old": left})
            self.assertEqual(where, {each.vcpus for each in wanted.values()})
            self.assertEqual(set(claims), set(wanted))
        below = priorities(
            host_claims(x=(BG, 0.5)), [old, guest("x")], RULES, {"old": Claim(BG, 50)}
        )
        self.assertEqual(second, below["x"].vcpus)

    def test_slots_follow_from_the_pins(self):
        claims = host_claims(a=(FG, 0.5), b=(FG, 0.5))
        second, first = frozenset({4, 5}), frozenset({2, 3})
        guests = [guest("a", vcpus=(second, second)), guest("b", vcpus=(first, CPUS))]
        wanted = priorities(claims, guests, RULES)
        self.assertEqual([second, first], [wanted[uuid].vcpus for uuid in "ab"])
        self.assertEqual([False, False], [wanted[each.uuid].is_in_force(each) for each in guests])

    def test_without_slot_cpus_only_weights(self):
        claims = host_claims(a=(FG, 0.5))
        self.assertEqual(
            {"a": Priority(10000)}, priorities(claims, [guest("a")], Rules(RULES.weights))
        )

    def test_fewer_cpus_than_slots(self):
        claims = host_claims(slots=5, a=(FG, 0.5))
        self.assertIsNone(priorities(claims, [guest("a")], RULES)["a"].vcpus)

    def test_a_hypervisor_without_weights(self):
        claims = host_claims(a=(FG, 0.5))
        wanted = priorities(claims, [guest("a", weight=None)], RULES)["a"]
        self.assertIsNone(wanted.weight)
        pins = guest("a", weight=None, vcpus=(wanted.vcpus,), emulator=wanted.emulator)
        self.assertTrue(wanted.is_in_force(pins))

    def test_in_words(self):
        wanted = Priority(100, frozenset({5, 4}), frozenset({0}))
        self.assertEqual("weight 100, CPUs 4,5, emulator on 0", str(wanted))
        self.assertEqual("weight 100", str(Priority(100)))
        self.assertEqual("idle, weight 100", str(Priority(100, idle=True)))

    @given(st.integers(1, 9), st.integers(1, 32))
    def test_slots_share_no_cpu_and_leave_none(self, slots, cpus):
        rules = Rules({}, range(cpus))
        if not rules.pins(slots):
            self.assertGreater(slots, cpus)
            return
        shares = [rules.cpus(slot, slots) for slot in range(slots)]
        self.assertEqual(list(range(cpus)), sorted(cpu for share in shares for cpu in share))
        self.assertLessEqual(max(map(len, shares)) - min(map(len, shares)), 1)
