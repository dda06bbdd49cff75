"""What the node agent measures reaches Placement, and from there the queue manager."""

import fixtures

from nova_twotier.agent.claims import ClaimReader
from nova_twotier.agent.priority import Rules
from nova_twotier.agent.reconciler import Reconciler
from nova_twotier.agent.telemetry import Telemetry
from nova_twotier.core.actions import BG, FG
from nova_twotier.db.states import JobState
from nova_twotier.ledger import claims, heartbeats, names, tree
from tests.executors import OneByOne
from tests.functional.ledger_case import LedgerTestCase
from tests.functional.manager_case import ManagerTestCase
from tests.unit.agent.builders import METER, FakeHost, guest
from tests.unit.manager import builders

RULES = Rules({FG: 10000, BG: 100})


class Agent:
    """An agent on host0 that polls and samples each second; its VMs use what a test says."""

    def __init__(self, ledger):
        self._ledger = ledger
        self.now = 0.0
        #: Share of a CPU that each VM uses, by uuid.
        self.shares = {}
        self.host = FakeHost()
        self.restart()

    def restart(self):
        self.telemetry = Telemetry(self.host, self._ledger, METER, interval=1.0)
        reader = ClaimReader(self._ledger, "host0")
        self._reconciler = Reconciler(
            reader, self.host, RULES, 5.0, self.telemetry, clock=lambda: self.now
        )

    def run(self, seconds, **shares):
        self.shares |= shares
        for _second in range(seconds):
            self.now += 1.0
            for vm, share in self.shares.items():
                if vm not in self.host.held:
                    self.host.held[vm] = guest(vm)
                    self._reconciler.changed(vm)
                self.host.used[vm] = self.host.used.get(vm, 0.0) + share
            self._reconciler.step()


class TestTelemetry(LedgerTestCase):
    """Without a queue manager."""

    def setUp(self):
        super().setUp()
        self.agent = Agent(self.ledger)
        self.front, self.back = self.claim(0, FG), self.claim(0, BG)
        self.agent.shares = {self.front: 0.5, self.back: 0.5}

    def withheld(self):
        url = f"/resource_providers/{self.tiers[0].provider[BG]}/inventories"
        return self.ledger.get(url)["inventories"][names.SLOT]["reserved"]

    def test_a_slot_closes_and_opens(self):
        self.agent.run(12)
        self.assertEqual((50, 0), (self.points(self.front), self.withheld()))
        self.agent.run(8, **{self.front: 1.0})
        self.assertEqual((100, self.TIERS - 1), (self.points(self.front), self.withheld()))
        self.agent.run(8, **{self.front: 0.5})
        self.assertEqual((50, 0), (self.points(self.front), self.withheld()))

    def test_a_vm_in_the_background_is_not_measured(self):
        """It uses what the foreground leaves."""
        self.agent.run(12, **{self.back: 0.01})
        self.assertEqual(0, self.points(self.back))
        levels = {each.vm: each.level for each in self.agent.telemetry.readings}
        self.assertEqual({self.front: 0.5, self.back: None}, levels)

    def test_short_phases_close_nothing(self):
        closed = set()
        for _period in range(20):
            self.agent.run(1, **{self.front: 1.0})
            self.agent.run(1, **{self.front: 0.0})
            closed.add(self.withheld())
        self.assertEqual({0}, closed)

    def test_a_restart_keeps_what_is_closed(self):
        self.agent.run(12, **{self.front: 1.0})
        self.agent.restart()
        self.agent.run(3, **{self.front: 0.5})
        self.assertEqual((100, self.TIERS - 1), (self.points(self.front), self.withheld()))
        self.agent.run(9)
        self.assertEqual((50, 0), (self.points(self.front), self.withheld()))

    def test_a_vm_whose_declared_points_come_late(self):
        """As after a live migration: the queue manager writes them when Nova is done with it."""
        self.agent.run(2, **{self.front: 1.0})
        claims.set_cpu_points(self.ledger, self.tiers, {self.front: 100})
        seen = set()
        for _second in range(12):
            self.agent.run(1)
            seen.add((self.points(self.front), self.withheld()))
        self.assertEqual({(100, self.TIERS - 1)}, seen)

    def test_a_poll_that_takes_long(self):
        """The CPU time is read after it, not before."""
        self.agent.run(12, **{self.front: 1.0})
        get, waited = self.ledger.get, []

        def slow(url):
            if not waited:
                waited.append(url)
                self.agent.now += 60.0
                self.agent.host.used[self.front] += 60.0
            return get(url)

        self.ledger.get = slow
        for _second in range(6):
            self.agent.run(1)
            [level] = [each.level for each in self.agent.telemetry.readings if each.tier is FG]
            self.assertAlmostEqual(1.0, level)

    def test_a_hot_vm_leaves(self):
        self.agent.run(12, **{self.front: 1.0})
        self.delete(self.front)
        del self.agent.host.held[self.front], self.agent.shares[self.front]
        self.agent.run(6)
        self.assertEqual(0, self.withheld())

    def test_slots_that_a_queue_manager_closes_stay_closed(self):
        """For a hot VM that is on its way to the host."""
        self.agent.run(12)
        tree.set_closed(self.ledger, self.tiers[0], 1)
        self.agent.run(12)
        self.assertEqual(self.TIERS - 1, self.withheld())

    def test_the_other_resources_of_a_vm_stay(self):
        before = self.ledger.get(f"/allocations/{self.front}")["allocations"]
        self.agent.run(12)
        after = self.ledger.get(f"/allocations/{self.front}")["allocations"]
        root, child = self.roots[0], self.tiers[0].provider[FG]
        self.assertEqual(before[root]["resources"], after[root]["resources"])
        self.assertEqual({names.SLOT: 1, names.CPU: 50}, after[child]["resources"])

    def test_nothing_is_written_while_nothing_is_news(self):
        self.agent.run(12)
        put, post = self.ledger.put, self.ledger.post
        written = []
        self.ledger.put = lambda *args: written.append(args) or put(*args)
        self.ledger.post = lambda *args: written.append(args) or post(*args)
        self.agent.run(30, **{self.front: 0.6})
        self.assertEqual([], written)

    def test_a_host_without_room_for_more_points(self):
        """It has fewer slots than VMs now: they are tried again now and then, not each second."""
        other = self.claim(0, FG)
        self.tiers = self.sync(1, self.TIERS)
        log = self.useFixture(fixtures.FakeLogger())
        self.agent.run(40, **{self.front: 0.7, other: 0.7})
        self.assertEqual([0, 70], sorted(map(self.points, (self.front, other))))
        self.assertEqual(1, log.output.count("Could not add the CPU points of VM"))
        self.assertEqual(1, log.output.count("uses 70 % of its slot"))
        self.agent.run(60)
        self.assertEqual(2, log.output.count("Could not add the CPU points of VM"))
        self.tiers = self.sync(self.SLOTS, self.TIERS)
        self.agent.run(60)
        self.assertEqual([70, 70], list(map(self.points, (self.front, other))))

    def test_a_host_that_leaves_stays_withheld(self):
        self.sync(self.SLOTS, self.TIERS, hosts=[1])
        everything = self.withheld()
        self.agent.run(12, **{self.front: 1.0})
        self.assertEqual(everything, self.withheld())

    def test_a_host_that_comes_back(self):
        """The ledger does not remember which of its places were closed."""
        self.agent.run(12, **{self.front: 1.0})
        self.sync(self.SLOTS, self.TIERS, hosts=[1])
        self.agent.run(2)
        self.sync(self.SLOTS, self.TIERS)
        self.agent.run(2)
        self.assertEqual(self.TIERS - 1, self.withheld())

    def test_a_host_that_has_one_tier_so_far(self):
        """The ledger makes the background after the foreground."""
        self.delete(self.back)
        self.ledger.delete(f"/resource_providers/{self.tiers[0].provider[BG]}")
        self.agent.run(12, **{self.front: 1.0})
        self.sync(self.SLOTS, self.TIERS)
        self.agent.run(12)
        self.assertEqual((100, self.TIERS - 1), (self.points(self.front), self.withheld()))


class TestManagerFollows(ManagerTestCase):
    HOSTS = SLOTS = 1

    def test_a_measurement_counts_instead_of_what_was_declared(self):
        self.cloud(seed=1)
        for _job in range(2):
            self.store.submit(1, [0.5], at=self.now)
        engine = self.engine("amcbf")
        self.rounds(engine, 6)
        vms = {vm: held.tier for vm, [held] in self.claims().items()}
        front = next(vm for vm, tier in vms.items() if tier is FG)
        agent = Agent(self.ledger)

        agent.run(12, **dict.fromkeys(vms, 0.5))
        self.rounds(engine, 2)
        self.assertEqual([None, None], [job.measured for job in self.jobs()])

        agent.run(12, **{front: 1.0})
        self.rounds(engine, 12)
        hot, cold = self.jobs()
        self.assertEqual(([0.5], [1.0]), (hot.cpu, hot.measured))
        self.assertEqual(JobState.QUEUED, cold.state, "its slot has closed")
        self.assertEqual([front], [*self.claims()])
        self.assertIn("measured", self.kinds(1))

        agent.run(12, **{front: 0.3})
        self.rounds(engine, 12)
        hot, cold = self.jobs()
        self.assertEqual([0.3], hot.measured)
        self.assertEqual((JobState.RUNNING, BG), (cold.state, cold.tier))

    def measuring_engine(self):
        """It takes samples through Nova, which shows servers that use all of their CPU."""
        for name, seconds in (("INTERVAL", 6.0), ("LATEST", 18.0), ("POLL_INTERVAL", 2.0)):
            self.useFixture(fixtures.MonkeyPatch(f"{heartbeats.__name__}.{name}", seconds))
        self.options = builders.options(
            attempts=4, boot_grace=3.0, host_interval=1e9, diagnostics_interval=1.0
        )
        self.cloud(seed=1)
        self.nova.cpu_time = lambda _server: (self.now, 1)
        self.store.submit(1, [], at=self.now)
        engine = self.engine("amcbf")
        diagnostics = engine._upkeep._diagnostics
        diagnostics._clock, diagnostics._workers = lambda: self.now, OneByOne()
        return engine

    def test_without_an_agent_the_manager_measures_through_nova(self):
        engine = self.measuring_engine()
        self.rounds(engine, int(heartbeats.LATEST))
        self.assertIsNone(self.store.job(1).measured, "there might be an agent")
        self.rounds(engine, 20)
        job = self.store.job(1)
        self.assertEqual(([], [1.0]), (job.cpu, job.measured))

    def test_the_manager_does_not_measure_beside_an_agent(self):
        """But it does when the agent has stopped, and ceases when it is back."""
        engine, agent = self.measuring_engine(), Agent(self.ledger)
        self.rounds(engine, 6)
        [vm] = self.claims()
        agent.shares = {vm: 0.3}

        def together(seconds):
            seen = set()
            for _second in range(seconds):
                agent.run(1)
                self.rounds(engine, 1)
                seen.add(tuple(self.store.job(1).measured or ()))
            return seen

        self.assertEqual({(), (0.3,)}, together(60))
        self.rounds(engine, 60)
        self.assertEqual([1.0], self.store.job(1).measured)
        agent.restart()
        together(30)
        self.assertEqual({(0.3,)}, together(60))

    def claims(self):
        return claims.read_claims(self.ledger, self.tiers)

    def jobs(self):
        return [self.store.job(number) for number in (1, 2)]
