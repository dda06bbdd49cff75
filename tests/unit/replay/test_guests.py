"""Guests advance only as a whole, by their tier, and stop when they are done."""

from dataclasses import replace
from unittest import mock

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core.progress import Progress
from nova_twotier.tools.replay.guests import NEWS, Guests, Harm
from tests.unit.replay.fakes import BG, FG, roster, sample


class TestGuests(testtools.TestCase):
    def test_a_foreground_job_alone_advances_with_the_clock(self):
        guests = Guests(roster(((0.5, 0.5), 100)))
        whole = sample(1, (1, 0, "h1", FG), (1, 1, "h2", FG))
        guests.advance(0, whole)
        guests.advance(60, whole)
        self.assertEqual({1: 60}, guests.work)

    def test_half_a_gang_does_not_advance(self):
        guests = Guests(roster(((0.5, 0.5), 100)))
        for second in (
            (1, 1, "h2", FG, "BUILD"),
            (1, 1, "h2", None),
            (1, 1, "h2", BG),
            (1, 1, "h2", FG, "MIGRATING", "migrating"),
            (1, 1, "h2", FG, "SHUTOFF"),
        ):
            part = sample(1, (1, 0, "h1", FG), second)
            guests.advance(0, part)
            guests.advance(60, part)
        self.assertEqual({}, guests.work)

    def test_background_beside_a_busy_foreground_is_slower(self):
        model = Progress()
        guests = Guests(roster(((0.8, 0.8), 1e6), ((0.5, 0.5), 1e6)), model)
        both = sample(1, (1, 0, "h1", FG), (1, 1, "h1", FG), (2, 0, "h1", BG), (2, 1, "h1", BG))
        guests.advance(0, both)
        guests.advance(100, both)
        self.assertAlmostEqual(100 * model.disturbed, guests.work[1])
        self.assertAlmostEqual(100 * model.mean_parallel * 0.2 / 0.5, guests.work[2])

    def test_when_they_will_be_done(self):
        guests = Guests(roster(((0.8,), 100), ((0.4,), 50)))
        self.assertEqual({}, guests.left())
        both = sample(1, (1, 0, "h1", FG), (2, 0, "h2", FG))
        guests.advance(0, both)
        guests.advance(30, both)
        self.assertEqual({1: 70, 2: 20}, guests.left())

    def test_shelving_keeps_the_work(self):
        guests = Guests(roster(((0.5,), 100)))
        guests.advance(0, sample(1, (1, 0, "h1", FG)))
        guests.advance(30, sample(2, (1, 0, None, None, "SHELVED_OFFLOADED")))
        guests.advance(500, sample(3, (1, 0, "h2", FG)))
        guests.advance(20, sample(4, (1, 0, "h2", FG)))
        self.assertEqual({1: 50}, guests.work)

    def test_what_a_shelved_guest_had_in_its_memory(self):
        guests = Guests(roster(((0.5, 0.5), 100)))
        whole = (1, 0, "h1", FG), (1, 1, "h2", FG)
        shelved = (1, 0, None, None, "SHELVED_OFFLOADED"), (1, 1, "h2", FG)
        guests.advance(0, sample(1, *whole))
        guests.advance(30, sample(2, *shelved))
        guests.advance(0, sample(3, *shelved))
        self.assertEqual({1: 2 * 30}, guests.unsaved)
        guests.advance(500, sample(4, *whole))
        guests.advance(20, sample(5, *shelved))
        self.assertEqual({1: 2 * 50}, guests.unsaved, "only what came after the restore")

    def test_other_servers_begin_anew(self):
        guests = Guests(roster(((0.5,), 100)))
        old = sample(1, (1, 0, "h1", FG))
        guests.advance(0, old)
        guests.advance(30, old)
        new = sample(2, (1, 0, "h1", FG))
        new = replace(
            new,
            servers=tuple(replace(server, id="other") for server in new.servers),
            claims={"other": new.claims["vm1-0"]},
        )
        guests.advance(1, sample(2))
        guests.advance(500, new)
        guests.advance(20, new)
        self.assertEqual({1: 20}, guests.work)

    def test_nothing_runs_on_a_dead_host(self):
        harm = Harm()
        dead = harm.dead
        guests = Guests(roster(((0.5, 0.5), 100)), harm=harm)
        whole = sample(1, (1, 0, "h1", FG), (1, 1, "h2", FG))
        guests.advance(0, whole)
        dead.add("h2")
        guests.advance(60, whole)
        guests.advance(60, whole)
        self.assertEqual({1: 60}, guests.work)
        dead.clear()
        guests.advance(0, whole)
        guests.advance(40, whole)
        dead.add("h2")
        self.assertEqual(["vm1-0"], [server.id for server in guests.to_stop(whole)])

    def test_work_that_nothing_had_befallen_counts_as_wasted(self):
        guests = Guests(roster(((0.5, 0.5), 100)))
        self.work_and_boot_anew(guests)
        self.assertEqual({1: 2 * 60}, dict(guests.wasted))
        self.assertEqual({}, dict(guests.destroyed))

    def test_work_goes_down_with_a_host(self):
        harm = Harm()
        guests = Guests(roster(((0.5, 0.5), 100)), harm=harm)
        self.work_and_boot_anew(guests, lambda: harm.dead.add("h2"))
        self.assertEqual({1: 2 * 60}, dict(guests.destroyed))

    def test_a_host_that_came_back_is_no_excuse_later(self):
        harm, guests, whole = self.two_guests()
        harm.dead.add("h2")
        guests.advance(0, whole)
        harm.dead.clear()
        guests.advance(0, whole)
        self.work_and_boot_anew(guests)
        self.assertEqual({1: 2 * 60}, dict(guests.wasted))

    def test_guests_that_were_powered_off_begin_anew_and_count_once(self):
        harm, guests, whole = self.two_guests()
        guests.advance(0, whole)
        harm.struck.add("vm1-1")
        guests.advance(60, whole)
        guests.advance(10, whole)
        self.assertEqual({}, guests.work, "the sample may be from before")
        guests.advance(10, whole)
        self.assertEqual({1: 2 * 60}, dict(guests.destroyed))
        self.assertEqual({1: 10}, guests.work)
        self.assertEqual(set(), harm.struck)

    def test_guests_that_were_struck_before_all_were_seen(self):
        """A fault may hit a server before a sample has shown all servers of its job."""
        harm = Harm()
        guests = Guests(roster(((0.5, 0.5), 100)), harm=harm)
        harm.struck.add("vm1-1")
        guests.advance(10, sample(1, (1, 0, "h1", FG)))
        self.work_and_boot_anew(guests)
        self.assertEqual((0, 2 * 60), (guests.wasted[1], guests.destroyed[1]))

    def test_a_manager_that_may_not_know_yet_that_a_host_is_back(self):
        harm = Harm()
        for waited, account in ((NEWS - 1, "destroyed"), (NEWS, "wasted")):
            guests = Guests(roster(((0.5, 0.5), 100)), harm=harm)
            harm.dead.add("h2")
            with mock.patch("time.monotonic", return_value=100.0):
                harm.revive(["h2"])
            self.assertEqual(set(), harm.dead)
            with mock.patch("time.monotonic", return_value=100.0 + waited):
                self.work_and_boot_anew(guests)
            self.assertEqual({1: 2 * 60}, dict(getattr(guests, account)), waited)

    def test_guests_that_had_finished_lose_nothing(self):
        harm, guests, whole = self.two_guests()
        guests.advance(0, whole)
        guests.advance(100, whole)
        harm.struck.add("vm1-1")
        guests.advance(10, whole)
        self.assertEqual(({}, {1: 100}), (dict(guests.destroyed), guests.work))

    def test_guests_that_had_finished_but_the_manager_could_not_know(self):
        """Their job begins anew because of the fault; nothing excuses it if it does so again."""
        harm, guests, whole = self.two_guests()
        guests.advance(0, whole)
        guests.advance(40, whole)
        harm.struck.add("vm1-1")
        guests.advance(60, whole)
        self.assertEqual({1: 2 * 40 + 2 * 60}, dict(guests.destroyed), "not done when last seen")
        guests.advance(0, whole)
        guests.advance(100, whole)
        harm.struck.add("vm1-1")
        self.work_and_boot_anew(guests)
        self.assertEqual(({1: 400}, {}), (dict(guests.destroyed), dict(guests.wasted)))
        self.work_and_boot_anew(guests)
        self.assertEqual(({1: 400}, {1: 2 * 60}), (dict(guests.destroyed), dict(guests.wasted)))

    def test_guests_that_were_struck_between_two_samples_had_not_finished(self):
        harm, guests, whole = self.two_guests()
        guests.advance(0, whole)
        harm.struck.add("vm1-1")
        guests.advance(500, whole)
        self.assertEqual(({1: 2 * 100}, {}), (dict(guests.destroyed), guests.work))

    def test_a_gang_does_not_work_while_a_server_of_it_is_being_deleted(self):
        guests = Guests(roster(((0.5, 0.5), 100)))
        going = sample(1, (1, 0, "h1", FG), (1, 1, "h2", FG, "ACTIVE", "deleting"))
        guests.advance(0, going)
        guests.advance(60, going)
        self.assertEqual({}, guests.work)

    def two_guests(self):
        """A job of two processes that run for 100 s, and a sample in which both do."""
        harm = Harm()
        guests = Guests(roster(((0.5, 0.5), 100)), harm=harm)
        return harm, guests, sample(1, (1, 0, "h1", FG), (1, 1, "h2", FG))

    def work_and_boot_anew(self, guests, befall=lambda: None):
        whole = sample(1, (1, 0, "h1", FG), (1, 1, "h2", FG))
        guests.advance(0, whole)
        guests.advance(60, whole)
        befall()
        guests.advance(0, whole)
        others = [replace(server, id=f"new{server.index}") for server in whole.servers]
        guests.advance(0, replace(whole, servers=tuple(others)))

    def test_finished_guests_stop_again_after_a_restore_but_not_while_busy(self):
        guests = Guests(roster(((0.5,), 10)))
        up = sample(1, (1, 0, "h1", FG))
        guests.advance(0, up)
        self.assertEqual([], guests.to_stop(up))
        guests.advance(10, up)
        self.assertEqual(["vm1-0"], [server.id for server in guests.to_stop(up)])
        self.assertEqual([], guests.to_stop(sample(3, (1, 0, "h1", FG, "ACTIVE", "powering-off"))))
        restored = sample(4, (1, 0, "h2", BG))
        self.assertEqual(["vm1-0"], [server.id for server in guests.to_stop(restored)])

    def test_a_job_without_work_is_done_when_it_has_run(self):
        jobs = roster(((0.5,), 0))
        guests = Guests(jobs)
        self.assertFalse(guests.done(jobs[1]))
        guests.advance(1, sample(1, (1, 0, "h1", FG)))
        self.assertTrue(guests.done(jobs[1]))

    @settings(deadline=None)
    @given(st.lists(st.tuples(st.floats(0, 50), st.sampled_from([FG, BG, None])), max_size=12))
    def test_work_never_shrinks_nor_passes_the_run_time(self, rounds):
        guests = Guests(roster(((0.5,), 100)))
        last = 0
        for at, (seconds, tier) in enumerate(rounds):
            guests.advance(seconds, sample(at, (1, 0, "h1", tier)))
            work = guests.work.get(1, 0)
            self.assertTrue(last <= work <= 100)
            last = work
