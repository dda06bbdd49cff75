"""Which quota a job exceeds all by itself, by what Nova shows of a project's limits."""

import testtools

from nova_twotier.cloud.project_limits import Excess, ProjectLimits

FLAVOR = {"vcpus": 2, "ram": 64, "extra_specs": {}}
ALLOWED = {
    "maxTotalInstances": 8,
    "maxTotalCores": 16,
    "maxTotalRAMSize": 512,
}


class TestExceeded(testtools.TestCase):
    def exceeded(self, size, flavor=FLAVOR, **allowed):
        return ProjectLimits({**ALLOWED, **allowed}).exceeded(size, flavor)

    def test_what_just_fits(self):
        self.assertIsNone(self.exceeded(8))

    def test_each_resource(self):
        self.assertEqual(Excess("instances", 9, 8), self.exceeded(9))
        self.assertEqual(Excess("cores", 16, 15), self.exceeded(8, maxTotalCores=15))
        self.assertEqual(Excess("ram", 512, 511), self.exceeded(8, maxTotalRAMSize=511))

    def test_no_limit(self):
        nothing = dict.fromkeys(ALLOWED, -1)
        self.assertIsNone(self.exceeded(10**6, **nothing))
        self.assertIsNone(ProjectLimits({}).exceeded(10**6, FLAVOR))

    def test_members_of_a_server_group(self):
        """Without room for it in a group, a job is in none."""
        self.assertIsNone(self.exceeded(8, maxServerGroupMembers=7))

    def test_what_keystone_may_not_know(self):
        """Nova shows 0 for it, and may not enforce it."""
        self.assertIsNone(self.exceeded(8, **dict.fromkeys(ALLOWED, 0)))

    def test_a_flavor_that_is_not_known(self):
        self.assertIsNone(self.exceeded(8, None, maxTotalCores=1, maxTotalRAMSize=1))

    def test_a_flavor_that_counts_for_something_else(self):
        """By unified limits, what its extra specs ask of Placement counts."""
        specs = {"extra_specs": {"resources:VCPU": "0", "resources:MEMORY_MB": "0"}}
        self.assertIsNone(self.exceeded(8, FLAVOR | specs, maxTotalCores=1, maxTotalRAMSize=1))
