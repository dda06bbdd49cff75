"""Jobs of a pool stay on its hosts, on real Nova and Placement with the plugin."""

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import claims, names, providers, tree
from nova_twotier.ledger.inventory import read_inventory
from nova_twotier.ledger.placement import NotFound
from tests.functional.base import BG, FG, PROJECT, USER, TwoTierTestCase
from tests.functional.ledger_case import LedgerTestCase


class TestPools(TwoTierTestCase):
    """`host2` is a pool of its own."""

    HOSTS = 3
    SLOTS = 2

    def sync(self, shapes):
        tree.prepare(self.ledger, ["gpu"])
        return super().sync({**shapes, "host2": tree.Shape(self.SLOTS, self.TIERS, pool="gpu")})

    def boot_in(self, pool, tier, size, expect="ACTIVE"):
        job = "6a5b1f3e-0e50-4f5c-8f2a-4b1d0e6a9c0" + str(size)
        claims.admit(self.ledger, job, size, tier, PROJECT, USER, pool=pool)
        return self.boot(size, job=job, expect=expect)

    def hosts_of(self, servers):
        return {self.host_of(server) for server in servers}

    def test_where_jobs_go(self):
        servers = self.boot_in("gpu", FG, 2)
        self.assertEqual({"host2"}, self.hosts_of(servers))
        # Full; other hosts have room, and the job waits all the same.
        [refused] = self.boot_in("gpu", FG, 1, expect="ERROR")
        self.assertIn("No valid host", self.fault_of(refused))
        self.assertEqual({FG: [0, 0, 2], BG: [0, 0, 0]}, self.usage())
        # Four slots are free, none of them in this pool, and more do not fit.
        servers = self.boot_in("default", FG, 4)
        self.assertEqual({"host0", "host1"}, self.hosts_of(servers))
        # Wherever the scheduler sends it: there is one other host for it.
        [server] = [each for each in servers if self.host_of(each) == "host0"][:1]
        self.delete([each for each in servers if self.host_of(each) == "host1"])
        self.assertEqual("host1", self.host_of(self.live_migrate(server)))

    def test_who_has_no_job_goes_anywhere(self):
        servers = self.boot(6)
        self.assertEqual({"host0", "host1", "host2"}, self.hosts_of(servers))


class TestEntries(LedgerTestCase):
    """What the ledger holds of pools, on real Placement."""

    def traits(self, host, tier):
        provider = self.tiers[host].provider[tier]
        found = self.ledger.get(f"/resource_providers/{provider}/traits")["traits"]
        return {trait for trait in found if names.is_pool(trait)}

    def test_entries(self):
        tree.prepare(self.ledger, ["gpu", "default"])
        before = self.generations()
        self.assertIn("twotier-jobs:gpu", before)
        tree.prepare(self.ledger, ["gpu"])
        self.assertEqual(before, self.generations())
        job = self.admit(FG, 3, pool="gpu")
        other = self.admit(BG, 2)
        swaps = [claims.Swap(job, 3, FG, (), "gpu"), claims.Swap(other, 2, FG, ())]
        claims.swap(self.ledger, self.tiers, swaps, "project", "user")
        entries = {entry.uuid: entry for entry in claims.read_jobs(self.ledger)}
        self.assertEqual(
            {
                job: claims.JobEntry(job, FG, 3, pool="gpu"),
                other: claims.JobEntry(other, FG, 2),
            },
            entries,
        )
        claims.release(self.ledger, job)
        self.assertEqual([other], [entry.uuid for entry in claims.read_jobs(self.ledger)])
        error = self.assertRaises(NotFound, self.admit, FG, 1, pool="gpo")
        self.assertIn("there is no pool gpo in the ledger", str(error))

    def test_a_host_changes_its_pool(self):
        pool = {name: names.pool_trait(names.jobs_uuid(name)) for name in ("default", "gpu")}
        tree.prepare(self.ledger, ["gpu"])
        vm = self.claim(0, FG)
        for name in ("gpu", "default", "gpu"):
            self.tiers = self.sync(self.SLOTS, self.TIERS, pool=name)
            for tier in Tier:
                self.assertEqual({pool[name]}, self.traits(0, tier))
            before = self.generations()
            self.sync(self.SLOTS, self.TIERS, pool=name)
            self.assertEqual(before, self.generations())
        self.assertEqual({vm: ("host0", FG)}, self.held())
        hosts = read_inventory(self.ledger, providers.listed(self.ledger))
        self.assertEqual({"gpu"}, {tier.pool for tier in hosts["host0"].tiers.values()})
        # One that leaves is of none, and comes back to whichever.
        self.tiers = self.sync(self.SLOTS, self.TIERS, hosts=[1])
        self.assertEqual(set(), self.traits(0, FG))
        self.tiers = self.sync(self.SLOTS, self.TIERS)
        self.assertEqual({pool["default"]}, self.traits(0, FG))
