"""Jobs with guaranteed bandwidth on real Nova and Placement, through the manager.

Four hosts of two slots, two a rack; every link takes 1000 Mbit/s. So a job of three has two VMs on
one host and one on another of the same rack, and needs B on the links of both.
"""

from unittest import mock

from nova_twotier.audit.comparison import compare
from nova_twotier.audit.nova import Nova
from nova_twotier.audit.reading import Reader
from nova_twotier.audit.records import job_records
from nova_twotier.db.states import JobState
from nova_twotier.filters.virtual_cluster_filter import VirtualClusterFilter
from nova_twotier.ledger import claims, names, reading
from tests.functional.queue_case import QueueTestCase

RATE = 1000


class BandwidthTestCase(QueueTestCase):
    HOSTS = 4
    SLOTS = 2
    POLICY = "fcfs"

    def setUp(self):
        super().setUp()
        for rack in range(2):
            hosts = self.hosts[2 * rack : 2 * rack + 2]
            self.aggregate_of(hosts, switch=f"core/rack{rack}", uplink_mbps=RATE)

    def submit(self, size, mbps, cpu=0.5, **values):
        return self.store.submit(size, [cpu] * size, bandwidth=mbps, **values).number

    def used(self):
        """Mbit/s in use by link; only links that are used."""
        found = {}
        for link in (*self.hosts, "core/rack0", "core/rack1"):
            usages = self.ledger.get(f"/resource_providers/{names.link_uuid(link)}/usages")
            if used := usages["usages"][names.MBPS]:
                found[link] = used
        return found

    def hosts_of(self, number):
        return sorted(self.claim_of(server)[0] for server in self.servers(number))

    def waits(self, number, reason):
        """Look a few times: the job goes on waiting, and this is why."""
        for _poll in range(4):
            self.engine.poll()
        job = self.store.job(number)
        self.assertEqual((JobState.QUEUED, reason), (job.state, str(job.reason)))

    def end(self, number):
        self.store.request_action(number, "complete")
        return self.until(number, JobState.FINISHED)

    def findings(self):
        """What `twotier-manage ledger verify` would say."""
        nova = Nova(self.as_admin())
        reader = Reader(self.ledger, nova, nova.shapes, lambda: job_records(self.store, 3600))
        return compare(reader.state())

    def check_clean(self):
        self.assertEqual({}, self.used())
        self.assertEqual((0, 0), self.totals())
        self.assertEqual([], claims.read_jobs(self.ledger))


class TestQueue(BandwidthTestCase):
    def test_waits_for_bandwidth(self):
        """Slots are free for the third; bandwidth is not before the first ends."""
        first, second, third = self.submit(3, 600), self.submit(3, 600), self.submit(2, 599.5)
        self.until(first, JobState.RUNNING)
        self.until(second, JobState.RUNNING)
        self.assertEqual(["host0", "host0", "host1"], self.hosts_of(first))
        used = {"host0": 600, "host1": 600, "host2": 600, "host3": 600}
        self.assertEqual(used, self.used())
        self.engine.poll()
        self.assertEqual([], self.findings())
        self.waits(
            third,
            "no switch has 2 free slots below it with 600 Mbit/s each: 2 are free, but not with as "
            "much bandwidth",
        )
        self.end(first)
        self.until(third, JobState.RUNNING)
        self.assertEqual({"host2", "host3"}, self.used().keys())
        for number in (second, third):
            self.end(number)
        self.check_clean()

    def test_what_never_fits(self):
        never = self.submit(5, 600)
        self.waits(
            never,
            "no switch has 5 slots below it with 600 Mbit/s each, not even without other jobs",
        )
        after = self.submit(3, 600)
        self.until(after, JobState.RUNNING)


class TestTwoTiers(BandwidthTestCase):
    POLICY = "amcbf"

    def test_a_promotion_keeps_the_links(self):
        first, second = self.submit(8, 0), self.submit(3, 600)
        self.until(first, JobState.RUNNING)
        self.until(second, JobState.RUNNING)
        hosts, used = self.hosts_of(second), self.used()
        self.assertEqual(("bg", [600, 600]), (self.store.job(second).tier, [*used.values()]))
        self.end(first)
        self.until(second, JobState.RUNNING, tier="fg")
        self.assertEqual((hosts, used), (self.hosts_of(second), self.used()))
        self.assertEqual([], self.findings())

    def test_the_background_makes_way_for_links(self):
        """Nobody is in the background where the first closes the slots; the scavenger is on links
        that the last needs as soon as it has slots."""
        first, second = self.submit(4, 0, cpu=1.0), self.submit(4, 0)
        for number in (first, second):
            self.until(number, JobState.RUNNING)
        scavenger = self.submit(3, 900, qos="scavenger")
        self.until(scavenger, JobState.RUNNING)
        last = self.submit(6, 300)
        self.engine.poll()
        self.assertEqual(JobState.QUEUED, self.store.job(last).state)
        self.end(second)
        self.end(first)
        self.until(last, JobState.RUNNING)
        self.assertEqual("fg", self.store.job(last).tier)
        self.assertEqual(1, self.store.job(scavenger).evictions)
        self.assertEqual([], self.findings())
        self.end(last)
        self.until(scavenger, JobState.RUNNING)
        self.end(scavenger)
        self.check_clean()


class TestTrials(BandwidthTestCase):
    POLICY = "acfcfs"

    def test_a_trial_ends_when_its_links_are_needed(self):
        first = self.submit(4, 0)
        self.until(first, JobState.RUNNING)
        second, trial = self.submit(6, 300), self.submit(3, 900)
        self.until(trial, JobState.RUNNING, tier="fg")
        self.assertEqual(JobState.QUEUED, self.store.job(second).state)
        self.end(first)
        self.until(second, JobState.RUNNING, tier="fg")
        killed = self.store.job(trial)
        self.assertEqual((JobState.QUEUED, 1), (killed.state, killed.restarts))
        self.assertEqual([], self.findings())
        self.end(second)
        self.until(trial, JobState.RUNNING)
        self.end(trial)
        self.check_clean()


class TestOtherPolicies(BandwidthTestCase):
    POLICY = "ambf"

    def test_not_without_a_guarantee(self):
        number = self.submit(3, 600)
        self.waits(
            number,
            "its bandwidth cannot be guaranteed by the policy ambf, only by one of: fcfs, sdf, "
            "sbf, smjf, cmcbf, amcbf, amcbf-deadline, ccfcfs, acfcfs, ktier-cmbf, bgmbf, bgmbf-sdf",
        )
        other = self.submit(3, 0)
        self.until(other, JobState.RUNNING)
        self.assertEqual({}, self.used())


class TestPlacement(BandwidthTestCase):
    def test_placed_elsewhere_is_redone(self):
        """What another filter does to the plan: here, nobody asks for it."""
        number = self.submit(3, 600)

        def spread(_filter, hosts):
            return [host for host in hosts if host.num_instances < 1]

        with mock.patch.object(VirtualClusterFilter, "keep", spread):
            self.until(number, JobState.QUEUED, failures=1)
        self.assertEqual(
            "did not start: Nova placed it where it has less bandwidth than is guaranteed",
            str(self.store.job(number).reason),
        )
        self.assertEqual({}, self.used())
        self.until(number, JobState.RUNNING)
        self.assertEqual({"host0": 600, "host1": 600}, self.used())
        self.end(number)
        self.check_clean()

    def test_refused_without_a_reservation(self):
        plain = self._create_flavor(memory_mb=64, vcpu=1, disk=1, ephemeral=0)
        for flavor in (self.flavor, plain):
            [server] = self.boot(
                1, flavor=flavor, hints={"twotier:bandwidth": "100"}, expect="ERROR"
            )
            self.assertIn(
                "twotier:bandwidth='100' asks for bandwidth that is not reserved; submit a job "
                "with a bandwidth to the queue manager",
                self.fault_of(server),
            )
        self.assertEqual((0, 0), self.totals())

    def test_moves_to_where_it_holds_bandwidth(self):
        number = self.submit(3, 300)
        self.until(number, JobState.RUNNING)
        self.assertEqual({"host0": 300, "host1": 300}, self.used())
        moved = next(each for each in self.servers(number) if self.host_of(each) == "host0")
        self.live_migrate(moved)
        self.assertEqual("host1", self.host_of(moved))


class TestServersWithoutJobs(BandwidthTestCase):
    """Those of one request are planned on what the links have free; nothing is reserved."""

    def test_beside_a_job(self):
        job = self.submit(3, 600)
        self.until(job, JobState.RUNNING)
        used = self.used()
        self.assertEqual({"host0": 600, "host1": 600}, used)

        flavor = self.tier_flavor(**{"twotier:mbps": "599.5"})
        with self.placement_reads() as reads:
            servers = self.boot(3, flavor=flavor)
        self.assertEqual({"host2", "host3"}, {self.host_of(server) for server in servers})
        self.assertEqual([reading.NETWORK_URL], [url for url in reads if names.MBPS in url])

        # One slot is free on host1, whose link the job has, and one on host3.
        refused = self.boot(2, flavor=flavor, expect="ERROR")
        self.assertIn(
            "for 2 servers at once, no switch has 2 free slots below it with 600 Mbit/s each",
            self.fault_of(refused[0]),
        )
        # A single server needs no link, nor does one that moves, though it was one of three.
        [alone] = self.boot(1, flavor=flavor)
        self.delete([alone])
        self.live_migrate(next(each for each in servers if self.host_of(each) == "host3"), "host1")
        self.act(servers[0], "shelve", "SHELVED_OFFLOADED")
        self.act(servers[0], "unshelve")
        self.assertEqual(used, self.used())
        self.assertEqual([], self.findings())

    def test_the_largest_bandwidth_of_jobs(self):
        """The manager goes by it, the scheduler's plan of a job, and that of other servers."""
        first = self.submit(2, 600)
        self.until(first, JobState.RUNNING)
        self.end(first)
        self.poll(lambda: self.engine.poll() or self.published(), "the bandwidth is published")
        self.assertEqual(600, self.published())

        plain, known = VirtualClusterFilter.keep, []

        def keep(this, hosts):
            kept = plain(this, hosts)
            known.append(hosts[0].twotier.asked.network.max_mbps)
            return kept

        with mock.patch.object(VirtualClusterFilter, "keep", keep):
            job = self.submit(2, 300)
            self.until(job, JobState.RUNNING)
            self.boot(2, flavor=self.tier_flavor(**{"twotier:mbps": "300"}))
        self.assertEqual([600] * 4, known)
        self.assertEqual([], self.findings())

    def published(self):
        return reading.largest_mbps(self.ledger.get(reading.LARGEST_URL))


class TestPreemption(BandwidthTestCase):
    POLICY = "bgmbf"
    SLOTS = 1

    def preempted(self, mode):
        """Job 3 passed job 2, which has evicted it when job 1 ended; job 2 has ended since."""
        self.submit(2, 0)
        self.until(1, JobState.RUNNING)
        self.submit(4, 0)
        self.submit(2, 100, preemption=mode)
        self.until(3, JobState.RUNNING)
        self.assertEqual({100}, {*self.used().values()})
        before = self.hosts_of(3)
        self.end(1)
        self.until(2, JobState.RUNNING)
        self.assertEqual({}, self.used())
        self.end(2)
        self.until(3, JobState.RUNNING, restores=1)
        self.assertEqual(["submitted", "started", "evicted", "restored"], self.kinds(3))
        self.assertEqual({100}, {*self.used().values()})
        return before

    def test_shelved_and_brought_back(self):
        self.preempted("shelve")
        self.assertEqual(set(self.hosts_of(3)), self.used().keys())
        self.end(3)
        self.check_clean()

    def test_suspended_and_resumed(self):
        before = self.preempted("suspend")
        self.assertEqual(before, self.hosts_of(3))
        self.end(3)
        self.check_clean()


class TestPools(BandwidthTestCase):
    """Two pools, each with a host in either rack, have the racks' uplinks in common."""

    def setUp(self):
        super().setUp()
        for pool, hosts in (("left", ("host0", "host2")), ("right", ("host1", "host3"))):
            self.aggregate_of(hosts, pool=pool)

    def test_two_at_once(self):
        """Both managers see the links free, and decide; the ledger gives them to one."""
        engines = {pool: self.new_engine(pool=pool) for pool in ("left", "right")}
        jobs = {pool: self.submit(4, 400, pool=pool) for pool in engines}
        for engine in engines.values():
            engine.poll()
        self.engine = engines["left"]
        self.until(jobs["left"], JobState.RUNNING)
        self.engine = engines["right"]
        used = {"host0": 800, "host2": 800, "core/rack0": 800, "core/rack1": 800}
        self.until(jobs["right"], JobState.QUEUED, setbacks=1)
        self.assertEqual(
            "did not start: the bandwidth that it was to get was taken meanwhile",
            str(self.store.job(jobs["right"]).reason),
        )
        self.assertEqual(used, self.used())
        self.engine = engines["left"]
        self.end(jobs["left"])
        self.engine = engines["right"]
        self.until(jobs["right"], JobState.RUNNING)
        self.assertEqual(
            {"host1": 800, "host3": 800, "core/rack0": 800, "core/rack1": 800}, self.used()
        )
        self.end(jobs["right"])
        self.check_clean()
