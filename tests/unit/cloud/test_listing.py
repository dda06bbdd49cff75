"""What changes while all servers are listed is not undone by the list."""

import datetime
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.listing import Lister, Listing, Stopped
from nova_twotier.cloud.server_cache import RENEWAL, SHARE, ServerCache
from tests.executors import Held

NAMES = "abcdef"


class FakeNova:
    """Lists one server on a page; on its way from one page to the next, things happen.

    Changes are listed as in Nova: by their time, the deleted ones too. Some leave no trace.
    """

    def __init__(self):
        self.now = 1000.0
        self.servers = {}
        self.changed_at = {}
        self.deleted = {}
        #: What happens before each page of a list of all servers.
        self.gaps = iter(())
        self.lists = 0

    def put(self, name, status):
        self.servers[name] = {"id": name, "status": status}
        self.changed_at[name] = self.now
        self.deleted.pop(name, None)

    def change_unseen(self, name):
        """As other addresses of a server."""
        if name in self.servers:
            self.servers[name] = {**self.servers[name], "addresses": self.now}

    def delete(self, name, trace=True):
        if self.servers.pop(name, None) and trace:
            self.deleted[name] = {"id": name, "status": "DELETED"}
            self.changed_at[name] = self.now

    def each(self, since):
        if since:
            after = datetime.datetime.fromisoformat(since).timestamp()
            both = [*self.servers.values(), *self.deleted.values()]
            yield from [each for each in both if self.changed_at[each["id"]] >= after]
            return
        self.lists += 1
        last = ""
        while True:
            next(self.gaps, lambda: None)()
            name = min((name for name in self.servers if name > last), default=None)
            if name is None:
                return
            yield self.servers[name]
            last = name

    def show(self, name):
        return self.servers.get(name) or self.deleted.get(name)


class ListingCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.begin()

    def begin(self):
        self.nova, self.held = FakeNova(), Held()
        self.lister = Lister(self.held)
        self.cache = ServerCache(self.nova.each, self.nova.show, self.lister)
        for name in "ac":
            self.nova.put(name, "ACTIVE")
        self.poll()

    def poll(self, seconds=1.0):
        """The statuses that a poll sees."""
        self.nova.now += seconds
        return {each["id"]: each["status"] for each in self.cache.poll(self.nova.now)}

    def seen(self, seconds=1.0):
        """What a poll sees is what there is, but for addresses."""
        truth = {name: each["status"] for name, each in self.nova.servers.items()}
        self.assertEqual(truth, self.poll(seconds))


class TestServersMeanwhile(ListingCase):
    def test_polls_do_not_wait_for_the_list(self):
        self.seen(RENEWAL)
        self.assertEqual((1, 1), (self.nova.lists, len(self.held.waiting)))
        self.seen(RENEWAL)
        self.assertEqual(1, len(self.held.waiting), "one at a time")

    def test_a_server_that_was_booted_behind_the_list(self):
        """It is on a page that was read before, and must not look gone."""
        self.poll(RENEWAL)
        self.nova.gaps = iter((lambda: None, lambda: self.nova.put("aa", "BUILD"), self.seen))
        self.held.run()
        self.seen()
        self.seen(RENEWAL)

    def test_one_that_changes_after_it_was_listed(self):
        self.poll(RENEWAL)
        self.nova.gaps = iter((lambda: None, lambda: self.nova.put("a", "SHUTOFF")))
        self.held.run()
        self.seen()
        self.seen(100.0)

    def test_one_that_changes_before_and_after_it_was_listed(self):
        self.poll(RENEWAL)
        self.nova.gaps = iter(
            (lambda: self.nova.put("a", "SHUTOFF"), lambda: self.nova.put("a", "ACTIVE"))
        )
        self.held.run()
        self.seen()
        self.seen(100.0)

    def test_one_that_is_restored_when_the_list_is_over(self):
        self.poll(RENEWAL)
        self.nova.delete("a")
        self.held.run()
        self.nova.put("a", "ACTIVE")
        self.seen()
        self.seen(100.0)

    def test_one_that_is_deleted_after_it_was_listed(self):
        """A poll during the list has seen it go, long before the list is over."""
        self.poll(RENEWAL)

        def go():
            self.nova.delete("a")
            self.seen()
            self.seen(100.0)

        self.nova.gaps = iter((lambda: None, go))
        self.held.run()
        self.seen()

    def test_one_that_left_no_trace(self):
        self.poll(RENEWAL)
        self.nova.delete("a", trace=False)
        self.assertEqual({"a", "c"}, {*self.poll()})
        self.held.run()
        self.seen()

    def test_a_version_of_its_own_for_each_change(self):
        before = self.cache.version
        self.poll(RENEWAL)
        self.held.run()
        self.poll()
        self.assertEqual(before, self.cache.version)
        self.nova.change_unseen("a")
        self.poll(RENEWAL)
        self.held.run()
        self.poll()
        self.assertEqual(before + 1, self.cache.version)

    def test_a_cell_that_is_down(self):
        self.poll(RENEWAL)
        self.nova.servers["a"]["status"] = "UNKNOWN"
        self.held.run()
        for _poll in range(3):
            self.assertRaises(CloudError, self.poll)
        self.nova.put("a", "ACTIVE")
        self.assertRaises(CloudError, self.poll)
        while self.held.waiting:
            self.held.run()
        self.seen()

    def test_a_list_that_fails(self):
        """The changes do not show what only the list would: polls fail until there is another."""

        def fail():
            raise CloudError("timed out")

        self.poll(RENEWAL)
        self.nova.gaps = iter((fail,))
        self.held.run()
        for _poll in range(3):
            self.assertRaises(CloudError, self.poll)
        [_again] = self.held.waiting
        self.nova.put("a", "SHUTOFF")
        self.held.run()
        self.seen()
        self.seen()

    def test_all_are_listed_since_the_clock_was_set_back(self):
        """What failed before does not count any more."""

        def fail():
            raise CloudError("timed out")

        self.poll(RENEWAL)
        self.nova.gaps = iter((fail,))
        self.held.run()
        self.assertRaises(CloudError, self.poll)
        self.seen(-100.0)
        self.seen()

    def test_a_long_list_leaves_nova_some_time(self):
        self.poll(RENEWAL)
        self.nova.now += 40.0
        self.held.run()
        self.poll()
        self.poll(RENEWAL)
        self.assertEqual([], self.held.waiting)
        self.poll(40.0 / SHARE)
        self.assertEqual(1, len(self.held.waiting))

    def test_who_leads_no_more_lists_no_more(self):
        self.poll(RENEWAL)
        [(future, _function, _arguments)] = self.held.waiting
        self.nova.gaps = iter((self.lister.close, lambda: self.fail("a second page was read")))
        self.held.run()
        self.assertIsInstance(future.exception(), Stopped)

    def test_what_has_not_begun_never_does(self):
        self.poll(RENEWAL)
        [(future, _function, _arguments)] = self.held.waiting
        self.lister.close()
        self.assertTrue(future.cancelled())

    @settings(max_examples=300, deadline=None)
    @given(
        st.lists(
            st.lists(
                st.one_of(
                    st.tuples(
                        st.just("put"),
                        st.sampled_from(NAMES),
                        st.sampled_from(["BUILD", "ACTIVE", "SHUTOFF"]),
                    ),
                    st.tuples(st.just("delete"), st.sampled_from(NAMES)),
                    st.tuples(st.just("change_unseen"), st.sampled_from(NAMES)),
                    st.tuples(st.just("seen"), st.sampled_from([0.5, 4.0, 30.0])),
                ),
                max_size=4,
            ),
            min_size=1,
            max_size=8,
        )
    )
    def test_whatever_happens(self, gaps):
        """Each poll sees exactly what there is; after one more list, addresses too."""
        self.begin()

        def happening(steps):
            def happen():
                for name, *arguments in steps:
                    getattr(self if name == "seen" else self.nova, name)(*arguments)

            return happen

        self.poll(RENEWAL)
        self.nova.gaps = iter([*map(happening, gaps)])
        self.held.run()
        self.nova.gaps = iter(())
        self.seen()
        for _list in range(2):
            self.seen(10_000.0)
            while self.held.waiting:
                self.held.run()
        self.seen()
        shown = {each["id"]: each for each in self.cache.poll(self.nova.now)}
        self.assertEqual(self.nova.servers, shown)


class TestListing(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.held = Held()
        self.listing = Listing(Lister(self.held))

    def test_each_is_taken_once(self):
        self.listing.begin(lambda: ["a"])
        self.assertIsNone(self.listing.take())
        self.held.run()
        self.assertEqual(["a"], self.listing.take())
        self.assertEqual((None, False), (self.listing.take(), self.listing.under_way))

    def test_one_that_is_dropped_does_not_count(self):
        self.listing.begin(lambda: ["before"])
        self.listing.drop()
        self.listing.begin(lambda: ["after"])
        self.held.run()
        self.assertIsNone(self.listing.take())
        self.held.run()
        self.assertEqual(["after"], self.listing.take())

    def test_an_error_is_raised_once(self):
        self.listing.begin(lambda: 1 / 0)
        self.held.run()
        self.assertRaises(ZeroDivisionError, self.listing.take)
        self.assertEqual((None, False), (self.listing.take(), self.listing.under_way))


class TestMap(testtools.TestCase):
    def test_in_order(self):
        with ThreadPoolExecutor(2) as executor:
            self.assertEqual([1, 2, 3], Lister(executor).map(int, "123"))
        self.assertEqual([1, 2, 3], Lister().map(int, "123"))

    def test_nothing_goes_on_after_an_error(self):
        failed, over = threading.Event(), []

        def call(item):
            if item == "fails":
                failed.set()
                raise ValueError(item)
            failed.wait(10)
            time.sleep(0.05)
            over.append(item)

        items = ["fails", "slow", *map(str, range(100))]
        with ThreadPoolExecutor(2) as executor:
            self.assertRaises(ValueError, Lister(executor).map, call, items)
            before = list(over)
        self.assertIn("slow", before)
        self.assertEqual(before, over)
        self.assertLess(len(over), 50)
