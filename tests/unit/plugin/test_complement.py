"""ComplementWeigher on a table of four hosts."""

import testtools
from nova.scheduler import weights
from oslo_config import cfg
from oslo_config import fixture as config_fixture

from nova_twotier.filters.background_threshold_filter import BackgroundThresholdFilter
from nova_twotier.filters.tier_filter import TierFilter
from nova_twotier.weighers import all_weighers
from nova_twotier.weighers.adaba import AdaBaWeigher
from nova_twotier.weighers.complement import ComplementWeigher
from tests.unit.plugin.fakes import BG, BOOT, FG, JOB, FakePlacement, host, request, summaries

#: CPU points of the VMs in the foreground and in the background of hosts with three slots.
TABLE = {
    "a": ([90], [20]),  # a slot is idle in both tiers: no load beside the next VM
    "b": ([80, 40], [30, 30]),
    "c": ([50, 10], [60, 60]),
    "d": ([70, 70], [10, 10]),
}
LOAD_BESIDE = {
    FG: {"a": 0.0, "b": 0.3, "c": 0.6, "d": 0.1},
    BG: {"a": 0.0, "b": 0.6, "c": 0.3, "d": 0.7},
}


class TestComplement(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.conf = self.useFixture(config_fixture.Config(cfg.CONF))
        self.handler = weights.HostWeightHandler()
        self.weigher = ComplementWeigher()

    def filtered(self, tier, **options):
        """The hosts of the table after the filter has read the ledger for a request."""
        FakePlacement(
            *(summaries(name, fg, bg, slots=3, **options) for name, (fg, bg) in TABLE.items())
        ).patch(self)
        hosts = [host(name) for name in TABLE]
        return TierFilter().filter_all(hosts, request(tier))

    def weigh(self, hosts):
        """Weights by host, best first."""
        weighed = self.handler.get_weighed_objects([self.weigher], hosts, None)
        return {each.obj.host: round(each.weight, 6) for each in weighed}

    def check(self, multiplier, order):
        for tier, names in order.items():
            weighed = self.weigh(self.filtered(tier))
            self.assertEqual(list(names), list(weighed))
            self.assertEqual(
                {
                    name: round(multiplier / (1 + load), 6)
                    for name, load in LOAD_BESIDE[tier].items()
                },
                weighed,
            )

    def test_default_multiplier(self):
        self.check(10000.0, {FG: "adbc", BG: "acbd"})

    def test_positive_multiplier(self):
        self.conf.config(group="twotier", complement_weight_multiplier=0.5)
        self.check(0.5, {FG: "adbc", BG: "acbd"})

    def test_negative_multiplier(self):
        self.conf.config(group="twotier", complement_weight_multiplier=-2.0)
        self.check(-2.0, {FG: "cbda", BG: "dbca"})

    def test_zero_multiplier(self):
        self.conf.config(group="twotier", complement_weight_multiplier=0.0)
        for tier in (FG, BG):
            self.assertEqual(dict.fromkeys("abcd", 0.0), self.weigh(self.filtered(tier)))

    def test_multiplier_of_an_aggregate(self):
        for configured in (10000.0, 0.0):
            self.conf.config(group="twotier", complement_weight_multiplier=configured)
            hosts = self.filtered(FG)
            for state in hosts[:2]:
                state.aggregates[0].metadata["twotier_complement_weight_multiplier"] = "13.0"
            self.assertEqual(
                {
                    "a": 13.0,
                    "b": 10.0,
                    "c": round(configured / 1.6, 6),
                    "d": round(configured / 1.1, 6),
                },
                self.weigh(hosts),
            )

    def test_wrong_multiplier_of_an_aggregate(self):
        for wrong in ("much", "nan", "inf", "-inf"):
            hosts = self.filtered(FG)
            for state in hosts[1:]:
                state.aggregates[0].metadata["twotier_complement_weight_multiplier"] = wrong
            self.assertEqual(["a", "d", "b", "c"], list(self.weigh(hosts)), wrong)
            self.assertEqual(10000.0, self.weigh(hosts)["a"], wrong)

    def dispatched(self, multiplier, *others):
        """Weights for VM 0 of a job whose VM 1 is the hottest; `others` are of aggregates.

        :param multiplier: the option's.
        :param others: of the hosts, in their order, as long as there are some.
        """
        self.conf.config(group="twotier", complement_weight_multiplier=multiplier)
        FakePlacement(
            *(summaries(name, fg, bg, slots=3) for name, (fg, bg) in TABLE.items()), jobs={JOB: FG}
        ).patch(self)
        hosts = [host(name) for name in TABLE]
        for state, other in zip(hosts, others, strict=False):
            state.aggregates[0].metadata["twotier_complement_weight_multiplier"] = other
        spec = request(job=JOB, hints={"dispatch": "1,0"}, request_id=BOOT)
        return self.weigh(TierFilter().filter_all(hosts, spec))

    def test_the_hottest_processes_first(self):
        """The one place without load is kept for VM 1, though VM 0 comes first."""
        for multiplier in (0.5, 10000.0):
            self.assertEqual("d", next(iter(self.dispatched(multiplier))))

    def test_the_hottest_processes_first_by_the_multipliers_of_aggregates(self):
        for multiplier in (0.0, -2.0):
            weighed = self.dispatched(multiplier, *"5555")
            self.assertEqual(("d", 5.0), next(iter(weighed.items())), multiplier)

    def test_hosts_whose_aggregates_stack_load_on_load(self):
        """The best place is none to be preferred, nor to be shunned."""
        for others in (["-5"] * 4, ["-5", "-5", "-5", "0"]):
            expected = {
                name: round(float(other) / (1 + LOAD_BESIDE[FG][name]), 6)
                for name, other in zip(TABLE, others, strict=True)
            }
            self.assertEqual(expected, self.dispatched(10000.0, *others))

    def test_counts_vms_of_this_request(self):
        """When the idle slot of `a` is taken, the next VM there has the background beside it."""
        hosts = self.filtered(FG)
        hosts[0].num_instances += 1
        weighed = self.weigh(hosts)
        self.assertEqual(["d", "a", "b", "c"], list(weighed))
        self.assertEqual(round(10000 / 1.2, 6), weighed["a"])

    def test_closed_slots(self):
        """The foreground of a closed slot is not beside any background VM."""
        points = summaries("a", [100, 40], [20], slots=3, closed=1)
        other = summaries("b", [30, 30, 30], [20], slots=3)
        FakePlacement(points, other).patch(self)
        hosts = TierFilter().filter_all([host("a"), host("b")], request(BG))
        self.assertEqual(
            {"b": round(10000 / 1.3, 6), "a": round(10000 / 1.4, 6)}, self.weigh(hosts)
        )

    def test_three_tiers(self):
        """Two background VMs share a slot: the first two have the idle slots."""
        FakePlacement(
            summaries("a", [80], [10, 10], slots=2, tiers=3),
            summaries("b", [40, 40], [10], slots=2, tiers=3),
        ).patch(self)
        hosts = TierFilter().filter_all([host("a"), host("b")], request(BG))
        self.assertEqual(
            {"b": round(10000 / 1.4, 6), "a": round(10000 / 1.8, 6)}, self.weigh(hosts)
        )

    def test_more_than_one_background_load(self):
        """Several background VMs on a slot add up to more than a CPU: still the least first."""
        FakePlacement(
            summaries("a", [], [100, 100, 100], slots=1, tiers=4),
            summaries("b", [], [90, 80], slots=1, tiers=4),
            summaries("c", [], [100, 100], slots=1, tiers=4),
        ).patch(self)
        hosts = TierFilter().filter_all([host(name) for name in "abc"], request(FG))
        weighed = self.weigh(hosts)
        self.assertEqual(["b", "c", "a"], list(weighed))
        self.assertEqual(2500.0, weighed["a"])

    def test_scale_is_fixed(self):
        """What a host weighs does not depend on the others."""
        alone = self.weigh(self.filtered(FG)[1:3])
        together = self.weigh(self.filtered(FG))
        self.assertEqual({name: together[name] for name in "bc"}, alone)

    def test_equal_hosts(self):
        """The choice among them is left to the other weighers."""
        for points in ([], [70, 70]):
            FakePlacement(*(summaries(name, [], points) for name in "ab")).patch(self)
            hosts = TierFilter().filter_all([host(name) for name in "ab"], request(FG))
            self.assertEqual(1, len(set(self.weigh(hosts).values())))

    def test_host_without_room_in_the_tier(self):
        """It comes last, if no filter has dropped it."""
        hosts = [host(name) for name in "abcde"]
        self.filtered(FG)
        BackgroundThresholdFilter().filter_all(hosts, request(FG))
        weighed = self.weigh(hosts)
        self.assertEqual(("e", 0.0), list(weighed.items())[-1])

    def test_requests_that_are_not_ours(self):
        """No host is looked at, but the first."""
        hosts = [host("a"), *(object() for _host in range(3))]
        weighed = [weights.WeighedHost(state, 0.0) for state in hosts]
        for weigher in (ComplementWeigher(), AdaBaWeigher()):
            self.assertEqual([], weigher.weigh_objects(weighed, None))
            self.assertEqual([], weigher.weigh_objects([], None))
        hosts = [host(name) for name in TABLE]
        self.assertEqual(dict.fromkeys("abcd", 0.0), self.weigh(hosts))

    def test_loaded_by_nova(self):
        found = self.handler.get_matching_classes(["nova_twotier.weighers.all_weighers"])
        self.assertEqual(all_weighers(), found)
