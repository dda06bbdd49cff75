"""Which slots processes held, as it was seen."""

import dataclasses
import itertools

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.db.models import DEFAULT_POOL, Place
from nova_twotier.db.states import JobState
from nova_twotier.manager import schedule
from tests.new_databases import new_store
from tests.unit.manager.builders import BG, FG, job, seen, servers, unmanaged_claim


class TestFollow(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.one = job()
        self.gang = servers(self.one, hosts=("a", "b"))

    def follow(self, held, look, *others):
        jobs = {each.number: each for each in (self.one, *others)}
        running = [each for each in jobs.values() if each.state == JobState.RUNNING]
        return schedule.Places(held).follow(look, jobs, running)

    def rows(self, places):
        return [(p.process, p.host, p.tier, p.since, p.until) for p in places]

    def test_what_changes_while_the_same_is_seen(self):
        """Only time passes between the observations, but jobs begin to run, and end."""
        other = job(size=1, state=JobState.STARTING)
        look = seen(self.gang, servers(other), at=10.0)
        places, numbers = schedule.Places([]), [self.one.number, other.number]

        def follow(at, running, jobs=numbers):
            return self.rows(places.follow(look.later(at), jobs, running))

        self.assertEqual(2, len(follow(10.0, [self.one])))
        self.assertEqual([], follow(11.0, [self.one]))
        self.assertEqual([(0, "a", "fg", 12.0, None)], follow(12.0, [self.one, other]))
        self.assertEqual([], follow(13.0, [self.one, other]))
        over = follow(14.0, [other], [other.number])
        self.assertEqual([(0, "a", "fg", 10.0, 14.0), (1, "b", "fg", 10.0, 14.0)], over)
        gone = dataclasses.replace(look.later(15.0), claims={})
        left = places.follow(gone, numbers, [])
        self.assertEqual([(0, "a", "fg", 12.0, 15.0)], self.rows(left))

    def begin(self):
        return self.follow([], seen(self.gang, at=10.0))

    def test_places_are_taken(self):
        self.assertEqual(
            [(0, "a", "fg", 10.0, None), (1, "b", "fg", 10.0, None)], self.rows(self.begin())
        )

    def test_a_place_keeps_the_class_that_its_job_had(self):
        self.one.qos = "scavenger"
        held = self.begin()
        self.one.qos = "normal"
        changed = self.follow(held, seen(self.gang, tiers=[BG], at=12.0))
        self.assertEqual(["scavenger"] * 2 + ["normal"] * 2, [place.qos for place in changed])

    def test_nothing_changes(self):
        self.assertEqual([], self.follow(self.begin(), seen(self.gang, at=11.0)))

    def test_a_swap_and_a_migration(self):
        held = self.begin()
        changed = self.follow(held, seen(self.gang, tiers=[BG], at=12.0))
        self.assertEqual(
            [
                (0, "a", "fg", 10.0, 12.0),
                (1, "b", "fg", 10.0, 12.0),
                (0, "a", "bg", 12.0, None),
                (1, "b", "bg", 12.0, None),
            ],
            self.rows(changed),
        )
        moved = servers(self.one, hosts=("a", "a"))
        changed = self.follow(changed[2:], seen(moved, tiers=[BG], at=13.0))
        self.assertEqual(
            [(1, "b", "bg", 12.0, 13.0), (1, "a", "bg", 13.0, None)], self.rows(changed)
        )

    def test_who_is_preempted_keeps_its_place_until_its_server_gives_it_up(self):
        held = self.begin()
        self.one.state = JobState.PREEMPTING
        self.assertEqual([], self.follow(held, seen(self.gang, at=11.0)))
        gone = servers(self.one, "SHELVED_OFFLOADED", hosts=(None,))
        changed = self.follow(held, seen([gone[0], self.gang[1]], at=12.0))
        self.assertEqual([(0, "a", "fg", 10.0, 12.0)], self.rows(changed))

    def test_who_is_just_starting_has_none(self):
        self.one.state = JobState.STARTING
        self.assertEqual([], self.begin())

    def test_a_job_that_is_over_holds_nothing_even_if_nova_left_its_claim_behind(self):
        over = 10**6
        for ended, until in (({}, 11.0), ({over: 5.0}, 5.0), ({over: 0.5}, 1.0)):
            left = Place(job=over, process=0, server="x", host="a", tier=FG, since=1.0)
            places = schedule.Places([left], ended)
            look = seen(at=11.0, unmanaged=[dataclasses.replace(unmanaged_claim(), vm="x")])
            self.assertEqual([left], places.follow(look, [self.one.number], []))
            self.assertEqual(until, left.until)
            self.assertEqual([], places.follow(look.later(12.0), [self.one.number], []))


#: Where the processes of three jobs are at one look: the host of each, or None; and their tiers.
LOOK = st.tuples(
    st.lists(st.sampled_from(["a", "b", None]), min_size=6, max_size=6),
    st.lists(st.sampled_from([FG, BG]), min_size=3, max_size=3),
)


class TestSlots(testtools.TestCase):
    """The numbers of slots."""

    def setUp(self):
        super().setUp()
        self.one, self.two = job(), job()

    def look(self, *claims, at=1.0):
        """An observation of gangs; of each the job, its hosts and its tier."""
        gangs = [servers(of, hosts=hosts) for of, hosts, _tier in claims]
        return seen(*gangs, tiers=[tier for _of, _hosts, tier in claims], at=at)

    def follow(self, places, look, *jobs):
        return places.follow(look, {each.number for each in jobs}, jobs)

    def slots(self, changed):
        return [
            (place.job, place.host, place.tier, place.slot)
            for place in changed
            if place.until is None
        ]

    def test_the_lowest_that_is_free(self):
        one, two, three = self.one, self.two, job(size=1)
        places = schedule.Places([])
        begun = self.follow(places, self.look((one, "aa", FG), (two, "ab", FG)), one, two)
        n, m = one.number, two.number
        self.assertEqual(
            [(n, "a", "fg", 0), (n, "a", "fg", 1), (m, "a", "fg", 2), (m, "b", "fg", 0)],
            self.slots(begun),
        )
        # The first leaves, another takes the lowest of its numbers; the other tier is another.
        begun = self.follow(
            places, self.look((two, "ab", FG), (three, "a", FG), at=2.0), one, two, three
        )
        self.assertEqual([(three.number, "a", "fg", 0)], self.slots(begun))

    def test_a_swap(self):
        """A process that changes its tier keeps its slot number unless that is taken there."""
        one, two, third = job(size=1), job(size=1), job(size=1)
        places = schedule.Places([])
        rest = (third, "a", FG), (two, "a", BG)
        self.follow(places, self.look((third, "a", FG)), third)
        self.follow(places, self.look((one, "a", FG), *rest, at=2.0), one, two, third)
        swapped = self.look((two, "a", FG), (third, "a", FG), (one, "a", BG), at=3.0)
        changed = self.slots(self.follow(places, swapped, one, two, third))
        self.assertEqual({(two.number, "a", "fg", 1), (one.number, "a", "bg", 1)}, set(changed))

    def test_no_number_beyond_the_foreground(self):
        """With three tiers the background has several numbers for each of the four slots."""
        many = [job(size=1) for _ in range(6)]
        places = schedule.Places([])
        self.follow(places, self.look(*((each, "a", BG) for each in many)), *many)
        rest = [(each, "a", BG) for each in many[:5]]
        changed = self.follow(places, self.look(*rest, (many[5], "a", FG), at=2.0), *many)
        self.assertEqual([(many[5].number, "a", "fg", 0)], self.slots(changed))

    def test_after_a_restart_of_the_manager(self):
        begun = self.follow(schedule.Places([]), self.look((self.one, "aa", FG)), self.one)
        look = self.look((self.one, "aa", FG), (self.two, "aa", FG), at=2.0)
        changed = self.follow(schedule.Places(begun), look, self.one, self.two)
        self.assertEqual([2, 3], [place.slot for place in changed])

    @settings(deadline=None, max_examples=200)
    @given(st.lists(LOOK, max_size=8))
    def test_stays_never_overlap(self, looks):
        jobs = [job(), job(), job()]
        places, recorded = schedule.Places([]), {}
        for at, (hosts, tiers) in enumerate(looks, start=1):
            claims = [
                (each, hosts[2 * number : 2 * number + 2], tiers[number])
                for number, each in enumerate(jobs)
            ]
            changed = self.follow(places, self.look(*claims, at=float(at)), *jobs)
            recorded.update((id(place), place) for place in changed)
        lanes = {}
        for place in recorded.values():
            lanes.setdefault((place.host, place.tier, place.slot), []).append(place)
        for stays in lanes.values():
            stays.sort(key=lambda place: place.since)
            for before, after in itertools.pairwise(stays):
                self.assertIsNotNone(before.until)
                self.assertLessEqual(before.until, after.since)
        # No number is higher than it needs to be: there are six processes.
        self.assertLessEqual({slot for _host, _tier, slot in lanes}, set(range(6)))


class TestExport(testtools.TestCase):
    def test_in_the_order_in_which_they_were_taken(self):
        store = new_store(self)
        number = store.submit(2, [0.5], at=1.0).number
        common = {"job": number, "server": "s", "tier": "fg"}
        with store.transaction() as session:
            session.add(Place(process=1, host="b", since=3.25, slot=2, **common))
            session.add(Place(process=0, host="a", since=1700000000.5, **common))
            session.add(Place(process=0, host="a", since=2.0, until=3.0, **common))
        with store.reading() as session:
            held, ended = schedule.open_places(session, DEFAULT_POOL)
            self.assertEqual((2, {}), (len(held), ended))
            self.assertEqual(([], {}), schedule.open_places(session, "gpu"))
            text = schedule.as_csv(schedule.places(session))
        self.assertEqual(
            "job,process,host,tier,from,to,slot\n"
            "1,0,a,fg,2.000,3.000,\n"
            "1,1,b,fg,3.250,,2\n"
            "1,0,a,fg,1700000000.500,,\n",
            text,
        )
