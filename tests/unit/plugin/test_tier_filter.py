"""TierFilter on hosts of a table, without services."""

import threading

import testtools
from nova.exception import NoValidHost
from nova.scheduler import filters

from nova_twotier.filters import all_filters
from nova_twotier.filters import request as plugin_request
from nova_twotier.filters.tier_filter import TierFilter
from tests.unit.plugin.fakes import (
    BG,
    BOOT,
    FG,
    JOB,
    FakePlacement,
    child,
    host,
    request,
    root,
    summaries,
)


class TestTierFilter(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.filter = TierFilter()
        self.hosts = [host(name) for name in "abcd"]

    def cloud(self, **options):
        """Room: a both tiers, b foreground only, c background only; d is full and not listed."""
        return FakePlacement(
            summaries("a", [], []),
            summaries("b", [50], [10, 10]),
            summaries("c", [50, 50], [10]),
            **options,
        ).patch(self)

    def passing(self, spec, hosts=None):
        hosts = self.hosts if hosts is None else hosts
        return [state.host for state in self.filter.filter_all(hosts, spec)]

    def test_tier_of_the_flavor(self):
        self.cloud()
        self.assertEqual(["a", "b"], self.passing(request("fg")))
        self.assertEqual(["a", "c"], self.passing(request("bg"), [host(name) for name in "abcd"]))

    def test_foreground_without_a_wish(self):
        self.cloud()
        self.assertEqual(["a", "b"], self.passing(request()))

    def test_entry_of_the_job_decides(self):
        placement = self.cloud(jobs={JOB: BG})
        self.assertEqual(["a", "c"], self.passing(request("fg", job=JOB)))
        self.assertEqual(f"/allocations/{JOB}", placement.reads[0])
        self.assertEqual(2, len(placement.reads))

    def test_a_job_boots_on_the_hosts_that_suit_it(self):
        self.cloud(jobs={JOB: FG})
        a, b = (child(name, FG)[:12] for name in "ab")
        for hint, expected in (
            (f"not:{a}", ["b"]),
            (f"only:{a}", ["a"]),
            (f"not:{a},{b}", []),
            (f"only:{a},{b}", ["a", "b"]),
            ("not:", ["a", "b"]),
            ("only:", []),
        ):
            spec = request(job=JOB, hints={"hosts": hint}, request_id=BOOT)
            self.assertEqual(expected, self.passing(spec, [host(name) for name in "abcd"]), hint)

    def test_later_it_may_go_anywhere(self):
        self.cloud(jobs={JOB: FG})
        hint = f"not:{child('a', FG)[:12]}"
        for spec in (
            request(job=JOB, hints={"hosts": hint}),
            request(hints={"hosts": hint}),  # a tenant's own server
        ):
            self.assertEqual(["a", "b"], self.passing(spec, [host(name) for name in "abcd"]))

    def test_keeps_only_candidates_of_the_tier(self):
        self.cloud()
        self.passing(request("bg"))
        for state in self.hosts[::2]:
            kept = [set(each["allocations"]) for each in state.allocation_candidates]
            self.assertEqual([{root(state.host), child(state.host, BG)}], kept)

    def test_host_without_candidate_of_the_tier(self):
        """Not for any VM of the request."""
        self.cloud()
        hosts = [host("a", candidates=[BG])]
        for _vm in range(2):
            self.assertEqual([], self.passing(request("fg"), hosts))

    def test_hint_for_a_tier(self):
        """The flavor says which tiers a hint may choose from."""
        self.cloud()
        spec = request("fg", hints={"tier": "bg"}, tiers="fg,bg")
        self.assertEqual(["a", "c"], self.passing(spec))

    def test_job_goes_before_hint(self):
        self.cloud(jobs={JOB: FG})
        spec = request(job=JOB, hints={"tier": "bg"}, tiers="fg,bg")
        self.assertEqual(["a", "b"], self.passing(spec))

    def test_job_in_a_tier_that_the_flavor_does_not_sell(self):
        """A tenant knows the uuids of its jobs; it shall not get the foreground by one of them."""
        self.cloud(jobs={JOB: FG})
        spec = request(job=JOB, tiers="bg")
        error = self.assertRaises(NoValidHost, self.passing, spec)
        self.assertIn("a job in bg with flavor flavor; it is in fg", str(error))

    def test_not_ours(self):
        """Also if the hint or the flavor's tier are there: only the resource makes it ours."""
        placement = self.cloud()
        for spec in (request(ours=False), request("bg", job=JOB, ours=False)):
            self.assertIs(self.hosts, self.filter.filter_all(self.hosts, spec))
        self.assertEqual([], placement.reads)
        self.assertEqual([None] * 4, [plugin_request.of(state) for state in self.hosts])
        self.assertEqual([2] * 4, [len(state.allocation_candidates) for state in self.hosts])

    def test_runs_for_later_vms_of_our_requests_only(self):
        self.cloud()
        for spec, later in ((request("fg"), True), (request(ours=False), False)):
            self.assertTrue(self.filter.run_filter_for_index(0))
            self.passing(spec)
            self.assertEqual(later, self.filter.run_filter_for_index(1))
        ours = threading.Thread(target=self.passing, args=(request("fg"),))
        ours.start()
        ours.join()
        self.assertFalse(self.filter.run_filter_for_index(1))

    def test_rebuild(self):
        placement = self.cloud()
        self.assertEqual(["a", "b", "c", "d"], self.passing(request("bg", rebuild="a")))
        self.assertEqual([], placement.reads)

    def test_hint_of_a_rebuild_without_a_rebuild(self):
        """A tenant's: some releases of Nova pass it on, and then claim nothing in Placement."""
        placement = self.cloud()
        told = "_nova_check_type is for Nova's own use; leave it out"
        for forced in ({}, {"force_hosts": ["a"]}, {"force_nodes": ["a"]}):
            spec = request("fg", rebuild="a")
            spec.force_hosts = spec.force_nodes = None
            spec.configure_mock(**forced)
            error = self.assertRaises(NoValidHost, self.passing, spec)
            self.assertIn(told, str(error))
        self.assertEqual([], placement.reads)

    def test_no_hosts(self):
        placement = self.cloud()
        self.assertEqual([], self.passing(request("fg"), []))
        self.assertEqual([], placement.reads)

    def test_several_vms(self):
        """A host drops out when this request has used its slots up; the ledger is read once."""
        placement = self.cloud()
        spec = request("fg")
        rounds = []
        for chosen in ("a", "b", "a", None):
            hosts = self.filter.filter_all(self.hosts, spec)
            rounds.append([state.host for state in hosts])
            for state in self.hosts:
                state.num_instances += state.host == chosen
        self.assertEqual([["a", "b"], ["a", "b"], ["a"], []], rounds)
        self.assertEqual(1, len(placement.reads))

    def test_vms_that_were_there_before(self):
        """Nova's count of instances on a host is not ours: only what this request adds counts."""
        self.cloud()
        for state in self.hosts:
            state.num_instances = 40
        self.assertEqual(["a", "b"], self.passing(request("fg")))

    def test_every_request_reads_anew(self):
        placement = self.cloud()
        self.passing(request("fg"))
        self.hosts = [host(name) for name in "abcd"]
        placement.summaries = summaries("d", [], [])
        self.assertEqual(["d"], self.passing(request("fg")))
        self.assertEqual(2, len(placement.reads))

    def test_nothing_is_kept_on_the_filter(self):
        self.cloud()
        before = dict(vars(self.filter))
        self.passing(request("fg"))
        self.assertEqual(before, vars(self.filter))
        self.assertEqual(FG, plugin_request.of(self.hosts[0]).asked.tier)

    def test_loaded_by_nova(self):
        found = filters.HostFilterHandler().get_matching_classes(
            ["nova_twotier.filters.all_filters"]
        )
        self.assertEqual(all_filters(), found)
