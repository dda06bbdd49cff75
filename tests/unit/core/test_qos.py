"""Classes of service under every policy: who comes first, and who makes way."""

import dataclasses

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import Evict, Kill, Move, Start
from nova_twotier.core.cluster import Host
from nova_twotier.core.fair_share import is_ahead
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import InvalidJob
from nova_twotier.core.nodes import Nodes
from nova_twotier.core.policies.tentative import Tentative
from nova_twotier.core.qos import SCAVENGER, URGENT, Qos
from nova_twotier.core.snapshot import Event, Snapshot
from tests.unit.core.builders import BG, FG, job
from tests.unit.core.driver import Driver, places
from tests.unit.core.test_policies import inherited, streams

ALL = sorted(policies.POLICIES)
TWO_TIERS = [name for name in ALL if policies.get(name).tiers > 1]
ONE_TIER = [name for name in ALL if policies.get(name).tiers == 1]
CONSOLIDATING = [name for name in TWO_TIERS if not policies.get(name).kills]
#: Those that let an earlier job preempt a later one.
PREEMPTING = [*CONSOLIDATING, "acfcfs", "cmbf", "ambf", "bgmbf", "bgmbf-sdf"]


def urgent(number, size=1, **options):
    return job(number, size, qos=URGENT, **options)


def scavenger(number, size=1, **options):
    return job(number, size, qos=SCAVENGER, foreground=False, **options)


def of_class(each, qos):
    return dataclasses.replace(each, qos=qos, foreground=qos is not SCAVENGER)


class ClassDriver(Driver):
    """Urgent jobs are news for the foreground, as simulator and queue manager have it."""

    def arrive(self, *jobs):
        self._admit(jobs)
        shown = Snapshot(self.cluster, self.waiting)
        ahead = any(each.qos is URGENT and is_ahead(shown, each) for each in self.waiting)
        return self.decide(Event.ARRIVAL | Event.FOREGROUND if ahead else Event.ARRIVAL)


def tiers(driver):
    return {number: run.tier for number, run in sorted(driver.cluster.runs.items())}


def preempted(actions):
    """Who leaves its slots, and for whom."""
    return {a.job.number: a.by.number for a in actions if isinstance(a, Evict | Kill)}


class TestAnyStream(testtools.TestCase):
    """Whatever arrives and departs, in whatever order; the driver checks each decision."""

    @inherited
    @given(streams(), st.sampled_from(ALL), st.data())
    def test_scavengers_keep_nobody_waiting(self, drawn, policy, data):
        shapes, stream = drawn
        stream = [of_class(each, data.draw(st.sampled_from(Qos))) for each in stream]
        driver = ClassDriver(self, policy, shapes)
        while stream or driver.cluster.runs:
            running = sorted(driver.cluster.runs)
            if running and (not stream or data.draw(st.booleans())):
                self.check(driver, driver.depart(data.draw(st.sampled_from(running))))
            else:
                self.check(driver, driver.arrive(stream.pop(0)))
        fits = sum(shape.slots * (shape.tiers - 1) for shape in shapes)
        for waiting in driver.waiting:
            self.assertIs(SCAVENGER, waiting.qos, f"{waiting} starves")
            self.assertTrue(driver.policy.tiers == 1 or waiting.size > fits, waiting)

    def check(self, driver, actions):
        cluster = driver.cluster
        for run in cluster.running(FG):
            self.assertIsNot(SCAVENGER, run.job.qos, "in the foreground")
        for by in (a.by for a in actions if isinstance(a, Evict | Kill)):
            self.assertIsNot(SCAVENGER, by.qos, "a scavenger preempts nobody")
        if driver.policy.tiers == 1:
            return
        held = places(cluster, cluster.scavengers())
        for waiting in driver.waiting:
            self.assertGreater(waiting.size, cluster.idle[BG], "the background has room")
            if waiting.qos is not SCAVENGER:
                self.assertGreater(
                    waiting.size, cluster.idle[BG] + held, "scavengers are in its way"
                )

    @inherited
    @given(streams(), st.sampled_from(TWO_TIERS), st.data())
    def test_pinned_ones_and_full_hosts_are_left_alone(self, drawn, policy, data):
        """What the queue manager sees: jobs that just start, hosts that take nothing new."""
        shapes, stream = drawn
        shapes = [dataclasses.replace(each, enabled=data.draw(st.booleans())) for each in shapes]
        cluster = Hosts([dataclasses.replace(each, enabled=True) for each in shapes])
        waiting = []
        for each in (of_class(each, data.draw(st.sampled_from(Qos))) for each in stream):
            if each.size <= cluster.idle[BG] and data.draw(st.booleans()):
                run = cluster.start(each, BG)
                cluster.remove(each)
                cluster.adopt(run._replace(pinned=data.draw(st.booleans())))
            else:
                waiting.append(each)
        cluster = Hosts(shapes, runs=cluster.runs.values())
        driver = ClassDriver(self, policy, cluster)
        pinned = {number for number, run in cluster.runs.items() if run.pinned}
        driver.waiting = sorted(map(driver.policy.admit, waiting), key=lambda each: each.order)
        driver.admitted |= {each.number for each in waiting}
        self.check(driver, driver.decide(Event.ARRIVAL | Event.FOREGROUND | Event.BACKGROUND))
        self.assertEqual(set(), pinned - driver.cluster.runs.keys())


class TestUrgent(testtools.TestCase):
    def test_starts_before_those_who_wait(self):
        for policy in ALL:
            driver = ClassDriver(self, policy, [Host("a", 2, tiers=1)])
            driver.arrive(urgent(1, 2, estimate=10.0))
            driver.arrive(job(2, 1, estimate=5.0), job(3, 2, estimate=1.0))
            driver.arrive(urgent(4, 2, estimate=50.0))
            self.assertEqual({1: FG}, tiers(driver), policy)
            driver.depart(1)
            self.assertEqual({4: FG}, tiers(driver), policy)

    def test_preempts_as_an_earlier_arrival_does(self):
        for policy in PREEMPTING:
            driver = ClassDriver(self, policy, [Host("a", 2)])
            driver.arrive(job(1, 2))
            driver.arrive(urgent(2, 2))
            self.assertEqual(FG, tiers(driver)[2], policy)
            self.assertIn(tiers(driver).get(1), (BG, None), policy)

    def test_waits_under_policies_that_preempt_nobody(self):
        for policy in sorted(set(ONE_TIER) - set(PREEMPTING)):
            driver = ClassDriver(self, policy, [Host("a", 2)])
            driver.arrive(job(1, 2))
            self.assertEqual([], driver.arrive(urgent(2, 2)), policy)

    def test_those_of_a_class_keep_their_order(self):
        later, earlier = urgent(1, arrival=9.0), urgent(2, arrival=8.999)
        self.assertLess(earlier.order, later.order)
        self.assertLess(urgent(1, arrival=9.0).order, urgent(2, arrival=9.0).order)

    def test_even_past_the_longest_deadline_and_the_latest_submission(self):
        longest = policies.get("amcbf-deadline", 1000.0)
        last = longest.admit(urgent(1, arrival=4e9, walltime=1e9))
        first = longest.admit(job(2, arrival=0.0, walltime=0.0))
        self.assertLess(last.order, first.order)
        self.assertLess(
            longest.admit(job(3, arrival=4e9, walltime=0.99e9)).order,
            scavenger(4, arrival=0.0).order,
        )


class TestScavenger(testtools.TestCase):
    def test_runs_in_the_background_only(self):
        for policy in TWO_TIERS:
            driver = ClassDriver(self, policy, [Host("a", 2)])
            driver.arrive(scavenger(1, 2))
            self.assertEqual({1: BG}, tiers(driver), policy)
        error = self.assertRaises(InvalidJob, job, 1, qos=SCAVENGER)
        self.assertIn("background only", str(error))

    def test_never_starts_with_one_tier(self):
        for policy in ONE_TIER:
            driver = ClassDriver(self, policy, [Host("a", 2)])
            self.assertEqual([], driver.arrive(scavenger(1)), policy)

    def test_is_behind_all_others(self):
        for policy in TWO_TIERS:
            driver = ClassDriver(self, policy, [Host("a", 2)])
            driver.arrive(job(1, 2), job(2, 2))
            driver.arrive(scavenger(3))
            driver.arrive(job(4, 2))
            self.assertEqual({1: FG, 2: BG}, tiers(driver), policy)
            driver.depart(1)
            self.assertEqual({2: FG, 4: BG}, tiers(driver), policy)

    def test_makes_way_for_a_job_that_fits_then(self):
        for policy in TWO_TIERS:
            driver = ClassDriver(self, policy, [Host("a", 3)])
            driver.arrive(job(1, 3), scavenger(2, 2))
            self.assertEqual({2: 3}, preempted(driver.arrive(job(3, 3))), policy)
            self.assertEqual({1: FG, 3: BG}, tiers(driver), policy)

    def test_also_when_only_the_background_changes(self):
        for policy in TWO_TIERS:
            driver = ClassDriver(self, policy, [Host("a", 3)])
            driver.arrive(job(1, 3), job(2, 2), scavenger(3))
            driver.arrive(job(4, 3))
            self.assertEqual({1: FG, 2: BG, 3: BG}, tiers(driver), policy)
            self.assertEqual({3: 4}, preempted(driver.depart(2)), policy)

    def test_stays_if_that_is_not_enough(self):
        for policy in TWO_TIERS:
            driver = ClassDriver(self, policy, [Host("a", 3)])
            driver.arrive(job(1, 3), job(2, 2), scavenger(3))
            self.assertEqual([], driver.arrive(job(4, 2)), policy)

    def test_the_latest_leave_and_no_more_than_needed(self):
        for policy in TWO_TIERS:
            driver = ClassDriver(self, policy, [Host("a", 6)])
            driver.arrive(job(1, 6))
            for number, size in ((2, 1), (3, 2), (4, 1), (5, 1)):
                driver.arrive(scavenger(number, size))
            self.assertEqual({5: 6}, preempted(driver.arrive(job(6, 2))), policy)
            self.assertEqual({4: 7}, preempted(driver.arrive(job(7))), policy)
            # Without the one of two, the one of one may stay.
            self.assertEqual({3: 8}, preempted(driver.arrive(job(8, 2))), policy)

    def test_leaves_a_closed_slot_before_the_others(self):
        for policy in CONSOLIDATING:
            driver = ClassDriver(self, policy, [Host("a", 2)])
            driver.arrive(job(1, 1))
            driver.arrive(above := dataclasses.replace(job(2, 1), foreground=False))
            driver.arrive(scavenger(3))
            self.assertEqual({3: 4}, preempted(driver.arrive(job(4, cpu=1.0))), policy)
            self.assertIn(above.number, driver.cluster.runs)

    def test_makes_way_in_place_for_who_loses_the_foreground(self):
        """The demoted job swaps on its hosts and keeps running, rather than being evicted."""
        for policy in [*CONSOLIDATING, "acfcfs"]:
            for made in (Hosts([Host("a", 1), Host("b", 1)]), Nodes(2)):
                driver = ClassDriver(self, policy, made)
                driver.arrive(job(1))
                driver.arrive(job(2))
                driver.arrive(scavenger(3), scavenger(4))
                actions = driver.arrive(urgent(5))
                [move] = [action for action in actions if isinstance(action, Move)]
                self.assertEqual((2, BG, ()), (move.job.number, move.tier, move.migrating), policy)
                self.assertEqual([2], list(preempted(actions).values()), policy)
                found = tiers(driver)
                self.assertEqual((FG, BG, FG), (found[1], found[2], found[5]), policy)

    def test_makes_way_where_one_of_two_hosts_has_room(self):
        for policy in [*CONSOLIDATING, "acfcfs"]:
            for made in (Hosts([Host("a", 1), Host("b", 1)]), Nodes(2)):
                driver = ClassDriver(self, policy, made)
                driver.arrive(job(2, 2))
                driver.arrive(scavenger(3))
                actions = driver.arrive(urgent(5))
                self.assertEqual({3: 2}, preempted(actions), policy)
                self.assertEqual({2: BG, 5: FG}, tiers(driver), policy)

    def test_takes_what_is_left_when_it_had_to_leave(self):
        driver = ClassDriver(self, "amcbf", [Host("a", 2), Host("b", 2)])
        driver.arrive(job(1, 2), job(2, 2))
        driver.arrive(scavenger(3, 3))
        driver.arrive(scavenger(4))
        actions = driver.arrive(job(5, 2))
        self.assertEqual({3: 5}, preempted(actions))
        self.assertEqual({1: FG, 2: FG, 4: BG, 5: BG}, tiers(driver))

    def test_on_the_nodes_of_the_papers(self):
        for policy in TWO_TIERS:
            driver = ClassDriver(self, policy, Nodes(3))
            driver.arrive(job(1, 3), scavenger(2, 1), scavenger(3, 2))
            actions = driver.arrive(job(4, 2))
            self.assertEqual({3: 4}, preempted(actions), policy)
            tentative = isinstance(driver.policy, Tentative)
            kinds = {type(action) for action in actions}
            self.assertEqual({Kill if tentative else Evict, Start}, kinds, policy)
