"""Changes of tier of running servers: in place by the ledger, or by live migration."""

from nova_twotier.ledger import claims
from nova_twotier.ledger.claims import Swap
from tests.functional.base import BG, FG, PROJECT, USER, TwoTierTestCase
from tests.functional.ledger_case import job_tier


class TestSwap(TwoTierTestCase):
    HOSTS = 2
    SLOTS = 1

    def test_at_full_capacity(self):
        front, fronts = self.boot_job(FG, 2)
        back, backs = self.boot_job(BG, 2)
        ids = {job: tuple(vm["id"] for vm in vms) for job, vms in ((front, fronts), (back, backs))}
        seats = {server["id"]: self.claim_of(server) for server in (*fronts, *backs)}
        hosts = [self.host_of(server) for server in (*fronts, *backs)]
        self.assertEqual({FG: [1, 1], BG: [1, 1]}, self.usage())
        claims.set_cpu_points(self.ledger, self.tiers, {ids[front][0]: 90, ids[back][1]: 40})
        before = self.ledger.get(f"/allocations/{ids[front][0]}")

        swaps = [Swap(front, 2, BG, ids[front]), Swap(back, 2, FG, ids[back])]
        claims.swap(self.ledger, self.tiers, swaps, PROJECT, USER)

        self.assertEqual(
            {vm: (host, tier.other) for vm, (host, tier) in seats.items()},
            {server["id"]: self.claim_of(server) for server in (*fronts, *backs)},
        )
        self.assertEqual(hosts, [self.host_of(server) for server in (*fronts, *backs)])
        self.assertEqual({FG: [1, 1], BG: [1, 1]}, self.usage())
        self.assertEqual(BG, job_tier(self.ledger, front))
        self.assertEqual(FG, job_tier(self.ledger, back))
        self.assertEqual(
            (40, 90), tuple(sum(cpu) for cpu in self.usage("CUSTOM_TWOTIER_CPU").values())
        )
        after = self.ledger.get(f"/allocations/{ids[front][0]}")
        self.assertEqual(
            [before[key] for key in ("project_id", "user_id")],
            [after[key] for key in ("project_id", "user_id")],
        )
        self.assertEqual("INSTANCE", after["consumer_type"])
        root = self._get_provider_uuid_by_host(seats[ids[front][0]][0])
        self.assertEqual(
            before["allocations"][root]["resources"], after["allocations"][root]["resources"]
        )
        self._run_periodics()
        self.assertEqual({FG: [1, 1], BG: [1, 1]}, self.usage())
        self.delete([*fronts, *backs])
        self.assertEqual({FG: [0, 0], BG: [0, 0]}, self.usage())

    def test_rest_migrates_into_the_new_tier(self):
        """Processes whose own host has the foreground free swap in place; the others migrate."""
        [blocker] = self.boot(1, job=self.admit(FG, 1), host="host0")
        job = self.admit(BG, 1)
        [server] = self.boot(1, job=job, host="host0")
        self.assertEqual({FG: [1, 0], BG: [1, 0]}, self.usage())

        self.admit(FG, 1, job)
        self.live_migrate(server)
        self.assertEqual(("host1", FG), self.claim_of(server))
        self.assertEqual("host1", self.host_of(server))
        self.assertEqual({FG: [1, 1], BG: [0, 0]}, self.usage())

        self.admit(BG, 1, job)
        self.live_migrate(server, "host0")
        self.assertEqual(("host0", BG), self.claim_of(server))
        self.assertEqual({FG: [1, 0], BG: [1, 0]}, self.usage())
        self.assertEqual(("host0", FG), self.claim_of(blocker))

    def test_migration_keeps_the_tier_of_the_swap(self):
        """Each moves to the other host in its new tier, not in the one it was booted in."""
        flavor = self.tier_flavor(**{"twotier:tier": "bg"})
        front, back = self.admit(FG, 1), self.admit(BG, 1)
        [up] = self.boot(1, job=front, flavor=flavor, host="host0")
        [down] = self.boot(1, job=back, flavor=flavor, host="host0")
        swaps = [Swap(front, 1, BG, (up["id"],)), Swap(back, 1, FG, (down["id"],))]
        claims.swap(self.ledger, self.tiers, swaps, PROJECT, USER)
        self.assertEqual(("host0", BG), self.claim_of(up))

        self.live_migrate(up)
        self.live_migrate(down, "host1")
        self.assertEqual(("host1", BG), self.claim_of(up))
        self.assertEqual(("host1", FG), self.claim_of(down))
        self.assertEqual({FG: [0, 1], BG: [0, 1]}, self.usage())


class TestPartialSwap(TwoTierTestCase):
    HOSTS = 3
    SLOTS = 1

    def test_swap_and_migration(self):
        self.boot(1, job=self.admit(FG, 1), host="host0")
        job = self.admit(BG, 2)
        [stuck] = self.boot(1, job=job, host="host0")
        [free] = self.boot(1, job=job, host="host1")
        self.assertEqual({FG: [1, 0, 0], BG: [1, 1, 0]}, self.usage())

        swap = Swap(job, 2, FG, (free["id"],))
        claims.swap(self.ledger, self.tiers, [swap], PROJECT, USER)
        self.assertEqual(FG, job_tier(self.ledger, job))
        self.assertEqual({FG: [1, 1, 0], BG: [1, 0, 0]}, self.usage())

        claims.set_cpu_points(self.ledger, self.tiers, {stuck["id"]: 60})
        self.live_migrate(stuck)
        self.assertEqual(("host2", FG), self.claim_of(stuck))
        self.assertEqual("host2", self.host_of(stuck))
        self.assertEqual({FG: [1, 1, 1], BG: [0, 0, 0]}, self.usage())
        self.assertEqual(
            {FG: [0, 0, 0], BG: [0, 0, 0]},
            self.usage("CUSTOM_TWOTIER_CPU"),
            "a move loses the points: the manager has to set them again",
        )
