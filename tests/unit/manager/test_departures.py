"""What a policy is shown of places that jobs are about to leave, and of those who get them."""

import testtools

from nova_twotier.db.states import JobState
from nova_twotier.ledger.claims import Claim
from nova_twotier.manager import forecast
from nova_twotier.manager.departures import LEAVING, Departure, Expectation
from tests.unit.manager.builders import BG, FG, hosts, job, seen, servers


class TestDepartures(testtools.TestCase):
    """Hosts `a` and `b` of two slots each; they are 0 and 1."""

    def setUp(self):
        super().setUp()
        self.coming = job(size=3, state=JobState.QUEUED, tier=None)

    def shown(self, departures, *gangs, starting=(), expected=None, tiers=None):
        look = seen(*gangs, tiers=tiers, where=hosts("ab", slots=2))
        expectations = {self.coming.number: expected} if expected else {}
        return forecast.cluster_of(
            look,
            (),
            dict.fromkeys(starting, FG),
            (),
            0.96,
            departures=departures,
            expectations=expectations,
        )

    def places(self, cluster, number):
        run = cluster.runs.get(number)
        return run and (run.tier, run.hosts)

    def test_what_comes_to_nobody_stays_where_it_is(self):
        leaving = job(size=2)
        made = self.shown([Departure(leaving, 5.0)], servers(leaving, hosts=("a", "b")))
        self.assertEqual({0, 1}, set(made.runs[LEAVING[FG]].hosts))
        self.assertEqual({FG: 2, BG: 4}, made.idle)
        self.assertEqual([], made.evictable())

    def test_what_is_freed_is_whose_start_was_decided_with_it(self):
        leaving = job(size=2)
        gang = servers(leaving, hosts=("b",))
        for decision, idle, kept in ((5.0, 1, None), (4.0, 0, (FG, (1, 1)))):
            made = self.shown(
                [Departure(leaving, 5.0)],
                gang,
                starting=[self.coming],
                expected=Expectation(decision, 2, late=False),
            )
            self.assertEqual(kept, self.places(made, LEAVING[FG]), decision)
            self.assertEqual(idle, made.idle[FG], decision)
        # Of the other two it takes what is idle.
        self.assertEqual((FG, (0, 0)), self.places(made, self.coming.number))

    def test_who_is_late_keeps_what_is_freed_for_it_and_no_more(self):
        leaving = job(size=2)
        expected = Expectation(5.0, 2, late=True)
        departure = Departure(leaving, 5.0)
        for gang in (servers(leaving, hosts=("b",)), servers(leaving, "SHELVED_OFFLOADED")):
            made = self.shown([departure], gang, starting=[self.coming], expected=expected)
            self.assertEqual(2, len(made.runs[self.coming.number].hosts))
            self.assertEqual(2, made.idle[FG])

    def test_who_changes_its_tier_is_there_and_its_place_is_not_idle(self):
        rising = job(size=2, tier=BG)
        departure = Departure(rising, 5.0, FG, {1: "b"})
        made = self.shown([departure], servers(rising), tiers=[BG])
        self.assertEqual((FG, (0, 1)), self.places(made, rising.number))
        self.assertEqual((BG, (0, 0)), self.places(made, LEAVING[BG]))
        self.assertEqual({FG: 2, BG: 2}, made.idle)

    def test_two_that_change_places(self):
        """Neither place is counted twice."""
        rising, falling = job(size=2, tier=BG), job(size=2)
        made = self.shown(
            [Departure(rising, 5.0, FG), Departure(falling, 5.0, BG)],
            servers(rising),
            servers(falling),
            tiers=[BG, FG],
        )
        self.assertEqual((FG, (0, 0)), self.places(made, rising.number))
        self.assertEqual((BG, (0, 0)), self.places(made, falling.number))
        self.assertEqual([2, 0], made.used[FG])
        self.assertEqual([2, 0], made.used[BG])

    def test_a_background_job_under_a_slot_that_is_about_to_be_closed(self):
        """Nobody else has to leave for it."""
        below, hot = job(size=2, tier=BG), job(size=2, tier=BG, cpu=1.0)
        made = self.shown(
            [Departure(below, 5.0), Departure(hot, 5.0, FG)],
            servers(below, hosts=("a",)),
            servers(hot, hosts=("b",)),
            tiers=[BG, BG],
        )
        self.assertEqual([], made.overdue())

    def test_where_a_migration_has_arrived(self):
        """Nova may have chosen another host than the plan."""
        rising = job(size=1, tier=FG)
        [server] = servers(rising, task="migrating")
        look = seen([server], where=hosts("ab", slots=2))
        for claim, place in ((Claim(server.id, "a", FG, 50), 0), (None, 1)):
            look.claims.clear()
            if claim:
                look.claims[server.id] = claim
            departure = Departure(rising, 5.0, FG, {0: "b"})
            made = forecast.cluster_of(look, (), {}, (), 0.96, departures=[departure])
            self.assertEqual((FG, (place,)), self.places(made, rising.number))

    def test_a_server_that_holds_several_slots_is_counted_once(self):
        rising = job(size=1, tier=FG)
        [server] = servers(rising, task="migrating")
        both = [Claim(server.id, "a", BG, 50), Claim(server.id, "b", FG, 50)]
        look = seen([server], where=hosts("ab", slots=2), others=both)
        look.claims.clear()
        departure = Departure(rising, 5.0, FG, {0: "b"})
        made = forecast.cluster_of(look, (), {}, (), 0.96, departures=[departure])
        self.assertEqual({FG: 3, BG: 3}, made.idle)
