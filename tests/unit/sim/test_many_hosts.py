"""`ManyHosts` decides as the general cluster does, on hosts of any number of slots and tiers."""

import random

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Host, OutOfSlots
from nova_twotier.core.hosts import Hosts
from nova_twotier.sim.many_hosts import ManyHosts
from tests.unit.core.alike import LOADS, AlikeCase, histories
from tests.unit.core.builders import BG, FG, job

#: Idle processes, too: an unshared place and one beside an idle process are the same here.
ANY_LOADS = (0.0, *LOADS)

several = st.integers(1, 4), st.integers(2, 4)  # slots, tiers
two_tiers = st.sampled_from(sorted(n for n, each in policies.POLICIES.items() if each.tiers > 1))


def pair(count, slots, tiers, seed=None):
    """The same hosts, in lists and in arrays; with a seed, places are drawn."""
    plain = [Host(f"host{index}", slots, tiers) for index in range(count)]
    return (
        Hosts(plain, rng=None if seed is None else random.Random(seed)),
        ManyHosts(count, slots, tiers, rng=None if seed is None else random.Random(seed)),
    )


class TestManyHosts(AlikeCase):
    @settings(max_examples=250)
    @given(two_tiers, histories(12, ANY_LOADS), *several)
    def test_decide_alike(self, policy, history, slots, tiers):
        self.play(policy, history, *pair(-(-history[0] // slots), slots, tiers))

    @settings(max_examples=80)
    @given(
        two_tiers,
        histories(12, ANY_LOADS),
        st.integers(1, 4),
        st.integers(2, 4),
        st.integers(0, 99),
    )
    def test_draw_alike(self, policy, history, slots, tiers, seed):
        """When places are drawn, from generators that start alike."""
        self.play(policy, history, *pair(-(-history[0] // slots), slots, tiers, seed))

    @settings(max_examples=150)
    @given(
        st.integers(1, 4),
        st.integers(1, 4),
        st.integers(2, 3),
        st.dictionaries(st.integers(0, 3), st.integers(0, 5)),
        st.data(),
    )
    def test_rank_and_keep_alike(self, count, slots, tiers, promised, data):
        plain, fast = pair(count, slots, tiers)
        for number in range(1, 5):
            tier = data.draw(st.sampled_from(Tier))
            if most := plain.idle[tier]:
                size = data.draw(st.integers(1, most))
                places = data.draw(st.permutations(plain.rank(tier, most)))[:size]
                for cluster in (plain, fast):
                    cluster.start(job(number, size, cpu=LOADS[number * 2]), tier, places)
        promised = {host: places for host, places in promised.items() if host < count}
        hosts = data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=8))
        for tier in Tier:
            free = sum(
                max(0, plain.room(tier, host) - promised.get(host, 0)) for host in range(count)
            )
            for wanted in range(free + 1):
                ranked = plain.rank(tier, wanted, promised)
                self.assertEqual(ranked, fast.rank(tier, wanted, promised))
            for cluster in (plain, fast):
                self.assertRaises(OutOfSlots, cluster.rank, tier, free + 1, promised)
            expected, found = dict(promised), dict(promised)
            staying = plain.keep(tier, hosts, expected)
            self.assertEqual(staying, fast.keep(tier, hosts, found))
            self.assertEqual(expected, found)


class TestCopy(testtools.TestCase):
    def test_is_independent(self):
        made = ManyHosts(2, 2)
        made.start(job(1, 2), FG)
        twin = made.copy()
        twin.start(job(2, 2), FG)
        twin.remove(twin.runs[1].job)
        # Job 1 is on the first host, job 2 on the second; the background prefers the other one.
        for cluster, foreground, background in (
            (made, [1, 1], [1, 1, 0, 0]),
            (twin, [0, 0], [0, 0, 1, 1]),
        ):
            self.assertEqual({FG: 2, BG: 4}, cluster.idle)
            self.assertEqual(foreground, cluster.rank(FG, 2))
            self.assertEqual(background, cluster.rank(BG, 4))
