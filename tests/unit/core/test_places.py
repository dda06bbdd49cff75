"""The order in which free places are taken: as if each place were looked at each time."""

import heapq
import random

import testtools

from nova_twotier.core.actions import BG, FG
from nova_twotier.core.cluster import Host, OutOfSlots
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.slots import next_slot_load


def place_by_place(cluster, tier, count):
    """The best places, by the load that a process would find on each."""
    free = []
    for host, spec in enumerate(cluster.hosts):
        share = max(1, spec.tiers - 1)
        closed = 0 if tier is FG else cluster.closed[host]
        other = -(-cluster.used[BG][host] // share) if tier is FG else cluster.used[FG][host]
        hot = 0.0 if tier is FG else cluster._hot_load[host]
        load = max(0.0, cluster.load[tier.other][host] - hot)
        own = cluster.used[tier][host]
        for place in range(own, own + cluster.room(tier, host)):
            taken = place if tier is FG else place // share
            free.append((next_slot_load(spec.slots - closed, taken, other - closed, load), host))
    return [host for _load, host in heapq.nsmallest(count, free)]


class TestRanking(testtools.TestCase):
    def test_whatever_comes_and_goes(self):
        compared = 0
        for seed in range(30):
            rng = random.Random(seed)
            cluster = Hosts(
                Host(f"h{number}", rng.randint(1, 5), rng.randint(1, 4), rng.random() < 0.9)
                for number in range(rng.randint(1, 6))
            )
            for number in range(60):
                if rng.random() < 0.1:
                    cluster = cluster.copy()
                if cluster.runs and rng.random() < 0.4:
                    cluster.remove(cluster.runs[rng.choice(sorted(cluster.runs))].job)
                tier, size = rng.choice((FG, BG)), rng.randint(1, 6)
                cpu = tuple(rng.choice((0.1, 0.3, 0.5, 0.97)) for _process in range(size))
                job = Job(number, size, float(number), cpu)
                expected = place_by_place(cluster, tier, size)
                if len(expected) < size:
                    self.assertRaises(OutOfSlots, cluster.rank, tier, size)
                    continue
                self.assertEqual(expected, cluster.rank(tier, size))
                cluster.start(job, tier)
                compared += 1
        self.assertGreater(compared, 500)
