"""The occupancy of slots: what holds after any series of starts and departures."""

import math
import random
from collections import Counter
from dataclasses import replace

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import UNMANAGED, Host, OutOfSlots, Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.slots import next_slot_load
from tests.unit.core.builders import BG, FG, cluster, hosts, job, jobs, recounted, state


@st.composite
def occupied(draw, **options):
    """A cluster after some starts and departures, and the jobs that are not on it."""
    made = Hosts(draw(hosts(**options)))
    outside = []
    for each in draw(jobs(max_size=4)):
        tier = draw(st.sampled_from(Tier))
        if made.fits(each, tier):
            made.start(each, tier)
        else:
            outside.append(each)
        if made.runs and draw(st.booleans()):
            gone = draw(st.sampled_from(sorted(made.runs)))
            outside.append(made.remove(made.runs[gone].job).job)
    return made, outside


class TestCounts(testtools.TestCase):
    @given(occupied(enabled=False))
    def test_counts_are_those_of_the_runs(self, drawn):
        made, _outside = drawn
        self.assertEqual(state(recounted(made)), state(made))
        for tier in Tier:
            rooms = [made.room(tier, host) for host in range(len(made.hosts))]
            self.assertEqual(sum(rooms), made.idle[tier])
            self.assertGreaterEqual(min(rooms), 0)

    @given(occupied(enabled=False), st.lists(st.tuples(st.sampled_from(Tier), st.integers(0, 3))))
    def test_hosts_that_hold_too_much(self, drawn, further):
        """What is kept of each host is what follows from its counts, also without room."""
        made, _outside = drawn
        for number, (tier, host) in enumerate(further, 100):
            if host < len(made.hosts):
                made.adopt(Run(job(number, cpu=(number % 3) / 2), tier, (host,)))
        for after in range(2):
            if after:
                for run in list(made.runs.values())[::2]:
                    made.remove(run.job)
            every = range(len(made.hosts))
            self.assertEqual([h for h in every if made.overfull(h)], made.overdue())
            for host, spec in enumerate(made.hosts):
                for tier, places in ((FG, spec.slots), (BG, made.open_background(host))):
                    room = max(0, places - made.used[tier][host]) if spec.enabled else 0
                    self.assertEqual(room, made.room(tier, host))
            for tier in Tier:
                self.assertEqual(sum(made.room(tier, host) for host in every), made.idle[tier])
            self.assertEqual(self.freeing(made), made.evictable())
            self.assertEqual(state(made), state(made.copy()))

    def freeing(self, made):
        """The foreground runs all of whose slots on hosts in service become idle with them."""
        found = []
        for run in made.running(FG):
            serving = [host for host in run.hosts if made.hosts[host].enabled]
            if serving and all(made.used[FG][at] <= made.hosts[at].slots for at in serving):
                found.append(run)
        return found

    @given(occupied(enabled=False))
    def test_filled_at_once(self, drawn):
        made, _outside = drawn
        filled = Hosts(made.hosts, runs=made.runs.values())
        self.assertEqual(state(recounted(made)), state(filled))
        for run in list(filled.runs.values()):
            filled.remove(run.job)
        self.assertEqual(state(Hosts(made.hosts)), state(filled))

    @given(occupied(enabled=False), st.sampled_from(Tier))
    def test_remove_undoes_start(self, drawn, tier):
        made, outside = drawn
        for each in outside:
            if made.fits(each, tier):
                before = state(made)
                run = made.start(each, tier)
                self.assertEqual((each, tier), (run.job, run.tier))
                self.assertEqual(run, made.remove(each))
                self.assertEqual(before, state(made))

    @given(occupied(), st.sampled_from(Tier))
    def test_a_copy_is_independent(self, drawn, tier):
        made, outside = drawn
        before, twin = state(made), made.copy()
        self.assertEqual(before, state(twin))
        for run in list(twin.runs.values()):
            twin.remove(run.job)
        for each in outside:
            if twin.fits(each, tier):
                twin.start(each, tier)
        self.assertEqual(before, state(made))

    @given(occupied(enabled=False))
    def test_runs_by_arrival(self, drawn):
        made, _outside = drawn
        for tier in Tier:
            of_tier = [run for run in made.runs.values() if run.tier is tier]
            of_tier.sort(key=lambda run: run.job.order)
            self.assertEqual(of_tier, made.running(tier))
            self.assertEqual(of_tier, list(made.walk(tier)))
            hosts = range(len(made.hosts))
            there = {host: [run for run in of_tier if host in run.hosts] for host in hosts}
            self.assertEqual(there, made.on(tier, hosts))
        may = [run for run in made.running(FG) if made.frees(run)]
        self.assertEqual(may, made.evictable())
        for each in made.runs.values():
            order = each.job.order
            self.assertEqual([run for run in may if run.job.order > order], made.evictable(order))
        overfull = [host for host in range(len(made.hosts)) if made.overfull(host)]
        self.assertEqual(overfull, made.overdue())

    @given(occupied(enabled=False), st.sampled_from(Tier), st.data())
    def test_takes_as_many_as_there_is_room_for(self, drawn, tier, data):
        made, _outside = drawn
        index = st.integers(0, len(made.hosts) - 1)
        wanted = data.draw(st.lists(index, max_size=5))
        room = all(wanted.count(host) <= made.room(tier, host) for host in wanted)
        self.assertEqual(room, made.takes(tier, wanted))

    @given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from((5.0, 7.0, math.inf)))), st.data())
    def test_ends(self, drawn, data):
        """Of the foreground jobs that have one, the earliest first."""
        made = cluster(60)
        expected = []
        for number, (size, until) in enumerate(drawn[:10], start=1):
            tier = data.draw(st.sampled_from(Tier))
            made.start(job(number, size, cpu=0.1), tier, until=until)
            if tier is FG and until < math.inf:
                expected.append((until, number, size))
        self.assertEqual(sorted(expected), list(made.ends))
        for run in list(made.runs.values())[::2]:
            made.remove(run.job)
            expected = [end for end in expected if end[1] != run.job.number]
        self.assertEqual(sorted(expected), list(made.ends))

    @given(
        hosts(enabled=False),
        st.lists(
            st.tuples(
                st.lists(st.integers(0, 3), min_size=1, max_size=4),
                st.sampled_from((5.0, 7.0, math.inf)),
            ),
            max_size=8,
        ),
        st.lists(st.integers(0, 3), max_size=3),
    )
    def test_the_slots_that_become_idle(self, shapes, drawn, strangers):
        """Not those of hosts that take no new VMs or hold too many, nor of servers of no job."""
        made = Hosts(shapes)
        for number, (places, until) in enumerate(drawn, start=1):
            on = tuple(place % len(shapes) for place in places)
            made.adopt(Run(job(number, len(on)), FG, on, until=until))
        if strangers:
            on = tuple(place % len(shapes) for place in strangers)
            made.adopt(Run(job(UNMANAGED[FG], len(on)), FG, on, pinned=True))
        ends, endless = list(made.ends), made.endless()
        self.assertEqual(ends, list(made.copy().ends))
        for _until, number, slots in ends:
            before = made.idle[FG]
            made.remove(made.runs[number].job)
            self.assertEqual(slots, made.idle[FG] - before)
        before = made.idle[FG]
        for number in made.runs.keys() - UNMANAGED.values():
            made.remove(made.runs[number].job)
        self.assertEqual(endless, made.idle[FG] - before)

    @given(occupied(), st.data())
    def test_who_may_be_promoted(self, drawn, data):
        """Whenever it is asked for, also of a copy: it follows what comes and goes."""
        made, outside = drawn
        early = made.promotable if data.draw(st.booleans()) else None
        twin = made.copy()
        before = list(made.promotable)
        for each, foreground in ((each, data.draw(st.booleans())) for each in outside):
            if twin.fits(each, BG):
                twin.start(replace(each, foreground=foreground), BG)
        for run in list(twin.runs.values())[::2]:
            twin.remove(run.job)
            if data.draw(st.booleans()):
                twin.adopt(run._replace(pinned=True))
        expected = [r.job for r in twin.running(BG) if r.job.foreground and not r.pinned]
        self.assertEqual(expected, list(twin.promotable))
        self.assertEqual(before, list(made.promotable))
        if early is not None:
            self.assertIs(early, made.promotable)

    def test_a_pinned_run_is_not_evictable(self):
        made = cluster(2)
        made.adopt(Run(job(1), FG, (0,), pinned=True))
        made.adopt(Run(job(2), FG, (0,)))
        self.assertEqual([2], [run.job.number for run in made.evictable()])

    def test_adopts_without_room(self):
        """Hosts that shrank, or whose service is down, keep what runs there."""
        made = Hosts([Host("small", 1), Host("down", 2, enabled=False)])
        made.adopt(Run(job(1, 3), FG, (0, 0, 1)))
        self.assertEqual({FG: 0, BG: 1}, made.idle)
        made.remove(job(1, 3))
        self.assertEqual({FG: 1, BG: 1}, made.idle)

    def test_idle_leaves_disabled_hosts_out(self):
        made = Hosts([Host("a", 2, 3), Host("b", 4, 2), Host("c", 8, 2, enabled=False)])
        self.assertEqual({FG: 6, BG: 8}, made.idle)

    def test_one_tier_has_no_background(self):
        made = cluster(2, tiers=1)
        self.assertEqual({FG: 2, BG: 0}, made.idle)
        made.start(job(1, 2), FG)
        self.assertRaises(OutOfSlots, made.start, job(2), BG)


class TestPlacing(testtools.TestCase):
    @given(occupied(enabled=False), st.sampled_from(Tier), st.data())
    def test_promised_places_are_left_out_and_not_lost(self, drawn, tier, data):
        made, _outside = drawn
        every = made.rank(tier, made.idle[tier])
        for _time in range(2):
            left, promised = list(every), {}
            for host in data.draw(st.sets(st.sampled_from(range(len(made.hosts))))):
                promised[host] = data.draw(st.integers(0, every.count(host)))
                # The worst places of the host.
                kept = [at for at, each in enumerate(left) if each == host]
                for at in reversed(kept[len(kept) - promised[host] :]):
                    del left[at]
            self.assertEqual(left, made.rank(tier, len(left), promised))
        self.assertEqual(every, made.rank(tier, len(every)))

    @given(occupied(enabled=False), st.sampled_from(Tier), st.data())
    def test_rank_fills_no_host_over(self, drawn, tier, data):
        made, _outside = drawn
        count = data.draw(st.integers(0, made.idle[tier]))
        places = made.rank(tier, count)
        self.assertEqual(count, len(places))
        for host, processes in Counter(places).items():
            self.assertLessEqual(processes, made.room(tier, host))
        self.assertRaises(OutOfSlots, made.rank, tier, made.idle[tier] + 1)

    @given(occupied(), st.sampled_from(Tier), st.data())
    def test_rank_keeps_promises(self, drawn, tier, data):
        made, _outside = drawn
        promised = {
            host: data.draw(st.integers(0, made.room(tier, host)))
            for host in range(len(made.hosts))
        }
        free = made.idle[tier] - sum(promised.values())
        for host, processes in Counter(made.rank(tier, free, promised)).items():
            self.assertLessEqual(processes, made.room(tier, host) - promised[host])
        self.assertRaises(OutOfSlots, made.rank, tier, free + 1, promised)

    @given(occupied())
    def test_no_background_on_closed_slots(self, drawn):
        made, outside = drawn
        for each in outside:
            closed = [made.overfull(host) for host in range(len(made.hosts))]
            if made.fits(each, BG):
                made.start(each, BG)
            after = [made.overfull(host) for host in range(len(made.hosts))]
            self.assertEqual(closed, after)

    @given(occupied(), st.sampled_from(Tier))
    def test_rank_does_not_depend_on_history(self, drawn, tier):
        """Two bodies that came to the same occupation by different ways place alike."""
        made, _outside = drawn
        count = made.idle[tier]
        self.assertEqual(recounted(made).rank(tier, count), made.rank(tier, count))

    @given(occupied(), st.sampled_from(Tier))
    def test_a_full_tier_takes_nothing(self, drawn, tier):
        made, _outside = drawn
        if made.idle[tier]:
            made.start(job(1000, made.idle[tier], cpu=0.0), tier)
        self.assertEqual(0, made.idle[tier])
        self.assertRaises(OutOfSlots, made.start, job(1001), tier)

    def test_rank_forgets_what_has_left(self):
        made = cluster(1, 1, tiers=3)
        for number, cpu, host in ((1, 0.1, 0), (2, 0.95, 0), (3, 0.1, 1)):
            made.start(job(number, cpu=cpu), BG, [host])
        made.remove(job(2, cpu=0.95))
        self.assertNotEqual(made.load[BG][0], made.load[BG][1], "a sum of floats, as it happens")
        self.assertEqual([0, 1], made.rank(FG, 2))

    def test_foreground_goes_where_the_background_is_least(self):
        made = cluster(1, 1, 1)
        for host, cpu in enumerate((0.9, 0.1, 0.5)):
            made.start(job(host, cpu=cpu), BG, [host])
        self.assertEqual([1, 2, 0], made.rank(FG, 3))

    def test_background_goes_where_the_foreground_is_least(self):
        made = cluster(1, 1, 1)
        for host, cpu in enumerate((0.9, 0.1, 0.5)):
            made.start(job(host, cpu=cpu), FG, [host])
        self.assertEqual([1, 2, 0], made.rank(BG, 3))

    def test_idle_slots_come_first(self):
        made = cluster(2, 2)
        made.start(job(1, cpu=0.1), FG, [0])
        made.start(job(2, 2, cpu=0.9), FG, [1, 1])
        self.assertEqual([0, 0, 1, 1], made.rank(BG, 4))

    def test_closed_slots_are_no_places(self):
        made = cluster(2, 1)
        made.start(job(1, cpu=0.96), FG, [0])
        made.start(job(2, cpu=0.95), FG, [1])
        self.assertEqual({FG: 1, BG: 2}, made.idle)
        self.assertEqual([0, 1], made.rank(BG, 2))
        self.assertRaises(OutOfSlots, made.start, job(3, 2), BG, [0, 0])

    def test_a_hot_foreground_makes_the_background_overfull(self):
        made = cluster(1, 1, tiers=3)
        made.start(job(1, 2), BG, [0, 0])
        made.start(job(2, cpu=1.0), FG, [0])
        self.assertEqual([2, 0], [made.overfull(host) for host in (0, 1)])

    def test_refuses_a_job_that_runs(self):
        made = cluster(2)
        made.start(job(1), FG)
        self.assertRaises(OutOfSlots, made.start, job(1), BG)

    def test_refuses_places_that_are_taken(self):
        made = cluster(1, 1)
        before = state(made)
        self.assertRaises(OutOfSlots, made.start, job(1, 2), FG, [0, 0])
        self.assertEqual(before, state(made))

    @given(occupied(enabled=False), st.sampled_from(Tier), st.integers(0, 99), st.data())
    def test_drawn_places(self, drawn, tier, seed, data):
        """Places drawn at random are places, too, and a copy draws the same."""
        made, _outside = drawn
        blind = Hosts(made.hosts, made.threshold, random.Random(seed))
        for run in made.runs.values():
            blind.adopt(run)
        count = data.draw(st.integers(0, made.idle[tier]))
        twin = blind.copy()
        places = blind.rank(tier, count)
        self.assertEqual(places, twin.rank(tier, count))
        self.assertEqual(count, len(places))
        self.assertTrue(blind.takes(tier, places))
        self.assertRaises(OutOfSlots, blind.rank, tier, made.idle[tier] + 1)

    def test_draws_from_all_shared_places(self):
        made = Hosts([Host("a", 2), Host("b", 1)], rng=random.Random(1))
        made.start(job(1, 3, cpu=0.5), BG)
        drawn = Counter(tuple(sorted(made.rank(FG, 2))) for _time in range(300))
        self.assertEqual({(0, 0), (0, 1)}, set(drawn))
        self.assertGreater(drawn[0, 1], drawn[0, 0])  # two ways to one

    def test_draws_nothing_while_slots_are_idle(self):
        made = Hosts([Host("a", 1), Host("b", 1), Host("c", 1)], rng=random.Random(1))
        made.start(job(1, cpu=0.5), BG, [0])
        drawn = {tuple(made.rank(FG, 2)) for _time in range(30)}
        self.assertEqual({(1, 2)}, drawn)

    def test_the_hottest_process_beside_the_least_load(self):
        made = cluster(1, 1)
        made.start(job(1, cpu=0.9), BG, [0])
        made.start(job(2, cpu=0.1), BG, [1])
        run = made.start(type(job(1))(3, 2, 0.0, (0.2, 0.8)), FG)
        self.assertEqual([(0.2, 0), (0.8, 1)], list(zip(run.job.cpu, run.hosts, strict=True)))


class TestNextSlotLoad(testtools.TestCase):
    def test_idle_slot(self):
        self.assertEqual(0.0, next_slot_load(3, 1, 1, 0.9))

    def test_shared_slot(self):
        self.assertEqual(0.45, next_slot_load(3, 1, 2, 0.9))

    def test_nobody_beside(self):
        self.assertEqual(0.0, next_slot_load(1, 5, 0, 0.0))
