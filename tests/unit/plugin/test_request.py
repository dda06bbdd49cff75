"""What the filters read once a request, and what happens to one that is wrong or unlucky."""

import fixtures
import testtools
from keystoneauth1 import exceptions as ksa_exc
from nova import exception

from nova_twotier.filters import request as plugin_request
from nova_twotier.filters.background_threshold_filter import BackgroundThresholdFilter
from nova_twotier.filters.tier_filter import TierFilter
from nova_twotier.ledger import names
from tests.unit.plugin.fakes import (
    BG,
    BOOT,
    FG,
    JOB,
    REQUEST,
    FakePlacement,
    host,
    request,
    root,
    summaries,
)

ALL = "/allocation_candidates?required=CUSTOM_TWOTIER_{}&resources=CUSTOM_TWOTIER_SLOT:1"
#: A job gets hosts of its pool only.
POOL = ALL.replace("&", f",{names.pool_trait(names.jobs_uuid())}&")


class RequestTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger("nova_twotier"))
        self.hosts = [host(name) for name in "ab"]

    def cloud(self, **options):
        return FakePlacement(summaries("a", [], []), summaries("b", [], []), **options).patch(self)

    def refused(self, spec):
        """What the user and the log are told."""
        error = self.assertRaises(exception.NoValidHost, TierFilter().filter_all, self.hosts, spec)
        [line] = self.log.output.splitlines()
        self.assertIn(REQUEST, line)
        return str(error).removeprefix("No valid host was found. "), line


class TestReads(RequestTestCase):
    def test_one_for_all_filters_and_vms(self):
        placement = self.cloud()
        spec = request("bg")
        for each in (BackgroundThresholdFilter(), TierFilter(), BackgroundThresholdFilter()):
            for _vm in range(3):
                self.assertEqual(self.hosts, each.filter_all(self.hosts, spec))
        self.assertEqual([ALL.format("BG")], placement.reads)

    def test_entry_of_the_job(self):
        placement = self.cloud(jobs={JOB: FG})
        for _vm in range(3):
            TierFilter().filter_all(self.hosts, request("bg", job=JOB))
        self.assertEqual([f"/allocations/{JOB}", POOL.format("FG")], placement.reads)

    def test_entry_of_a_job_of_another_pool(self):
        """Its pool shows in the entry: it costs no further read."""
        placement = self.cloud(jobs={JOB: BG}, pool="gpu")
        TierFilter().filter_all(self.hosts, request(job=JOB))
        pool = names.pool_trait(names.jobs_uuid("gpu"))
        self.assertEqual(
            [f"/allocations/{JOB}", ALL.format("BG").replace("&", f",{pool}&")], placement.reads
        )

    def test_uuid_in_another_form(self):
        """Only its canonical form becomes part of a URL."""
        placement = self.cloud(jobs={JOB: FG})
        for form in (JOB.upper(), JOB.replace("-", ""), f"{{{JOB}}}", f"urn:uuid:{JOB}"):
            TierFilter().filter_all([host("a"), host("b")], request(job=form))
        self.assertEqual([f"/allocations/{JOB}"] * 4, placement.reads[::2])

    def test_single_host_is_read_alone(self):
        placement = self.cloud()
        TierFilter().filter_all(self.hosts[:1], request("fg"))
        self.assertEqual([ALL.format("FG").replace("?", f"?in_tree={root('a')}&")], placement.reads)


class TestWrongRequests(RequestTestCase):
    def test_says_what_is_wrong(self):
        placement = self.cloud()
        for spec, where, what, allowed in (
            (request(hints={"tier": "bg"}), "Hint", "tier='bg'", "fg with flavor flavor"),
            (request(hints={"tier": "low"}, tiers="fg,bg"), "Hint", "tier='low'", "fg or bg with"),
            (request(hints={"mbps": "-1"}), "Hint", "mbps='-1'", "a number of Mbit/s"),
            (request(hints={"job": "../x"}), "Hint", "job='../x'", "the uuid of a job"),
            (request("middle"), "Flavor flavor", "tier='middle'", "fg or bg"),
        ):
            self.log.reset_output()
            told, logged = self.refused(spec)
            self.assertThat(
                told, testtools.matchers.StartsWith(f"{where}: twotier:{what} is wrong")
            )
            self.assertIn(f"allowed: {allowed}", told)
            self.assertIn(told, logged)
        self.assertEqual([], placement.reads)

    def test_job_without_entry(self):
        placement = self.cloud()
        told, _logged = self.refused(request(job=JOB))
        self.assertIn(f"twotier:job='{JOB}' is wrong; allowed: the uuid of a job in the", told)
        self.assertEqual([f"/allocations/{JOB}"], placement.reads)

    def test_job_that_others_boot(self):
        """Who names a job that is not theirs learns nothing of it."""
        placement = self.cloud()
        missing, _logged = self.refused(request(job=JOB, admin=False))
        placement.jobs[JOB] = FG
        for spec in (
            request(job=JOB, admin=False),
            request(job=JOB, admin=False, request_id="req-of-their-own"),
            request(job=JOB, admin=False, request_id=BOOT, project="another"),
        ):
            self.log.reset_output()
            self.assertEqual(missing, self.refused(spec)[0])

    def test_job_that_the_manager_boots(self):
        placement = self.cloud(jobs={JOB: FG})
        for spec in (
            request("bg", job=JOB, admin=False, request_id=BOOT),
            # A live migration, say.
            request("bg", job=JOB, admin=True, project="another"),
        ):
            hosts = [host("a"), host("b")]
            self.assertEqual(hosts, TierFilter().filter_all(hosts, spec))
        self.assertEqual(2, placement.reads.count(POOL.format("FG")))

    def test_no_forged_lines_in_the_log(self):
        self.cloud()
        _told, logged = self.refused(request(hints={"tier": "fg\nERROR " + 1000 * "é"}))
        self.assertIn(r"'fg\nERROR \xe9", logged)
        self.assertLess(len(logged), 250)


class TestPlacementIsAway(RequestTestCase):
    TOLD = "Placement does not say which hosts have room in the tiers"

    def test_refuses(self):
        self.cloud(status=503)
        told, logged = self.refused(request("fg"))
        self.assertEqual(self.TOLD, told)
        self.assertIn("503 why", logged)

    def test_does_not_answer(self):
        placement = self.cloud()

        def get(url, version=None):
            raise ksa_exc.ConnectFailure("nobody at http://192.0.2.1")

        placement.get = get
        for spec in (request("fg"), request(job=JOB)):
            self.log.reset_output()
            told, logged = self.refused(spec)
            self.assertEqual(self.TOLD, told)
            self.assertIn("nobody at http://192.0.2.1", logged)

    def test_answers_something_else(self):
        placement = self.cloud()
        for content in (b"<html>", b"{}", b"\xff", b"[1]", b"null"):
            placement.get = lambda url, version=None, content=content: placement.answer(content)
            self.log.reset_output()
            self.assertEqual(self.TOLD, self.refused(request("fg"))[0])

    def test_answers_something_else_about_a_job(self):
        placement = self.cloud()
        for content in (b"<html>", b"[1]", b"null"):
            placement.get = lambda url, version=None, content=content: placement.answer(content)
            self.log.reset_output()
            told, logged = self.refused(request(job=JOB))
            self.assertEqual(self.TOLD, told)
            self.assertIn(f"answer to /allocations/{JOB} cannot be parsed", logged)

    def test_others_pass(self):
        self.cloud(status=503)
        for spec in (request(ours=False), request("fg", rebuild="a")):
            self.assertEqual(self.hosts, TierFilter().filter_all(self.hosts, spec))
            self.assertEqual(self.hosts, BackgroundThresholdFilter().filter_all(self.hosts, spec))


class TestHostTiers(testtools.TestCase):
    def test_load_beside_follows_the_placing(self):
        FakePlacement(summaries("a", [], [40, 20], slots=3)).patch(self)
        [state] = hosts = [host("a")]
        TierFilter().filter_all(hosts, request("fg"))
        loads = []
        for _vm in range(3):
            loads.append(plugin_request.of(state).load_beside(state))
            state.num_instances += 1
        self.assertEqual([0.0, 0.3, 0.3], loads)
