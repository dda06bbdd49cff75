"""The list of servers follows Nova's changes."""

import testtools

from nova_twotier.cloud.server_cache import OVERLAP, RENEWAL, ServerCache


def server(name, status="ACTIVE"):
    return {"id": name, "status": status}


class TestServerCache(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.answer = []
        self.searches = []
        self.cache = ServerCache(self.listing)

    def listing(self, changed_since):
        self.searches.append(changed_since)
        return self.answer

    def poll(self, now, *answer):
        self.answer = list(answer)
        return {found["id"]: found["status"] for found in self.cache.poll(now)}

    def test_changes_are_added_to_what_is_known(self):
        self.poll(100, server("a"), server("b"))
        self.assertEqual(
            {"a": "ACTIVE", "b": "SHUTOFF", "c": "BUILD"},
            self.poll(101, server("b", "SHUTOFF"), server("c", "BUILD")),
        )
        since = f"1970-01-01T00:01:{40 - OVERLAP:02.0f}+00:00"
        self.assertEqual(["", since], self.searches)

    def test_the_deleted_leave(self):
        self.poll(100, server("a"), server("b"))
        self.assertEqual({"b": "ACTIVE"}, self.poll(101, server("a", "DELETED")))

    def test_each_once(self):
        self.assertEqual({"a": "ACTIVE"}, self.poll(100, server("a", "BUILD"), server("a")))

    def test_all_are_listed_now_and_then(self):
        self.poll(100, server("a"))
        self.assertEqual({}, self.poll(100 + RENEWAL))
        self.assertEqual("", self.searches[-1])

    def test_all_are_listed_after_the_clock_was_set_back(self):
        self.poll(5000, server("a"))
        self.assertEqual({}, self.poll(1400))
        self.assertEqual("", self.searches[-1])

    def test_a_failed_look_is_not_taken_for_one(self):
        self.poll(100, server("a"))
        self.cache._listing = lambda _since: 1 / 0
        self.assertRaises(ZeroDivisionError, self.cache.poll, 102)
        self.cache._listing = self.listing
        self.poll(103)
        self.assertIn(f"00:01:{40 - OVERLAP:02.0f}", self.searches[-1])
