"""What is costly to read is read once, however many ask."""

import threading
from concurrent.futures import ThreadPoolExecutor

import testtools

from nova_twotier.api.cached import Cached


class TestCached(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.now, self.reads, self.answer = 0.0, 0, lambda: self.reads
        self.cached = Cached(self.read, 5.0, lambda: self.now)

    def read(self):
        self.reads += 1
        return self.answer()

    def test_it_is_kept_for_a_while(self):
        found = []
        for self.now in (0.0, 4.9, 5.0, 9.9, 20.0):
            found.append(self.cached.get())
        self.assertEqual([1, 1, 2, 2, 3], found)

    def test_what_took_long_is_kept_longer(self):
        """Whoever asks without a break does not keep the cloud at work without a break."""

        def slow():
            self.now += 3.0
            return self.reads

        self.answer = slow
        self.assertEqual(1, self.cached.get())
        for self.now, reads in ((29.9, 1), (30.0, 2)):
            self.assertEqual(reads, self.cached.get())

    def test_errors_are_kept_as_well(self):
        def fail():
            raise LookupError(f"failed {self.reads}")

        self.answer = fail
        for self.now, text in ((0.0, "failed 1"), (4.9, "failed 1"), (5.0, "failed 2")):
            error = self.assertRaises(LookupError, self.cached.get)
            self.assertEqual(text, str(error))
        self.answer = lambda: "there"
        self.now = 10.0
        self.assertEqual("there", self.cached.get())

    def test_many_at_once_read_once(self):
        begun, go_on = threading.Event(), threading.Event()

        def slow():
            begun.set()
            go_on.wait(60)
            return "slow"

        self.answer = slow
        with ThreadPoolExecutor(4) as threads:
            asked = [threads.submit(self.cached.get) for _ in range(4)]
            self.assertTrue(begun.wait(60))
            go_on.set()
            self.assertEqual({"slow"}, {each.result(60) for each in asked})
        self.assertEqual(1, self.reads)
