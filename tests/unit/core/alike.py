"""Plays the same history on two kinds of clusters: they have to lead to the same decisions."""

import testtools
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import Start, Tier
from nova_twotier.core.jobs import Job
from nova_twotier.core.nodes import Counted
from nova_twotier.core.snapshot import Event, Snapshot
from tests.unit.core.builders import FG, bandwidth, estimate, recounted, state

#: Above nought: a vacant node is better than one beside an idle process, which the others tie.
LOADS = (0.05, 0.1, 0.3, 0.5, 0.6, 0.8, 0.95, 0.96, 1.0)

every_policy = st.sampled_from(sorted(policies.POLICIES))


def where(cluster):
    """Who is where, whatever kind of cluster that is."""
    return {number: (run.tier, run.hosts) for number, run in cluster.runs.items()}


@st.composite
def histories(draw, most_slots=8, loads=LOADS):
    """A number of slots, and what happens there: (arrivals, positions of those who depart)."""
    count = draw(st.integers(1, most_slots))
    most = draw(st.integers(1, 20))
    shape = st.tuples(st.integers(1, count), st.integers(0, 5), estimate, bandwidth)
    shapes = draw(st.lists(shape, min_size=most, max_size=most))
    chance = draw(st.randoms(use_true_random=False))
    stream = [
        Job(number, size, float(arrival), tuple(chance.choices(loads, k=size)), expected, mbps=mbps)
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


class AlikeCase(testtools.TestCase):
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
                self.assertEqual(plain.takes(tier, [index]), fast.takes(tier, [index]))
        for tier in Tier:
            every = range(len(plain.hosts))
            self.assertEqual(plain.on(tier, every), fast.on(tier, every))
            self.assertEqual(plain.takes(tier, [0, 0]), fast.takes(tier, [0, 0]))


def state_without_rng(of):
    return tuple(None if index == 5 else each for index, each in enumerate(state(of)))
