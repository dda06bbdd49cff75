"""Links and the bandwidth that job entries hold on them, on real Placement."""

import types

import fixtures

from nova_twotier.cloud.compute_hosts import ComputeHost
from nova_twotier.cloud.hosts import Hosts
from nova_twotier.ledger import claims, largest, names, reading, tree
from nova_twotier.ledger.claims import JobEntry
from nova_twotier.ledger.placement import Conflict, NotFound, StaleGeneration
from tests.functional.ledger_case import BG, FG, PROJECT, USER, LedgerTestCase, Overtaken

RACK = "core/rack1"


class TestLinks(LedgerTestCase):
    def setUp(self):
        super().setUp()
        self.tiers = self.connect(100, 1000)

    def connect(self, *uplinks, hosts=None, switch=RACK):
        return self.sync(2, 2, hosts, switch=switch, uplinks=uplinks)

    def links(self):
        """Total and use of each link, Mbit/s."""
        return {
            link: (self.of(provider["uuid"], "inventories")["total"], self.use(provider["uuid"]))
            for provider in self.ledger.get("/resource_providers")["resource_providers"]
            if (link := names.link_of(provider["name"]))
        }

    def of(self, provider, what):
        return self.ledger.get(f"/resource_providers/{provider}/{what}")[what].get(names.MBPS)

    def use(self, provider):
        return self.of(provider, "usages")

    def test_made_from_the_aggregates(self):
        self.assertEqual({"host0": (100, 0), "host1": (100, 0), RACK: (1000, 0)}, self.links())
        before = self.generations()
        self.connect(100, 1000)
        self.assertEqual(before, self.generations())

    def test_changed(self):
        job = self.admit(FG, 2, links={"host0": 80, RACK: 80})
        self.connect(50, 2000)
        self.assertEqual({"host0": (50, 80), "host1": (50, 0), RACK: (2000, 80)}, self.links())
        # Less than is in use: the job keeps it, also through changes, and nobody else comes.
        self.move(job, 2, BG)
        self.assertRaises(Conflict, self.admit, FG, 1, links={"host0": 1})
        claims.release(self.ledger, job)
        self.admit(FG, 1, links={"host0": 50})

    def test_gone_when_unused(self):
        job = self.admit(FG, 2, links={"host0": 10, RACK: 10})
        self.connect(100, 1000, switch="core/rack2")
        self.assertEqual({"host0", "host1", RACK, "core/rack2"}, set(self.links()))
        claims.release(self.ledger, job)
        self.connect(100, 1000, hosts=[0], switch="core/rack2")
        self.assertEqual({"host0", "core/rack2"}, set(self.links()))
        self.connect()
        self.assertEqual({}, self.links())

    def test_the_largest_bandwidth_is_beside_them(self):
        """It is published for each pool; no write of the ledger takes it away."""
        tree.prepare(self.ledger, ("gpu",))
        job = self.admit(FG, 2, links={"host0": 100, RACK: 30})
        largest.publish(self.ledger, names.DEFAULT_POOL, 600)
        largest.publish(self.ledger, "gpu", 500)
        before = self.generations()
        largest.publish(self.ledger, "gpu", 500)
        tree.prepare(self.ledger, ("gpu",))
        self.connect(100, 1000)
        self.assertEqual(before, self.generations())
        for url in (reading.LARGEST_URL, reading.NETWORK_URL):
            self.assertEqual(600, reading.largest_mbps(self.ledger.get(url)))
        left = reading.links_left(self.ledger.get(reading.NETWORK_URL))
        # A full link is missing.
        names_of = {names.link_uuid(link): link for link in ("host0", "host1", RACK)}
        self.assertEqual(
            {"host1": 100, RACK: 970},
            {names_of[uuid]: mbps for uuid, mbps in left.items() if uuid in names_of},
        )
        self.assertEqual(left.keys() & names_of, self.ledger_links().keys())
        largest.publish(self.ledger, names.DEFAULT_POOL, 400)
        self.assertEqual(500, reading.largest_mbps(self.ledger.get(reading.LARGEST_URL)))
        self.assertEqual([JobEntry(job, FG, 2, {"host0": 100, RACK: 30})], self.jobs(job))
        claims.release(self.ledger, job)

    def ledger_links(self):
        """What the manager reads: links only."""
        return reading.links_left(self.ledger.get(reading.LINKS_URL))

    def test_disagreement_is_said(self):
        logger = self.useFixture(fixtures.FakeLogger())
        shapes = {"host0": tree.Shape(2, 2, RACK, (10, 40)), "host1": tree.Shape(2, 2, RACK, (10,))}
        tree.sync_hosts(self.ledger, shapes)
        self.assertEqual((10, 0), self.links()[RACK])
        self.assertIn(f"the link up from {RACK} 10 (host host1), 40 (host host0)", logger.output)

    def test_disagreement_is_said_once_while_a_host_is_leaving(self):
        """The manager brings the ledger into line at every poll of the hosts until it has left."""
        logger = self.useFixture(fixtures.FakeLogger())
        shapes = {"host1": tree.Shape(2, 2, RACK, (10,)), "host2": tree.Shape(2, 2, RACK, (10, 40))}
        self.make_host("host2")
        self.claim(0, FG)
        cloud = types.SimpleNamespace(
            check=lambda: None,
            hosts=lambda: {name: ComputeHost(shape, True) for name, shape in shapes.items()},
            limited_flavors=dict,
        )
        hosts = Hosts(cloud, self.ledger, 1.0)
        for now in range(3):
            hosts.refresh(float(now))
        self.assertEqual([True, False, False], [host.leaving for host in hosts.tree])
        self.assertEqual(1, logger.output.count(f"the link up from {RACK}"))

    def test_never_overcommitted(self):
        self.admit(FG, 2, links={"host0": 60, RACK: 60})
        job = self.admit(BG, 2, links={"host1": 10})
        error = self.assertRaises(
            Conflict, self.admit, FG, 2, job, links={"host0": 41, RACK: 41, "host1": 100}
        )
        self.assertNotIsInstance(error, StaleGeneration)
        self.assertIn("no room on link host0 (41 Mbit/s wanted)", str(error))
        self.assertEqual([JobEntry(job, BG, 2, {"host1": 10})], self.jobs(job))
        self.admit(FG, 2, job, links={"host0": 40})
        self.assertEqual([JobEntry(job, FG, 2, {"host0": 40})], self.jobs(job))

    def test_link_that_is_not_there(self):
        error = self.assertRaises(NotFound, self.admit, FG, 2, links={"core/rack9": 1})
        self.assertIn("no link core/rack9", str(error))
        self.assertEqual([], claims.read_jobs(self.ledger))

    def jobs(self, *chosen):
        return [entry for entry in claims.read_jobs(self.ledger) if entry.uuid in chosen]

    def test_kept_by_swap_and_move(self):
        links = {"host0": 30, RACK: 20}
        front, back = self.admit(FG, 1, links=links), self.admit(BG, 1)
        vms = [self.claim(0, FG), self.claim(0, BG)]
        swaps = [claims.Swap(front, 1, BG, (vms[0],)), claims.Swap(back, 1, FG, (vms[1],))]
        claims.swap(self.ledger, self.tiers, swaps, PROJECT, USER)
        entries = [JobEntry(front, BG, 1, links), JobEntry(back, FG, 1)]
        self.assertEqual(entries, self.jobs(front) + self.jobs(back))
        self.move(front, 1, FG)
        self.assertEqual([JobEntry(front, FG, 1, links)], self.jobs(front))
        claims.release(self.ledger, front)
        self.assertEqual([], self.jobs(front))
        self.assertEqual({0}, {used for _total, used in self.links().values()})

    def test_two_jobs_for_one_link(self):
        """The second came between the read and the write of the first: it has the link."""
        second = []
        ledger = Overtaken(
            self.ledger, lambda _n: second.append(self.admit(BG, 1, links={RACK: 600}))
        )
        self.assertRaises(
            Conflict, claims.admit, ledger, names.jobs_uuid(), 1, FG, PROJECT, USER, {RACK: 600}
        )
        self.assertEqual(second, [entry.uuid for entry in claims.read_jobs(self.ledger)])


class TestJobs(LedgerTestCase):
    def test_list(self):
        self.assertEqual([], claims.read_jobs(self.ledger))
        entries = {
            JobEntry(self.admit(tier, size), tier, size).uuid: (tier, size)
            for tier, size in ((FG, 1), (BG, 7), (FG, 3))
        }
        found = claims.read_jobs(self.ledger)
        self.assertEqual(entries, {entry.uuid: (entry.tier, entry.size) for entry in found})
        self.assertEqual([{}] * 3, [entry.links for entry in found])

    def test_move(self):
        job = self.admit(FG, 3)
        for tier in (BG, BG, FG):
            self.move(job, 3, tier)
            self.assertEqual([JobEntry(job, tier, 3)], claims.read_jobs(self.ledger))
