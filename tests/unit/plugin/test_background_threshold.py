"""BackgroundThresholdFilter on hosts of a table, without services."""

import testtools
from oslo_config import cfg
from oslo_config import fixture as config_fixture

from nova_twotier.filters.background_threshold_filter import BackgroundThresholdFilter
from nova_twotier.filters.tier_filter import TierFilter
from tests.unit.plugin.fakes import BG, JOB, FakePlacement, host, request, summaries


class ThresholdTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.conf = self.useFixture(config_fixture.Config(cfg.CONF))
        self.hosts = []

    def option(self, **options):
        self.conf.config(group="twotier", **options)

    def cloud(self, *hosts, **options):
        """Hosts `a`, `b`, ... from the arguments of `summaries`."""
        names = "abcdef"[: len(hosts)]
        tables = [summaries(name, *points) for name, points in zip(names, hosts, strict=True)]
        FakePlacement(*tables, **options).patch(self)
        self.hosts = [host(name) for name in names]

    def passing(self, spec=None):
        hosts = BackgroundThresholdFilter().filter_all(self.hosts, spec or request("bg"))
        return "".join(state.host for state in hosts)


class TestThreshold(ThresholdTestCase):
    def test_one_slot(self):
        self.cloud(([96], [], 1), ([95], [], 1), ([100], [], 1), ([], [], 1))
        self.assertEqual("bd", self.passing())

    def test_option(self):
        self.cloud(([40], [], 1), ([39], [], 1), ([29], [], 1))
        self.option(background_threshold=0.4)
        self.assertEqual("bc", self.passing())
        self.option(background_threshold=0.29)
        self.cloud(([29], [], 1), ([28], [], 1))
        self.assertEqual("b", self.passing())
        self.option(background_threshold=1.0)
        self.cloud(([99], [], 1), ([100], [], 1))
        self.assertEqual("a", self.passing())

    def test_open_slots_that_are_full(self):
        """An open slot beside a closed one, with its background VM or without."""
        self.cloud(([100, 100], [20]), ([100], [20]), ([100], []), ([100, 100], []))
        self.assertEqual("c", self.passing())

    def test_only_what_the_sum_proves(self):
        """100 + 50 may be 75 + 75; of 191 at least one is hot, of 196 both are."""
        self.cloud(([100, 50], [20]), ([96, 95], [20]), ([96, 95], []), ([96, 100], []))
        self.assertEqual("ac", self.passing())

    def test_closed_by_manager_or_agent(self):
        """Reserved places, of which nothing shows in the points."""
        self.cloud(([50, 50], [20], 2, 2, 1), ([50, 50], [], 2, 2, 1), ([50, 50], [], 2, 2, 2))
        self.assertEqual("b", self.passing())

    def test_closed_by_both(self):
        """They are the same slots: the greater number counts, not the sum."""
        self.cloud(([100, 40], [], 2, 2, 1), ([100, 40], [20], 2, 2, 1))
        self.assertEqual("a", self.passing())

    def test_three_tiers(self):
        self.cloud(([100, 100], [10], 3, 3), ([100, 100], [10, 10], 3, 3))
        self.assertEqual("a", self.passing())

    def test_foreground_passes(self):
        self.cloud(([100], [], 1), ([], [], 1))
        self.assertEqual("ab", self.passing(request("fg")))

    def test_host_that_placement_does_not_list(self):
        self.cloud(([], [], 1))
        self.hosts.append(host("full"))
        self.assertEqual("a", self.passing())

    def test_vms_of_this_request(self):
        """Those already placed use up open slots."""
        self.cloud(([100], [], 3), ([100, 100], [], 3))
        passing = []
        for chosen in (0, 1, 0):
            passing.append(self.passing())
            self.hosts[chosen].num_instances += 1
        self.assertEqual(["ab", "ab", "a"], passing)
        self.assertEqual("", self.passing())

    def test_any_order_with_tier_filter(self):
        for filters in (
            (TierFilter(), BackgroundThresholdFilter()),
            (BackgroundThresholdFilter(), TierFilter()),
        ):
            self.cloud(([100], [], 1), ([], [10], 1), ([40], [], 1))
            for each in filters:
                self.hosts = each.filter_all(self.hosts, request("bg"))
            self.assertEqual(["c"], [state.host for state in self.hosts])


class TestMissingReading(ThresholdTestCase):
    """Foreground VMs that nobody has given CPU points."""

    def setUp(self):
        super().setUp()
        self.cloud(([0], [], 1), ([], [], 1), ([0], [], 2), ([0], [10], 2), ([0, 40], [10], 2))

    def test_default_is_closed(self):
        """What is left is a slot that no foreground VM uses; one VM with points is a reading."""
        self.assertEqual("bce", self.passing())

    def test_open(self):
        self.option(missing_reading="open")
        self.assertEqual("abcde", self.passing())

    def test_choices(self):
        self.assertRaises(ValueError, self.option, missing_reading="perhaps")

    def test_job_of_the_manager(self):
        """The manager knows the profiles before Placement does; what has points still counts."""
        self.cloud(([0], [], 1), ([99], [], 1), jobs={JOB: BG})
        self.assertEqual("a", self.passing(request(job=JOB)))
