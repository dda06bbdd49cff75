"""Requests that are not ours: placed as ever, at no cost."""

from tests.functional.base import CloudTestCase, TwoTierTestCase

MEMORY = (64, 512, 128, 64, 256)


class Plain:
    """Boots plain servers under the RAM weigher, which sees every difference of hosts."""

    HOSTS = 3

    def plain_flavor(self, memory):
        return self._create_flavor(memory_mb=memory, vcpu=1, disk=1, ephemeral=0)

    def check(self):
        used = {}
        for number, host in enumerate(self.hosts):
            used[host] = 1024 * (number + 1)
            self.boot(1, flavor=self.plain_flavor(used[host]), host=host)
        with self.placement_reads() as reads:
            for memory in MEMORY:
                expected = min(used, key=used.get)
                [server] = self.boot(1, flavor=self.plain_flavor(memory * 5))
                self.assertEqual(expected, self.host_of(server))
                used[expected] += memory * 5
        self.assertEqual([], [url for url in reads if "TWOTIER" in url])
        self.assertEqual(
            len(MEMORY), sum(url.startswith("/allocation_candidates") for url in reads)
        )


class TestWithoutPlugin(Plain, CloudTestCase):
    PLUGIN = False

    def configure(self):
        super().configure()
        self.flags(
            enabled_filters=["ComputeFilter"],
            weight_classes=["nova.scheduler.weights.ram.RAMWeigher"],
            group="filter_scheduler",
        )

    def test_placing(self):
        self.check()


class TestWithPlugin(Plain, TwoTierTestCase):
    def enable_plugin(self):
        super().enable_plugin()
        self.flags(
            weight_classes=[
                "nova.scheduler.weights.ram.RAMWeigher",
                "nova_twotier.weighers.all_weighers",
            ],
            group="filter_scheduler",
        )

    def test_placing(self):
        self.check()
        self.assertEqual((0, 0), self.totals())
