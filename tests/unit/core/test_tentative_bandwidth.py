"""Guaranteed bandwidth under the policies with tentative runs."""

from dataclasses import replace

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import Kill, Move, Start, StartKind
from nova_twotier.core.cluster import Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.linked import Linked
from nova_twotier.core.qos import SCAVENGER
from nova_twotier.core.snapshot import Event, Snapshot
from tests.unit.core.builders import BG, FG, job
from tests.unit.core.driver import Driver
from tests.unit.core.test_linked import STAR, check
from tests.unit.core.test_two_tier_bandwidth import (
    coming_and_going,
    entering,
    losing,
    situations,
    streams,
    tree,
)

policy_names = st.sampled_from(("ccfcfs", "acfcfs"))


class TestAnyStream(testtools.TestCase):
    @settings(max_examples=100)
    @given(policy_names, streams(), st.data())
    def test_links_and_hosts_hold_and_no_job_is_lost(self, policy, stream, data):
        driver = Driver(self, policy, tree())
        total, departures = len(stream), 0
        for actions, left in coming_and_going(driver, stream, data):
            departures += left is not None
            check(self, driver.cluster)
            self.check_promise(driver, actions)
            if left is not BG:
                self.check_turn(driver, actions)
        self.assertEqual(total, departures + driver.finish())

    def check_promise(self, driver, actions):
        """Nothing migrates; who is killed gives way to an earlier job, to the foreground or to a
        better class; and no job waits that the background has room for."""
        cluster, aggressive = driver.cluster, driver.policy.aggressive
        for action in actions:
            if isinstance(action, Move):
                self.assertEqual(action.before, action.after)
            elif isinstance(action, Kill) and action.tier is FG:
                self.assertTrue(aggressive)
                self.assertLess(action.by.order, action.job.order)
            elif isinstance(action, Kill):
                scavenger = action.job.qos is SCAVENGER and action.by.qos is not SCAVENGER
                self.assertTrue(scavenger or cluster.runs[action.by.number].tier is FG, action)
        if not any(isinstance(action, Start) for action in actions):
            for each in driver.waiting:
                self.assertFalse(cluster.fits(each, BG), each)

    def check_turn(self, driver, actions):
        """The foreground is first come, first served: none is in its way who came later."""
        cluster, aggressive = driver.cluster, driver.policy.aggressive
        outside = [each for each in driver.not_in_foreground() if each.foreground]
        if outside:
            trial = cluster.copy()
            for run in cluster.evictable(outside[0].order) if aggressive else ():
                trial.remove(run.job)
            self.assertFalse(trial.fits(outside[0], FG), outside[0])
        for action in actions:
            if isinstance(action, Start) and action.tier is FG:
                late = bool(outside) and action.job.order > outside[0].order
                self.assertEqual(late, action.how is StartKind.TENTATIVE)
                self.assertTrue(aggressive or not late)


class TestTiers(testtools.TestCase):
    @settings(max_examples=100)
    @given(situations())
    def test_without_bandwidth_slots_decide(self, snapshot):
        """Where nobody asks for any, CCFCFS decides as without a network."""
        found = []
        for cluster in (Hosts(snapshot.cluster.hosts), tree()):
            for run in snapshot.cluster.runs.values():
                cluster.adopt(run._replace(job=replace(run.job, mbps=0.0)))
            waiting = [replace(each, mbps=0.0) for each in snapshot.queue]
            policy = policies.get("ccfcfs")
            actions = policy.schedule(Snapshot(cluster, waiting), Event.FOREGROUND, 0.0)
            found.append((entering(actions), losing(actions)))
        self.assertEqual(*found)

    def test_the_background_gives_up_its_links(self):
        """2 runs in the background on the links that 3 needs as soon as 1 has ended."""
        for policy in ("ccfcfs", "acfcfs"):
            driver = self.star(policy)
            driver.arrive(job(1, 6))
            driver.arrive(job(2, 3, mbps=900, foreground=False))
            driver.arrive(job(3, 6, mbps=400))
            self.assertEqual([3], [each.number for each in driver.waiting])
            kill, start = driver.depart(1)
            self.assertEqual((2, 3, BG), (kill.job.number, kill.by.number, kill.tier))
            self.assertEqual((3, FG), (start.job.number, start.tier))
            check(self, driver.cluster)

    def test_a_trial_ends_when_its_links_are_needed(self):
        """3 passed 2, which waits for 1, on links that 2 needs; after the kill it has none."""
        driver = self.star("acfcfs")
        driver.cluster.adopt(Run(job(1, 2), FG, (0, 1)))
        driver.cluster.adopt(Run(job(3, 3, mbps=600), FG, (1, 2, 2)))
        driver.admitted |= {1, 3}
        driver._admit([job(2, 6, mbps=300)])
        kill, start = driver.depart(1)
        self.assertEqual((3, 2, FG), (kill.job.number, kill.by.number, kill.tier))
        self.assertEqual((2, FG), (start.job.number, start.tier))
        self.assertEqual([3], [each.number for each in driver.waiting])

    def test_who_loses_the_foreground_stays_if_its_links_suffice(self):
        """As above, but 2 leaves 3 enough of each link: 3 swaps to the background."""
        driver = self.star("acfcfs")
        driver.cluster.adopt(Run(job(1, 2), FG, (0, 1)))
        driver.cluster.adopt(Run(job(3, 3, mbps=600), FG, (1, 2, 2)))
        driver.admitted |= {1, 3}
        driver._admit([job(2, 6, mbps=200)])
        move, start = driver.depart(1)
        self.assertEqual((3, 2, BG), (move.job.number, move.by.number, move.tier))
        self.assertEqual((2, FG), (start.job.number, start.tier))
        check(self, driver.cluster)

    def test_who_loses_its_links_has_its_turn_again(self):
        """3 is in the way of 2 on two links; beside 2, a host is left on which it needs none."""
        driver = self.star("acfcfs")
        driver.cluster.adopt(Run(job(1, 2), FG, (0, 0)))
        driver.cluster.adopt(Run(job(3, 2, mbps=900), FG, (1, 2)))
        driver.admitted |= {1, 3}
        driver._admit([job(2, 3, mbps=200)])
        kill, *starts = driver.depart(1)
        self.assertEqual((Kill, 3, 2), (type(kill), kill.job.number, kill.by.number))
        self.assertEqual([(2, FG), (3, FG)], [(each.job.number, each.tier) for each in starts])
        self.assertEqual({StartKind.IMMEDIATE}, {each.how for each in starts})

    def test_who_cannot_stay_starts_anew(self):
        """3 is in the background, partly below 1; as soon as 2 has ended, there is room beside."""
        for policy in ("ccfcfs", "acfcfs"):
            driver = self.star(policy)
            driver.cluster.adopt(Run(job(1, 2), FG, (0, 0)))
            driver.cluster.adopt(Run(job(2, 2), FG, (1, 2)))
            driver.cluster.adopt(Run(job(3, 3, mbps=500), BG, (0, 0, 1)))
            driver.admitted |= {1, 2, 3}
            kill, start = driver.depart(2)
            self.assertEqual((Kill, 3, 3), (type(kill), kill.job.number, kill.by.number))
            self.assertEqual((FG, (1, 1, 2)), (start.tier, start.hosts))
            self.assertIs(StartKind.IMMEDIATE, start.how)

    def star(self, policy):
        return Driver(self, policy, Linked.of(STAR, 2, tiers=2))
