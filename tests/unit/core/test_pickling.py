"""Jobs, queues and clusters are equal after pickling, as for the process that predicts.

Also run with compiled code, whose classes Python cannot pickle by itself.
"""

import dataclasses
import math
import pickle
import random

import testtools
from hypothesis import given

from nova_twotier.core import policies
from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.embedding import Topology
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.linked import Linked
from nova_twotier.core.qos import SCAVENGER
from nova_twotier.core.queue import Queue
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.sim.crowd import Crowd
from tests.unit.core.alike import AlikeCase, every_policy, histories
from tests.unit.core.builders import BG, FG, job, state

#: Their sums are the same in whatever order they are added up.
EXACT = (0.125, 0.25, 0.5, 0.75, 0.96875, 1.0)


def there(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301


def derived(job):
    """What follows from the values that a job was given."""
    return job.order, job.expected, job.hottest, job.dispatch, job.precedence


class TestHistories(AlikeCase):
    @given(every_policy, histories(loads=EXACT))
    def test_a_policy_decides_the_same(self, policy, history):
        hosts = [Host(f"h{number}", 2) for number in range(math.ceil(history[0] / 2))]
        self.play(policy, history, Hosts(hosts), Hosts(hosts))

    def decide(self, policy, plain, fast, event, now):
        copy = there(plain)
        fast.cluster, fast.queue = copy.cluster, copy.queue
        super().decide(policy, plain, fast, event, now)


class TestValues(testtools.TestCase):
    def test_a_job_has_all_that_it_was_given(self):
        values = {"estimate": 60.0, "name": "solver", "mbps": 10.0, "walltime": 90.0}
        one = Job(1, 2, 5.0, (0.5, 0.9), rank=3.0, offset=2.0, **values)
        background = Job(2, 1, 5.0, (1.0,), foreground=False, qos=SCAVENGER)
        for each in (one, background, Job(3, 1, 0.0, (1.0,), background=False)):
            self.assertEqual((each, derived(each)), (there(each), derived(there(each))))

    def test_no_value_is_forgotten(self):
        """Pickling keeps every field of a job and of a host, also fields that are added later."""
        for each in (job(1, 1), Host("a", 1)):
            given = [field for field in dataclasses.fields(each) if field.init]
            self.assertEqual(len(given), len(each.__reduce__()[1]))

    def test_jobs_that_wait_and_run_stay_the_same_objects(self):
        one = job(1, 2)
        snapshot = there(Snapshot(Hosts([Host("a", 2)], runs=[Run(one, FG, (0, 0))]), [one]))
        self.assertIs(snapshot.cluster.runs[1].job, next(iter(snapshot.queue)))

    def test_what_a_snapshot_knows_besides(self):
        snapshot = Snapshot(Hosts([]), since=5.0, away=(3.0, 7), settling=frozenset({4}))
        copy = there(snapshot)
        self.assertEqual((5.0, (3.0, 7), {4}), (copy.since, copy.away, copy.settling))

    def test_hosts_that_take_no_servers_or_hold_too_many(self):
        specs = [Host("a", 1, 3), Host("b", 2, enabled=False), Host("c", 4, closes=9.0)]
        runs = [Run(job(1, 2), FG, (0, 0)), Run(job(2, 2, cpu=1.0), FG, (1, 2), True, 50.0)]
        cluster = Hosts(specs, 0.9, random.Random(5), runs=runs)
        copy = there(cluster)
        self.assertEqual(state(cluster), state(copy))
        self.assertEqual(0.9, copy.threshold)

    def test_jobs_of_one_tier_only(self):
        queue = Queue([job(1, 2), job(2, 1, foreground=False), job(3, 1, background=False)])
        copy = there(queue)
        self.assertEqual(list(queue), list(copy))
        for tier in (FG, BG):
            self.assertEqual(list(queue.allowed(tier)), list(copy.allowed(tier)))

    def test_a_cluster_of_another_kind_says_that_it_cannot(self):
        crowd = Crowd(2, uniform=True)
        self.assertRaisesRegex(TypeError, "Crowd does not say how", pickle.dumps, crowd)

    def test_policies_keep_their_factor(self):
        for name in policies.POLICIES:
            policy = there(policies.get(name, 3.0))
            self.assertEqual((name, 3.0), (policy.name, policy.factor))


class TestLinks(testtools.TestCase):
    """Three hosts at one switch, links of 1000 Mbit/s."""

    TOPOLOGY = Topology.from_paths(dict.fromkeys("abc", "core"), dict.fromkeys("abc", 1000))

    def test_what_jobs_and_others_hold(self):
        for tiers in (1, 2):
            hosts = [Host("a", 2), Host("b", 2), Host("c", 2, enabled=False)]
            cluster = Linked(hosts, self.TOPOLOGY, threshold=0.9, tiers=tiers)
            cluster.adopt(Run(job(1, 3, mbps=300), BG, (0, 0, 1)))
            cluster.adopt(Run(job(2, 2, mbps=200, cpu=1.0), FG, (1, 2)))
            cluster.saw(job(3, 2, mbps=700))
            cluster.limit({"c": 100})
            copy = there(cluster)
            self.assertEqual((cluster.states, cluster.held), (copy.states, copy.held))
            self.assertEqual((state(cluster), 0.9), (state(copy), copy.threshold))
            for each in (cluster, copy):
                each.remove(each.runs[2].job)
                each.start(job(4, 2, mbps=100), FG)
            self.assertEqual((cluster.states, cluster.held), (copy.states, copy.held))
            self.assertEqual(cluster.runs, copy.runs)

    def test_links_of_which_more_is_held_than_there_is(self):
        cluster = Linked.of(self.TOPOLOGY, 2, tiers=2)
        cluster.adopt(Run(job(1, 3, mbps=900), BG, (0, 0, 1)))
        cluster.adopt(Run(job(2, 3, mbps=900), FG, (0, 0, 1)))
        copy = there(cluster)
        self.assertEqual({"a", "b"}, copy.overbooked())
        self.assertEqual(cluster.states, copy.states)
