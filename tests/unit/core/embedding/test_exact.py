"""The exact search, and the embedding within a reservation, against all placements there are."""

import testtools
from hypothesis import given, settings

from nova_twotier.core.embedding import (
    Embedding,
    Rejection,
    Request,
    State,
    Topology,
    adaba,
    exact,
    reserved,
)
from tests.unit.core.embedding.cases import cases, requests
from tests.unit.core.embedding.verifier import faults, hose, placements


class TestExact(testtools.TestCase):
    @given(cases(hosts=4, slots=3), requests)
    @settings(max_examples=300)
    def test_places_what_has_a_place(self, case, request):
        answer = exact.embed(request, case.state())
        if isinstance(answer, Embedding):
            self.assertEqual([], list(faults(case, request, answer)))
        self.assertEqual(
            any(placements(case, request)), isinstance(answer, Embedding), (case, request)
        )

    def test_many_hosts(self):
        state = State(Topology.fat_tree(16, 1000), 8)
        answer = exact.embed(Request(700, 100), state)
        self.assertEqual(700, sum(answer.vms.values()))


class TestReserved(testtools.TestCase):
    @given(cases(hosts=4, slots=3), requests)
    @settings(max_examples=200)
    def test_finds_a_place_in_the_reservation_of_any_placement(self, case, request):
        for vms, switch in placements(case, request):
            needs = hose(case, request, vms, switch)
            case.residual = {link: needs.get(link, 0) for link in case.rates}
            answer = reserved.embed(request, case.state())
            self.assertIsInstance(answer, Embedding)
            self.assertEqual([], list(faults(case, request, answer)))

    def test_where_adaba_finds_one(self):
        """With as much left, it is the placement that the queue manager found by AdaBa, too."""
        chosen_otherwise = 0

        @given(cases(), requests)
        def check(case, request):
            nonlocal chosen_otherwise
            state = case.state()
            expected = adaba.embed(request, state)
            if isinstance(expected, Embedding):
                self.assertEqual(expected.vms, reserved.embed(request, state).vms)
                chosen_otherwise += exact.embed(request, state).vms != expected.vms

        check()
        self.assertGreater(chosen_otherwise, 0)

    def test_where_adaba_finds_none(self):
        """Six of ten VMs are below x, one a host: no host takes the fifth without the sixth."""
        paths = {f"x{i}": "core/x" for i in range(6)} | {f"y{i}": "core/y" for i in range(4)}
        topology = Topology.from_paths(paths, {"core/x": 400, "core/y": 400})
        request, state = Request(10, 100), State(topology, 1)
        self.assertIsInstance(adaba.embed(request, state), Rejection)
        self.assertEqual(dict.fromkeys(topology.hosts, 1), reserved.embed(request, state).vms)
