"""The queue manager on real Placement: whatever fails and whenever it dies, no job is lost."""

import contextlib
import os
import random

from nova_twotier.core.actions import Tier
from nova_twotier.db.states import OVER, JobState, Preemption
from nova_twotier.ledger.placement import Conflict
from tests.functional.manager_case import ENOUGH, InMemoryTestCase, ManagerTestCase
from tests.unit.manager import builders

#: More of them find more: `TWOTIER_TEST_SEEDS=40 pytest tests/functional/test_manager_faults.py`.
SEEDS = int(os.environ.get("TWOTIER_TEST_SEEDS", "4"))


#: Tasks that a guest can draw out.
MOVES = ("shelving", "suspending", "migrating")


class TestStuck(ManagerTestCase):
    def test_an_eviction_that_nova_never_gets_done_with(self):
        """The pool goes on meanwhile; in the end the job loses its work, and begins anew."""
        self.cloud(seed=12)
        self.options = builders.options(
            attempts=4, boot_grace=3.0, host_interval=1e9, preemption_timeout=20.0
        )
        arrivals = [(4, 1.0), (6, 1.0), (2, 1.0)]
        for size, cpu in arrivals:
            self.store.submit(size, [cpu], at=self.now)
        engine = self.engine("amcbf")
        self.rounds(engine, 10)
        self.nova.stuck = {s.id for s in self.nova.servers() if s.job == self.store.job(3).uuid}
        self.store.request_action(1, "complete")
        self.rounds(engine, 15)
        self.assertEqual(JobState.PREEMPTING, self.store.job(3).state)
        small = self.store.submit(1, [0.5], at=self.now)
        self.rounds(engine, 5)
        self.assertEqual(JobState.RUNNING, self.store.job(small.number).state)
        self.rounds(engine, 30)
        self.assertEqual(JobState.RUNNING, self.store.job(2).state)
        [killed] = [str(event.reason) for event in self.store.events(3) if event.kind == "killed"]
        self.assertIn("begins anew: its state could not be saved within 20 s", killed)


class TestFaults(ManagerTestCase):
    """Random jobs, failures and deaths; the seed of a failing run is in its name."""

    theirs = None
    stuck = 0.0

    def stick(self, at):
        """Some of what Nova is asked to move takes long, now and then; nothing does in the end."""
        moving = {each.id for each in self.nova.servers() if each.task in MOVES}
        self.nova.stuck &= moving
        if at > ENOUGH // 3:
            self.nova.stuck.clear()
        elif self.stuck and at % 5 == 0:
            self.nova.stuck = {vm for vm in sorted(moving) if self.random.random() < self.stuck}

    def others(self, at):
        """Tenants take slots and give them back; none after a time."""
        self.stick(at)
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
        unmanaged=False,
        stuck=0.0,
    ):
        self.cloud(seed, failures, crashes)
        self.stuck = stuck
        self.theirs = [] if unmanaged else None
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
        unmanaged=True,
    )
    _add(f"test_acfcfs_killed_and_failing_seed_{_seed}", seed=_seed, policy="acfcfs")


class TestDrawnOut(InMemoryTestCase):
    """What moves may take long: no place is given twice, and all comes to its end."""

    chaos, stick, others = TestFaults.chaos, TestFaults.stick, TestFaults.others

    def setUp(self):
        super().setUp()
        self.options = builders.options(
            attempts=4, boot_grace=3.0, host_interval=1e9, preemption_timeout=25.0
        )


for _policy in ("amcbf", "cmcbf", "acfcfs"):
    for _seed in range(SEEDS):

        def _test(self, policy=_policy, seed=_seed):
            self.chaos(seed, policy, modes=tuple(Preemption), stuck=0.7)

        setattr(TestDrawnOut, f"test_{_policy}_seed_{_seed}", _test)
