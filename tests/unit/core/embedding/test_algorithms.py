"""Every algorithm against the verifier, the plain rules and all placements there are."""

import ddt
import testtools
from hypothesis import example, given, settings

from nova_twotier.core import embedding
from nova_twotier.core.embedding import Embedding, Rejection, Request
from tests.unit.core.embedding import plain
from tests.unit.core.embedding.cases import cases, requests, two_hosts
from tests.unit.core.embedding.verifier import faults, placements

PLAIN = {
    "adaba": plain.adaba,
    "best-fit": plain.best_fit,
    "first-fit": plain.first_fit,
    "greedy": plain.greedy,
    "oktopus": plain.oktopus,
}


@ddt.ddt
class TestEveryAlgorithm(testtools.TestCase):
    def test_keeps_the_constraints(self):
        """Also where VMs are on several hosts, and links carry what they send each other."""
        reserving = set()

        @given(cases(), requests)
        @example(two_hosts(), Request(3, 50))
        def check(case, request):
            before = case.state()
            for name, embed in embedding.ALGORITHMS.items():
                state = case.state()
                answer = embed(request, state)
                self.assertEqual(before, state, name)
                if isinstance(answer, Embedding):
                    self.assertEqual([], list(faults(case, request, answer)), name)
                    self.assertIs(request, answer.request)
                    if answer.mbps:
                        reserving.add(name)

        check()
        self.assertEqual(set(embedding.ALGORITHMS), reserving)

    @ddt.data(*PLAIN)
    def test_follows_its_rule(self, name):
        """Accepts where its rule does, and with the same hosts; passes over where that fails."""

        @given(cases(), requests)
        @settings(max_examples=80)
        def check(case, request):
            expected = PLAIN[name](case, request)
            answer = embedding.get(name)(request, case.state())
            if isinstance(answer, Rejection):
                self.assertIsNone(expected)
            else:
                self.assertEqual(expected, (answer.vms, answer.switch))

        check()

    @given(cases(hosts=4, slots=3), requests)
    @settings(max_examples=60)
    def test_rejects_what_no_placement_fits(self, case, request):
        possible = next(placements(case, request), None)
        for name, embed in embedding.ALGORITHMS.items():
            if possible is None:
                self.assertIsInstance(embed(request, case.state()), Rejection, name)

    @given(cases(observed=False), requests)
    @settings(max_examples=40)
    def test_takes_all_slots_where_links_are_not_counted(self, case, request):
        case.rates = {}
        for name, embed in embedding.ALGORITHMS.items():
            fits = request.size <= sum(case.slots.values())
            answer = embed(request, case.state())
            self.assertEqual(fits, isinstance(answer, Embedding), name)
            if fits:
                self.assertEqual({}, answer.mbps)

    @given(cases(), requests)
    @settings(max_examples=40)
    def test_one_vm_needs_no_bandwidth(self, case, request):
        """Nobody is there to talk to."""
        alone = embedding.Request(1, request.mbps)
        state = case.state()
        for name, embed in embedding.ALGORITHMS.items():
            self.assertEqual(any(state.room), isinstance(embed(alone, state), Embedding), name)


class TestRegistry(testtools.TestCase):
    def test_names(self):
        self.assertEqual(
            ["adaba", "best-fit", "first-fit", "greedy", "oktopus"], sorted(embedding.ALGORITHMS)
        )

    def test_unknown(self):
        wrong = self.assertRaises(embedding.UnknownAlgorithm, embedding.get, "worst-fit")
        self.assertIn("choose one of: adaba, best-fit", str(wrong))
