"""A share of the requests is spoiled, the same for the same seed."""

import pathlib
import random

import fixtures
import testtools

from nova_twotier.tools.faults.journal import Journal
from nova_twotier.tools.faults.proxy import Fault, Request
from nova_twotier.tools.faults.spoiler import Spoiler

REQUEST = Request("nova", "GET", "/servers")


class TestSpoiler(testtools.TestCase):
    def drawn(self, seed, share=0.1, number=1000):
        file = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "faults.log")
        self.journal = Journal(file)
        self.spoiler = Spoiler(random.Random(seed), share, self.journal)
        return [self.spoiler.before(REQUEST) for _ in range(number)]

    def test_the_same_for_the_same_seed(self):
        first = self.drawn(1)
        self.assertEqual(first, self.drawn(1))
        self.assertNotEqual(first, self.drawn(2))

    def test_share_and_kinds(self):
        faults = [fault for fault in self.drawn(1) if fault]
        self.assertTrue(70 < len(faults) < 130, len(faults))
        self.assertEqual(set(Fault), set(faults))
        self.assertEqual((1000, len(faults)), (self.spoiler.requests, self.spoiler.spoiled))
        self.assertEqual(len(faults), self.journal.counts.total())
        self.assertEqual(len(faults), len(self.journal.path.read_text().splitlines()))

    def test_none(self):
        self.assertEqual([None] * 1000, self.drawn(1, share=0))
