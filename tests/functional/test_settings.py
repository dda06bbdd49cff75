"""Settings of Nova that two tiers depend on: the least value that is enough, and one below."""

from tests.functional.base import BG, FG, TwoTierTestCase


class OneHost(TwoTierTestCase):
    HOSTS = 1
    SLOTS = 2

    def booted(self, tier):
        """Whether a server of a tier finds a host."""
        server = self._build_server(image_uuid=self.image, flavor_id=self.flavor, networks="none")
        hints = {"twotier:job": self.admit(tier, 1)}
        server = self.api.post_server({"server": server, "os:scheduler_hints": hints})
        status = self.poll(lambda: self.final_status(server), f"{server['id']} is built or not")
        return status == "ACTIVE"

    def final_status(self, server):
        status = self.api.get_server(server["id"])["status"]
        return status if status in ("ACTIVE", "ERROR") else None


class TestCandidates(OneHost):
    """`[scheduler]max_placement_results`: a host has a candidate for each of its two tiers."""

    def test_two_a_host(self):
        self.flags(max_placement_results=2, group="scheduler")
        self.assertEqual([True, True], [self.booted(tier) for tier in (FG, BG)])
        self.assertEqual((1, 1), self.totals())

    def test_one_a_host(self):
        """The candidate that Placement leaves out is of a tier that then seems full."""
        self.flags(max_placement_results=1, group="scheduler")
        self.assertEqual([False, True], sorted(self.booted(tier) for tier in (FG, BG)))


class TestOvercommit(OneHost):
    """`cpu_allocation_ratio`: every tier's VMs count as VCPUs of the host."""

    compute_driver = "fake.SmallFakeDriver"
    RATIO = 2.0

    def configure(self):
        super().configure()
        self.flags(cpu_allocation_ratio=self.RATIO)

    def test_room_for_the_background(self):
        self.assertEqual([True, True], [self.booted(FG) for _slot in range(self.SLOTS)])
        self.assertEqual(
            [self.RATIO == self.TIERS] * 2, [self.booted(BG) for _slot in range(self.SLOTS)]
        )


class TestNoOvercommit(TestOvercommit):
    RATIO = 1.0
