"""Which slots processes held, as it was seen."""

import testtools

from nova_twotier.db.models import DEFAULT_POOL, Place
from nova_twotier.db.states import JobState
from nova_twotier.db.store import Store
from nova_twotier.manager import schedule
from tests.unit.manager.builders import BG, FG, job, seen, servers


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

    def begin(self):
        return self.follow([], seen(self.gang, at=10.0))

    def test_places_are_taken(self):
        self.assertEqual(
            [(0, "a", "fg", 10.0, None), (1, "b", "fg", 10.0, None)], self.rows(self.begin())
        )

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

    def test_jobs_of_others_are_left_alone(self):
        """Another manager sees to them: they are not among the jobs, nor are their hosts."""
        theirs = Place(job=10**6, process=0, server="x", host="z", tier=FG, since=1.0)
        self.assertEqual([], self.follow([theirs, *self.begin()], seen(self.gang, at=11.0)))
        self.assertIsNone(theirs.until)


class TestExport(testtools.TestCase):
    def test_in_the_order_in_which_they_were_taken(self):
        store = Store("sqlite://")
        self.addCleanup(store.close)
        number = store.submit(2, [0.5], at=1.0).number
        common = {"job": number, "server": "s", "tier": "fg"}
        with store.transaction() as session:
            session.add(Place(process=1, host="b", since=3.25, **common))
            session.add(Place(process=0, host="a", since=1700000000.5, **common))
            session.add(Place(process=0, host="a", since=2.0, until=3.0, **common))
        with store.reading() as session:
            self.assertEqual(2, len(schedule.open_places(session, DEFAULT_POOL)))
            self.assertEqual([], schedule.open_places(session, "gpu"))
            text = schedule.as_csv(schedule.places(session))
        self.assertEqual(
            "job,process,host,tier,from,to\n"
            "1,0,a,fg,2.000,3.000\n"
            "1,1,b,fg,3.250,\n"
            "1,0,a,fg,1700000000.500,\n",
            text,
        )
