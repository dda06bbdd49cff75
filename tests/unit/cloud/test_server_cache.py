"""The list of servers follows Nova's changes."""

import types

import testtools

from nova_twotier.cloud.server_cache import OVERLAP, RENEWAL, ServerCache


def server(name, status="ACTIVE"):
    return types.SimpleNamespace(id=name, status=status)


class TestFleet(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.answer = []
        self.searches = []
        self.fleet = ServerCache(self.listing)

    def listing(self, search_opts, limit):
        self.searches.append(search_opts)
        return self.answer

    def poll(self, now, *answer):
        self.answer = list(answer)
        return {found.id: found.status for found in self.fleet.poll(now)}

    def test_changes_are_added_to_what_is_known(self):
        self.poll(100, server("a"), server("b"))
        self.assertEqual(
            {"a": "ACTIVE", "b": "SHUTOFF", "c": "BUILD"},
            self.poll(101, server("b", "SHUTOFF"), server("c", "BUILD")),
        )
        self.assertNotIn("changes-since", self.searches[0])
        self.assertEqual(
            f"1970-01-01T00:01:{40 - OVERLAP:02.0f}+00:00", self.searches[1]["changes-since"]
        )

    def test_the_deleted_leave(self):
        self.poll(100, server("a"), server("b"))
        self.assertEqual({"b": "ACTIVE"}, self.poll(101, server("a", "DELETED")))

    def test_each_once(self):
        self.assertEqual({"a": "ACTIVE"}, self.poll(100, server("a", "BUILD"), server("a")))

    def test_all_are_listed_now_and_then(self):
        self.poll(100, server("a"))
        self.assertEqual({}, self.poll(100 + RENEWAL))
        self.assertNotIn("changes-since", self.searches[-1])

    def test_a_failed_look_is_not_taken_for_one(self):
        self.poll(100, server("a"))
        self.fleet._listing = lambda **_kwargs: 1 / 0
        self.assertRaises(ZeroDivisionError, self.fleet.poll, 102)
        self.fleet._listing = self.listing
        self.poll(103)
        self.assertIn(f"00:01:{40 - OVERLAP:02.0f}", self.searches[-1]["changes-since"])
