"""Guaranteed bandwidth under the policies with two tiers that migrate."""

from dataclasses import replace

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import Evict, Move, Start
from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.embedding import adaba
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.linked import Linked
from nova_twotier.core.policies.consolidation import Consolidation
from nova_twotier.core.qos import NORMAL, SCAVENGER
from nova_twotier.core.snapshot import Event, Snapshot
from tests.unit.core.builders import BG, FG, job
from tests.unit.core.driver import Driver
from tests.unit.core.test_bandwidth_policies import TREE
from tests.unit.core.test_linked import STAR, check, demands
from tests.unit.core.test_qos import of_class

EMBEDDING = sorted(
    name for name, policy in policies.POLICIES.items() if issubclass(policy, Consolidation)
)
cpus = st.sampled_from((0.0, 0.5, 0.9, 1.0))
classes = st.sampled_from((NORMAL, NORMAL, SCAVENGER))
#: Small ones, so that many run; now and then one that needs half of the network.
sizes = st.sampled_from((1, 1, 2, 2, 3, 4, 8))
fields = st.tuples(sizes, demands, cpus, classes)
guaranteed = st.tuples(sizes, demands.filter(bool), cpus, classes)


def tree(slots=2):
    return Linked.of(TREE, slots, tiers=2)


@st.composite
def streams(draw, each=fields):
    """Jobs that fit the network when it is empty, by arrival."""
    empty = tree()
    drawn = enumerate(draw(st.lists(each, min_size=1, max_size=14)), start=1)
    made = [of_class(job(n, size, cpu, mbps=mbps), qos) for n, (size, mbps, cpu, qos) in drawn]
    return [one for one in made if empty.fits(one, FG)]


@st.composite
def situations(draw, each=fields):
    """A network on which jobs run in both tiers, as some history has left them, and a queue."""
    cluster, waiting = tree(), []
    for one in draw(streams(each).flatmap(st.permutations)):
        tier = draw(st.sampled_from((FG, FG, FG, BG, None)))
        if tier and (one.foreground or tier is BG) and cluster.fits(one, tier):
            cluster.start(one, tier)
        else:
            waiting.append(one)
    return Snapshot(cluster, waiting)


def coming_and_going(driver, stream, data):
    """What is decided while jobs come and go at random, until all have come; and the tier of the
    one that left, or None."""
    while stream:
        running = sorted(driver.cluster.runs)
        if running and data.draw(st.booleans()):
            gone = data.draw(st.sampled_from(running))
            tier = driver.cluster.runs[gone].tier
            yield driver.depart(gone), tier
        else:
            arrivals = [stream.pop(0) for _each in range(data.draw(st.integers(1, len(stream))))]
            yield driver.arrive(*arrivals), None


class TestAnyStream(testtools.TestCase):
    @settings(max_examples=100)
    @given(st.sampled_from(EMBEDDING), streams(), st.data())
    def test_links_and_hosts_hold_and_no_job_is_lost(self, policy, stream, data):
        driver = Driver(self, policy, tree())
        total, departures = len(stream), 0
        for actions, left in coming_and_going(driver, stream, data):
            departures += left is not None
            check(self, driver.cluster)
            self.check_promise(driver, actions, left is FG)
        self.assertEqual(total, departures + driver.finish())

    def check_promise(self, driver, actions, foreground):
        """Nobody waits for what a later job holds in the foreground, nor for idle slots."""
        cluster, policy = driver.cluster, driver.policy
        for action in actions:
            if isinstance(action, Evict) and action.tier is FG:
                self.assertLess(action.by.order, action.job.order)
            if isinstance(action, Move) and action.job.mbps:
                self.assertEqual(action.before, action.after, "links move with no VM")
        if foreground or policy.reorders:
            outside = [each for each in driver.not_in_foreground() if each.foreground]
            for each in outside[:1] if policy.only_head else outside:
                trial = cluster.copy()
                for run in cluster.evictable(each.order):
                    trial.remove(run.job)
                self.assertFalse(trial.fits(each, FG), each)
        if not any(isinstance(action, Start) for action in actions):
            for each in driver.waiting:
                self.assertFalse(cluster.fits(each, BG), each)


class TestTiers(testtools.TestCase):
    @settings(max_examples=100)
    @given(st.sampled_from(EMBEDDING), situations(guaranteed))
    def test_the_background_is_never_in_the_way(self, policy, snapshot):
        """With scavengers in the background or without, the same jobs run in the foreground, on the
        same hosts."""
        without = snapshot.copy()
        for run in without.cluster.running(BG):
            if not run.job.foreground:
                without.cluster.remove(run.job)
        for one in list(without.queue):
            if not one.foreground:
                without.queue.remove(one)
        found, alone = (
            {run.job.number: run.hosts for run in self.decided(policy, each).cluster.running(FG)}
            for each in (snapshot, without)
        )
        self.assertEqual(alone, found)

    def decided(self, policy, snapshot):
        policies.get(policy).schedule(snapshot, Event.FOREGROUND, 0.0)
        check(self, snapshot.cluster)
        return snapshot

    @settings(max_examples=100)
    @given(st.sampled_from(EMBEDDING), situations())
    def test_without_bandwidth_slots_decide(self, policy, snapshot):
        """Where nobody asks for any, the same jobs enter and lose the foreground as without a
        network. Who is evicted and comes back may come back elsewhere."""
        clusters = Hosts(snapshot.cluster.hosts), tree()
        for run in snapshot.cluster.runs.values():
            for cluster in clusters:
                cluster.adopt(run._replace(job=replace(run.job, mbps=0.0)))
        waiting = [replace(each, mbps=0.0) for each in snapshot.queue]
        expected, found = (
            policies.get(policy).schedule(Snapshot(cluster, waiting), Event.FOREGROUND, 0.0)
            for cluster in clusters
        )
        self.assertEqual(*(entering(each) - losing(each) for each in (expected, found)))
        self.assertEqual(*(losing(each) - entering(each) for each in (expected, found)))

    def test_both_tiers_hold_links(self):
        """Three hosts of two slots at one switch: a job of three needs B on two links."""
        driver = self.star("amcbf")
        driver.arrive(job(1, 3, mbps=600))
        self.assertEqual([], driver.arrive(job(2, 3, mbps=600)))
        [head] = driver.waiting
        why = str(driver.policy.reasons(Snapshot(driver.cluster, [head]))(head))
        self.assertIn("no switch has 3 free slots below it with 600 Mbit/s each", why)
        driver.arrive(job(3, 3, mbps=400))
        # The foreground is full now; the background has six places.
        driver.arrive(job(4, 3, mbps=300), job(5, 3, mbps=400))
        self.assertEqual({1: FG, 3: FG, 4: BG}, self.where(driver))
        check(self, driver.cluster)

    def test_a_swap_keeps_its_links(self):
        """Who has room on its hosts stays there, even if it would be embedded elsewhere now."""
        driver = self.star("amcbf")
        driver.arrive(job(1, 6))
        driver.cluster.adopt(Run(job(2, 3, mbps=900), BG, (1, 2, 2)))
        driver.admitted.add(2)
        [move] = driver.depart(1)
        self.assertEqual((FG, (1, 2, 2), (1, 2, 2)), (move.tier, move.before, move.after))

    def test_the_latest_leave_and_the_smallest_are_spared(self):
        """As without a network (TPDS 2013, section 4.1)."""
        for mbps in (0, 1):
            for size, running, expected in (
                (2, {2: (0, 0), 3: (1, 1), 4: (2, 2)}, {4}),
                # Without 2 and 4, one slot is left for 3; 3 alone is the smallest.
                (4, {2: (0, 0, 1), 3: (1,), 4: (2, 2)}, {2, 4}),
                (4, {2: (0, 0), 3: (1,), 4: (1,), 5: (2,), 6: (2,)}, {3, 4, 5, 6}),
            ):
                driver = self.star("amcbf")
                for number, places in running.items():
                    driver.cluster.adopt(Run(job(number, len(places), mbps=mbps), FG, places))
                    driver.admitted.add(number)
                driver._admit([job(1, size, mbps=mbps)])
                self.assertEqual(expected, losing(driver.decide(Event.FOREGROUND)), mbps)

    def test_the_background_gives_up_its_links(self):
        """2 runs in the background on the links that 3 needs as soon as 1 has ended."""
        driver = self.star("amcbf")
        driver.arrive(job(1, 6))
        driver.arrive(job(2, 3, mbps=900, foreground=False))
        self.assertEqual({1: FG, 2: BG}, self.where(driver))
        driver.arrive(job(3, 6, mbps=400))
        self.assertEqual([3], [each.number for each in driver.waiting])
        evict, start = driver.depart(1)
        self.assertEqual((2, 3, BG), (evict.job.number, evict.by.number, evict.tier))
        self.assertEqual((3, FG), (start.job.number, start.tier))

    def test_who_cannot_stay_starts_anew(self):
        """3 is in the background, partly below 1; as soon as 2 has ended, there is room beside."""
        driver = self.star("amcbf")
        driver.cluster.adopt(Run(job(1, 2), FG, (0, 0)))
        driver.cluster.adopt(Run(job(2, 2), FG, (1, 2)))
        driver.cluster.adopt(Run(job(3, 3, mbps=500), BG, (0, 0, 1)))
        driver.admitted |= {1, 2, 3}
        self.assertEqual([], driver.decide(Event.FOREGROUND))
        evict, start = driver.depart(2)
        self.assertEqual((3, 3), (evict.job.number, evict.by.number))
        self.assertEqual((FG, (1, 1, 2)), (start.tier, start.hosts))

    def test_who_is_evicted_stays_in_the_background_if_its_links_suffice(self):
        """2 takes 2 * B of each link, of which 3 holds 800 Mbit/s at most."""
        for mbps, expected in ((100, {2: FG, 3: BG}), (101, {2: FG})):
            driver = self.star("amcbf")
            driver.cluster.adopt(Run(job(3, 5, mbps=400), FG, (0, 0, 1, 1, 2)))
            driver.admitted.add(3)
            driver._admit([job(2, 6, mbps=mbps)])
            driver.decide(Event.FOREGROUND)
            self.assertEqual(expected, self.where(driver), mbps)
            check(self, driver.cluster)

    def test_jobs_for_which_there_is_no_room_cost_next_to_nothing(self):
        """Each embedding takes milliseconds on a thousand hosts, and thousands of jobs wait."""
        asked = []

        def embed(request, state):
            asked.append(request)
            return adaba.embed(request, state)

        for policy in EMBEDDING:
            cluster = Linked.of(STAR, 2, embed, tiers=2)
            cluster.adopt(Run(job(1, 3, mbps=900), FG, (0, 0, 1)))
            for number, host in ((1001, 1), (1002, 2), (1003, 2)):
                cluster.adopt(Run(job(number, background=False), FG, (host,)))
            waiting = [job(n, 3, mbps=100 + n, background=False) for n in range(2, 1000)]
            asked.clear()
            snapshot = Snapshot(cluster, waiting)
            self.assertEqual([], policies.get(policy).schedule(snapshot, Event.FOREGROUND, 0.0))
            self.assertLess(len(asked), 10, policy)

    def test_one_tier_leaves_the_background_its_links(self):
        """As after a change of the policy: what runs there is not evicted."""
        hosts = [Host(name, 2) for name in STAR.hosts]
        for tiers, fits in ((1, False), (2, True)):
            cluster = Linked(hosts, STAR, tiers=tiers)
            cluster.adopt(Run(job(1, 3, mbps=900), BG, (0, 0, 1)))
            self.assertIs(fits, cluster.fits(job(2, 6, mbps=400), FG), tiers)

    def test_a_run_that_cannot_leave_keeps_its_links(self):
        for pinned, fits in ((True, False), (False, True)):
            cluster = Linked.of(STAR, 2, tiers=2)
            cluster.adopt(Run(job(1, 3, mbps=900), BG, (0, 0, 1), pinned))
            self.assertIs(fits, cluster.fits(job(2, 6, mbps=400), FG), pinned)

    def test_what_others_hold(self):
        """The ledger counts the background's links as taken; the foreground may have them."""
        cluster = Linked.of(STAR, 2, tiers=2)
        cluster.adopt(Run(job(1, 3, mbps=600), BG, (0, 0, 1)))
        cluster.limit({"a": 300, "b": 300, "c": 1000})
        found = {
            tier: [cluster.fits(job(2, 6, mbps=mbps), tier) for mbps in (150, 450, 451)]
            for tier in (FG, BG)
        }
        self.assertEqual({FG: [True, True, False], BG: [False, False, False]}, found)

    def star(self, policy):
        return Driver(self, policy, Linked.of(STAR, 2, tiers=2))

    def where(self, driver):
        return {number: run.tier for number, run in driver.cluster.runs.items()}


def entering(actions):
    """Numbers of the jobs that enter the foreground."""
    return {
        each.job.number for each in actions if isinstance(each, Start | Move) and each.tier is FG
    }


def losing(actions):
    """Numbers of the jobs that lose the foreground."""
    return {
        each.job.number
        for each in actions
        if (isinstance(each, Evict) and each.tier is FG)
        or (isinstance(each, Move) and each.tier is BG)
    }
