"""Servers of one request for several that belong to no job: two racks of two hosts each."""

from types import SimpleNamespace
from unittest import mock

import fixtures
import testtools
from hypothesis import example, given
from hypothesis import strategies as st
from nova import exception
from nova.objects.instance_mapping import InstanceMapping
from nova.scheduler import weights

from nova_twotier.filters.background_threshold_filter import BackgroundThresholdFilter
from nova_twotier.filters.tier_filter import TierFilter
from nova_twotier.filters.virtual_cluster_filter import VirtualClusterFilter
from nova_twotier.ledger import reading
from nova_twotier.ledger.shape import Shape, needs
from nova_twotier.weighers.adaba import AdaBaWeigher
from tests.unit.plugin.fakes import BG, FG, JOB, FakePlacement, host, request, summaries

RACKS = {"a": "core/x", "b": "core/x", "c": "core/y", "d": "core/y"}
LINKS = (*RACKS, "core/x", "core/y")


class MultiCreateCase(testtools.TestCase):
    SLOTS = 4

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger("nova_twotier"))
        self.cell, self.mappings, self.unknown = None, 0, False
        lookup = mock.patch.object(InstanceMapping, "get_by_instance_uuid", self.mapping)
        lookup.start()
        self.addCleanup(lookup.stop)

    def mapping(self, context, uuid):
        """Nova's record of the cell that the server is in; none before it has a host."""
        self.mappings += 1
        if self.unknown:
            raise exception.InstanceMappingNotFound(uuid=uuid)
        return SimpleNamespace(cell_mapping=self.cell)

    def placement(self, used=None, left=None, largest=0, **options):
        """
        :param used: VMs in the foreground of each host, none by default.
        :param left: Mbit/s that links have left, all 1000 by default.
        """
        used = used or {}
        return FakePlacement(
            *(summaries(name, [50] * used.get(name, 0), [], slots=self.SLOTS) for name in RACKS),
            left={**dict.fromkeys(LINKS, 1000), **(left or {})},
            largest={"default": largest},
            **options,
        ).patch(self)

    def hosts(self, names="abcd", counted=True, **switches):
        hosts = []
        for name in names:
            metadata = {"twotier:switch": switches.get(name, RACKS[name])}
            if counted:
                metadata["twotier:uplink_mbps"] = "1000"
            hosts.append(host(name, **metadata))
        return hosts

    def booted(self, size, mbps="100", tier=FG, **values):
        return request(tier, size=size, mbps=mbps, admin=False, **values)

    def filtered(self, hosts, spec):
        for each in (TierFilter(), BackgroundThresholdFilter(), VirtualClusterFilter()):
            hosts = each.filter_all(hosts, spec)
        return hosts

    def place(self, hosts, spec, count):
        """The hosts of so many VMs, each on the one that AdaBaWeigher prefers."""
        chosen, handler = [], weights.HostWeightHandler()
        for _vm in range(count):
            hosts = self.filtered(hosts, spec)
            if not hosts:
                break
            weighed = handler.get_weighed_objects([AdaBaWeigher()], hosts, None)
            hosts = [each.obj for each in weighed]
            hosts[0].num_instances += 1
            chosen.append(hosts[0].host)
        return "".join(chosen)

    def refused(self, hosts, spec):
        error = self.assertRaises(exception.NoValidHost, self.filtered, hosts, spec)
        return str(error).removeprefix("No valid host was found. ")

    def all_pass(self, spec, **hosts):
        """The hosts pass for more VMs than the request has, and nobody asks about links."""
        placement = self.placement(left=dict.fromkeys(LINKS, 0))
        hosts = self.hosts(**hosts)
        for _vm in range(3):
            self.assertEqual("abcd", "".join(each.host for each in self.filtered(hosts, spec)))
        self.assertEqual([], [url for url in placement.reads if "MBPS" in url])


class TestPlan(MultiCreateCase):
    def test_all_at_once(self):
        """One more than were asked for has no host left."""
        self.placement()
        self.assertEqual("aaaabb", self.place(self.hosts(), self.booted(6), 7))

    def test_reads_once(self):
        """The links and the largest bandwidth in one read, also for filter and weigher together."""
        placement = self.placement()
        self.place(self.hosts(), self.booted(6), 6)
        self.assertEqual([reading.NETWORK_URL], placement.reads[1:])
        self.assertEqual(1, self.mappings)

    def test_within_what_links_have_left(self):
        """Next to the narrow link of `a`, rack x takes five VMs only."""
        self.placement(left={"a": 100})
        self.assertEqual("ccccdd", self.place(self.hosts(), self.booted(6), 6))

    def test_full_links_take_all_or_none(self):
        """VMs on one host need no link."""
        self.placement(left=dict.fromkeys(LINKS, 0))
        self.assertEqual("aaaa", self.place(self.hosts(), self.booted(4), 5))

    def test_links_above_hosts_without_a_rate(self):
        """Placement knows them by the rates of others."""
        self.placement(left={"core/x": 0, "core/y": 0})
        hosts = [*self.hosts("ab", counted=False), *self.hosts("cd")]
        spec = self.booted(9)
        self.assertIn("16 are free, but not with as much bandwidth", self.refused(hosts, spec))

    def test_whole_mbps(self):
        self.SLOTS = 1
        for left, fits in ((13, True), (12, False)):
            self.placement(left=dict.fromkeys(LINKS, left))
            spec = self.booted(2, "12.5")
            if fits:
                self.assertEqual("ab", self.place(self.hosts(), spec, 2))
            else:
                self.assertIn("with 13 Mbit/s each", self.refused(self.hosts(), spec))

    def test_hint_of_a_tenant(self):
        self.placement()
        refused = self.refused(self.hosts(), self.booted(6, hints={"mbps": "600"}))
        self.assertIn("below it with 600 Mbit/s each", refused)

    def test_hosts_of_several_pools(self):
        """Those that name no switch stand apart where others have roots of their own."""
        self.placement()
        hosts = self.hosts(a="left/x", b="right/y", c="", d="")
        self.assertEqual("ccccdd", self.place(hosts, self.booted(6), 6))

    def test_background(self):
        """Under a foreground VM of unknown load no slot is open."""
        points = {"a": [0] * 2, "b": [50] * 2}
        FakePlacement(
            *(summaries(name, points.get(name, []), [], slots=self.SLOTS) for name in "ab"),
            left=dict.fromkeys(LINKS, 1000),
        ).patch(self)
        self.assertEqual(
            "aabbbb", "".join(sorted(self.place(self.hosts("ab"), self.booted(6, tier=BG), 7)))
        )

    def test_server_groups(self):
        """Nova's own filters would refuse later VMs of a plan that broke a group's rule."""
        for policy, rules, used, expected in (
            ("anti-affinity", {}, {}, "abcd"),
            ("anti-affinity", {"max_server_per_host": 2}, {}, "aabb"),
            ("affinity", {}, {"a": 1}, "bbbb"),
            ("soft-affinity", {}, {"a": 1}, "aaab"),
        ):
            self.placement(used)
            spec = self.booted(4)
            spec.instance_group = SimpleNamespace(policy=policy, rules=rules, members=["x"])
            self.assertEqual(expected, self.place(self.hosts(), spec, 5), (policy, rules))

    def test_members_of_the_group_that_are_there(self):
        self.placement()
        spec, hosts = self.booted(4), self.hosts()
        spec.instance_group = SimpleNamespace(policy="anti-affinity", rules={}, members=["x", "y"])
        hosts[1].instances = {"x": None, "other": None}
        self.assertIn("4 servers need a slot each, 3 are free", self.refused(hosts, spec))

    @given(
        size=st.integers(2, 16),
        mbps=st.sampled_from((50, 200, 500, 1000)),
        largest=st.sampled_from((0, 200, 1000)),
        used=st.fixed_dictionaries({name: st.integers(0, 4) for name in RACKS}),
        left=st.fixed_dictionaries({link: st.sampled_from((0, 250, 1000)) for link in LINKS}),
    )
    @example(2, 50, 0, dict.fromkeys(RACKS, 4), dict.fromkeys(LINKS, 1000))
    def test_every_plan_fits(self, size, mbps, largest, used, left):
        self.placement(used, left, largest)
        hosts, spec = self.hosts(), self.booted(size, str(mbps))
        try:
            chosen = self.place(hosts, spec, size)
        except exception.NoValidHost:
            return
        # If all hosts are full, TierFilter leaves none to be planned for.
        full = min(used.values()) == self.SLOTS
        self.assertEqual(0 if full else size, len(chosen))
        vms = {name: chosen.count(name) for name in chosen}
        shapes = {name: Shape(4, 2, switch, (1000,)) for name, switch in RACKS.items()}
        for link, needed in needs(vms, mbps, shapes, LINKS).items():
            self.assertLessEqual(needed, left[link], chosen)
        for name, count in vms.items():
            self.assertLessEqual(count + used[name], self.SLOTS, chosen)


class TestLargest(MultiCreateCase):
    """Bmax of the plan is Bmax of the weigher: 200 Mbit/s are much where nobody asked for more."""

    USED = dict.fromkeys("ac", 2)

    def test_published(self):
        self.placement(self.USED, largest=200)
        self.assertEqual("bbb", self.place(self.hosts(), self.booted(3, "200"), 3))

    def test_not_published(self):
        self.placement(self.USED)
        self.assertEqual("aab", self.place(self.hosts(), self.booted(3, "200"), 3))


class TestRefusals(MultiCreateCase):
    def test_too_few_slots(self):
        self.placement(used={"a": 2})
        refused = self.refused(self.hosts(), self.booted(15))
        self.assertEqual("15 servers need a slot each, 14 are free for them", refused)

    def test_too_little_bandwidth(self):
        self.placement(left={"b": 0, "core/x": 0, "core/y": 0, "d": 0})
        refused = self.refused(self.hosts(), self.booted(5))
        self.assertEqual(
            "for 5 servers at once, no switch has 5 free slots below it with 100 Mbit/s each: 16 "
            "are free, but not with as much bandwidth",
            refused,
        )
        self.assertIn(refused, self.log.output)

    def test_no_tree(self):
        self.placement()
        refused = self.refused(self.hosts(a="core//x"), self.booted(2))
        self.assertEqual("the network of the hosts is described wrongly", refused)

    def test_placement_does_not_say(self):
        placement = self.placement()
        answers = placement.get

        def get(url, version=None):
            return (
                mock.MagicMock(__bool__=lambda _: False, status_code=503, text="why")
                if url == reading.NETWORK_URL
                else answers(url)
            )

        placement.get = get
        refused = self.refused(self.hosts(), self.booted(2))
        self.assertEqual("Placement does not say how much bandwidth the links have free", refused)
        self.assertIn("503 why", self.log.output)


class TestOthers(MultiCreateCase):
    def test_without_bandwidth(self):
        for mbps in ("0", "0.0"):
            self.all_pass(self.booted(3, mbps))
        self.assertEqual(0, self.mappings)

    def test_without_rates(self):
        self.all_pass(self.booted(3), counted=False)
        self.assertEqual(0, self.mappings)

    def test_a_single_server(self):
        self.all_pass(self.booted(1))
        self.assertEqual(0, self.mappings)

    def test_later_moves(self):
        """Nova keeps the number of servers of the boot with whatever follows."""
        self.cell = "cell1"
        self.all_pass(self.booted(3))

    def test_unknown_to_nova(self):
        # No second patch: once Nova's own tests are imported, mock gives each the signature of what
        # it replaces, and takes that of the first for another one.
        self.unknown = True
        self.all_pass(self.booted(3))
        self.assertEqual(1, self.mappings)

    def test_rebuild(self):
        spec = self.booted(3, rebuild="a")
        hosts = self.hosts()
        self.assertEqual(hosts, self.filtered(hosts, spec))

    def test_a_job(self):
        """Its flavor has a bandwidth, but the queue manager has reserved none."""
        placement = self.placement(jobs={JOB: FG}, left=dict.fromkeys(LINKS, 0))
        spec = request(job=JOB, size=6, mbps="100")
        self.assertEqual("abcd", "".join(each.host for each in self.filtered(self.hosts(), spec)))
        self.assertEqual([], [url for url in placement.reads if "MBPS" in url])
