"""Jobs that may run in one tier only, under every policy."""

import dataclasses

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import Evict, Move
from nova_twotier.core.cluster import Host
from nova_twotier.core.jobs import InvalidJob
from nova_twotier.core.snapshot import Snapshot
from tests.unit.core.builders import BG, FG, job
from tests.unit.core.driver import Driver
from tests.unit.core.test_policies import inherited, streams

ONE_TIER = sorted(name for name in policies.POLICIES if policies.get(name).tiers == 1)
TWO_TIERS = sorted(name for name in policies.POLICIES if policies.get(name).tiers > 1)
CONSOLIDATING = ("amcbf", "cmcbf", "ktier-cmbf")
LIMITS = ({}, {"foreground": False}, {"background": False})


def below(number, size=1, **options):
    """A job that may run in the background only."""
    return job(number, size, foreground=False, **options)


def above(number, size=1, **options):
    """A job that may run in the foreground only."""
    return job(number, size, background=False, **options)


class TestAnyStream(testtools.TestCase):
    """Whatever arrives and departs, in whatever order."""

    @inherited
    @given(streams(), st.sampled_from(sorted(policies.POLICIES)), st.data())
    def test_no_job_runs_where_it_may_not(self, drawn, policy, data):
        shapes, stream = drawn
        stream = [
            dataclasses.replace(each, **data.draw(st.sampled_from(LIMITS))) for each in stream
        ]
        driver = Driver(self, policy, shapes)
        while stream or driver.cluster.runs:
            running = sorted(driver.cluster.runs)
            if running and (not stream or data.draw(st.booleans())):
                driver.depart(data.draw(st.sampled_from(running)))
            else:
                driver.arrive(stream.pop(0))
            for run in driver.cluster.runs.values():
                allowed = run.job.foreground if run.tier is FG else run.job.background
                self.assertTrue(allowed, run)
        two_tiers = driver.policy.tiers > 1
        fits = sum(shape.slots * (shape.tiers - 1) for shape in shapes)
        for waiting in driver.waiting:
            never = waiting.size > fits or not two_tiers
            self.assertTrue(never and not waiting.foreground, f"{waiting} waits for nothing")

    @inherited
    @given(streams(), st.sampled_from(ONE_TIER), st.data())
    def test_one_tier_decides_as_if_those_in_the_background_were_not_there(
        self, drawn, policy, data
    ):
        shapes, stream = drawn
        bound = {each.number for each in stream if data.draw(st.booleans())}
        free, limited = (Driver(self, policy, shapes) for _each in range(2))
        for each in stream:
            if each.number in bound:
                limited.arrive(dataclasses.replace(each, foreground=False))
                free.clock = limited.clock
            else:
                for driver in (free, limited):
                    driver.arrive(each)
        self.assertEqual(free.cluster.runs, limited.cluster.runs)
        self.assertEqual(bound, {j.number for j in limited.waiting if not j.foreground})


class TestConsolidation(testtools.TestCase):
    def test_stays_below_when_the_foreground_becomes_free(self):
        for policy in TWO_TIERS:
            driver = Driver(self, policy, [Host("a", 2)])
            driver.arrive(job(1, 2))
            driver.arrive(below(2, 2))
            self.assertEqual(BG, driver.cluster.runs[2].tier, policy)
            driver.depart(1)
            self.assertEqual(BG, driver.cluster.runs[2].tier, policy)
            [started] = driver.arrive(job(3, 2))
            self.assertEqual(FG, started.tier, policy)

    def test_later_arrival_rises_past_it(self):
        for policy in CONSOLIDATING:
            driver = Driver(self, policy, [Host("a", 2)])
            driver.arrive(job(1, 2), below(2), job(3))
            self.assertEqual({1: FG, 2: BG, 3: BG}, tiers(driver))
            [rises] = driver.depart(1)
            self.assertIsInstance(rises, Move)
            self.assertEqual({2: BG, 3: FG}, tiers(driver))

    def test_is_not_the_head_that_may_evict(self):
        """It has no claim on the foreground, however early it came."""
        driver = Driver(self, "amcbf", [Host("a", 2)])
        driver.arrive(job(1, 2))
        driver.arrive(below(2, 3))
        driver.arrive(job(3, 2), job(4))
        self.assertEqual({1: FG, 3: BG}, tiers(driver))
        driver.depart(1)
        self.assertEqual({3: FG, 4: BG}, tiers(driver))

    def test_leaves_when_it_loses_the_foreground(self):
        """A job that may not run in the background is evicted where others would swap."""
        for policy in CONSOLIDATING:
            driver = Driver(self, policy, [Host("a", 3)])
            driver.arrive(job(1, 2), job(2, 3, cpu=0.1))
            driver.arrive(above(3))
            self.assertEqual({1: FG, 2: BG, 3: FG}, tiers(driver))
            actions = driver.depart(1)
            self.assertEqual([3], [a.job.number for a in actions if isinstance(a, Evict)])
            self.assertEqual({2: FG}, tiers(driver))

    def test_waits_for_the_foreground(self):
        for policy in TWO_TIERS:
            driver = Driver(self, policy, [Host("a", 2)])
            driver.arrive(job(1, 2), above(2), job(3))
            self.assertEqual({1: FG, 3: BG}, tiers(driver), policy)


class TestReasons(testtools.TestCase):
    def reason(self, policy, waiting):
        driver = Driver(self, policy, [Host("a", 2)])
        driver.arrive(job(1, 2, cpu=1.0))
        driver.arrive(waiting)
        [waits] = driver.waiting
        return str(driver.policy.reasons(Snapshot(driver.cluster, [waits]))(waits))

    def test_background_only(self):
        for policy in TWO_TIERS:
            self.assertEqual(
                "needs 1 background slot, 0 open and idle", self.reason(policy, below(2)), policy
            )
        for policy in ONE_TIER:
            told = f"may run only in the background, which policy {policy} does not use"
            self.assertEqual(told, self.reason(policy, below(2)))

    def test_foreground_only(self):
        for policy in TWO_TIERS:
            reason = self.reason(policy, above(2))
            self.assertIn("needs 1 foreground slot, 0 idle", reason)
            self.assertNotIn("background", reason)


class TestJobs(testtools.TestCase):
    def test_one_tier_at_least(self):
        error = self.assertRaises(InvalidJob, job, 1, foreground=False, background=False)
        self.assertIn("may run in neither tier", str(error))


def tiers(driver):
    return {number: run.tier for number, run in sorted(driver.cluster.runs.items())}
