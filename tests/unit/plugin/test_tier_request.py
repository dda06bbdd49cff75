"""Hints of tenants and extra specs of flavors, as a request brings them."""

import testtools

from nova_twotier.core.actions import Tier
from nova_twotier.filters import tier_request
from tests.unit.plugin.fakes import BG, FG, JOB, request


class TestWishes(testtools.TestCase):
    def tier(self, *args, **kwargs):
        return tier_request.read(request(*args, **kwargs)).tier

    def refused(self, spec):
        return str(self.assertRaises(tier_request.BadRequest, tier_request.read, spec))

    def test_tier_of_the_flavor(self):
        self.assertIs(FG, self.tier())
        for tier in Tier:
            self.assertIs(tier, self.tier(tier))
            self.assertIs(tier, self.tier(tier, tiers="fg,bg"))
            self.assertIs(tier, self.tier(tiers=str(tier)))
        self.assertIs(FG, self.tier(tiers="bg,fg"))

    def test_hint_within_what_the_flavor_allows(self):
        for own in (None, "fg", "bg"):
            for listed in ("fg,bg", "bg,fg"):
                for tier in Tier:
                    self.assertIs(tier, self.tier(own, tiers=listed, hints={"tier": tier}))

    def test_hint_for_the_flavors_own_tier(self):
        self.assertIs(FG, self.tier(hints={"tier": "fg"}))
        self.assertIs(BG, self.tier("bg", hints={"tier": "bg"}))
        self.assertIs(BG, self.tier(tiers="bg", hints={"tier": "bg"}))

    def test_hint_beyond_it(self):
        self.refused(request(hints={"tier": "bg"}))
        self.refused(request("bg", hints={"tier": "fg"}))
        self.refused(request(tiers="bg", hints={"tier": "fg"}))

    def test_wrong_values(self):
        for hint, values in {
            "tier": ("", "FG", "fg ", "foreground", 1, None, ["fg"], {"fg": 1}),
            "job": ("", "x", "a/b?c=d", JOB[:-1], f"{JOB}/..", 7, None, [JOB], {}),
            "hosts": ("", "abc", "not:x/", "only:,", "not: a", 7, None, ["not:"]),
            "max_mbps": ("", "0", "-1", "1.5", "1e3", "9" * 11, None, [], True),
            "mbps": ("", "-1", "1e3", "nan", "inf", "1_0", "1.", "9" * 10, "٣", None, [], True),
        }.items():
            for value in values:
                message = self.refused(request(tiers="fg,bg", hints={hint: value}))
                self.assertIn(f"twotier:{hint}={value!a}", message)

    def test_not_one_value(self):
        for values in ([], ["fg", "fg"]):
            spec = request()
            spec.scheduler_hints = {"twotier:tier": values}
            self.assertIn("allowed: one value", self.refused(spec))

    def test_every_hint_counts(self):
        """Also one that a better one would overrule."""
        self.refused(request(job=JOB, hints={"tier": "low"}))

    def test_wrong_flavors(self):
        for extra_specs in (
            {"tier": "low"},
            {"tiers": "fg, bg"},
            {"tiers": ""},
            {"tier": "fg", "tiers": "bg"},
            {"mbps": "much"},
            {"jobs_only": "perhaps"},
            {"jobs_only": ""},
            {"preemptible": "suspend"},
            {"preemptible": ""},
        ):
            self.assertIn("Flavor flavor: twotier:", self.refused(request(**extra_specs)))

    def test_flavor_for_jobs_only(self):
        for value in ("true", "True", "yes", "1"):
            message = self.refused(request(jobs_only=value, tiers="fg,bg", hints={"tier": "bg"}))
            self.assertIn("Flavor flavor is for jobs of the queue manager only", message)
            self.assertIn("openstack twotier job create", message)
            found = tier_request.read(request(job=JOB, jobs_only=value))
            self.assertEqual(JOB, found.job)
        self.assertIs(FG, self.tier(jobs_only="false"))

    def test_one_slot_a_vm(self):
        spec = request()
        spec.flavor.extra_specs[tier_request.RESOURCE] = "2"
        self.assertIn(f"{tier_request.RESOURCE}='2' is wrong", self.refused(spec))

    def test_job(self):
        self.assertIsNone(tier_request.read(request()).job)
        self.assertEqual(JOB, tier_request.read(request(job=JOB.upper())).job)

    def test_mbps(self):
        for hint, flavor, expected in (
            (None, None, 0.0),
            (None, "250", 250.0),
            ("12.5", "250", 12.5),
            (300, None, 300.0),
            (0, "250", 0.0),
        ):
            hints = {} if hint is None else {"mbps": hint}
            extra_specs = {} if flavor is None else {"mbps": flavor}
            self.assertEqual(expected, tier_request.read(request(hints=hints, **extra_specs)).mbps)

    def test_without_hints(self):
        spec = request("bg")
        for hints in ({}, None):
            spec.scheduler_hints = hints
            self.assertEqual(tier_request.TierRequest(None, BG, 0.0), tier_request.read(spec))
        spec.__contains__.side_effect = lambda field: False
        self.assertEqual(tier_request.TierRequest(None, BG, 0.0), tier_request.read(spec))

    def test_is_ours(self):
        self.assertTrue(tier_request.is_ours(request()))
        spec = request(ours=False, job=JOB, tier="fg")
        self.assertFalse(tier_request.is_ours(spec))
        spec.flavor.extra_specs = None
        self.assertFalse(tier_request.is_ours(spec))
