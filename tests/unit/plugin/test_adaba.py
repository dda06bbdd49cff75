"""AdaBaWeigher on a table of four hosts."""

import fixtures
import testtools
from nova.scheduler import weights
from oslo_config import cfg
from oslo_config import fixture as config_fixture

from nova_twotier.filters.tier_filter import TierFilter
from nova_twotier.ledger import reading
from nova_twotier.weighers.adaba import AdaBaWeigher
from nova_twotier.weighers.complement import ComplementWeigher
from tests.unit.plugin.fakes import BG, FG, FakePlacement, host, request, summaries

#: VMs in the foreground and in the background of hosts with four slots.
TABLE = {"a": (0, 3), "b": (1, 2), "c": (2, 1), "d": (3, 0)}
#: Best first, by bandwidth: of 1000 Mbit/s half is best served by two free slots of four.
ORDER = {1: "dcba", 500: "cbda", 1000: "abcd"}


class TestAdaBa(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.conf = self.useFixture(config_fixture.Config(cfg.CONF))
        self.weigher = AdaBaWeigher()

    def multiply(self, multiplier):
        self.conf.config(group="twotier", adaba_weight_multiplier=multiplier)

    def filtered(self, spec, **network):
        self.placement = FakePlacement(
            *(summaries(name, [50] * fg, [50] * bg, slots=4) for name, (fg, bg) in TABLE.items()),
            **network,
        ).patch(self)
        return TierFilter().filter_all([host(name) for name in TABLE], spec)

    def weigh(self, hosts, *weighers):
        """Weights by host, best first."""
        weighed = weights.HostWeightHandler().get_weighed_objects(
            [self.weigher, *weighers], hosts, None
        )
        return {each.obj.host: round(each.weight, 6) for each in weighed}

    def order(self, mbps, tier=FG, **network):
        spec = request(tier, hints={"mbps": mbps})
        return "".join(self.weigh(self.filtered(spec, **network)))

    def test_on_by_default(self):
        for mbps, order in ORDER.items():
            self.assertEqual(order, self.order(mbps))
        weighed = self.weigh(self.filtered(request(hints={"mbps": 500})))
        self.assertEqual({"c": 6250.0, "b": 5937.5, "d": 5937.5, "a": 5000.0}, weighed)

    def test_off(self):
        """The hosts stay as they are."""
        self.multiply(0.0)
        for mbps in ORDER:
            weighed = self.weigh(self.filtered(request(hints={"mbps": mbps})))
            self.assertEqual(dict.fromkeys("abcd", 0.0), weighed)

    def test_without_a_bandwidth(self):
        self.assertEqual(dict.fromkeys("abcd", 0.0), self.weigh(self.filtered(request())))

    def test_jobs(self):
        """They go where their policy would put them, whatever their flavor says."""
        hosts = self.filtered(request(hints={"mbps": 500}))
        hosts[0].twotier.asked.of_job = True
        self.assertEqual(dict.fromkeys("abcd", 0.0), self.weigh(hosts))
        alone = self.weigher.weigh_objects
        self.assertEqual([], alone([weights.WeighedHost(each, 0.0) for each in hosts], None))
        self.assertEqual(10000.0, max(self.weigh(hosts, ComplementWeigher()).values()))

    def test_positive_multiplier(self):
        self.multiply(1.0)
        for mbps, order in ORDER.items():
            self.assertEqual(order, self.order(mbps))
        weighed = self.weigh(self.filtered(request(hints={"mbps": 500})))
        # Of 4, 3, 2, 1 free slots: -a*a/32 + a/8, and 1/2 that makes the scale begin at 0.
        self.assertEqual({"c": 0.625, "b": 0.59375, "d": 0.59375, "a": 0.5}, weighed)

    def test_negative_multiplier(self):
        self.multiply(-2.0)
        self.assertEqual("abcd", self.order(1))
        self.assertEqual("abdc", self.order(500))
        self.assertEqual("dcba", self.order(1000))

    def test_background(self):
        """Its own places count."""
        self.multiply(1.0)
        self.assertEqual("abcd", self.order(1, BG))
        self.assertEqual("dcba", self.order(1000, BG))

    def test_closed_places_are_not_free(self):
        self.multiply(1.0)
        FakePlacement(
            summaries("a", [], [50] * 2, slots=4), summaries("b", [99] * 3, [], slots=4, closed=3)
        ).patch(self)
        hosts = TierFilter().filter_all([host("a"), host("b")], request(BG, hints={"mbps": 1}))
        self.assertEqual(["b", "a"], list(self.weigh(hosts)))

    def test_multiplier_of_an_aggregate(self):
        self.multiply(0.0)
        hosts = self.filtered(request(hints={"mbps": 1000}))
        hosts[3].aggregates[0].metadata["twotier_adaba_weight_multiplier"] = "32"
        self.assertEqual({"d": 23.0, "a": 0.0, "b": 0.0, "c": 0.0}, self.weigh(hosts))

    def test_largest_bandwidth_by_option(self):
        self.multiply(1.0)
        self.conf.config(group="twotier", max_mbps=500.0)
        self.assertEqual(ORDER[1000], self.order(500))
        self.assertEqual(ORDER[1000], self.order(10_000))
        self.assertEqual(ORDER[500], self.order(250))

    def test_largest_bandwidth_in_placement(self):
        """That of all pools, instead of the option's."""
        published = {"default": 100, "gpu": 500}
        self.assertEqual(ORDER[1000], self.order(500, largest=published))
        self.assertEqual(ORDER[500], self.order(250, largest=published))
        self.conf.config(group="twotier", max_mbps=250.0)
        self.assertEqual(ORDER[500], self.order(250, largest=published))
        self.assertEqual(ORDER[1000], self.order(250, largest={"default": 0}))

    def test_largest_bandwidth_is_read_once(self):
        hosts = self.filtered(request(hints={"mbps": 500}), largest={"default": 500})
        for _vm in range(3):
            self.weigh(hosts)
        self.assertEqual([reading.LARGEST_URL], self.placement.reads[1:])

    def test_largest_bandwidth_is_not_read_in_vain(self):
        """Requests without a bandwidth, and schedulers without the weigher, do not read it."""
        self.weigh(self.filtered(request()))
        self.assertEqual(1, len(self.placement.reads))
        self.multiply(0.0)
        self.weigh(self.filtered(request(hints={"mbps": 500})))
        self.assertEqual(1, len(self.placement.reads))

    def test_placement_does_not_say(self):
        """The option counts: the servers boot all the same."""
        log = self.useFixture(fixtures.FakeLogger("nova_twotier"))
        hosts = self.filtered(request(hints={"mbps": 500}))
        self.placement.status = 503
        self.assertEqual(ORDER[500], "".join(self.weigh(hosts)))
        self.assertEqual(ORDER[500], "".join(self.weigh(hosts)))
        [line] = log.output.splitlines()
        self.assertIn("[twotier]max_mbps counts: Placement refused", line)

    def test_bandwidth_of_the_flavor(self):
        self.multiply(1.0)
        self.assertEqual(ORDER[1000], "".join(self.weigh(self.filtered(request(mbps="1000")))))
        self.assertEqual(ORDER[1], "".join(self.weigh(self.filtered(request(mbps="1")))))

    def test_fills_one_host_after_the_other(self):
        """The order is that of the request's first VM."""
        self.multiply(1.0)
        hosts = self.filtered(request(hints={"mbps": 1000}))
        chosen = []
        for _vm in range(7):
            hosts = TierFilter().filter_all(hosts, request())
            best = next(iter(self.weigh(hosts)))
            chosen.append(best)
            next(state for state in hosts if state.host == best).num_instances += 1
        self.assertEqual(list("aaaabbb"), chosen)

    def test_hosts_of_several_sizes(self):
        """In proportion: an empty host is as empty as any other."""
        self.multiply(1.0)
        FakePlacement(
            summaries("a", [], [], slots=2), summaries("b", [], [], slots=8, tiers=3)
        ).patch(self)
        hosts = TierFilter().filter_all([host("a"), host("b")], request(hints={"mbps": 1000}))
        self.assertEqual({"a": 1.0, "b": 1.0}, self.weigh(hosts))

    def test_smaller_than_its_use(self):
        """A tier from which slots were taken has no free ones; nothing leaves the scale."""
        self.multiply(1.0)
        points = summaries("a", [50] * 3, [], slots=1)
        FakePlacement(points).patch(self)
        [state] = hosts = [host("a")]
        TierFilter().filter_all(hosts, request())
        self.assertEqual([0.0], self.weigher.weigh([state]))

    def test_instead_of_the_other_weigher(self):
        hosts = self.filtered(request(hints={"mbps": 1000}))
        self.assertEqual(self.weigh(hosts), self.weigh(hosts, ComplementWeigher()))

    def test_the_other_weigher_alone(self):
        self.multiply(0.0)
        hosts = self.filtered(request(hints={"mbps": 1000}))
        self.assertEqual(10000.0, max(self.weigh(hosts, ComplementWeigher()).values()))
