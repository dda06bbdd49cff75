"""What the manager measures itself, on hosts without a node agent."""

import dataclasses

import testtools

from nova_twotier.cloud import diagnostics
from nova_twotier.cloud.errors import CloudError
from nova_twotier.core.meter import MeterRules
from nova_twotier.manager.diagnostics import Diagnostics
from tests.executors import OneByOne
from tests.unit.manager.builders import BG, FG, hosts, job, seen, servers

INTERVAL = 10.0
RULES = MeterRules(window=3 * INTERVAL)


class FakeCloud:
    """Servers of two CPUs each; `used` are their CPU seconds."""

    def __init__(self):
        self.used, self.asked = {}, []

    def cpu_time(self, server):
        self.asked.append(server.id)
        if server.id not in self.used:
            raise CloudError("the server is paused", 409)
        return self.used[server.id], 2


class FakeHeartbeats:
    """Agents live on hosts with these foreground providers."""

    def __init__(self):
        self.living = set()

    def poll(self, now):
        pass

    def may_live(self, provider, now):
        return provider in self.living


class TestDiagnostics(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.now = 0.0
        self.cloud, self.heartbeats = FakeCloud(), FakeHeartbeats()
        self.job, self.back = job(size=2), job(size=1, tier=BG)
        self.gangs = [servers(self.job, hosts=("a", "b")), servers(self.back, hosts=("a",))]
        self.look = seen(*self.gangs, tiers=[FG, BG], where=hosts("ab", slots=1))
        self.sampler = self.new(INTERVAL)

    def new(self, interval):
        sampler = Diagnostics(
            self.cloud, self.heartbeats, RULES, interval, OneByOne(), lambda: self.now
        )
        self.addCleanup(sampler.close)
        return sampler

    def run_for(self, seconds, *shares):
        """Poll every five seconds; what is found is written to the claims."""
        found = {}
        for _poll in range(int(seconds / 5)):
            self.now += 5
            for server, share in zip(self.gangs[0], shares, strict=False):
                self.cloud.used[server.id] = self.cloud.used.get(server.id, 0.0) + 10 * share
            news = self.sampler.poll([self.job, self.back], self.look)
            for vm, points in news.items():
                old = self.look.claims[vm]
                self.look.claims[vm] = dataclasses.replace(old, cpu_points=points)
            found |= news
        return found

    def test_a_busy_server_and_one_that_is_as_declared(self):
        hot, _cool = self.gangs[0]
        self.assertEqual({hot.id: 100}, self.run_for(80, 1.0, 0.5))
        self.assertEqual({hot.id: 50}, self.run_for(140, 0.5, 0.5))
        self.assertEqual({}, self.run_for(200, 0.5, 0.5))

    def test_only_the_foreground_is_sampled_once_an_interval(self):
        self.run_for(60, 0.5, 0.5)
        front = sorted(server.id for server in self.gangs[0])
        self.assertEqual(front, sorted({*self.cloud.asked}))
        self.assertEqual(12, len(self.cloud.asked))

    def test_a_server_that_nova_tells_nothing_of(self):
        self.assertEqual({}, self.run_for(100))
        hot, _silent = self.gangs[0]
        self.assertEqual({hot.id: 100}, self.run_for(100, 1.0))

    def test_a_server_that_nova_is_busy_with(self):
        busy = [dataclasses.replace(each, task="shelving") for each in self.gangs[0]]
        self.look.servers[self.job.uuid][:] = busy
        self.run_for(60, 1.0, 1.0)
        self.assertEqual([], self.cloud.asked)

    def test_a_dead_host(self):
        self.look = dataclasses.replace(self.look, down=frozenset({"a"}))
        self.run_for(60, 1.0, 1.0)
        self.assertEqual({self.gangs[0][1].id}, {*self.cloud.asked})

    def test_a_host_with_an_agent(self):
        """Once the agent has gone, its host is measured from the start."""
        hot, other = self.gangs[0]
        self.heartbeats.living = {self.look.hosts[0].provider[FG]}
        self.assertEqual({}, self.run_for(100, 1.0, 0.5))
        self.assertEqual({other.id}, {*self.cloud.asked})
        self.heartbeats.living = set()
        self.assertEqual({}, self.run_for(30, 1.0, 0.5))
        self.assertEqual({hot.id: 100}, self.run_for(50, 1.0, 0.5))
        self.heartbeats.living = {self.look.hosts[0].provider[FG]}
        self.assertEqual({}, self.run_for(200, 0.5, 0.5))

    def test_off_by_default(self):
        self.sampler = self.new(0.0)
        self.assertEqual({}, self.run_for(60, 1.0, 1.0))
        self.assertEqual([], self.cloud.asked)


class TestCpuTime(testtools.TestCase):
    def test_the_sum_of_the_cpus(self):
        shown = {
            "cpu_details": [{"id": 0, "time": 2_500_000_000, "utilisation": None}, {"time": 0}]
        }
        self.assertEqual((2.5, 2), diagnostics.cpu_time(shown))

    def test_drivers_that_do_not_tell(self):
        for details in ([], None, [{"id": 0, "time": None}], [{"id": 0}]):
            shown = {"driver": "ironic", "cpu_details": details}
            error = self.assertRaises(CloudError, diagnostics.cpu_time, shown)
            self.assertIn("ironic tells no CPU times", str(error))
