"""Requests are made and not waited for; what cannot be taken for now is asked for later."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import testtools

from nova_twotier.cloud.errors import CloudError, NotYet, Undecided, Unsent
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.terms import Deposed
from nova_twotier.manager.operations.operation import CloudRequest, Outcome
from nova_twotier.manager.requests import LONGEST_PAUSE, MOST_FAILURES, Requests

ACTION = 7
BUSY = CloudError("busy", 503)
REFUSED = CloudError("no", 403)


class TestRequests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.woken = threading.Semaphore(0)
        self.permit = lambda: None
        workers, askers = ThreadPoolExecutor(2), ThreadPoolExecutor(1)
        self.requests = Requests(workers, askers, lambda: self.permit(), self.woken.release)
        self.addCleanup(self.requests.close)

    def make(self, **errors):
        """Requests by key, each with the error that it meets, or None."""

        def call(key, error):
            def run():
                if error:
                    raise error

            return CloudRequest(RequestKey(key), run)

        self.requests.make(ACTION, [call(key, error) for key, error in errors.items()])

    def answers(self, count, now=0.0):
        for _answer in range(count):
            self.assertTrue(self.woken.acquire(timeout=60))
        return self.requests.collect(now).get(ACTION, [])

    def test_nobody_waits(self):
        over = threading.Event()
        self.requests.make(ACTION, [CloudRequest(RequestKey("a"), lambda: over.wait(60))])
        self.assertTrue(self.requests.waiting(ACTION, 0.0))
        self.assertEqual({}, self.requests.collect(0.0))
        over.set()
        self.assertEqual([Outcome(RequestKey("a"), None, True)], self.answers(1))
        self.assertFalse(self.requests.waiting(ACTION, 0.0))
        self.assertEqual({}, self.requests.collect(0.0), "given twice")

    def test_answers_come_when_all_are_there(self):
        over = threading.Event()
        self.requests.make(
            ACTION,
            [
                CloudRequest(RequestKey("a"), lambda: over.wait(60)),
                CloudRequest(RequestKey("b"), lambda: None),
            ],
        )
        self.assertEqual([], self.answers(1))
        self.assertTrue(self.requests.waiting(ACTION, 0.0))
        over.set()
        self.assertEqual(["a", "b"], [str(answer.key) for answer in self.answers(1)])

    def test_nobody_waits_for_the_answer_to_a_question(self):
        over, runs = threading.Event(), []

        def ask():
            runs.append("a")
            over.wait(60)

        self.addCleanup(over.set)
        question = CloudRequest(RequestKey("a"), ask, asks=True)
        for _poll in range(3):
            self.requests.make(ACTION, [question, CloudRequest(RequestKey("b"), lambda: None)])
            self.assertEqual(["b"], [str(answer.key) for answer in self.answers(1)])
            self.assertFalse(self.requests.waiting(ACTION, 0.0))
        over.set()
        self.assertEqual([Outcome(RequestKey("a"), None, True)], self.answers(1))
        self.assertEqual(["a"], runs, "asked again before there was an answer")
        self.requests.make(ACTION, [question])
        self.assertEqual([Outcome(RequestKey("a"), None, True)], self.answers(1))

    def test_a_question_that_is_asked_later_again(self):
        def ask():
            raise NotYet("it has not")

        self.requests.make(ACTION, [CloudRequest(RequestKey("a"), ask, asks=True)])
        found = []
        deadline = time.monotonic() + 60
        while not found and time.monotonic() < deadline:
            found = self.requests.collect(0.0).get(ACTION, [])
        self.assertEqual([(RequestKey("a"), False)], [(each.key, each.final) for each in found])
        self.assertFalse(self.requests.waiting(ACTION, 0.0))

    def test_taken_and_refused_are_final(self):
        self.make(a=None, b=REFUSED, c=BUSY, d=CloudError("no answer"))
        found = {str(answer.key): answer.final for answer in self.answers(4)}
        self.assertEqual({"a": True, "b": True, "c": False, "d": False}, found)

    def test_pauses_grow_and_end(self):
        now, pauses = 0.0, []
        for _failure in range(7):
            self.make(a=BUSY)
            self.answers(1, now)
            start = now
            while self.requests.waiting(ACTION, now):
                now += 0.5
            pauses.append(now - start)
        self.assertEqual([1, 2, 4, 8, 16, LONGEST_PAUSE, LONGEST_PAUSE], pauses)
        self.make(a=None)
        self.answers(1, now)
        self.make(a=BUSY)
        self.answers(1, now)
        self.assertTrue(self.requests.waiting(ACTION, now + 0.5))
        self.assertFalse(self.requests.waiting(ACTION, now + 1.0))

    def test_what_never_passes_is_refused(self):
        finals = []
        for _failure in range(MOST_FAILURES):
            self.make(a=BUSY)
            finals += [answer.final for answer in self.answers(1)]
        self.assertEqual([False] * (MOST_FAILURES - 1) + [True], finals)

    def test_a_day_of_failures(self):
        for _failure in range(3000):
            self.make(a=BUSY)
            self.answers(1)
        self.assertTrue(self.requests.waiting(ACTION, LONGEST_PAUSE - 1.0))
        self.assertFalse(self.requests.waiting(ACTION, LONGEST_PAUSE))

    def test_what_nova_does_not_know_yet_is_asked_for_ever(self):
        for _failure in range(2 * MOST_FAILURES):
            self.make(a=Undecided("its nova-compute is down"))
            [answer] = self.answers(1)
            self.assertFalse(answer.final)
        self.make(a=BUSY)
        self.assertEqual([False], [answer.final for answer in self.answers(1)])

    def test_what_keystone_gives_no_token_for_is_repeated_with_pauses(self):
        for _failure in range(2 * MOST_FAILURES):
            self.make(a=Unsent("Keystone does not answer"))
            [answer] = self.answers(1)
            self.assertFalse(answer.final)
        self.requests.forget(ACTION)
        self.make(a=Unsent("Keystone does not answer"))
        self.answers(1)
        self.assertTrue(self.requests.waiting(ACTION, 0.5))
        self.assertFalse(self.requests.waiting(ACTION, 1.0))

    def test_one_action_does_not_wait_for_another(self):
        self.make(a=BUSY)
        self.answers(1)
        self.assertFalse(self.requests.waiting(ACTION + 1, 0.0))

    def test_what_is_over_is_forgotten(self):
        self.make(a=BUSY)
        self.answers(1)
        self.requests.forget(ACTION)
        self.assertFalse(self.requests.waiting(ACTION, 0.0))

    def test_who_was_deposed_asks_for_nothing(self):
        def permit():
            raise Deposed("pool default is led by another")

        self.permit = permit
        made = []
        self.requests.make(ACTION, [CloudRequest(RequestKey("a"), lambda: made.append("a"))])
        [answer] = self.answers(1)
        self.assertEqual(([], False), (made, answer.final))
