"""The checks find what is broken, and only that."""

from dataclasses import replace

import testtools

from nova_twotier.ledger.claims import Claim
from nova_twotier.tools.replay import invariants
from nova_twotier.tools.replay.guests import Guests
from nova_twotier.tools.replay.invariants import Invariants
from tests.unit.replay.fakes import BG, FG, roster, sample


class TestSamples(testtools.TestCase):
    def broken(self, jobs, *samples, **patience):
        checks = Invariants(roster(*jobs), **patience)
        for each in samples:
            checks.see(each, each.at)
        return [name for name, invariant in checks.all.items() if invariant.broken]

    def test_full_hosts_are_fine(self):
        full = sample(1, *((1, i, "h1", FG) for i in range(2)), *((2, i, "h1", BG) for i in (0, 1)))
        self.assertEqual([], self.broken([((0.5, 0.5), 1), ((0.5, 0.5), 1)], full, full))

    def test_a_slot_given_twice(self):
        over = sample(1, (1, 0, "h1", FG), (1, 1, "h1", FG), others=[("h1", FG)])
        self.assertEqual([invariants.CAPACITY], self.broken([((0.5, 0.5), 1)], over))

    def test_two_claims_count_when_two_samples_in_a_row_show_them(self):
        twice, once = (sample(1, (1, 0, "h1", tiers)) for tiers in ([FG, BG], FG))
        jobs = [((0.5,), 1)]
        self.assertEqual([], self.broken(jobs, twice, once, twice))
        self.assertEqual([invariants.ONE_CLAIM], self.broken(jobs, once, twice, twice))

    def test_the_claim_that_an_evacuated_server_left_behind(self):
        """It counts against the old host's capacity, not as a second slot of the server."""
        jobs, vm, there = [((0.5,), 1)], "vm1-0", Claim("vm1-0", "h2", FG, 0)
        here = sample(1, (1, 0, "h1", FG))
        both = replace(here, claims={vm: [*here.claims[vm], there]}, left={(vm, "h2")})
        self.assertEqual([], self.broken(jobs, both, both))
        self.assertEqual(
            [invariants.ONE_CLAIM], self.broken(jobs, *[replace(both, left=set())] * 2)
        )
        full = replace(both, claims={**both.claims, "a": [there], "b": [there]})
        self.assertEqual([invariants.CAPACITY], self.broken(jobs, full))

    def test_background_under_closed_slots(self):
        jobs = [((1.0,), 1), ((0.5, 0.5), 1)]
        one = sample(1, (1, 0, "h1", FG), (2, 0, "h1", BG), (2, 1, "h2", BG))
        two = sample(1, (1, 0, "h1", FG), (2, 0, "h1", BG), (2, 1, "h1", BG))
        self.assertEqual([], self.broken(jobs, one, one, two, one))
        self.assertEqual([invariants.CLOSED], self.broken(jobs, two, two, lag=1))

    def test_background_that_the_manager_has_yet_to_take_away(self):
        jobs = [((1.0,), 1), ((0.5, 0.5), 1)]
        clear, *under = (
            sample(at, (1, 0, "h1", FG), (2, 0, host, BG), (2, 1, "h1", BG))
            for at, host in ((1, "h2"), (2, "h1"), (4, "h1"), (7, "h1"))
        )
        self.assertEqual([], self.broken(jobs, under[0], under[1], lag=2))
        self.assertEqual([invariants.CLOSED], self.broken(jobs, *under, lag=2))
        self.assertEqual([], self.broken(jobs, *under[:2], clear, under[2], lag=2))

    def test_background_that_cannot_leave_while_the_manager_is_cut_off(self):
        full = sample(1, (1, 0, "h1", FG), (2, 0, "h1", BG), (2, 1, "h1", BG))
        checks = Invariants(roster(((1.0,), 1), ((0.5, 0.5), 1)), lag=2)
        for cut_off in (False, True, True, True, False):
            checks.see(full, 0.0, cut_off=cut_off)
        self.assertEqual([], checks.all[invariants.CLOSED].broken)
        checks.see(full, 0.0)
        self.assertEqual(1, len(checks.all[invariants.CLOSED].broken))

    def test_what_nobody_looked_at_does_not_hold(self):
        checks = Invariants(roster(((0.5,), 1)))
        checks.see(sample(1, hosts=()), 1)
        self.assertEqual({0}, {invariant.checks for invariant in checks.all.values()})
        self.assertEqual({False}, {invariant.holds for invariant in checks.all.values()})
        checks.see(sample(2, (1, 0, "h1", FG)), 2, {1})
        seen = {name for name, invariant in checks.all.items() if invariant.holds}
        self.assertEqual({*checks.all} - {invariants.ONCE, invariants.CLEAN}, seen)
        self.assertFalse(checks.hold)

    def test_a_gang_that_is_too_large(self):
        extra = sample(1, (1, 0, "h1", FG), (1, 1, "h2", FG))
        self.assertEqual([invariants.GANG], self.broken([((0.5,), 1)], extra))


class TestWhole(testtools.TestCase):
    """A job that counts as running has all its servers."""

    def broken(self, *samples, patience=0, running=frozenset({1})):
        checks = Invariants(roster(((0.5, 0.5), 1)), patience=patience)
        for each in samples:
            checks.see(each, each.at, running)
        return checks.all[invariants.WHOLE].broken

    def gang(self, at, *second):
        return sample(at, (1, 0, "h1", FG), *((1, 1, *each) for each in second))

    def test_all_servers(self):
        up = self.gang(1, ("h2", FG))
        moving = self.gang(2, ("h2", FG, "MIGRATING", "migrating"))
        self.assertEqual([], self.broken(up, moving, self.gang(3, ("h2", FG, "SHUTOFF"))))

    def test_a_server_is_missing_or_away(self):
        told = ["at 1 s job 1 (j-1) counts as running with 1 of 2 servers"]
        self.assertEqual(told, self.broken(self.gang(1)))
        self.assertEqual(told, self.broken(self.gang(1, (None, None, "SHELVED_OFFLOADED"))))

    def test_while_it_does_not_count_as_running(self):
        self.assertEqual([], self.broken(self.gang(1), running=frozenset()))

    def test_patience(self):
        whole = self.gang(3, ("h2", FG))
        noticed = [self.gang(1), self.gang(2), whole, self.gang(4), self.gang(5)]
        self.assertEqual([], self.broken(*noticed, patience=2))
        self.assertEqual(1, len(self.broken(*map(self.gang, (1, 2, 3)), patience=2)))


class TestEnd(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.jobs = roster(((0.5,), 10), ((0.5,), 10))
        self.guests = Guests(self.jobs)
        both = sample(1, (1, 0, "h1", FG), (2, 0, "h2", FG))
        self.guests.advance(0, both)
        self.guests.advance(10, both)

    def end(self, finishes, rejected=(), leftovers=()):
        self.checks = Invariants(self.jobs)
        self.checks.end(finishes, rejected, self.guests, leftovers)
        return {name: i.broken for name, i in self.checks.all.items() if i.broken}

    def test_all_is_well(self):
        self.assertEqual({}, self.end({1: 1, 2: 1}))

    def test_a_rejected_job_is_not_to_finish(self):
        self.assertEqual({}, self.end({1: 1}, rejected=[2]))
        self.assertEqual(
            {invariants.ONCE: ["job 2 (j-2) finished 1 times, not 0"]}, self.end({1: 1, 2: 1}, [2])
        )

    def test_lost_and_doubled_jobs(self):
        self.assertEqual(
            {
                invariants.ONCE: [
                    "job 1 (j-1) finished 2 times, not 1",
                    "job 2 (j-2) finished 0 times, not 1",
                ]
            },
            self.end({1: 2}),
        )
        self.assertEqual(({2}, {1}), (self.checks.lost, self.checks.doubled))

    def test_a_job_that_was_ended_before_its_work_was_done(self):
        self.guests.work[2] = 5
        self.assertEqual(
            {invariants.ONCE: ["job 2 (j-2) was ended at 50% of its work"]}, self.end({1: 1, 2: 1})
        )

    def test_leftovers(self):
        self.assertEqual(
            {invariants.CLEAN: ["2 servers; claims of 1 consumers"]},
            self.end({1: 1, 2: 1}, leftovers=["2 servers", "claims of 1 consumers"]),
        )
