"""VirtualClusterFilter, and the weigher that follows its plan: two racks of two hosts each."""

from unittest import mock

import fixtures
import testtools
from nova import exception
from nova.scheduler import weights

from nova_twotier.filters.tier_filter import TierFilter
from nova_twotier.filters.virtual_cluster_filter import VirtualClusterFilter
from nova_twotier.weighers.adaba import AdaBaWeigher
from tests.unit.plugin.fakes import BOOT, FG, JOB, FakePlacement, host, request, summaries

RACKS = {"a": "core/x", "b": "core/x", "c": "core/y", "d": "core/y"}


class VirtualClusterCase(testtools.TestCase):
    SLOTS = 4

    def placement(self, size=6, links=None, used=None):
        """
        :param links: that the job holds, by default for four VMs on `a` and two on `b`.
        :param used: VMs on each host, none by default.
        """
        used = used or {}
        return FakePlacement(
            *(summaries(name, [50] * used.get(name, 0), [], slots=self.SLOTS) for name in RACKS),
            jobs={JOB: FG},
            size=size,
            links={"a": 200, "b": 200} if links is None else links,
        ).patch(self)

    def hosts(self, names="abcd", counted=True, **switches):
        hosts = []
        for name in names:
            metadata = {"twotier:switch": switches.get(name, RACKS[name])}
            if counted:
                metadata["twotier:uplink_mbps"] = "1000"
            hosts.append(host(name, **metadata))
        return hosts

    def booted(self, **values):
        """The request of the queue manager that boots all VMs of the job."""
        values = {"hints": {"bandwidth": "100"}, "request_id": BOOT, **values}
        return request(job=JOB, **values)

    def filtered(self, hosts, spec):
        return VirtualClusterFilter().filter_all(TierFilter().filter_all(hosts, spec), spec)

    def place(self, hosts, spec, count):
        """The hosts of so many VMs, each on the first that is left."""
        chosen = []
        for _vm in range(count):
            hosts = self.filtered(hosts, spec)
            if not hosts:
                break
            hosts[0].num_instances += 1
            chosen.append(hosts[0].host)
        return "".join(chosen)

    def refused(self, hosts, spec):
        error = self.assertRaises(exception.NoValidHost, self.filtered, hosts, spec)
        return str(error)


class TestBoot(VirtualClusterCase):
    def test_all_vms_are_planned_at_once(self):
        self.placement()
        self.assertEqual("aaaabb", self.place(self.hosts(), self.booted(), 7))

    def test_one_read_for_all_vms(self):
        placement = self.placement()
        self.place(self.hosts(), self.booted(), 6)
        self.assertEqual(2, len(placement.reads), placement.reads)

    def test_only_where_bandwidth_is_reserved(self):
        """One VM on one side and four on the other, although a rack has room for all."""
        self.placement(size=5, links={"b": 100, "core/x": 100, "c": 100, "core/y": 100})
        self.assertEqual("bbbbc", "".join(sorted(self.place(self.hosts(), self.booted(), 5))))

    def test_nothing_reserved(self):
        """All VMs are on one host: the first with room for them."""
        self.placement(size=3, links={}, used={"a": 2})
        self.assertEqual("bbb", self.place(self.hosts(), self.booted(), 4))

    def test_links_of_hosts_that_are_not_counted(self):
        """What is above them is, since some of that is reserved; not all of it need be used."""
        self.placement(size=6, links={"core/x": 200, "core/y": 200})
        self.assertEqual("aaaabb", self.place(self.hosts(counted=False), self.booted(), 7))

    def test_a_host_of_the_plan_is_gone(self):
        self.placement()
        self.assertIn(
            "within the job's reservation, needs 6 foreground slots, 4 idle",
            self.refused(self.hosts("acd"), self.booted()),
        )
        self.assertIn("none of the remaining hosts", self.refused(self.hosts("cd"), self.booted()))

    def test_no_tree(self):
        self.placement()
        log = self.useFixture(fixtures.FakeLogger("nova_twotier"))
        refused = self.refused(self.hosts(a="core//x"), self.booted())
        self.assertIn("the network of the hosts is described wrongly", refused)
        self.assertNotIn("host a", refused)
        self.assertIn("twotier:switch of aggregates is wrong: host a: switch 'core//x'", log.output)

    def test_where_adaba_finds_none(self):
        """Six of ten VMs are in a rack: nobody there takes the fifth without the sixth."""
        self.SLOTS = 1
        racks = {**dict.fromkeys("abcdef", "core/x"), **dict.fromkeys("ghij", "core/y")}
        with mock.patch.dict(RACKS, racks):
            self.placement(size=10, links={"core/x": 400, "core/y": 400})
            hosts = self.hosts("abcdefghij", counted=False)
            self.assertEqual("abcdefghij", self.place(hosts, self.booted(), 10))


class TestLargest(VirtualClusterCase):
    """Bmax by which the manager decided: 200 Mbit/s are much where nobody asked for more."""

    def chosen(self, **hints):
        self.placement(size=3, links={"b": 200, "a": 200, "c": 200}, used={"a": 2, "c": 2})
        spec = self.booted(hints={"bandwidth": "200", **hints})
        return "".join(sorted(self.place(self.hosts(), spec, 3)))

    def test_it_comes_with_the_boot(self):
        self.assertEqual("bbb", self.chosen(max_mbps="200"))

    def test_without_it_the_option_counts(self):
        """As of a manager of an older release."""
        self.assertEqual("aab", self.chosen())

    def test_only_from_the_manager(self):
        """Nova keeps the hints for later requests, when it may be another."""
        placement, hosts = self.placement(), self.hosts()
        hints = {"bandwidth": "100", "max_mbps": "200"}
        self.filtered(hosts, self.booted(hints=hints, request_id="req-of-an-administrator"))
        self.assertEqual(1000.0, hosts[0].twotier.asked.network.max_mbps)
        self.assertEqual(2, len(placement.reads), placement.reads)

    def test_it_costs_no_read(self):
        placement = self.placement()
        self.place(self.hosts(), self.booted(), 6)
        self.assertEqual(2, len(placement.reads), placement.reads)


class TestWhoMayAsk(VirtualClusterCase):
    def test_without_a_reservation(self):
        placement = self.placement()
        for spec in (
            request(hints={"bandwidth": "100"}),
            request(hints={"bandwidth": "100"}, ours=False),
            request(hints={"bandwidth": "100"}, admin=False),
        ):
            self.assertIn(
                "Hint: twotier:bandwidth='100' asks for bandwidth that is not reserved",
                self.refused(self.hosts(), spec),
            )
        self.assertEqual([], placement.reads)

    def test_a_plain_flavor_for_a_job(self):
        self.placement()
        refused = self.refused(self.hosts(), self.booted(ours=False))
        self.assertIn("resources:CUSTOM_TWOTIER_SLOT=None is wrong", refused)

    def test_job_of_somebody_else(self):
        self.placement()
        spec = self.booted(admin=False, request_id="req-mine")
        self.assertIn("allowed: the uuid of a job", self.refused(self.hosts(), spec))

    def test_wrong_amounts(self):
        for value in ("0", "-1", "1.5", "much", ""):
            self.placement()
            spec = self.booted(hints={"bandwidth": value})
            self.assertIn("allowed: whole Mbit/s", self.refused(self.hosts(), spec), value)

    def test_another_bandwidth_than_is_reserved(self):
        for value in ("150", "50"):
            self.placement()
            spec = self.booted(hints={"bandwidth": value})
            self.assertIn("that the queue manager has reserved", self.refused(self.hosts(), spec))


class TestMove(VirtualClusterCase):
    """A VM of the job: Nova keeps the number of VMs of the boot with whatever follows."""

    def moved(self, **values):
        return self.booted(request_id="req-of-an-administrator", **values)

    def test_to_where_the_job_holds_bandwidth(self):
        self.placement()
        self.assertEqual("ab", "".join(h.host for h in self.filtered(self.hosts(), self.moved())))

    def test_to_a_host_that_is_named(self):
        self.placement()
        spec = self.moved(destination="d")
        self.assertEqual(["d"], [h.host for h in self.filtered(self.hosts("d"), spec)])

    def test_all_vms_are_on_one_host(self):
        self.placement(size=2, links={})
        refused = self.refused(self.hosts(), self.moved())
        self.assertIn("the job has reserved bandwidth on none of the remaining hosts", refused)

    def test_rebuild(self):
        placement = self.placement()
        hosts = self.hosts()
        self.assertEqual(hosts, self.filtered(hosts, self.moved(rebuild="a")))
        self.assertEqual([], placement.reads)


class TestOthers(VirtualClusterCase):
    def test_pass(self):
        """Also those of a job with bandwidth, if they ask for none."""
        self.placement()
        for spec in (request(), request(job=JOB), request(ours=False)):
            self.assertEqual("abcd", "".join(h.host for h in self.filtered(self.hosts(), spec)))

    def test_no_hosts(self):
        self.placement()
        self.assertEqual([], self.filtered([], self.booted()))


class TestWeigher(VirtualClusterCase):
    def test_the_plan_decides(self):
        """The AdaBaWeigher does not weigh what is planned."""
        self.placement()
        hosts = self.filtered(self.hosts(), self.booted())
        weighed = [weights.WeighedHost(state, 0.0) for state in hosts]
        self.assertEqual([], AdaBaWeigher().weigh_objects(weighed, None))
