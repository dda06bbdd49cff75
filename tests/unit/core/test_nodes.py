"""The fast clusters of one-slot nodes decide as the general one does."""

import random

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Host, OutOfSlots
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.nodes import Counted, Nodes
from nova_twotier.core.policies.bandwidth import Guaranteeing
from nova_twotier.core.snapshot import Event
from nova_twotier.sim.many_nodes import ManyNodes
from tests.unit.core.alike import LOADS, AlikeCase, every_policy, histories
from tests.unit.core.builders import BG, FG, job
from tests.unit.core.driver import Driver, promise

#: Not those that tell counted hosts from others: a job that returns to its own has not left.
ONE_TIER = sorted(
    name
    for name, policy in policies.POLICIES.items()
    if policy.tiers == 1 and not issubclass(policy, Guaranteeing)
)

kinds = st.sampled_from((Nodes, ManyNodes))


def one_slot_hosts(count, rng=None, tiers=2):
    return Hosts([Host(f"node{index}", 1, tiers) for index in range(count)], rng=rng)


class TestNodes(AlikeCase):
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

    @given(st.integers(0, 99), st.integers(0, 40), st.sets(st.integers(0, 299)), kinds)
    def test_ranks_alike_where_there_are_many(self, seed, jobs, kept, kind):
        rng = random.Random(seed)
        plain, fast = one_slot_hosts(300), kind(300)
        for number in range(jobs):
            tier, size = rng.choice(list(Tier)), rng.randint(1, 20)
            if size <= plain.idle[tier]:
                places = rng.sample(plain.rank(tier, plain.idle[tier]), size)
                for cluster in (plain, fast):
                    cluster.start(job(number, size, cpu=0.5), tier, places)
        promised = dict.fromkeys(kept, 1)
        for tier in Tier:
            free = sum(plain.room(tier, host) for host in range(300) if host not in kept)
            for wanted in (free // 3, free):
                self.assertEqual(
                    plain.rank(tier, wanted, promised), fast.rank(tier, wanted, promised)
                )

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
