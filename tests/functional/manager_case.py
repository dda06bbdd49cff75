"""A queue manager on real Placement and a fake Nova, and jobs for it to run."""

import random
from collections import Counter
from functools import partial

import fixtures

from nova_twotier.cloud.errors import CloudError
from nova_twotier.core import policies
from nova_twotier.core.actions import Tier
from nova_twotier.db import terms
from nova_twotier.db.states import OVER, JobState, Preemption
from nova_twotier.db.terms import Deposed
from nova_twotier.ledger import claims, names
from nova_twotier.ledger.names import DEFAULT_POOL
from nova_twotier.ledger.placement import PlacementError
from nova_twotier.manager.engine import Engine
from tests.executors import OneByOne
from tests.functional.fake_nova import Crash, CrashingLedger, FakeNova, Faults
from tests.functional.fake_placement import FakePlacement
from tests.functional.ledger_case import LedgerTestCase
from tests.new_databases import new_store
from tests.unit.manager import builders

OPTIONS = builders.options(attempts=4, boot_grace=3.0, host_interval=1e9)
#: Rounds after which a run that has not ended never will.
ENOUGH = 600


class ManagerTestCase(LedgerTestCase):
    HOSTS = 2
    SLOTS = 3
    #: The `PoolMetrics` that its managers count in; None: one for each that nobody reads.
    metrics = None

    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.store = new_store(self, f"sqlite:///{directory}/queue.sqlite")
        self.now = 0.0
        self.options = OPTIONS

    def cloud(self, seed, failures=0.0, crashes=0.0):
        self.random = random.Random(seed)
        self.faults = Faults(self.random, failures, crashes)
        roots = {f"host{number}": root for number, root in enumerate(self.roots)}
        shape = (self.SLOTS, self.TIERS)
        self.nova = FakeNova(
            self.ledger, roots, shape, self.faults, self.random, clock=lambda: self.now
        )

    def engine(self, policy):
        """A manager that leads the pool from now on: any other one is deposed."""
        self.manager_ledger = CrashingLedger(self.ledger, self.faults)
        term = terms.begin(self.store, DEFAULT_POOL, "manager")
        engine = Engine(
            self.options,
            self.store,
            self.nova,
            self.manager_ledger,
            policies.get(policy),
            lambda: self.now,
            OneByOne(),
            fence=partial(terms.require, pool=DEFAULT_POOL, term=term),
            metrics=self.metrics,
        )
        self.addCleanup(engine.close)
        return engine

    def play(self, policy, arrivals, lives):
        """Run until all jobs are over.

        :param arrivals: (round, size, cpu) of each job, and how it is preempted if not by default.
        :param lives: rounds of work in each job, in the same order.
        """
        engine = self.engine(policy)
        worked = [0] * len(lives)
        for at in range(ENOUGH):
            self.now += 1
            for due, size, cpu, *mode in arrivals:
                if due == at:
                    self.store.submit(
                        size,
                        [cpu],
                        at=self.now,
                        retries=ENOUGH,
                        preemption=mode[0] if mode else Preemption.SHELVE,
                    )
            self.others(at)
            try:
                engine.poll()
            except (Crash, Deposed):
                engine = self.engine(policy)
            except (CloudError, PlacementError):
                continue
            jobs = self.store.jobs()
            self.check(jobs)
            self.guests(jobs, worked, lives)
            self.nova.work()
            if at > max(due for due, *_ in arrivals) and all(job.state in OVER for job in jobs):
                return jobs
        stuck = [(job.number, job.state, job.reason) for job in self.store.jobs()]
        raise AssertionError(f"not over after {ENOUGH} rounds: {stuck}")

    def others(self, at):
        """What tenants do on their own in a round: nothing."""

    def rounds(self, engine, count):
        for _round in range(count):
            self.now += 1
            engine.poll()
            self.nova.work()

    def guests(self, jobs, worked, lives):
        for place, job in enumerate(jobs):
            gang = [server for server in self.nova.servers() if server.job == job.uuid]
            if job.state == JobState.RUNNING and all(s.status == "ACTIVE" for s in gang):
                worked[place] += 1
            if worked[place] >= lives[place]:
                for server in gang:
                    if not server.task:
                        self.nova.guest_stops(server.id)

    def check(self, jobs):
        """Invariants that hold at every instant.

        :returns: the claims that were seen, so that more can be said of them.
        """
        held = claims.read_claims(self.ledger, self.tiers)
        for job in jobs:
            gang = [server for server in self.nova.servers() if server.job == job.uuid]
            self.assertLessEqual(len(gang), job.size, job.number)
            if job.state in (JobState.FINISHED, JobState.CANCELLED):
                self.assertEqual([], gang)
        self.assertEqual({1} if held else set(), {len(claim) for claim in held.values()})
        places = Counter((claim.host, claim.tier) for [claim] in held.values())
        self.assertLessEqual(max(places.values(), default=0), self.SLOTS)
        return held

    def check_clean(self):
        """What holds when all is over."""
        self.assertEqual([], self.nova.servers())
        self.assertEqual(set(), self.nova.groups)
        self.assertEqual({tier: [0] * self.HOSTS for tier in Tier}, self.usage())
        jobs = self.ledger.get(f"/resource_providers/{names.jobs_uuid()}/usages")["usages"]
        self.assertEqual({0}, set(jobs.values()))

    def kinds(self, number):
        return [event.kind for event in self.store.events(number)]


class InMemoryTestCase(ManagerTestCase):
    """The same without Placement, which takes nearly all of the time."""

    def setUp(self):
        placement = "placement.tests.functional.fixtures.placement.PlacementFixture"
        self.useFixture(fixtures.MonkeyPatch(placement, fixtures.Fixture))
        client = "tests.functional.ledger_case.client_of"
        self.useFixture(fixtures.MonkeyPatch(client, lambda _fixture: FakePlacement()))
        super().setUp()
