"""The cluster whose network guarantees bandwidth: what hosts and links hold, whatever happens."""

import math
from collections import Counter

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core.cluster import Host, OutOfSlots, Run
from nova_twotier.core.embedding import ALGORITHMS, State, Topology
from nova_twotier.core.linked import Linked
from tests.unit.core.builders import BG, FG, job

#: Three hosts at one switch, links of 1000 Mbit/s.
STAR = Topology.from_paths(dict.fromkeys("abc", "core"), dict.fromkeys("abc", 1000))
#: 16 hosts in 4 pods, oversubscribed: its links are sooner full.
TREE = Topology.fat_tree(4, 1000, uplinks=(1, 1))

demands = st.sampled_from((0.0, 10.0, 99.5, 250.0, 600.0, 1000.0))


def star(slots=2):
    return Linked.of(STAR, slots)


def links(cluster, *tiers):
    """Mbit/s by link, from the runs of the tiers alone: min(m, N - m) * B for m of N VMs below."""
    topology = cluster.states[FG].topology
    sums = Counter()
    for run in cluster.runs.values():
        if run.tier not in tiers:
            continue
        below = Counter()
        for host in run.hosts:
            number = topology.number[cluster.hosts[host].name]
            below[cluster.hosts[host].name] += 1
            switch = topology.parent[number]
            while switch >= 0:
                below[topology.switches[switch]] += 1
                switch = topology.parent[len(topology.hosts) + switch]
        for link, count in below.items():
            sums[link] += min(count, run.job.size - count) * math.ceil(run.job.mbps)
    return sums


def check_account(case, cluster):
    """The account of hosts and links is that of the runs; the foreground is within its means."""
    states = cluster.states
    topology = states[FG].topology
    vms = Counter(h for run in cluster.runs.values() if run.tier is FG for h in run.hosts)
    for host, spec in enumerate(cluster.hosts):
        place = topology.number[spec.name]
        case.assertLessEqual(vms[host], spec.slots)
        case.assertEqual(spec.slots - vms[host], states[FG].free[place])
        if BG in states:
            case.assertEqual(cluster.room(BG, host), states[BG].free[place])
    for tier, state in states.items():
        used = links(cluster, *({FG} if tier is FG and BG in states else (FG, BG)))
        for link, node in topology.link.items():
            case.assertEqual(topology.rate[node] - used[link], state.residual[node], (tier, link))
    used = links(cluster, FG)
    for link, node in topology.link.items():
        case.assertLessEqual(used[link], topology.rate[node], link)


def check(case, cluster):
    """Nor do both tiers together hold more of a link than its rate."""
    check_account(case, cluster)
    topology = cluster.states[FG].topology
    used = links(cluster, FG, BG)
    for link, node in topology.link.items():
        case.assertLessEqual(used[link], topology.rate[node], link)


class TestLinked(testtools.TestCase):
    @settings(max_examples=40)
    @given(
        st.sampled_from(sorted(ALGORITHMS)),
        st.lists(st.tuples(st.integers(1, 30), demands, st.booleans()), max_size=25),
    )
    def test_any_history(self, algorithm, steps):
        cluster = Linked.of(TREE, 3, ALGORITHMS[algorithm])
        for number, (size, mbps, leaves) in enumerate(steps, start=1):
            each = job(number, size, mbps=mbps)
            cluster.saw(each)
            if cluster.fits(each, FG):
                run = cluster.start(each, FG)
                self.assertEqual(size, len(run.hosts))
            else:
                self.assertTrue(cluster.need(each))
                self.assertRaises(OutOfSlots, cluster.start, each, FG)
            check(self, cluster)
            if leaves and cluster.runs:
                cluster.remove(next(iter(cluster.runs.values())).job)
                check(self, cluster)
        bmax = max((math.ceil(mbps) for _size, mbps, _leaves in steps), default=0)
        for run in list(cluster.runs.values()):
            cluster.remove(run.job)
        self.assertEqual(State(TREE, 3, max_mbps=bmax), cluster.states[FG])

    def test_bandwidth_decides(self):
        cluster = star()
        cluster.start(job(1, 3, mbps=600), FG)
        # Two slots are free at one host, one at another whose link has 400 Mbit/s left.
        self.assertEqual(3, cluster.idle[FG])
        self.assertTrue(cluster.fits(job(2, 3, mbps=400), FG))
        self.assertFalse(cluster.fits(job(3, 3, mbps=401), FG))
        self.assertIn("401 Mbit/s each", str(cluster.need(job(3, 3, mbps=401))))
        self.assertEqual("needs 4 foreground slots, 3 idle", str(cluster.need(job(4, 4))))
        self.assertFalse(cluster.fits(job(5, 1), BG), "there is no background")

    def test_what_was_said_holds_for_one_state_only(self):
        cluster, large = star(), job(2, 4, mbps=500)
        self.assertTrue(cluster.fits(large, FG))
        cluster.start(job(1, 3, mbps=600), FG)
        self.assertFalse(cluster.fits(large, FG))
        cluster.remove(job(1, 3, mbps=600))
        self.assertTrue(cluster.fits(large, FG))

    def test_adaba_goes_by_what_it_saw(self):
        """A request is small beside the largest that ever came, and fills up a used host then."""
        hosts = []
        for largest in (0, 1000):
            cluster = star(4)
            cluster.start(job(1, 2), FG, [1, 1])
            cluster.saw(job(9, mbps=largest))
            hosts.append(cluster.start(job(2, 1, mbps=100), FG).hosts)
        self.assertEqual([(0,), (1,)], hosts)

    def test_copy(self):
        cluster = star()
        cluster.start(job(1, 3, mbps=600), FG)
        twin = cluster.copy()
        twin.remove(job(1, 3, mbps=600))
        self.assertTrue(twin.fits(job(2, 6, mbps=100), FG))
        check(self, twin)
        check(self, cluster)
        self.assertEqual(400, cluster.states[FG].residual[0])

    def test_filled_at_once(self):
        cluster = star()
        cluster.start(job(1, 3, mbps=600), FG)
        cluster.start(job(2, 2), FG)
        filled = Linked(cluster.hosts, STAR, runs=list(cluster.runs.values()))
        check(self, filled)
        self.assertEqual((cluster.states[FG], cluster.idle), (filled.states[FG], filled.idle))
        self.assertFalse(filled.fits(job(3, 3, mbps=500), FG))

    def test_hosts_in_any_order(self):
        cluster = Linked([Host("c", 1), Host("a", 4), Host("b", 1)], STAR)
        run = cluster.start(job(1, 4, mbps=900), FG)
        self.assertEqual((1, 1, 1, 1), run.hosts)
        check(self, cluster)

    def test_a_host_that_takes_no_vms(self):
        cluster = Linked([Host("a", 2, enabled=False), Host("b", 2), Host("c", 2)], STAR)
        self.assertEqual((1, 1, 2, 2), cluster.start(job(1, 4, mbps=10), FG).hosts)
        self.assertFalse(cluster.fits(job(2), FG))

    def test_runs_that_were_observed_without_room(self):
        """A host and a link are overbooked; when the runs are gone, everything is free again."""
        cluster = star()
        for number in (1, 2):
            cluster.adopt(Run(job(number, 3, mbps=800), FG, (0, 0, 1)))
        self.assertEqual((-2, -600), (cluster.states[FG].free[0], cluster.states[FG].residual[0]))
        self.assertFalse(cluster.fits(job(3, 3, mbps=1), FG))
        self.assertTrue(cluster.fits(job(4, 2, mbps=1), FG))
        for number in (1, 2):
            cluster.remove(job(number, 3, mbps=800))
        self.assertEqual(State(STAR, 2), cluster.states[FG])


class TestOthers(testtools.TestCase):
    """What is on a live cluster besides jobs that were embedded there."""

    TREES = Topology.from_paths({"a": "x", "b": "x", "c": "y"}, dict.fromkeys("abc", 1000))

    def test_links_that_others_use(self):
        cluster, large = star(), job(1, 4, mbps=300)
        self.assertTrue(cluster.fits(large, FG))
        cluster.limit({"a": 500, "b": 2000, "c": 0})
        self.assertEqual([500, 1000, 0], cluster.states[FG].residual[:3])
        self.assertFalse(cluster.fits(large, FG))

    def test_room_on_given_hosts(self):
        cluster = star()
        cluster.start(job(1, 3, mbps=600), FG, [0, 0, 1])
        self.assertRaises(OutOfSlots, cluster.start, job(2, 2, mbps=401), FG, [1, 2])
        self.assertEqual((1, 2), cluster.start(job(2, 2, mbps=400), FG, [1, 2]).hosts)
        check(self, cluster)

    def test_without_bandwidth_in_several_trees(self):
        cluster = Linked([Host(name, 2) for name in "abc"], self.TREES)
        self.assertFalse(cluster.fits(job(1, 5, mbps=1), FG))
        self.assertTrue(cluster.fits(job(2, 5), FG))
        cluster.start(job(2, 5), FG)
        self.assertEqual(1, cluster.idle[FG])
        self.assertEqual([1000] * 3, cluster.states[FG].residual[:3])

    def test_observed_in_several_trees(self):
        """No embedding is like that; its VMs hold what they need up to the roots."""
        cluster = Linked([Host(name, 2) for name in "abc"], self.TREES)
        for hosts in ((0, 2), (2, 0)):
            cluster.adopt(Run(job(1, 2, mbps=100), FG, hosts))
            self.assertEqual([900, 1000, 900], cluster.states[FG].residual[:3])
            cluster.remove(job(1, 2, mbps=100))
        self.assertEqual([1000] * 3, cluster.states[FG].residual[:3])

    def test_the_background_takes_no_slots_of_the_foreground(self):
        cluster = Linked([Host(name, 2, tiers=2) for name in "abc"], STAR)
        cluster.adopt(Run(job(1, 2, mbps=100), BG, (0, 1)))
        self.assertEqual([2, 2, 2], cluster.states[FG].free)
        self.assertEqual([900, 900, 1000], cluster.states[FG].residual[:3])
        self.assertEqual(6, cluster.idle[FG])
