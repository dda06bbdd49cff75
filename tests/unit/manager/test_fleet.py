"""The list of servers follows Nova's changes."""

import types

import testtools

from nova_twotier.manager.fleet import OVERLAP, RENEWAL, Fleet


def server(name, status="ACTIVE"):
    return types.SimpleNamespace(id=name, status=status)


class TestFleet(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.answer = []
        self.searches = []
        self.fleet = Fleet(self.listing)

    def listing(self, search_opts, limit):
        self.searches.append(search_opts)
        return self.answer

    def look(self, now, *answer):
        self.answer = list(answer)
        return {found.id: found.status for found in self.fleet.look(now)}

    def test_changes_are_added_to_what_is_known(self):
        self.look(100, server("a"), server("b"))
        self.assertEqual(
            {"a": "ACTIVE", "b": "SHUTOFF", "c": "BUILD"},
            self.look(101, server("b", "SHUTOFF"), server("c", "BUILD")),
        )
        self.assertNotIn("changes-since", self.searches[0])
        self.assertEqual(
            f"1970-01-01T00:01:{40 - OVERLAP:02.0f}+00:00", self.searches[1]["changes-since"]
        )

    def test_the_deleted_leave(self):
        self.look(100, server("a"), server("b"))
        self.assertEqual({"b": "ACTIVE"}, self.look(101, server("a", "DELETED")))

    def test_each_once(self):
        self.assertEqual({"a": "ACTIVE"}, self.look(100, server("a", "BUILD"), server("a")))

    def test_all_are_listed_now_and_then(self):
        self.look(100, server("a"))
        self.assertEqual({}, self.look(100 + RENEWAL))
        self.assertNotIn("changes-since", self.searches[-1])

    def test_a_failed_look_is_not_taken_for_one(self):
        self.look(100, server("a"))
        self.fleet._listing = lambda **_kwargs: 1 / 0
        self.assertRaises(ZeroDivisionError, self.fleet.look, 102)
        self.fleet._listing = self.listing
        self.look(103)
        self.assertIn(f"00:01:{40 - OVERLAP:02.0f}", self.searches[-1]["changes-since"])
