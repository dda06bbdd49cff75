"""What Placement's answers say about tiers."""

import json
import uuid

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.ledger import names, reading
from nova_twotier.ledger.names import CPU, SLOT, TRAIT

FG, BG = Tier.FG, Tier.BG


def provider(root, tier, slots, used, cpu=None, cpu_used=0):
    """One entry of `provider_summaries`."""
    cpu = 100 * slots if cpu is None else cpu
    return {
        "root_provider_uuid": root,
        "traits": ["CUSTOM_OTHER", TRAIT[tier]],
        "resources": {
            SLOT: {"capacity": slots, "used": used},
            CPU: {"capacity": cpu, "used": cpu_used},
        },
    }


def views(**summaries):
    return reading.host_views({"allocation_requests": [], "provider_summaries": summaries})


def plain(root):
    return {
        "root_provider_uuid": root,
        "traits": [],
        "resources": {"VCPU": {"capacity": 4, "used": 0}},
    }


class TestWantedTier(testtools.TestCase):
    def entry(self, **resources):
        return {
            "allocations": {names.jobs_uuid(): {"resources": resources}},
            "project_id": "p",
            "user_id": "u",
        }

    def test_tier_of_the_entry(self):
        self.assertIs(FG, reading.wanted_tier(self.entry(CUSTOM_TWOTIER_JOB_FG=3)))
        self.assertIs(BG, reading.wanted_tier(self.entry(CUSTOM_TWOTIER_JOB_BG=3)))

    def test_pool_of_the_entry(self):
        pools = set()
        for pool in ("default", "gpu"):
            entry = self.entry(CUSTOM_TWOTIER_JOB_FG=3)
            entry["allocations"] = {
                "link": {"resources": {"CUSTOM_TWOTIER_MBPS": 5}},
                names.jobs_uuid(pool): entry["allocations"][names.jobs_uuid()],
            }
            found = reading.admission(entry).pool
            self.assertEqual(names.pool_trait(names.jobs_uuid(pool)), found)
            self.assertRegex(found, "^CUSTOM_[A-Z0-9_]+$")
            pools.add(found)
        self.assertEqual(2, len(pools))

    def test_size_and_links_of_the_entry(self):
        entry = self.entry(CUSTOM_TWOTIER_JOB_FG=3)
        self.assertEqual((3, {}), reading.admission(entry)[-2:])
        entry["allocations"]["link"] = {"resources": {"CUSTOM_TWOTIER_MBPS": 5}}
        self.assertEqual((3, {"link": 5}), reading.admission(entry)[-2:])

    def test_what_links_have_left(self):
        summaries = {
            "l": {"resources": {"CUSTOM_TWOTIER_MBPS": {"capacity": 100, "used": 30}}},
            "h": {"resources": {"VCPU": {"capacity": 4, "used": 0}}},
        }
        self.assertEqual({"l": 70}, reading.links_left({"provider_summaries": summaries}))

    def test_beside_other_resources(self):
        entry = self.entry(CUSTOM_TWOTIER_JOB_BG=3)
        entry["allocations"] = {"link": {"resources": {"CUSTOM_MBPS": 5}}, **entry["allocations"]}
        self.assertIs(BG, reading.wanted_tier(entry))

    def test_no_entry(self):
        self.assertIsNone(reading.wanted_tier({"allocations": {}}))
        self.assertIsNone(reading.wanted_tier({}))

    def test_consumer_that_is_no_job(self):
        self.assertIsNone(reading.wanted_tier(self.entry(CUSTOM_TWOTIER_SLOT=1, VCPU=1)))


class TestHostViews(testtools.TestCase):
    def test_both_tiers(self):
        found = views(
            a=plain("a"),
            a_fg=provider("a", FG, 4, 3, cpu_used=150),
            a_bg=provider("a", BG, 2, 1, cpu=400, cpu_used=40),
        )
        self.assertEqual({"a"}, set(found))
        view = found["a"]
        self.assertEqual(("a_fg", "a_bg"), (view.fg.provider, view.bg.provider))
        self.assertEqual([view.fg, view.bg], [view.tier(tier) for tier in (FG, BG)])
        self.assertEqual((1, 1), (view.fg.free, view.bg.free))
        self.assertEqual((1.5, 0.4), (view.fg.load, view.bg.load))
        self.assertEqual((4, 1, 2), (view.slots, view.share, view.closed))

    def test_hosts_without_tiers_are_left_out(self):
        self.assertEqual({}, views(a=plain("a"), b=plain("b")))

    def test_half_a_host_is_left_out(self):
        self.assertEqual({}, views(a_fg=provider("a", FG, 4, 3)))

    def test_several_background_places_a_slot(self):
        view = views(a_fg=provider("a", FG, 3, 0), a_bg=provider("a", BG, 4, 0, cpu=600))["a"]
        self.assertEqual((2, 1), (view.share, view.closed))

    def test_one_tier(self):
        """A background provider without inventory: no background places, and nothing fails."""
        bare = {"root_provider_uuid": "a", "traits": [TRAIT[BG]], "resources": {}}
        view = views(a_fg=provider("a", FG, 3, 1), a_bg=bare)["a"]
        self.assertEqual((0, 2), (view.bg.free, view.fg.free))
        self.assertEqual(0.0, view.load_beside(FG, 0))

    def test_all_closed(self):
        view = views(
            a_fg=provider("a", FG, 2, 2, cpu_used=200),
            a_bg=provider("a", BG, 0, 1, cpu=200, cpu_used=50),
        )["a"]
        self.assertEqual((2, -1), (view.closed, view.bg.free))
        self.assertEqual(0.0, view.load_beside(BG, 0))

    def test_shrunk_below_use(self):
        view = views(a_fg=provider("a", FG, 1, 3), a_bg=provider("a", BG, 1, 0))["a"]
        self.assertEqual(-2, view.fg.free)


class TestScan(testtools.TestCase):
    """The undecoded answer says the same as the decoded one."""

    def answer(self, *sizes, **changes):
        """A host for each size, with the traits of a real one; `changes` to each child."""
        found = {}
        for number, size in enumerate(sizes):
            host = str(uuid.uuid5(uuid.NAMESPACE_OID, str(number)))
            bare = {"resources": {"VCPU": {"capacity": 8, "used": 3}}, "traits": ["HW_CPU_X86_AVX"]}
            found[host] = {**bare, "parent_provider_uuid": None, "root_provider_uuid": host}
            for tier in Tier:
                found[names.child_uuid(host, tier)] = {
                    "resources": {
                        SLOT: {"capacity": size, "used": number},
                        CPU: {"capacity": 100 * size, "used": 40 * number},
                    },
                    "traits": [TRAIT[tier], f"CUSTOM_TWOTIER_SIZE_{size}"],
                    "parent_provider_uuid": host,
                    "root_provider_uuid": host,
                    **changes,
                }
        return {"allocation_requests": [{"allocations": {}}], "provider_summaries": found}

    def check(self, answer, **options):
        """Both readings of an answer, which are to be the same."""
        read = reading.host_views(answer)
        self.assertEqual(read, reading.scan_host_views(json.dumps(answer, **options)))
        return read

    def test_as_placement_writes_it(self):
        self.assertEqual(3, len(self.check(self.answer(4, 8, 1))))

    def test_in_any_order(self):
        """Placement promises none."""
        answer = self.answer(4, 8, 1)
        listed = list(answer["provider_summaries"].items())
        for order in (listed[::-1], listed[::3] + listed[1::3] + listed[2::3], listed[1:] + listed):
            answer["provider_summaries"] = dict(order)
            self.assertEqual(3, len(self.check(answer)))

    def test_half_a_host(self):
        for missing in (1, 2, 4, 8):
            answer = self.answer(4, 8, 1)
            del answer["provider_summaries"][list(answer["provider_summaries"])[missing]]
            self.assertEqual(2, len(self.check(answer)))

    def test_nothing(self):
        self.assertEqual({}, self.check(self.answer()))

    def test_classes_in_another_order(self):
        resources = {CPU: {"capacity": 800, "used": 9}, SLOT: {"capacity": 4, "used": 1}}
        [view] = self.check(self.answer(8, resources=resources)).values()
        self.assertEqual((4, 1, 800, 9), view.bg[1:])

    def test_no_inventory(self):
        [view] = self.check(self.answer(8, resources={})).values()
        self.assertEqual((0, 0, 0, 0), view.fg[1:])

    def test_other_resources_and_traits(self):
        resources = {"CUSTOM_OTHER": {"capacity": 1, "used": 0}, SLOT: {"capacity": 4, "used": 1}}
        [view] = self.check(self.answer(8, resources=resources)).values()
        self.assertEqual((4, 1, 0, 0), view.fg[1:])
        answer = self.answer(2, 3)
        for summary in answer["provider_summaries"].values():
            summary["traits"].insert(0, "CUSTOM_OTHER")
        self.assertEqual(2, len(self.check(answer)))

    def test_written_in_another_way(self):
        answer = self.answer(4, 8)
        for options in (
            {"separators": (",", ":")},
            {"indent": 1},
            {"sort_keys": True},
        ):
            self.assertEqual(2, len(self.check(answer, **options)))

    def test_no_answer_about_candidates(self):
        self.assertRaises(ValueError, reading.scan_host_views, "<html>CUSTOM_TWOTIER_FG</html>")
        self.assertRaises(KeyError, reading.scan_host_views, "{}")


class TestUrls(testtools.TestCase):
    def test_hosts_with_room_in_the_tier(self):
        url = "/allocation_candidates?required=CUSTOM_TWOTIER_BG&resources=CUSTOM_TWOTIER_SLOT:1"
        self.assertEqual(url, reading.candidates_url(BG))
        self.assertEqual(url.replace("?", "?in_tree=a&"), reading.candidates_url(BG, "a"))
        self.assertEqual(url.replace("_BG", "_BG,P"), reading.candidates_url(BG, pool="P"))


class TestHot(testtools.TestCase):
    @given(st.lists(st.integers(0, 100), max_size=6), st.integers(1, 100))
    def test_least_number_with_that_sum(self, points, threshold):
        """No more than are hot, and no less than any processes of that number and sum."""
        found = reading.least_hot(len(points), sum(points), threshold)
        self.assertLessEqual(found, sum(each >= threshold for each in points))
        most_with_fewer = 100 * (found - 1) + (threshold - 1) * (len(points) - found + 1)
        self.assertTrue(not found or sum(points) > most_with_fewer)


class TestLoadBeside(testtools.TestCase):
    """The scheduler's view of a host says the same as the simulated cluster."""

    @settings(deadline=None)
    @given(
        st.integers(1, 4),
        st.integers(2, 4),
        st.lists(st.sampled_from((0, 10, 40, 95, 100)), max_size=4),
        st.lists(st.sampled_from((0, 10, 40, 95, 100)), max_size=12),
    )
    def test_like_core(self, slots, tiers, fg, bg):
        cluster = Hosts([Host("a", slots, tiers)])
        used = {FG: [], BG: []}
        for tier, points in ((FG, fg), (BG, bg)):
            for percent in points:
                if cluster.room(tier, 0):
                    number = len(cluster.runs)
                    cluster.adopt(Run(Job(number, 1, 0.0, (percent / 100,)), tier, (0,)))
                    used[tier].append(percent)
        closed = cluster.closed[0]
        places = (slots - closed) * (tiers - 1)
        view = views(
            a_fg=provider("a", FG, slots, len(used[FG]), cpu_used=sum(used[FG])),
            a_bg=provider("a", BG, places, len(used[BG]), slots * (tiers - 1) * 100, sum(used[BG])),
        )["a"]
        self.assertEqual((closed, tiers - 1), (view.closed, view.share))
        self.assertLessEqual(cluster.open_background(0), view.open_background(96, False))
        if len(set(used[FG])) < 2:
            # Alike, so that the sum says all about each.
            withheld = view._replace(bg_capacity=slots * (tiers - 1))
            self.assertEqual(cluster.open_background(0), withheld.open_background(96, False))
        for tier in Tier:
            self.assertEqual(cluster.idle[tier], max(0, view.tier(tier).free))
            [groups] = cluster._all_free(tier) if cluster.idle[tier] else [[]]
            expected = [load for load, _host, places in groups for _place in range(places)]
            seen = [view.load_beside(tier, placed) for placed in range(cluster.idle[tier])]
            self.assertEqual(
                [round(load, 9) for load in expected], [round(load, 9) for load in seen]
            )


class TestNames(testtools.TestCase):
    def test_uuids_follow_from_the_host(self):
        host = "9b2f2a86-4a3d-4f4e-93a0-0f3f5a0a6a11"
        uuids = {names.child_uuid(host, tier) for tier in Tier} | {names.jobs_uuid(), host}
        self.assertEqual(4, len(uuids))
        self.assertEqual(names.child_uuid(host, FG), names.child_uuid(host, FG))
        self.assertEqual("h_twotier_fg", names.child_name("h", FG))
