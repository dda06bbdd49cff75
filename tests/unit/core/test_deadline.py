"""The order of amcbf-deadline: who is ahead of whom, and that it never changes."""

from dataclasses import replace

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import BG, FG, Evict, Move, Start
from nova_twotier.core.cluster import Host
from nova_twotier.core.linked import Linked
from nova_twotier.core.policies.amcbf import Amcbf
from nova_twotier.core.policies.amcbf_deadline import UNKNOWN_RUN_TIME
from nova_twotier.core.qos import SCAVENGER
from nova_twotier.core.snapshot import Event, Snapshot
from tests.unit.core.builders import estimate, job
from tests.unit.core.driver import Driver
from tests.unit.core.test_linked import STAR
from tests.unit.core.test_policies import inherited, streams

seconds = st.one_of(st.none(), st.floats(0, 1e6))


class TestRank(testtools.TestCase):
    def rank(self, factor=1.0, **options):
        admitted = policies.get("amcbf-deadline", factor).admit(job(7, arrival=100.0, **options))
        self.assertEqual((100.0, 7), (admitted.arrival, admitted.number))
        return admitted.order[0]

    def test_arrival_plus_the_estimate(self):
        self.assertEqual(160.0, self.rank(estimate=60.0))
        self.assertEqual(130.0, self.rank(0.5, estimate=60.0))

    def test_the_walltime_counts_before_the_estimate(self):
        self.assertEqual(400.0, self.rank(estimate=60.0, walltime=300.0))
        self.assertEqual(400.0, self.rank(walltime=300.0))

    def test_without_a_run_time_it_is_a_day(self):
        self.assertEqual(100.0 + UNKNOWN_RUN_TIME, self.rank())

    def test_with_a_factor_of_zero_by_arrival(self):
        self.assertEqual(100.0, self.rank(0.0, estimate=60.0))

    @given(seconds, seconds, st.floats(0, 3))
    def test_admitted_again_it_keeps_its_order(self, expected, walltime, factor):
        policy = policies.get("amcbf-deadline", factor)
        once = policy.admit(job(1, estimate=expected, walltime=walltime))
        self.assertEqual(once.order, policy.admit(once).order)

    def test_other_policies_order_by_arrival(self):
        for name in policies.POLICIES:
            if name != "amcbf-deadline":
                one = job(1, estimate=60.0, walltime=300.0)
                self.assertIs(one, policies.get(name, 5.0).admit(one), name)


class AmcbfAtAnyEvent(Amcbf):
    """AMCBF that rearranges the foreground at any event, not only when the foreground changes."""

    reorders = True


class TestDecisions(testtools.TestCase):
    def kinds(self, actions):
        return [(type(each), each.job.number) for each in actions]

    def test_a_short_job_takes_the_foreground_as_it_arrives(self):
        driver = Driver(self, "amcbf-deadline", [Host("a", 1)])
        driver.arrive(job(1, estimate=1000.0))
        actions = driver.arrive(job(2, arrival=5.0, estimate=10.0))
        self.assertEqual([(Move, 1), (Start, 2)], self.kinds(actions))
        self.assertEqual({1: BG, 2: FG}, {n: run.tier for n, run in driver.cluster.runs.items()})
        self.assertEqual(2, actions[0].by.number)

    def test_one_whose_deadline_is_later_does_not(self):
        driver = Driver(self, "amcbf-deadline", [Host("a", 1, 1)])
        driver.arrive(job(1, arrival=0.0, estimate=100.0))
        self.assertEqual([], driver.arrive(job(2, arrival=95.0, estimate=10.0)))
        self.assertEqual([(Evict, 1), (Start, 3)], self.kinds(driver.arrive(job(3, estimate=10.0))))

    def test_a_job_with_a_later_deadline_counts_as_later(self):
        driver = Driver(self, "amcbf-deadline", [Host("a", 2, 1)])
        driver.arrive(job(1, estimate=50.0), job(2, estimate=900.0))
        driver.arrive(job(3, 2, estimate=100.0))
        reason = driver.policy.reasons(Snapshot(driver.cluster, driver.waiting))(driver.waiting[0])
        self.assertIn("needs 2 foreground slots, 0 idle + 1 held by later jobs", str(reason))

    def test_none_evicts_while_an_earlier_job_is_on_its_way(self):
        """As if that one waited: it is shown to the policy again when it is there."""
        for mbps, cluster in ((0, [Host("a", 6)]), (1, Linked.of(STAR, 2, tiers=2))):
            driver = Driver(self, "amcbf-deadline", cluster)
            driver.arrive(job(1, 6, estimate=900.0, mbps=mbps))
            waiting = driver.policy.admit(job(2, 6, arrival=5.0, estimate=10.0, mbps=mbps))
            for away, expected in ((14.0, []), (16.0, [(Move, 1), (Start, 2)])):
                snapshot = Snapshot(driver.cluster.copy(), [waiting], away=(away, 3))
                actions = driver.policy.schedule(snapshot, Event.FOREGROUND, 5.0)
                took = [each for each in actions if each.tier is FG or each.job.number == 1]
                self.assertEqual(expected, self.kinds(took))

    def test_the_background_takes_the_shortest_first(self):
        """3 has the later deadline, but is the shorter one; in the foreground, 2 comes first."""
        alone, embedded = [Host("a", 6)], Linked.of(STAR, 2, tiers=2)
        for cluster, mbps in ((alone, 0), (embedded, 1)):
            driver = Driver(self, "amcbf-deadline", cluster)
            driver.arrive(job(1, 6, estimate=10.0))
            driver.arrive(*self.long_and_short(mbps))
            self.assertEqual({1: FG, 3: BG}, self.where(driver))
            driver.depart(1)
            self.assertEqual({2: FG, 3: BG}, self.where(driver))

    def test_one_in_the_background_only_and_a_shorter_one_both_start(self):
        for mbps, cluster in ((0, [Host("a", 6)]), (1, Linked.of(STAR, 2, tiers=2))):
            driver = Driver(self, "amcbf-deadline", cluster)
            driver.arrive(job(1, 6, estimate=10.0))
            alone = job(2, 2, arrival=0.0, estimate=100.0, foreground=False, mbps=mbps)
            driver.arrive(alone, job(3, 1, arrival=90.0, estimate=11.0, mbps=mbps))
            self.assertEqual({1: FG, 2: BG, 3: BG}, self.where(driver))

    def test_the_shortest_backfills_the_foreground_first(self):
        """2 has its turn, but too few slots; 4 has a later deadline than 3, but is shorter."""
        alone, embedded = [Host("a", 6)], Linked.of(STAR, 2, tiers=2)
        for cluster, mbps in ((alone, 0), (embedded, 1)):
            for policy, first in (("amcbf", 3), ("amcbf-deadline", 4)):
                driver = Driver(self, policy, cluster.copy() if mbps else cluster)
                driver.arrive(job(1, 4, estimate=10.0))
                driver.arrive(job(2, 6, arrival=1.0, estimate=20.0, mbps=mbps))
                driver.arrive(
                    job(3, 2, arrival=2.0, estimate=500.0, mbps=mbps),
                    job(4, 2, arrival=300.0, estimate=300.0, mbps=mbps),
                )
                self.assertEqual({1: FG, 2: BG, first: FG}, self.where(driver), policy)

    def test_the_next_has_its_turn_when_the_earliest_ends_in_the_background(self):
        """3 could have preempted 4 before, had 2 not come first."""
        alone, embedded = [Host("a", 6)], Linked.of(STAR, 2, tiers=2)
        for cluster, mbps in ((alone, 0), (embedded, 1)):
            driver = Driver(self, "amcbf-deadline", cluster)
            driver.arrive(job(1, 2, estimate=10.0))
            driver.arrive(job(4, 4, estimate=900.0))
            driver.arrive(job(2, 6, arrival=1.0, estimate=20.0, mbps=mbps))
            driver.arrive(job(3, 4, arrival=2.0, estimate=50.0, mbps=mbps))
            self.assertEqual({1: FG, 4: FG, 2: BG}, self.where(driver))
            driver.depart(2)
            self.assertEqual({1: FG, 3: FG, 4: BG}, self.where(driver))

    def test_so_it_does_with_the_places_of_scavengers(self):
        alone, embedded = [Host("a", 6)], Linked.of(STAR, 2, tiers=2)
        for cluster, mbps in ((alone, 0), (embedded, 1)):
            driver = Driver(self, "amcbf-deadline", cluster)
            driver.arrive(job(1, 6, estimate=10.0))
            driver.arrive(job(4, 6, estimate=1.0, qos=SCAVENGER, foreground=False))
            self.assertEqual({1: FG, 4: BG}, self.where(driver))
            driver.arrive(*self.long_and_short(mbps))
            self.assertEqual({1: FG, 3: BG}, self.where(driver))

    def test_who_runs_in_the_background_only_is_not_passed_by_later_deadlines(self):
        for mbps, cluster in ((0, [Host("a", 6)]), (1, Linked.of(STAR, 2, tiers=2))):
            driver = Driver(self, "amcbf-deadline", cluster)
            driver.arrive(job(1, 6, estimate=10.0))
            alone, short = self.long_and_short(mbps)
            driver.arrive(replace(alone, foreground=False), short)
            self.assertEqual({1: FG, 2: BG}, self.where(driver))

    def long_and_short(self, mbps):
        return (
            job(2, 6, arrival=0.0, estimate=500.0, mbps=mbps),
            job(3, 6, arrival=300.0, estimate=300.0, mbps=mbps),
        )

    def where(self, driver):
        return {number: run.tier for number, run in driver.cluster.runs.items()}

    @inherited
    @given(streams(), st.data())
    def test_with_a_factor_of_zero_it_is_amcbf(self, drawn, data):
        shapes, stream = drawn
        drivers = [Driver(self, name, shapes) for name in ("amcbf", "amcbf-deadline")]
        drivers[0].policy = AmcbfAtAnyEvent()
        drivers[1].policy = policies.get("amcbf-deadline", 0.0)
        while stream or drivers[0].cluster.runs:
            running = sorted(drivers[0].cluster.runs)
            if running and (not stream or data.draw(st.booleans())):
                number = data.draw(st.sampled_from(running))
                one, other = (driver.depart(number) for driver in drivers)
            else:
                arriving = stream.pop(0)
                one, other = (driver.arrive(arriving) for driver in drivers)
            self.assertEqual(one, other)

    @inherited
    @given(st.lists(st.tuples(st.integers(0, 50), estimate), min_size=1, max_size=12))
    def test_none_is_behind_one_that_arrived_after_its_deadline(self, drawn):
        """On one slot, whoever runs in the foreground has the earliest deadline of all."""
        driver = Driver(self, "amcbf-deadline", [Host("a", 1)])
        for number, (gap, expected) in enumerate(drawn, start=1):
            driver.arrive(job(number, arrival=float(number * 10 + gap), estimate=expected))
            [front] = driver.cluster.running(FG)
            there = [*driver.waiting, *(run.job for run in driver.cluster.runs.values())]
            self.assertEqual(min(each.order for each in there), front.job.order)
