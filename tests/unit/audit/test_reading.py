"""The ledger as an audit reads it: several hosts at the same time, and in the same order."""

import itertools
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import testtools

from nova_twotier.audit.checks import facts
from nova_twotier.audit.comparison import compare
from nova_twotier.audit.reading import Reader
from nova_twotier.cloud.listing import Lister
from nova_twotier.core.actions import Tier
from nova_twotier.ledger import claims, consumers, names, tree
from nova_twotier.ledger.shape import Shape
from tests.functional.fake_placement import FakePlacement

HOSTS = {f"host{number}": Shape(2, 2, "core", (100, 100)) for number in range(4)}
THREADS = 4
#: What else Nova tells of a deployment.
NOTHING_ELSE = dict.fromkeys(("flavors", "flavor_names", "metadata", "aggregates"), dict)


class Together(FakePlacement):
    """Answers as many requests of other threads as there are of these, and none before the last."""

    def __init__(self, placement):
        self.placement, self.own = placement, threading.get_ident()
        self.barrier = threading.Barrier(THREADS, timeout=60)

    def get(self, url):
        if threading.get_ident() != self.own:
            self.barrier.wait()
        return self.placement.get(url)


class TestSeveralAtOnce(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.placement = FakePlacement()
        for name in HOSTS:
            self.placement.post("/resource_providers", {"uuid": f"root-{name}", "name": name})
        tree.prepare(self.placement)
        self.hosts = tree.sync_hosts(self.placement, HOSTS)
        threads = ThreadPoolExecutor(THREADS)
        self.addCleanup(threads.shutdown)
        self.lister = Lister(threads)

    def claim(self, consumer, *places):
        held = {host.provider[tier]: {names.SLOT: 1} for host, tier in places}
        owner = {"project_id": "p", "user_id": "u", "consumer_type": names.VM_CONSUMER}
        consumers.rewrite(self.placement, {consumer: lambda _held: held}, {}, owner)

    def test_the_state_is_the_same(self):
        for number, (host, tier) in enumerate(itertools.product(self.hosts, Tier)):
            self.claim(f"vm{number}", (host, tier))
        self.claim("double", (self.hosts[2], Tier.FG), (self.hosts[0], Tier.BG))
        for number in range(THREADS):
            owner = {"project": "p", "user": "u"}
            claims.admit(self.placement, f"job{number}", 1, Tier.FG, links={"host0": 9}, **owner)
        nova = types.SimpleNamespace(vms=dict, vm=lambda _uuid: None, migrations=lambda *_: {})
        placement = Together(self.placement)

        def read(placement, lister=None):
            return Reader(placement, nova, lambda: HOSTS, dict, lister=lister).state()

        alone, several = read(self.placement), read(placement, self.lister)
        self.assertEqual(alone, several)
        for name in ("hosts", "claims", "entries"):
            self.assertEqual(list(getattr(alone, name)), list(getattr(several, name)))
        self.assertEqual(list(compare(alone)), list(compare(several)))
        self.assertEqual((4, 9, 4), tuple(map(len, (alone.hosts, alone.claims, alone.entries))))

    def test_facts_for_the_upgrade_check(self):
        for number, name in enumerate(HOSTS):
            cpus = {"total": 9, "reserved": 1, "allocation_ratio": float(number)}
            self.placement.providers[f"root-{name}"].inventories["VCPU"] = cpus
        nova = types.SimpleNamespace(shapes=lambda: HOSTS, **NOTHING_ELSE)
        found = facts.gather(Together(self.placement), nova, self.lister)
        expected = {name: float(number) for number, name in enumerate(HOSTS)}
        self.assertEqual((HOSTS, expected), (found.shapes, found.cpu_ratios))
        self.assertEqual({name: 8 * number for number, name in enumerate(HOSTS)}, found.vcpus)

    def test_hosts_without_vcpus_for_the_upgrade_check(self):
        """Placement knows all of them, but one that was renamed."""
        known, renamed, *_ = HOSTS
        self.placement.providers[f"root-{renamed}"].name = "before"
        cpus = {"total": 9, "reserved": 1, "allocation_ratio": 2.0}
        self.placement.providers[f"root-{known}"].inventories["VCPU"] = cpus
        nova = types.SimpleNamespace(shapes=lambda: HOSTS, **NOTHING_ELSE)
        found = facts.gather(self.placement, nova, self.lister)
        self.assertEqual({known: 2.0}, found.cpu_ratios)
        others = dict.fromkeys(HOSTS.keys() - {known, renamed}, 0)
        self.assertEqual({known: 16, **others}, found.vcpus)
