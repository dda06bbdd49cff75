"""The fast clusters of one-slot nodes decide as the general one does."""

import random

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import Start, Tier
from nova_twotier.core.cluster import Host, OutOfSlots
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.nodes import Counted, Nodes
from nova_twotier.core.policies.bandwidth import Guaranteeing
from nova_twotier.core.snapshot import Event, Snapshot
from nova_twotier.sim.many_nodes import ManyNodes
from tests.unit.core.builders import BG, FG, bandwidth, estimate, job, recounted, state
from tests.unit.core.driver import Driver, promise

#: Above nought: a vacant node is better than one beside an idle process, which the others tie.
LOADS = (0.05, 0.1, 0.3, 0.5, 0.6, 0.8, 0.95, 0.96, 1.0)

#: Not those that tell counted hosts from others: a job that returns to its own has not left.
ONE_TIER = sorted(
    name
    for name, policy in policies.POLICIES.items()
    if policy.tiers == 1 and not issubclass(policy, Guaranteeing)
)

kinds = st.sampled_from((Nodes, ManyNodes))
every_policy = st.sampled_from(sorted(policies.POLICIES))


def one_slot_hosts(count, rng=None, tiers=2):
    return Hosts([Host(f"node{index}", 1, tiers) for index in range(count)], rng=rng)


def where(cluster):
    """Who is where, whatever kind of cluster that is."""
    return {number: (run.tier, run.hosts) for number, run in cluster.runs.items()}


@st.composite
def histories(draw):
    """A number of nodes, and what happens there: (arrivals, positions of those who depart)."""
    count = draw(st.integers(1, 8))
    most = draw(st.integers(1, 20))
    shape = st.tuples(st.integers(1, count), st.integers(0, 5), estimate, bandwidth)
    shapes = draw(st.lists(shape, min_size=most, max_size=most))
    loads = draw(st.randoms(use_true_random=False))
    stream = [
        Job(number, size, float(arrival), tuple(loads.choices(LOADS, k=size)), expected, mbps=mbps)
        for number, (size, arrival, expected, mbps) in enumerate(shapes, start=1)
    ]
    stream.sort(key=lambda each: each.order)
    steps = []
    while stream:
        batch = draw(st.sampled_from((1, 0, 2, 4, 9)))
        gone = draw(st.lists(st.integers(0, 9), max_size=3))
        steps.append((stream[:batch], gone))
        del stream[:batch]
        if len(steps) > 40:
            break
    return count, steps


class TestNodes(testtools.TestCase):
    def play(self, policy, history, plain, fast):
        """The same history on two clusters: the same decisions, action by action."""
        _count, steps = history
        plain, fast = Snapshot(plain), Snapshot(fast)
        now = 0.0
        for arrivals, gone in steps:
            event = self.happen(arrivals, gone, plain, fast)
            self.decide(policy, plain, fast, event, now)
            now += 7
        while plain.cluster.runs:
            event = self.happen([], [0], plain, fast)
            self.decide(policy, plain, fast, event, now)
            now += 7
        self.assertEqual([], list(fast.queue))

    def happen(self, arrivals, gone, plain, fast):
        event = Event.ARRIVAL if arrivals else Event(0)
        for each in arrivals:
            plain.queue.add(each)
            fast.queue.add(each)
        for position in gone:
            running = sorted(plain.cluster.runs)
            if position < len(running):
                run = plain.cluster.remove(plain.cluster.runs[running[position]].job)
                self.assertEqual(run.tier, fast.cluster.remove(run.job).tier)
                event |= Event.FOREGROUND if run.tier is FG else Event.BACKGROUND
        return event

    def decide(self, policy, plain, fast, event, now):
        policy = policies.get(policy)
        expected = policy.schedule(plain, event, now)
        actions = policy.schedule(fast, event, now)
        if isinstance(fast.cluster, Counted):
            expected = self.without_hosts(expected)
        self.assertEqual(expected, actions)
        for each in (plain, fast):
            self.assertEqual(state(recounted(each.cluster)), state_without_rng(each.cluster))
        self.assertEqual(list(plain.queue), list(fast.queue))
        self.assertEqual(plain.cluster.idle, fast.cluster.idle)
        self.assertEqual(list(plain.cluster.ends), list(fast.cluster.ends))
        for tier in Tier:
            self.assertEqual(
                [run.job for run in plain.cluster.running(tier)],
                [run.job for run in fast.cluster.running(tier)],
            )
        for each in plain.queue:
            self.assertEqual(policy.reasons(plain)(each), policy.reasons(fast)(each))
        if not isinstance(fast.cluster, Counted):
            self.same_places(plain.cluster, fast.cluster)

    @staticmethod
    def without_hosts(actions):
        bare = []
        for action in actions:
            if isinstance(action, Start):
                action = Start(action.job, action.tier, (), action.how)
            bare.append(action)
        return bare

    def same_places(self, plain, fast):
        self.assertEqual(where(plain), where(fast))
        self.assertEqual(plain.overdue(), fast.overdue())
        self.assertEqual(plain.evictable(), fast.evictable())
        for index in range(len(plain.hosts)):
            self.assertEqual(plain.overfull(index), fast.overfull(index))
            for tier in Tier:
                self.assertEqual(plain.room(tier, index), fast.room(tier, index))
                self.assertEqual(plain.on(tier, index), fast.on(tier, index))
                self.assertEqual(plain.takes(tier, [index]), fast.takes(tier, [index]))
        for tier in Tier:
            self.assertFalse(fast.takes(tier, [0, 0]))

    @settings(max_examples=250)
    @given(every_policy, histories(), kinds)
    def test_decide_alike(self, policy, history, kind):
        self.play(policy, history, one_slot_hosts(history[0]), kind(history[0]))

    @settings(max_examples=80)
    @given(every_policy, histories(), kinds, st.integers(0, 99))
    def test_draw_alike(self, policy, history, kind, seed):
        """When places are drawn, from generators that start alike."""
        plain = one_slot_hosts(history[0], random.Random(seed))
        self.play(policy, history, plain, kind(history[0], rng=random.Random(seed)))

    @settings(max_examples=120)
    @given(st.sampled_from(ONE_TIER), histories())
    def test_counted_alike(self, policy, history):
        plain = one_slot_hosts(history[0], tiers=1)
        self.play(policy, history, plain, Counted(history[0]))

    @settings(max_examples=120)
    @given(every_policy, histories(), st.booleans())
    def test_keep_what_is_promised(self, policy, history, count):
        """All that holds on the general cluster holds here."""
        one_tier = count and policy in ONE_TIER
        driver = Driver(self, policy, (Counted if one_tier else Nodes)(history[0]))
        for arrivals, gone in history[1]:
            running = sorted(driver.cluster.runs)
            going = {running[position] for position in gone if position < len(running)}
            tiers = {driver.cluster.runs[number].tier for number in going}
            event = Event.ARRIVAL if arrivals else Event(0)
            for tier in tiers:
                event |= Event.FOREGROUND if tier is FG else Event.BACKGROUND
            if event:
                promise(driver, driver.at_once(arrivals, sorted(going)), event)
        driver.finish()

    @given(st.integers(1, 6), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5))), st.data())
    def test_ranks_alike(self, count, promised, data):
        plain, fast = one_slot_hosts(count), data.draw(kinds)(count)
        for number in range(1, 5):
            tier = data.draw(st.sampled_from(Tier))
            most = plain.idle[tier]
            if most:
                size = data.draw(st.integers(1, most))
                places = data.draw(st.permutations(plain.rank(tier, most)))[:size]
                for cluster in (plain, fast):
                    cluster.start(job(number, size, cpu=LOADS[number * 2]), tier, places)
        kept = {host: 1 for host, _n in promised if host < count}
        for tier in Tier:
            free = sum(plain.room(tier, host) for host in range(count) if host not in kept)
            for wanted in range(free + 1):
                ranked = plain.rank(tier, wanted, kept)
                self.assertEqual(ranked, fast.rank(tier, wanted, kept))
            for cluster in (plain, fast):
                self.assertRaises(OutOfSlots, cluster.rank, tier, free + 1, kept)

    def test_refuses_what_the_general_one_refuses(self):
        made = Nodes(2)
        made.start(job(1, cpu=1.0), FG, [0])
        self.assertRaises(OutOfSlots, made.start, job(1), BG)
        self.assertRaises(OutOfSlots, made.start, job(2), FG, [0])
        self.assertRaises(OutOfSlots, made.start, job(2), BG, [0])
        self.assertRaises(OutOfSlots, made.start, job(2, 2), BG)
        self.assertRaises(OutOfSlots, made.start, job(2, 2), FG, [1, 1])
        made.start(job(2), BG)
        self.assertEqual((1,), made.runs[2].hosts)

    def test_overdue(self):
        """Processes that close their nodes above a background job, and leave again."""
        made = Nodes(3)
        made.start(job(1, 3), BG)
        made.start(type(job(1))(2, 2, 0.0, (1.0, 0.5)), FG, [2, 0])
        self.assertEqual([2], made.overdue())
        self.assertEqual([0, 0, 1], [made.overfull(host) for host in range(3)])
        made.remove(made.runs[2].job)
        self.assertEqual([], made.overdue())
        self.assertEqual({FG: 3, BG: 0}, made.idle)

    def test_threshold_is_a_choice(self):
        for made in (Nodes(1, threshold=0.5), Hosts([Host("a", 1)], threshold=0.5)):
            made.start(job(1, cpu=0.5), FG)
            self.assertEqual({FG: 0, BG: 0}, made.idle)


class TestCounted(testtools.TestCase):
    def test_counts(self):
        made = Counted(4)
        self.assertEqual({FG: 4, BG: 0}, made.idle)
        run = made.start(job(1, 3), FG)
        self.assertEqual((), run.hosts)
        self.assertEqual({FG: 1, BG: 0}, made.idle)
        self.assertRaises(OutOfSlots, made.start, job(2, 2), FG)
        self.assertRaises(OutOfSlots, made.start, job(2), BG)
        twin = made.copy()
        made.remove(job(1, 3))
        self.assertEqual(([4, 1]), [made.idle[FG], twin.idle[FG]])
        self.assertEqual([], made.overdue())


def state_without_rng(of):
    return tuple(None if index == 5 else each for index, each in enumerate(state(of)))
