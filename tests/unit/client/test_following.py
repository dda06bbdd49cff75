"""`openstack twotier event list --follow`: every event once, whatever happens meanwhile."""

import contextlib
import functools
import json
import time

import fixtures
import requests
import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.client import following
from nova_twotier.client.following import Follower
from nova_twotier.client.rest import ApiError
from nova_twotier.db.models import Event
from tests.unit.client.case import ClientCase, CommandCase


class Enough(Exception):
    """Ends what would go on for ever."""


class Script:
    """What happens in the pauses between two polls, one step in each; then it ends."""

    def __init__(self, *steps):
        self.steps = list(steps)
        self.pauses = []

    def sleep(self, seconds):
        self.pauses.append(seconds)
        if not self.steps:
            raise Enough
        self.steps.pop(0)()


def nothing():
    pass


class TestFollower(ClientCase):
    OPTIONS = "max_limit = 2"

    def setUp(self):
        super().setUp()
        self.said = []
        self.now = time.time()

    def event(self, kind, at=0.0, **values):
        """An event of the queue, which all projects see, so many seconds ago."""
        with self.store.transaction() as session:
            session.add(Event(at=self.now - at, kind="queue active", detail=kind, **values))

    def follow(self, *steps, since=None, limit=0):
        """The texts of what exists at first and of what is new."""
        script = Script(*steps)
        follower = Follower(self.api, since, self.said.append, script.sleep)
        first = [event["detail"] for event in follower.existing(limit)]
        new = []
        with contextlib.suppress(Enough):
            new.extend(event["detail"] for event in follower.new())
        self.pauses = script.pauses
        return first, new

    def test_only_what_is_new(self):
        self.event("old")
        steps = [lambda: self.event("a"), nothing, lambda: (self.event("b"), self.event("c"))]
        self.assertEqual(([], ["a", "b", "c"]), self.follow(*steps))

    def test_before_the_first_event(self):
        self.assertEqual(([], ["a"]), self.follow(nothing, lambda: self.event("a"), nothing))

    def test_the_newest_at_first(self):
        for kind in "abcde":
            self.event(kind)
        steps = [lambda: self.event("f")]
        self.assertEqual((["c", "d", "e"], ["f"]), self.follow(*steps, limit=3))

    def test_since(self):
        for kind, at in (("a", 300), ("b", 200), ("c", 100)):
            self.event(kind, at)
        since = following._text(self.now - 250)
        steps = [lambda: self.event("late", 280), lambda: self.event("d")]
        self.assertEqual((["b", "c"], ["d"]), self.follow(*steps, since=since, limit=None))

    def test_a_lower_id_that_shows_up_later(self):
        self.event("a", id=10)
        steps = [
            lambda: self.event("c", 5, id=30),
            lambda: self.event("b", 55, id=20),
            lambda: self.event("too old to be new", 65, id=5),
        ]
        self.assertEqual(([], ["c", "b"]), self.follow(*steps))

    def test_a_clock_that_was_wrong(self):
        self.event("from the future", -4e8)
        self.assertEqual(([], ["a"]), self.follow(lambda: self.event("a"), nothing))

    def test_many_at_once(self):
        kinds = [str(number) for number in range(7)]
        steps = [lambda: [self.event(kind) for kind in kinds], nothing]
        self.assertEqual(([], kinds), self.follow(*steps))

    def test_an_api_that_is_restarted(self):
        api = self.application

        def down(*_args):
            raise requests.ConnectionError("refused")

        def second_page_fails(environ, start_response):
            return (down if "marker" in environ["QUERY_STRING"] else api)(environ, start_response)

        def become(application):
            self.application = application

        steps = [
            lambda: become(down),
            lambda: [self.event(kind) for kind in "abc"],
            lambda: become(second_page_fails),
            lambda: become(api),
            lambda: become(down),
        ]
        self.assertEqual(([], ["a", "b", "c"]), self.follow(*steps))
        # Once for each time that it was away.
        self.assertEqual(2, len(self.said))
        for line in self.said:
            self.assertIn("/v1/events", line)
            self.assertTrue(line.endswith("is the twotier API up, and this its URL?; trying again"))

    def test_what_the_api_refuses(self):
        self.api = self.api_of("?")
        self.assertIn("(HTTP 401)", str(self.assertRaises(ApiError, self.follow)))
        self.assertEqual([], self.said)

    def test_polls_become_seldom(self):
        steps = [nothing] * 120
        self.follow(*steps, lambda: self.event("a"), nothing)
        self.assertEqual((1.0, 10.0, 1.0), (self.pauses[0], self.pauses[-3], self.pauses[-2]))
        self.assertEqual(sorted(self.pauses[:-2]), self.pauses[:-2])


class Recorded:
    """An API that shows each event from some time on; time passes with every pause."""

    def __init__(self, events):
        self.now = 1e9
        self._events = events

    def sleep(self, seconds):
        if all(self.now >= 1e9 + shown for _at, shown in self._events):
            raise Enough
        self.now += seconds

    def events(self, limit=None, sort_dir=None, since=None):
        least = following._seconds(since) if since else 0.0
        found = [
            {"id": str(number), "at": following._text(1e9 + at)}
            for number, (at, shown) in enumerate(self._events)
            if 1e9 + shown <= self.now and 1e9 + at >= least
        ]
        return iter((found[::-1] if sort_dir else found)[:limit])


@st.composite
def records(draw):
    """When events were recorded and when they were shown, in the order of their ids."""
    recorded = sorted(draw(st.lists(st.integers(-100, 200), max_size=20)))
    latencies = [draw(st.integers(0, 59)) for _ in recorded]
    return [(at, at + latency) for at, latency in zip(recorded, latencies, strict=True)]


class TestProperties(testtools.TestCase):
    @settings(deadline=None)
    @given(records(), st.sampled_from([0, 3, None]))
    def test_none_is_missed_or_given_twice(self, events, limit):
        api = Recorded(events)
        there = [str(number) for number, (_at, shown) in enumerate(events) if shown <= 0]
        follower = Follower(api, None, self.fail, api.sleep, now=lambda: api.now)
        given_ = [event["id"] for event in follower.existing(limit)]
        shown = there if limit is None else there[-limit:] if limit else []
        self.assertEqual(shown, given_)
        with contextlib.suppress(Enough):
            given_.extend(event["id"] for event in follower.new())
        later = {str(number) for number, (_at, shown) in enumerate(events) if shown > 0}
        self.assertEqual(len(given_), len(set(given_)))
        self.assertEqual(later, set(given_) - set(there))


class TestCommand(CommandCase):
    def follow(self, *options, steps=(), by="alice:demo"):
        """What is printed until it ends."""
        script = Script(*steps)
        follower = functools.partial(Follower, sleep=script.sleep)
        self.useFixture(
            fixtures.MonkeyPatch("nova_twotier.client.commands.events.Follower", follower)
        )
        _code, out, error = self.openstack("event", "list", "--follow", *options, by=by)
        self.assertEqual("", error)
        return out

    def test_lines_for_people(self):
        job = self.submit(name="solver")
        steps = [
            lambda: self.happen(job, "started", "in fg, immediate", at=4e9),
            lambda: self.happen(None, "queue paused", "pool default", at=4e9),
        ]
        self.assertEqual(
            "At                    Number  Event    Detail            User\n"
            "2096-10-02T07:06:40Z  1       started  in fg, immediate\n"
            "2096-10-02T07:06:40Z          queue paused  pool default\n",
            self.follow(steps=steps),
        )

    def test_lines_for_programs(self):
        mine, other = self.submit(name="mine"), self.submit(name="other")
        steps = [lambda: [self.happen(job, "started", "in fg", at=4e9) for job in (other, mine)]]
        options = ("--job", "mine", "-c", "Number", "-c", "Event")
        for style, expected in (
            ("value", ["1 submitted", "1 started"]),
            ("csv", ['"Number","Event"', '"1","submitted"', '"1","started"']),
        ):
            out = self.follow(*options, "--limit", "5", "-f", style, steps=steps)
            self.assertEqual(expected, out.splitlines()[: len(expected)])
        lines = self.follow("--job", "mine", "-f", "json", steps=steps).splitlines()
        [row] = map(json.loads, lines)
        self.assertEqual(
            {
                "At": "2096-10-02T07:06:40.000+00:00",
                "Number": "1",
                "Event": "started",
                "Detail": "in fg",
                "Job": mine["uuid"],
                "User": None,
            },
            row,
        )
        rows = self.shown("event", "list", "--job", "mine")
        self.assertEqual((list(row), row), (list(rows[-1]), rows[-1]))

    def test_all_projects(self):
        job = self.submit("bob:other")
        steps = [lambda: self.happen(job, "started", "in fg", at=4e9)]
        self.assertEqual("", self.follow("-f", "value", steps=steps))
        out = self.follow("--all-projects", steps=steps, by="admin:admin")
        self.assertEqual(
            ["At", "Number", "Project", "Event", "Detail", "User"], out.splitlines()[0].split()
        )
        self.assertIn("  other    started  in fg\n", out)
        listed = self.succeed("event", "list", "--all-projects", "-f", "csv", by="admin:admin")
        self.assertEqual(
            '"At","Number","Project","Event","Detail","Job","User"', listed.partition("\n")[0]
        )

    def test_mistakes(self):
        for options, expected in (
            (("-f", "yaml"), "which -f yaml cannot: leave out -f, or give -f value, csv or json"),
            (("--sort-column", "At"), "leave out --sort-column"),
            (("--job", "none"), "there is no job 'none' in your project"),
            (("--all-projects",), "(policy rule twotier:events:list:all_projects) (HTTP 403)"),
        ):
            code, out, error = self.openstack("event", "list", "--follow", *options)
            self.assertEqual((1, ""), (code, out.partition("At")[0]))
            self.assertIn(expected, error)
