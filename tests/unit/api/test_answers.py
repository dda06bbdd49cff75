"""Answers that readers share are made once, and take no more memory than they may."""

import threading
from concurrent.futures import ThreadPoolExecutor

import testtools

from nova_twotier.api.answers import Answers

PATIENCE = 30


class TestAnswers(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.now, self.made = 0.0, []
        self.answers = Answers(most=80, clock=lambda: self.now)

    def get(self, tag, size=10):
        def make():
            self.made.append(tag)
            return tag.encode() * size

        return self.answers.get(tag, make)

    def test_an_answer_is_made_once(self):
        self.assertEqual([b"a" * 10, b"b" * 10, b"a" * 10], [self.get(each) for each in "aba"])
        self.assertEqual(["a", "b"], self.made)

    def test_those_used_least_recently_go_first(self):
        for tag in "abcdefgh":
            self.get(tag)
        self.get("a")
        self.get("i")
        self.made.clear()
        for tag in "acdefghi":
            self.get(tag)
        self.assertEqual([], self.made)
        self.get("b")
        self.assertEqual(["b"], self.made)

    def test_a_long_answer_does_not_drive_out_all_others(self):
        self.get("a")
        self.assertEqual(b"b" * 11, self.get("b", size=11))
        self.get("b", size=11)
        self.get("a")
        self.assertEqual(["a", "b", "b"], self.made)

    def test_an_error_is_not_kept(self):
        def fail():
            raise LookupError("failed")

        self.assertRaises(LookupError, self.answers.get, "a", fail)
        self.assertEqual(b"a" * 10, self.get("a"))

    def test_callers_at_the_same_time_share_it(self):
        self.get("b")
        begun, go, calls = threading.Event(), threading.Event(), []

        def make():
            calls.append(1)
            begun.set()
            go.wait(PATIENCE)
            return b"made"

        with ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(self.answers.get, "a", make) for _each in range(8)]
            begun.wait(PATIENCE)
            # Meanwhile others are answered.
            self.assertEqual(b"b" * 10, self.get("b"))
            go.set()
            self.assertEqual({b"made"}, {each.result(PATIENCE) for each in asked})
        self.assertEqual([1], calls)

    def test_how_old_a_tag_may_be(self):
        tags = iter("abcdef")
        for self.now, age, expected in (
            (0.0, 4, "a"),
            (3.9, 4, "a"),
            (3.9, 0, "b"),
            (7.8, 4, "b"),
            (7.9, 4, "c"),
            (7.9, 2, "c"),
        ):
            found = self.answers.tag("question", age, lambda: next(tags))
            self.assertEqual(expected, found, self.now)
        self.assertEqual("d", self.answers.tag("other", 9, lambda: next(tags)))
