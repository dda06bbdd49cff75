"""The queue manager on real Placement: whatever fails and whenever it dies, no job is lost."""

import contextlib
import os
import random
from collections import Counter
from concurrent import futures

import fixtures

from nova_twotier.core import policies
from nova_twotier.core.actions import Tier
from nova_twotier.ledger import claims, names
from nova_twotier.ledger.placement import Conflict, PlacementError
from nova_twotier.manager.cloud import CloudError
from nova_twotier.manager.db.models import OVER, Action, ActionKind, JobState, Preemption
from nova_twotier.manager.db.store import Store, open_actions
from nova_twotier.manager.engine import Engine
from tests.functional.fake_nova import Crash, CrashingLedger, FakeNova, Faults
from tests.functional.ledger_case import LedgerTestCase
from tests.unit.manager import builders

OPTIONS = builders.options(attempts=4, boot_grace=3.0, host_interval=1e9)
#: More of them find more: `TWOTIER_TEST_SEEDS=40 pytest tests/functional/test_manager.py`.
SEEDS = int(os.environ.get("TWOTIER_TEST_SEEDS", "4"))
#: Rounds after which a run that has not ended never will.
ENOUGH = 600


class OneByOne(futures.Executor):
    """Makes requests one after the other, and none after the manager has died."""

    def submit(self, function, *arguments):
        future = futures.Future()
        future.set_result(function(*arguments))
        return future


class ManagerTestCase(LedgerTestCase):
    HOSTS = 2
    SLOTS = 3

    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.store = Store(f"sqlite:///{directory}/queue.sqlite")
        self.addCleanup(self.store.close)
        self.now = 0.0
        self.options = OPTIONS

    def cloud(self, seed, failures=0.0, crashes=0.0):
        self.random = random.Random(seed)
        self.faults = Faults(self.random, failures, crashes)
        roots = {f"host{number}": root for number, root in enumerate(self.roots)}
        shape = (self.SLOTS, self.TIERS)
        self.nova = FakeNova(self.ledger, roots, shape, self.faults, self.random)

    def engine(self, policy):
        ledger = CrashingLedger(self.ledger, self.faults)
        chosen = policies.get(policy)
        engine = Engine(
            self.options, self.store, self.nova, ledger, chosen, lambda: self.now, OneByOne()
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
                engine.look()
            except Crash:
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
            engine.look()
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
        """Invariants that hold at every instant."""
        held = claims.read_claims(self.ledger, self.tiers)
        for job in jobs:
            gang = [server for server in self.nova.servers() if server.job == job.uuid]
            self.assertLessEqual(len(gang), job.size, job.number)
            if job.state in (JobState.FINISHED, JobState.CANCELLED):
                self.assertEqual([], gang)
        self.assertEqual({1} if held else set(), {len(claim) for claim in held.values()})
        places = Counter((claim.host, claim.tier) for [claim] in held.values())
        self.assertLessEqual(max(places.values(), default=0), self.SLOTS)

    def check_clean(self):
        """What holds when all is over."""
        self.assertEqual([], self.nova.servers())
        self.assertEqual(set(), self.nova.groups)
        self.assertEqual({tier: [0] * self.HOSTS for tier in Tier}, self.usage())
        jobs = self.ledger.get(f"/resource_providers/{names.jobs_uuid()}/usages")["usages"]
        self.assertEqual({0}, set(jobs.values()))

    def kinds(self, number):
        return [event.kind for event in self.store.events(number)]


class TestManager(ManagerTestCase):
    def test_a_job_in_each_tier_then_a_swap(self):
        self.cloud(seed=1)
        jobs = self.play("amcbf", [(0, 4, 0.5), (0, 4, 0.5)], lives=[6, 40])
        self.assertEqual([JobState.FINISHED] * 2, [job.state for job in jobs])
        self.assertEqual(["submitted", "started", "swapped", "finished"], self.kinds(2))
        self.assertEqual(1, jobs[1].swaps)
        self.check_clean()

    def test_evicted_and_restored(self):
        # 2 waits for all 6 slots; 3 passes it, and has to make room when 1 ends. Its CPU use
        # closes its slots, and 2's is hot as well: no background for 3.
        self.cloud(seed=2)
        arrivals = [(0, 4, 1.0), (1, 6, 1.0), (12, 2, 1.0)]
        jobs = self.play("amcbf", arrivals, lives=[30, 10, 60])
        self.assertEqual([JobState.FINISHED] * 3, [job.state for job in jobs])
        self.assertEqual(["submitted", "started", "evicted", "restored", "finished"], self.kinds(3))
        self.assertEqual((1, 1), (jobs[2].evictions, jobs[2].restores))
        self.check_clean()

    def preempted(self, mode):
        """As above; the events of the job that is preempted."""
        arrivals = [(0, 4, 1.0), (1, 6, 1.0), (12, 2, 1.0, mode)]
        jobs = self.play("amcbf", arrivals, lives=[30, 10, 60])
        self.assertEqual([JobState.FINISHED] * 3, [job.state for job in jobs])
        self.check_clean()
        return self.kinds(3)

    def test_suspended_and_resumed(self):
        self.cloud(seed=8)
        self.assertEqual(
            ["submitted", "started", "evicted", "restored", "finished"],
            self.preempted(Preemption.SUSPEND),
        )

    def test_begun_anew(self):
        self.cloud(seed=9)
        self.assertEqual(
            ["submitted", "started", "killed", "started", "finished"],
            self.preempted(Preemption.REQUEUE),
        )

    def test_a_host_goes_down(self):
        self.cloud(seed=10)
        self.options = builders.options(
            attempts=4, boot_grace=3.0, host_interval=1.0, host_down_grace=5.0
        )
        self.store.submit(3, [0.5], at=0, retries=1)
        engine = self.engine("amcbf")
        for at in range(60):
            self.now += 1
            engine.look()
            self.nova.work()
            if at == 15:
                [lost, *_others] = {server.host for server in self.nova.servers()}
                self.nova.down.add(lost)
        self.assertEqual(["submitted", "started", "queued", "started"], self.kinds(1))
        self.assertNotIn(lost, {server.host for server in self.nova.servers()})

    def test_larger_than_the_cluster(self):
        """It waits for hosts, and nobody waits for it."""
        self.cloud(seed=3)
        large, small = self.store.submit(7, [0.5], at=0), self.store.submit(6, [0.5], at=0)
        self.rounds(self.engine("fcfs"), 20)
        jobs = [self.store.job(each.number) for each in (large, small)]
        self.assertEqual([JobState.QUEUED, JobState.RUNNING], [job.state for job in jobs])
        self.assertEqual("needs 7 slots in one tier, the pool has 6", jobs[0].reason)

    def test_a_job_that_cannot_start(self):
        self.cloud(seed=6)
        refused = self.store.submit(2, [0.5], at=0)
        self.nova.refused.add(refused.uuid)
        jobs = self.play("amcbf", [(1, 2, 0.5)], lives=[1, 3])
        self.assertEqual([JobState.FAILED, JobState.FINISHED], [job.state for job in jobs])
        self.assertIn("No valid host was found", jobs[0].reason)
        self.check_clean()

    def test_what_a_failure_drops_is_not_begun(self):
        self.cloud(seed=7)
        first, second = (self.store.submit(1, [0.5], at=0) for _ in range(2))
        plan = {"tier": "fg", "how": "immediate"}
        with self.store.transaction() as session:
            session.add_all(
                [
                    Action(
                        kind=ActionKind.START,
                        phase=4,
                        job=first.number,
                        plan=plan,
                        begun_at=1.0,
                        begun={"undoing": "no host"},
                        created_at=0.0,
                    ),
                    Action(
                        kind=ActionKind.START,
                        phase=4,
                        job=second.number,
                        plan=plan,
                        begun={},
                        created_at=0.0,
                    ),
                ]
            )
        self.engine("fcfs").look()
        self.assertIn("not started", self.kinds(first.number))
        self.assertEqual(JobState.QUEUED, self.store.job(second.number).state)
        self.assertEqual([], self.nova.servers())

    def test_wishes(self):
        self.cloud(seed=4)
        self.store.submit(2, [0.5], at=0)
        self.store.submit(2, [0.5], at=0)
        self.store.wish(2, "cancel")
        engine = self.engine("fcfs")
        self.rounds(engine, 20)
        self.assertEqual(JobState.RUNNING, self.store.job(1).state)
        self.assertEqual(JobState.CANCELLED, self.store.job(2).state)
        self.store.wish(1, "complete")
        self.rounds(engine, 20)
        self.assertEqual(JobState.FINISHED, self.store.job(1).state)
        self.check_clean()

    def test_a_server_deleted_behind_our_back(self):
        self.cloud(seed=5)
        self.store.submit(3, [0.5], at=0, retries=1)
        engine = self.engine("amcbf")
        for at in range(60):
            self.now += 1
            engine.look()
            self.nova.work()
            if at == 15:
                self.nova.delete(self.nova.servers()[0])
        self.assertIn("queued", self.kinds(1))
        self.assertEqual(JobState.RUNNING, self.store.job(1).state)
        self.assertEqual(3, len(self.nova.servers()))


class TestStrangers(ManagerTestCase):
    """VMs of tenants on two-tier hosts, which no job knows of."""

    def setUp(self):
        super().setUp()
        self.cloud(seed=11)

    def states(self):
        return [job.state for job in self.store.jobs()]

    def test_their_slots_are_waited_for(self):
        theirs = self.claim(0, Tier.FG)
        self.store.submit(6, [1.0], at=0)
        engine = self.engine("fcfs")
        self.rounds(engine, 5)
        job = self.store.job(1)
        self.assertEqual((JobState.QUEUED, 0), (job.state, job.failures))
        self.assertIn("needs 6 foreground slots, 5 idle", job.reason)
        self.assertEqual(["submitted"], self.kinds(1))
        self.delete(theirs)
        self.rounds(engine, 20)
        self.assertEqual([JobState.RUNNING], self.states())

    def test_who_is_faster_is_no_failure_of_the_job(self):
        """Again and again a slot is gone when Nova is to place the job there."""
        self.options = builders.options(attempts=1, boot_grace=3.0, host_interval=1e9)
        self.store.submit(6, [1.0], at=0)
        engine = self.engine("fcfs")
        for _time in range(2):
            self.poll(engine, ActionKind.START)
            theirs = self.claim(0, Tier.FG)
            self.rounds(engine, 10)
            job = self.store.job(1)
            self.assertEqual((JobState.QUEUED, 0), (job.state, job.failures))
            self.delete(theirs)
        self.assertEqual(2, job.setbacks)
        self.rounds(engine, 20)
        self.assertEqual([JobState.RUNNING], self.states())

    def test_a_swap_that_is_refused_comes_later(self):
        """Somebody takes the foreground slot that the job was to rise to."""
        for _job in range(2):
            self.store.submit(6, [0.5], at=0)
        engine = self.engine("amcbf")
        self.rounds(engine, 20)
        self.assertEqual([JobState.RUNNING] * 2, self.states())
        self.store.wish(1, "complete")
        self.poll(engine, ActionKind.SWAP)
        theirs = self.claim(0, Tier.FG)
        self.rounds(engine, 20)
        self.assertEqual(1, self.kinds(2).count("not swapped"))
        self.delete(theirs)
        self.rounds(engine, 20)
        self.assertEqual("fg", self.store.job(2).tier)

    def test_what_they_close_is_closed(self):
        """In the ledger as for the policy: no decision that the ledger refuses for ever."""
        for host in range(2):
            hot = self.claim(host, Tier.FG)
            claims.set_cpu_points(self.ledger, self.tiers, {hot: 98})
        front = self.store.submit(4, [0.5], at=0)
        for _job in range(2):
            self.store.submit(3, [0.5], at=0)
        self.rounds(self.engine("amcbf"), 30)
        running, waiting = JobState.RUNNING, JobState.QUEUED
        self.assertEqual([running, running, waiting], self.states())
        self.assertEqual(["fg", "bg", None], [job.tier for job in self.store.jobs()])
        self.assertEqual([(3, 1)] * 2, [self.inventory(host, Tier.BG) for host in range(2)])
        self.assertEqual(["submitted"], self.kinds(front.number + 2))

    def poll(self, engine, kind):
        """Until such an action was decided, and not begun."""
        for _round in range(100):
            self.rounds(engine, 1)
            with self.store.reading() as session:
                if any(a.kind == kind and a.begun_at is None for a in open_actions(session)):
                    return
        raise AssertionError(f"no {kind} was decided")


class TestStuck(ManagerTestCase):
    def test_an_eviction_that_nova_never_gets_done_with(self):
        """The job goes on; so does the pool; and when Nova gets on after all, so does that."""
        self.cloud(seed=12)
        self.options = builders.options(
            attempts=4, boot_grace=3.0, host_interval=1e9, operation_timeout=10.0
        )
        arrivals = [(4, 1.0), (6, 1.0), (2, 1.0)]
        for size, cpu in arrivals:
            self.store.submit(size, [cpu], at=self.now)
        engine = self.engine("amcbf")
        self.rounds(engine, 10)
        self.nova.stuck = {s.id for s in self.nova.servers() if s.job == self.store.job(3).uuid}
        self.store.wish(1, "complete")
        self.rounds(engine, 25)
        self.assertIn("not evicted", self.kinds(3))
        self.assertEqual(JobState.RUNNING, self.store.job(3).state)
        small = self.store.submit(1, [0.5], at=self.now)
        self.rounds(engine, 12)
        self.assertEqual(JobState.RUNNING, self.store.job(small.number).state)
        self.nova.stuck = set()
        self.rounds(engine, 30)
        self.assertEqual(JobState.RUNNING, self.store.job(2).state)
        self.assertEqual(JobState.QUEUED, self.store.job(3).state)
        self.assertTrue(self.store.job(3).saved)


class TestFaults(ManagerTestCase):
    """Random jobs, failures and deaths; the seed of a failing run is in its name."""

    theirs = None

    def others(self, at):
        """Tenants take slots and give them back; none after a time."""
        if self.theirs is None:
            return
        if self.theirs and (at > 150 or self.random.random() < 0.3):
            self.delete(self.theirs.pop())
        elif at <= 150 and self.random.random() < 0.3:
            with contextlib.suppress(Conflict):
                vm = self.claim(self.random.randrange(self.HOSTS), self.random.choice(list(Tier)))
                self.theirs.append(vm)

    def chaos(
        self,
        seed,
        policy="amcbf",
        failures=0.1,
        crashes=0.05,
        modes=(Preemption.SHELVE,),
        strangers=False,
    ):
        self.cloud(seed, failures, crashes)
        self.theirs = [] if strangers else None
        draw = random.Random(seed)
        arrivals = [
            (
                draw.randrange(60),
                size,
                1.0 if size == 1 else draw.choice((0.4, 0.7, 1.0)),
                draw.choice(modes),
            )
            for size in (draw.choice((1, 1, 2, 2, 3, 4, 6)) for _ in range(10))
        ]
        lives = [draw.randrange(3, 40) for _ in arrivals]
        self.faults.active = True
        jobs = self.play(policy, sorted(arrivals), lives)
        self.assertEqual(len(arrivals), len(jobs))
        for job in jobs:
            kinds = self.kinds(job.number)
            self.assertEqual(1, sum(kind in OVER for kind in kinds), f"seed {seed}, {kinds}")
        self.check_clean()
        return jobs


def _add(name, **options):
    def test(self):
        self.chaos(**options)

    test.__name__ = name
    setattr(TestFaults, name, test)


for _seed in range(SEEDS):
    _add(f"test_killed_and_failing_seed_{_seed}", seed=_seed)
for _seed in range(SEEDS // 4):
    _add(f"test_fcfs_killed_often_seed_{_seed}", seed=_seed, policy="fcfs", crashes=0.2)
    _add(
        f"test_all_ways_of_preemption_among_strangers_seed_{_seed}",
        seed=_seed,
        modes=tuple(Preemption),
        strangers=True,
    )
    _add(f"test_acfcfs_killed_and_failing_seed_{_seed}", seed=_seed, policy="acfcfs")
