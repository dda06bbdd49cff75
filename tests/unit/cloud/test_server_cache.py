"""The list of servers follows Nova's changes."""

import testtools

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.server_cache import OVERLAP, RENEWAL, ServerCache


def server(name, status="ACTIVE"):
    return {"id": name, "status": status}


#: Longer ago than Nova may need to find a host, at the time of the first poll.
CREATED = "1970-01-01T00:00:30Z"


class TestServerCache(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.answer = []
        self.searches = []
        #: What Nova says of servers one by one, and of which it was asked.
        self.there = {}
        self.shown = []
        self.cache = ServerCache(self.listing, self.show)

    def listing(self, changed_since):
        self.searches.append(changed_since)
        return self.answer

    def show(self, uuid):
        self.shown.append(uuid)
        return self.there.get(uuid)

    def poll(self, now, *answer, known=frozenset()):
        self.answer = list(answer)
        return {found["id"]: found["status"] for found in self.cache.poll(now, known)}

    def test_what_is_only_not_listed_stays(self):
        """The cell of a server may have gone down between two pages of the list."""
        self.poll(100, server("a"), server("b"))
        self.there = {"a": server("a", "SHUTOFF")}
        self.assertEqual({"a": "SHUTOFF", "b": "ACTIVE"}, self.poll(100 + RENEWAL, server("b")))
        self.assertEqual(["a"], self.shown)

    def test_nothing_is_known_while_a_cell_is_down(self):
        self.poll(100, server("a"), server("b"))
        self.there = {"a": server("a", "UNKNOWN")}
        for later in (0, 1):
            self.assertRaises(CloudError, self.poll, 100 + RENEWAL + later, server("b"))
        self.assertRaises(CloudError, self.poll, 102 + RENEWAL, server("a", "UNKNOWN"))
        self.there = {}
        self.assertEqual({"b": "ACTIVE"}, self.poll(103 + RENEWAL, server("b")))

    def test_nor_if_the_cell_was_down_before_the_manager_came(self):
        self.there = {"a": server("a", "UNKNOWN")}
        self.assertRaises(CloudError, self.poll, 100, server("b"), known={"a", "b"})

    def test_what_is_gone_is_asked_for_once(self):
        for times in range(3):
            self.poll(100 + times * RENEWAL, server("b"), known={"a", "b", "d"})
            self.there = {"d": server("d", "SOFT_DELETED")}
        self.poll(101 + 2 * RENEWAL, server("b", "DELETED"), known={"b"})
        self.poll(100 + 3 * RENEWAL, known={"b"})
        self.assertEqual(["a", "d"], sorted(self.shown))

    def test_a_server_that_nova_has_forgotten_is_gone(self):
        """It is listed for ever, and Nova finds it neither to show nor to delete it."""
        old, young = ({**server(name, "BUILD"), "created": CREATED} for name in ("old", "young"))
        young["created"] = "1970-01-01T00:01:30Z"
        on_host = {**old, "id": "on", "OS-EXT-SRV-ATTR:host": "h1"}
        listed = [old, young, on_host]
        self.cache = ServerCache(lambda since: [] if since else listed, self.show)
        self.there = {"old": old}
        self.assertEqual({"old", "young", "on"}, self.poll(100).keys())
        self.there = {}
        for times in range(1, 3):
            now = 100 + times * RENEWAL
            self.assertEqual({"young", "on"}, self.poll(now, known={"old"}).keys())
        self.assertEqual({"old"}, set(self.shown))

    def test_a_forgotten_request_is_gone_though_it_is_listed_as_a_change(self):
        """Nova lists build requests in answer to `changes-since`, too, whatever their age."""
        request = {**server("a", "BUILD"), "created": CREATED}
        self.there = {"a": request}
        self.assertEqual({"a": "BUILD"}, self.poll(100, request))
        self.there = {}
        self.assertEqual({"a": "BUILD"}, self.poll(101, request))
        for later in (0, 1, RENEWAL, RENEWAL + 1):
            self.assertEqual({}, self.poll(100 + RENEWAL + later, request))
        # It has got a host after all: this is a change.
        made = {**request, "OS-EXT-SRV-ATTR:host": "h1"}
        self.assertEqual({"a": "BUILD"}, self.poll(102 + 2 * RENEWAL, made))

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
        self.assertEqual({}, self.poll(102, server("b", "SOFT_DELETED")))

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
        self.answer = None
        self.assertRaises(TypeError, self.cache.poll, 102)
        self.poll(103)
        self.assertIn(f"00:01:{40 - OVERLAP:02.0f}", self.searches[-1])
