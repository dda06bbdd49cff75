"""Where servers go: the scheduler with our weigher chooses as `core` does."""

import collections
import itertools
import random
import uuid

from nova import context as nova_context

from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.ledger import names, tree
from tests.functional.base import BG, FG, PROJECT, USER, TwoTierTestCase


class PlacingTestCase(TwoTierTestCase):
    HOSTS = 4
    SLOTS = 3

    def setUp(self):
        super().setUp()
        self.context = nova_context.get_admin_context()
        self.number = 0
        self.consumers = []

    def occupy(self, cluster, job_tier, host, cpu):
        """Put a one-process job on a host of the cluster, and a claim like it into the ledger."""
        self.number += 1
        cluster.adopt(Run(Job(self.number, 1, 0.0, (cpu,)), job_tier, (host,)))
        consumer = str(uuid.uuid4())
        self.consumers.append(consumer)
        resources = {names.SLOT: 1}
        if cpu:
            resources[names.CPU] = round(100 * cpu)
        self.ledger.put(
            f"/allocations/{consumer}",
            {
                "allocations": {self.tiers[host].provider[job_tier]: {"resources": resources}},
                "project_id": PROJECT,
                "user_id": USER,
                "consumer_generation": None,
                "consumer_type": names.VM_CONSUMER,
            },
        )

    def empty(self):
        for consumer in self.consumers:
            self.ledger.delete(f"/allocations/{consumer}")
        self.consumers.clear()
        for host in self.tiers:
            tree.set_closed(self.ledger, host, 0)

    def cluster(self):
        return Hosts([Host(name, self.SLOTS, self.TIERS) for name in self.hosts])

    def place(self, tier, size):
        """Boot a job, and delete it again: the indices of its hosts, by server."""
        _job, servers = self.boot_job(tier, size)
        hosts = [self.hosts.index(self.claim_of(server)[0]) for server in servers]
        self.delete(servers)
        return hosts


class TestComplement(PlacingTestCase):
    def test_least_load_beside(self):
        for tier in (FG, BG):
            cluster = self.cluster()
            for host, cpu in enumerate((0.9, 0.3, 0.1, 0.6)):
                for _slot in range(self.SLOTS):
                    self.occupy(cluster, tier.other, host, cpu)
            self.assertEqual([2, 2, 2, 1, 1], self.place(tier, 5))
            self.empty()

    def test_idle_slots_first(self):
        """A host whose idle slots take the process beats any that would share a slot."""
        cluster = self.cluster()
        for host, idle in enumerate((0, 2, 0, 1)):
            for _slot in range(self.SLOTS - idle):
                self.occupy(cluster, BG, host, 0.1 if host in (0, 2) else 0.9)
        self.assertEqual([1, 1, 3], sorted(self.place(FG, 3)))


class TestLikeCore(PlacingTestCase):
    """Random occupations: the live choice is one that `Cluster.rank` calls best."""

    SEEDS = range(5)

    def occupation(self, seed):
        draw = random.Random(seed)
        cluster = self.cluster()
        for host in range(self.HOSTS):
            for tier in (FG, BG):
                for _place in range(draw.randrange(cluster.room(tier, host) + 1)):
                    if cluster.room(tier, host):
                        cpu = draw.choice((0.0, 0.2, 0.35, 0.5, 0.77, 0.9, 1.0))
                        self.occupy(cluster, tier, host, cpu)
            tree.set_closed(self.ledger, self.tiers[host], cluster.closed[host])
        return cluster

    def schedule(self, tier, size, **hints):
        """What Nova's scheduler selects for a job and claims in Placement, as indices of hosts."""
        vms = [str(uuid.uuid4()) for _ in range(size)]
        self.consumers.extend(vms)
        hints = {f"twotier:{name}": value for name, value in hints.items()}
        job = self.admit(tier, size)
        spec = self.request_spec(self.context, vms, **{"twotier:job": job, **hints})
        selected = self.scheduler_service.manager.select_destinations(
            self.context,
            spec_obj=spec,
            instance_uuids=vms,
            return_objects=True,
            return_alternates=False,
        )
        return [self.hosts.index(hosts[0].service_host) for hosts in selected]

    def loads(self, cluster, tier, hosts):
        """The load beside each process, as `core` sees it, when they are placed on these hosts."""
        free = collections.defaultdict(list)
        for load, host, places in itertools.chain.from_iterable(cluster._all_free(tier)):
            free[host] += [round(load, 6)] * places
        return [free[host].pop(0) for host in hosts]

    def check(self, seed, shuffle=None):
        """Fill each tier with one gang: every next process goes to the least loaded place left."""
        cluster = self.occupation(seed)
        for tier in (FG, BG):
            size = cluster.idle[tier]
            if size:
                order = list(range(size))
                hints = {}
                if shuffle:
                    shuffle(order)
                    hints["dispatch"] = ",".join(map(str, order))
                scheduled = self.schedule(tier, size, **hints)
                live = [scheduled[process] for process in order]
                core = cluster.rank(tier, size)
                self.assertEqual(
                    self.loads(cluster, tier, core),
                    self.loads(cluster, tier, live),
                    f"seed {seed}, {size} {tier}: core {core}, live {live}",
                )
                for vm in [self.consumers.pop() for _vm in range(size)]:
                    self.ledger.delete(f"/allocations/{vm}")
        self.empty()

    def test_random_occupations(self):
        for seed in self.SEEDS:
            self.check(seed)

    def test_the_hottest_processes_first(self):
        """Whatever their numbers are."""
        self.context.global_request_id = USER
        for seed in self.SEEDS:
            self.check(seed, random.Random(seed).shuffle)


class TestLikeCoreThreeTiers(TestLikeCore):
    TIERS = 3
    SEEDS = range(2, 6)
