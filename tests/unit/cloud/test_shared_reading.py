"""Readings that several threads share, and how old what they get may be."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import testtools

from nova_twotier.cloud.shared_reading import SharedReading

#: Seconds after which a test fails that would hang.
LONG = 60


class Noticed(threading.Condition):
    """Tells when somebody begins to wait, before anybody can end that."""

    def __init__(self):
        super().__init__()
        self.waiting = threading.Semaphore(0)

    def wait(self, timeout=None):
        self.waiting.release()
        return super().wait(timeout)


class TestSharedReading(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.reads = []
        #: Those in it are held up until they are set.
        self.gates = {}
        self.begun = threading.Semaphore(0)
        self.shared = SharedReading(self.read)
        self.shared._changed = self.noticed = Noticed()
        self.threads = ThreadPoolExecutor(8)
        self.addCleanup(self.threads.shutdown)

    def read(self):
        number = len(self.reads)
        self.reads.append(number)
        self.begun.release()
        if gate := self.gates.get(number):
            self.assertTrue(gate.wait(LONG))
        return number

    def ask(self, count=1):
        """Threads that ask; they wait for a reading by others when this returns."""
        asked = [self.threads.submit(self.shared.get) for _thread in range(count)]
        for _thread in asked:
            self.assertTrue(self.noticed.waiting.acquire(timeout=LONG))
        return asked

    def begin(self):
        """A thread that asks, and reads by itself when this returns."""
        asked = self.threads.submit(self.shared.get)
        self.assertTrue(self.begun.acquire(timeout=LONG))
        return asked

    def hold(self, number):
        self.gates[number] = threading.Event()
        self.addCleanup(self.gates[number].set)
        return self.gates[number]

    def test_one_after_the_other_reads_each_time(self):
        self.assertEqual([0, 1, 2], [self.shared.get() for _time in range(3)])

    def test_who_asks_meanwhile_shares_the_next_one(self):
        """What is being read may be from before they asked."""
        over = self.hold(0)
        first = self.begin()
        others = self.ask(3)
        self.assertEqual([0], self.reads)
        over.set()
        self.assertEqual(0, first.result(LONG))
        self.assertEqual([1, 1, 1], [each.result(LONG) for each in others])
        self.assertEqual([0, 1], self.reads)

    def test_nobody_waits_for_a_later_one(self):
        """Those whose reading is over go, although others read already."""
        over, next_over, last_over = (self.hold(number) for number in range(3))
        self.begin()
        second = self.ask(3)
        over.set()
        self.assertTrue(self.begun.acquire(timeout=LONG))
        third = self.ask(2)
        next_over.set()
        self.assertTrue(self.begun.acquire(timeout=LONG))
        self.assertEqual([1, 1, 1], [each.result(LONG) for each in second])
        last_over.set()
        self.assertEqual([2, 2], [each.result(LONG) for each in third])

    def test_an_error_is_for_all_that_share_it(self):
        over, failing = self.hold(0), [1]
        read = self.read

        def fails():
            number = read()
            if number in failing:
                raise ValueError(number)
            return number

        self.shared._read = fails
        first = self.begin()
        others = self.ask(2)
        over.set()
        self.assertEqual(0, first.result(LONG))
        for each in others:
            self.assertIsInstance(each.exception(LONG), ValueError)
        self.assertEqual(2, self.shared.get())

    def test_many_at_once(self):
        """Whatever they do to each other: one reading at a time, and none from before."""
        count, at_work = itertools.count(1), []
        state = {"begun": 0}

        def read():
            at_work.append(None)
            self.assertEqual(1, len(at_work))
            state["begun"] = number = next(count)
            at_work.pop()
            return number

        shared = SharedReading(read)

        def ask(_time):
            begun = state["begun"]
            return shared.get() > begun

        self.assertTrue(all(self.threads.map(ask, range(2000))))
        self.assertLessEqual(state["begun"], 2000)
