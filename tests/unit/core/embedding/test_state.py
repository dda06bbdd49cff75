"""What is left, after any history of embeddings that come and go."""

import testtools
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nova_twotier.core import embedding
from nova_twotier.core.embedding import Embedding, OutOfRoom, Request, State, Topology
from tests.unit.core.embedding.cases import cases, requests, two_hosts

TREE = Topology.from_paths({"a": "core/x", "b": "core/x"}, {"a": 100, "core/x": 100})

steps = st.lists(
    st.tuples(requests, st.sampled_from(sorted(embedding.ALGORITHMS)), st.integers(0, 9)),
    max_size=12,
)


def holding(vms, mbps):
    return Embedding(Request(sum(vms.values()), 0), vms, "core/x", mbps)


class TestHistory(testtools.TestCase):
    def afresh(self, case, held):
        """The state with these embeddings, built from what they leave."""
        free = {host: case.free.get(host, count) for host, count in case.slots.items()}
        residual = {link: case.residual.get(link, rate) for link, rate in case.rates.items()}
        for each in held:
            for host, count in each.vms.items():
                free[host] -= count
            for link, mbps in each.mbps.items():
                residual[link] -= mbps
        return State(
            case.topology(),
            case.slots,
            free=free,
            residual=residual,
            closed=case.closed,
            max_mbps=case.max_mbps,
        )

    def test_is_as_built_afresh(self):
        """In all that can be seen of it, and in what algorithms answer."""
        reserved = []

        @given(cases(), steps, requests)
        @example(two_hosts(), [(Request(3, 50), "adaba", 0)], Request(1, 0))
        def check(case, history, last):
            reserved.extend(self.follow(case, history, last))

        check()
        self.assertNotEqual([], reserved, "no link carried anything")

    def follow(self, case, history, last):
        """Play a history; returns what its embeddings reserved of links."""
        state, held, reserved = case.state(), [], []
        for request, name, victim in history:
            answer = embedding.get(name)(request, state)
            if isinstance(answer, Embedding):
                state.reserve(answer)
                held.append(answer)
                reserved.extend(answer.mbps.items())
            elif held:
                state.release(held.pop(victim % len(held)))
            self.assertEqual(self.afresh(case, held), state)
        for name, embed in embedding.ALGORITHMS.items():
            self.assertEqual(embed(last, self.afresh(case, held)), embed(last, state), name)
        for each in held:
            state.release(each)
        self.assertEqual(case.state(), state)
        return reserved

    @given(cases(), steps)
    @settings(max_examples=50)
    def test_a_copy_is_independent(self, case, history):
        state = case.state()
        for request, name, _victim in history:
            before, twin = state.copy(), state.copy()
            answer = embedding.get(name)(request, twin)
            if isinstance(answer, Embedding):
                twin.reserve(answer)
                self.assertEqual(before, state)
                state.reserve(answer)
            self.assertEqual(twin, state)


class TestChanges(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.state = State(TREE, 2)

    def refused(self, change, vms, mbps):
        before = self.state.copy()
        wrong = self.assertRaises(OutOfRoom, change, holding(vms, mbps))
        self.assertEqual(before, self.state)
        return str(wrong)

    def test_reserve_takes_all_or_nothing(self):
        self.state.reserve(holding({"a": 1}, {"a": 60}))
        for vms, mbps, message in (
            ({"b": 1, "a": 2}, {"a": 10}, "free slots of host a: 2 wanted, 1 there"),
            ({"b": 1, "a": 1}, {"a": 50}, "Mbit/s left of the link up from a: 50 wanted, 40 there"),
            ({"c": 1}, {}, "the network has no host or counted link 'c'"),
            ({"b": 1}, {"b": 1}, "the network has no host or counted link 'b'"),
        ):
            self.assertEqual(message, self.refused(self.state.reserve, vms, mbps))

    def test_release_of_what_was_never_held(self):
        self.state.reserve(holding({"a": 1}, {"a": 60}))
        self.assertEqual(
            "free slots of host b: 3, of 2 in all", self.refused(self.state.release, {"b": 1}, {})
        )
        self.assertEqual(
            "Mbit/s left of the link up from core/x: 101, of 100 in all",
            self.refused(self.state.release, {"a": 1}, {"core/x": 1}),
        )

    def test_below_zero(self):
        """A host that shrank and a link that was lowered recover as jobs leave, and take none."""
        state = State(TREE, 2, free={"a": -1}, residual={"a": -50})
        held = holding({"a": 2}, {"a": 60})
        self.assertRaises(OutOfRoom, state.reserve, held)
        state.release(held)
        self.assertEqual(State(TREE, 2, free={"a": 1}, residual={"a": 10}), state)

    def test_more_than_there_is(self):
        self.assertRaises(OutOfRoom, State, TREE, 2, free={"a": 3})
        self.assertRaises(OutOfRoom, State, TREE, 2, residual={"a": 101})

    def test_unknown_names(self):
        self.assertRaises(KeyError, State, TREE, {"a": 1})
        self.assertRaises(KeyError, State, TREE, 2, free={"c": 1})
        self.assertRaises(KeyError, State, TREE, 2, residual={"b": 1})
        self.assertRaises(KeyError, State, TREE, 2, closed=["c"])

    def test_a_closed_host_takes_back_what_it_held(self):
        state = State(TREE, 2, free={"a": 1}, closed=["a"])
        held = holding({"a": 1}, {})
        before = state.copy()
        state.release(held)
        self.assertEqual({"b": 2}, embedding.get("adaba")(Request(2, 50), state).vms)
        state.reserve(held)
        self.assertEqual(before, state)

    def test_the_largest_bandwidth_ever_asked_for(self):
        for mbps in (100, 300, 200):
            self.state.saw(mbps)
        self.assertEqual(300, self.state.max_mbps)

    def test_equality(self):
        twin = self.state.copy()
        twin.saw(1)
        self.assertNotEqual(self.state, twin)
        other = Topology.from_paths({"a": "core/x", "b": "core/x"}, {"a": 100, "core/x": 200})
        self.assertNotEqual(self.state, State(other, 2, residual={"core/x": 100}))
