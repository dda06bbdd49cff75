"""Policies with one tier that ask the embedding: Algorithm 2 of Symmetry 2018, and those without
preemption."""

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import Evict, Start, StartKind
from nova_twotier.core.embedding import Topology
from nova_twotier.core.linked import Linked
from nova_twotier.core.snapshot import Event, Snapshot
from tests.unit.core.builders import FG, cluster, job
from tests.unit.core.driver import Driver
from tests.unit.core.test_linked import check, demands, star

EMBEDDING = sorted(
    name for name, policy in policies.POLICIES.items() if policy.embeds and policy.tiers == 1
)
PREEMPTING = [name for name in EMBEDDING if name.startswith("bgmbf")]
#: Four hosts below two switches.
TREE = Topology.from_paths(
    {"a": "core/x", "b": "core/x", "c": "core/y", "d": "core/y"},
    dict.fromkeys(("a", "b", "c", "d", "core/x", "core/y"), 1000),
)
estimates = st.sampled_from((None, 10.0, 25.0, 100.0))


def linked():
    return Linked.of(TREE, 3)


@st.composite
def streams(draw):
    """Jobs that fit the network when it is empty, by arrival."""
    empty = linked()
    fields = st.tuples(st.integers(1, 12), demands, estimates)
    drawn = enumerate(draw(st.lists(fields, min_size=1, max_size=14)), start=1)
    made = [job(n, size, mbps=mbps, estimate=expected) for n, (size, mbps, expected) in drawn]
    return [each for each in made if empty.fits(each, FG)]


class TestAnyStream(testtools.TestCase):
    @settings(max_examples=80)
    @given(st.sampled_from(EMBEDDING), streams(), st.data())
    def test_links_and_hosts_hold_and_no_job_is_lost(self, policy, stream, data):
        self.play(policy, stream, data)

    def test_who_passed_the_head_makes_way(self):
        """The same where somebody has to."""
        evicted = []

        @settings(max_examples=80)
        @given(st.sampled_from(PREEMPTING), streams(), st.data())
        def check(policy, stream, data):
            actions = self.play(policy, stream, data)
            evicted.extend(each for each in actions if isinstance(each, Evict))

        # Now and then, 80 streams are all of the kind where nobody has to.
        for _more in range(10):
            if not evicted:
                check()
        self.assertNotEqual([], evicted)

    def play(self, policy, stream, data):
        """Play jobs that come and go at random; returns what was decided meanwhile."""
        driver = Driver(self, policy, linked())
        total, departures, decided = len(stream), 0, []
        while stream or (driver.waiting and driver.cluster.runs):
            running = sorted(driver.cluster.runs)
            if running and (not stream or data.draw(st.booleans())):
                actions = driver.depart(data.draw(st.sampled_from(running)))
                departures += 1
            else:
                count = data.draw(st.integers(1, len(stream)))
                actions = driver.arrive(*stream[:count])
                del stream[:count]
            check(self, driver.cluster)
            self.check_promise(driver, actions)
            decided += actions
        self.assertEqual(total, departures + driver.finish())
        return decided

    def check_promise(self, driver, actions):
        """Whose turn it is does not fit; nor, with preemption, without those that came later."""
        for action in actions:
            if isinstance(action, Evict):
                self.assertLess(action.by.order, action.job.order)
        if not driver.waiting:
            return
        snapshot = Snapshot(driver.cluster, driver.waiting)
        first = getattr(driver.policy, "first", lambda queue: queue[0])(snapshot.queue)
        trial = driver.cluster.copy()
        if driver.policy.name in PREEMPTING:
            for run in driver.cluster.running(FG):
                if run.job.order > first.order:
                    trial.remove(run.job)
        self.assertFalse(trial.fits(first, FG), first)


class TestAgreement(testtools.TestCase):
    """Where bandwidth is no matter, BgMBF is AMBF that suspends more."""

    @settings(max_examples=60)
    @given(
        st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=12),
        st.permutations(range(12)),
    )
    def test_the_head_starts_when_that_of_ambf_does(self, drawn, order):
        made = cluster(4, 3, tiers=1)
        waiting = []
        for number, (size, runs) in zip(order, drawn, strict=False):
            each = job(number, size)
            if runs and made.fits(each, FG):
                made.start(each, FG)
            else:
                waiting.append(each)
        snapshot = Snapshot(made, waiting)
        decisions = {
            name: policies.get(name).schedule(snapshot.copy(), Event.FOREGROUND, 0.0)
            for name in ("ambf", "bgmbf", "bgmbf-sdf")
        }
        if waiting:
            head = snapshot.queue[0].number
            starts = {
                name: head in [each.job.number for each in actions if isinstance(each, Start)]
                for name, actions in decisions.items()
            }
            self.assertEqual(1, len(set(starts.values())), starts)
        evicts = {
            name: any(isinstance(each, Evict) for each in actions)
            for name, actions in decisions.items()
        }
        if not evicts["ambf"] and not evicts["bgmbf"]:
            self.assertEqual(decisions["ambf"], decisions["bgmbf"])


class TestAlgorithm2(testtools.TestCase):
    """Three hosts of two slots at one switch."""

    def said(self, actions):
        return [(type(each).__name__, each.job.number) for each in actions]

    def test_worked_example(self):
        driver = Driver(self, "bgmbf", star())
        [start] = driver.arrive(job(1, 3, mbps=500))
        self.assertEqual(((0, 0, 1), StartKind.IMMEDIATE), (start.hosts, start.how))
        # 2 needs four slots, of which three are idle; 3 passes it.
        self.assertEqual([], driver.arrive(job(2, 4, mbps=500)))
        [start] = driver.arrive(job(3, 3, mbps=100))
        self.assertEqual(((1, 2, 2), StartKind.BACKFILLED), (start.hosts, start.how))
        # Without 3 there is room for 2, which fills two links; then none for 3.
        [evict, start] = driver.depart(1)
        self.assertEqual((3, 2), (evict.job.number, evict.by.number))
        self.assertEqual((2, (0, 0, 1, 1)), (start.job.number, start.hosts))
        self.assertEqual([("Start", 3)], self.said(driver.depart(2)))

    def test_slots_without_bandwidth(self):
        driver = Driver(self, "bgmbf", star())
        driver.arrive(job(1, 3, mbps=1000))
        driver.arrive(job(2, 3, mbps=10))
        [head] = driver.waiting
        reason = str(driver.policy.reasons(Snapshot(driver.cluster, [head]))(head))
        self.assertIn("no switch has 3 free slots below it with 10 Mbit/s each", reason)
        driver.arrive(job(3, 2, mbps=1000))
        reason = str(driver.policy.reasons(Snapshot(driver.cluster, [head]))(head))
        self.assertIn("nor without the 1 that passed it", reason)
        self.assertEqual([("Start", 2)], self.said(driver.depart(1)))

    def test_who_returns_to_its_hosts_has_not_left_them(self):
        """3 needs a slot of the last host: of the two that passed it, the earlier one stays."""
        driver = Driver(self, "bgmbf", star())
        driver.arrive(job(1, 4))
        driver.arrive(job(3, 5), job(4), job(5))
        self.assertEqual({1: (0, 0, 1, 1), 4: (2,), 5: (2,)}, self.where(driver))
        self.assertEqual([("Evict", 5), ("Start", 3)], self.said(driver.depart(1)))
        self.assertEqual({3: (0, 0, 1, 1, 2), 4: (2,)}, self.where(driver))

    def where(self, driver):
        return {number: run.hosts for number, run in driver.cluster.runs.items()}

    def test_who_has_seen_all_earlier_ones_start_stays(self):
        """3 was backfilled once; 4 arrived later than it and cannot suspend it."""
        driver = Driver(self, "bgmbf", star())
        driver.arrive(job(1, 4), job(2, 4), job(3, 1))
        self.assertEqual([("Start", 2)], self.said(driver.depart(1)))
        driver.arrive(job(4, 3))
        self.assertEqual({2, 3}, set(driver.cluster.runs))
        self.assertEqual([4], [each.number for each in driver.waiting])

    def test_short_ones_pass_first(self):
        for policy, passing in (("bgmbf", 3), ("bgmbf-sdf", 4)):
            driver = Driver(self, policy, star())
            driver.arrive(job(1, 5, estimate=50.0))
            waiting = (job(2, 2), job(3, estimate=9.0), job(4, estimate=8.0), job(5))
            [start] = driver.arrive(*waiting)
            self.assertEqual(passing, start.job.number, policy)

    def test_orders_without_preemption(self):
        for policy, first in (("fcfs", 2), ("sdf", 3), ("sbf", 4), ("smjf", 5)):
            driver = Driver(self, policy, star())
            driver.arrive(job(1, 6))
            driver.arrive(
                job(2, 5, mbps=30, estimate=9.0),
                job(3, 5, mbps=20, estimate=7.0),
                job(4, 5, mbps=10, estimate=8.0),
                job(5, 4, mbps=40, estimate=9.0),
            )
            self.assertEqual(("Start", first), self.said(driver.depart(1))[0], policy)
