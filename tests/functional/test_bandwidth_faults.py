"""Jobs with bandwidth: whatever fails and whenever the manager dies, what they hold is right."""

import os
import random
from collections import Counter
from unittest import mock

import ddt

from nova_twotier.cloud.compute_hosts import ComputeHost
from nova_twotier.core.actions import Tier
from nova_twotier.core.embedding import Embedding, Request, State, Topology, reserved
from nova_twotier.db.states import JobState, Preemption
from nova_twotier.ledger import claims, consumers, names, reading, shape
from tests.functional.fake_nova import FakeNova
from tests.functional.manager_case import ManagerTestCase

#: More find more: `TWOTIER_TEST_SEEDS=40 pytest tests/functional/test_bandwidth_faults.py`.
SEEDS = int(os.environ.get("TWOTIER_TEST_SEEDS", "1"))
RATE = 1000
RACKS = {"host0": "core/x", "host1": "core/x", "host2": "core/y", "host3": "core/y"}


class PlanningNova(FakeNova):
    """Places the VMs of a boot as VirtualClusterFilter does, and those that come back as asked."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.shapes = {
            name: shape.Shape(*self.shape, switch=switch, uplinks=(RATE,))
            for name, switch in RACKS.items()
        }
        self.rates = shape.capacities(self.shapes)[0]
        self.topology = Topology.from_paths(RACKS, self.rates)
        self._mbps = {}
        self._plans = {}
        self._targets = {}

    def hosts(self):
        return {name: ComputeHost(each, enabled=True) for name, each in self.shapes.items()}

    def boot(self, job, user_data=None, max_mbps=0, first=False):
        self._mbps[job.uuid] = job.mbps
        super().boot(job, user_data, first=first)

    def unshelve(self, server, host=None, again=False):
        self._targets[server.id] = host
        super().unshelve(server)

    def _boot(self, job, size):
        self._plans[job] = self._plan(job, size) if self._mbps[job] else None
        super()._boot(job, size)

    def _plan(self, job, size):
        """The host of each server, as the entry allows; of none if they have no place."""
        entry = reading.admission(self.placement.get(f"/allocations/{job}"))
        views = reading.host_views(self.placement.get(reading.CANDIDATES_URL))
        free = {name: views[root].fg.free for name, root in self.roots.items() if root in views}
        state = State(
            self.topology,
            self.shape[0],
            free={**dict.fromkeys(RACKS, 0), **free},
            residual={link: entry.links.get(names.link_uuid(link), 0) for link in self.rates},
        )
        found = reserved.embed(Request(size, self._mbps[job]), state)
        if not isinstance(found, Embedding):
            return ()
        return [host for host, count in found.vms.items() for _vm in range(count)]

    def _claim(self, server, host=None, other_than=None):
        if server.task == "scheduling" and (plan := self._plans[server.job]) is not None:
            return bool(plan) and super()._claim(server, plan[server.index])
        return super()._claim(server, host or self._targets.get(server.id), other_than)


@ddt.ddt
class TestFaults(ManagerTestCase):
    HOSTS = 4

    def cloud(self, seed, failures=0.0, crashes=0.0):
        with mock.patch("tests.functional.manager_case.FakeNova", PlanningNova):
            super().cloud(seed, failures, crashes)

    def check(self, jobs):
        """A job that runs holds just what it needs where it is, and no link more than its rate."""
        held = super().check(jobs)
        entries = {entry.uuid: entry for entry in claims.read_jobs(self.ledger)}
        for job in jobs:
            gang = [server for server in self.nova.servers() if server.job == job.uuid]
            if job.state != JobState.RUNNING or any(s.status != "ACTIVE" for s in gang):
                continue
            vms = {}
            for server in gang:
                [claim] = held[server.id]
                vms[claim.host] = vms.get(claim.host, 0) + 1
            needs = shape.needs(vms, job.mbps, self.nova.shapes, self.nova.rates)
            self.assertEqual(needs, dict(entries[job.uuid].links), job.number)
            self.crossing += bool(needs)
        used = sum((Counter(entry.links) for entry in entries.values()), Counter())
        self.assertLessEqual(max(used.values(), default=0), RATE, used)

    def used(self):
        """Mbit/s in use by link."""
        return {
            link: sum(
                held[names.MBPS]
                for held in consumers.read_provider(self.ledger, names.link_uuid(link)).values()
            )
            for link in self.nova.rates
        }

    @ddt.data(*((policy, seed) for policy in ("fcfs", "bgmbf") for seed in range(SEEDS)))
    @ddt.unpack
    def test_random_jobs(self, policy, seed):
        self.cloud(seed, failures=0.05, crashes=0.03)
        self.crossing = 0
        draw = random.Random(seed)
        modes = (Preemption.SHELVE, Preemption.SUSPEND, Preemption.REQUEUE)
        arrivals = [
            (draw.randrange(60), draw.randint(1, 9), 0.5, draw.choice(modes)) for _job in range(9)
        ]
        submit = self.store.submit

        def with_bandwidth(*args, **values):
            return submit(*args, bandwidth=draw.choice((0.0, 50.0, 120.5, 300.0)), **values)

        self.store.submit = with_bandwidth
        lives = [draw.randint(2, 25) for _job in arrivals]
        jobs = self.play(policy, arrivals, lives)
        self.assertEqual({JobState.FINISHED}, {job.state for job in jobs})
        self.check_clean()
        self.assertEqual({0}, set(self.used().values()))
        self.assertGreater(self.crossing, 0, "some of them used links")
        self.assertGreater(self.faults.crashed, 0)
        self.assertEqual({tier: [0] * 4 for tier in Tier}, self.usage())
