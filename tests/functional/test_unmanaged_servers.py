"""The queue manager among unmanaged: VMs of tenants on two-tier hosts, which no job knows of."""

from nova_twotier.core.actions import Tier
from nova_twotier.db.states import ActionKind, JobState
from nova_twotier.db.store import open_actions
from nova_twotier.ledger import claims
from tests.functional.manager_case import ManagerTestCase
from tests.unit.manager import builders


class TestStrangers(ManagerTestCase):
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
        self.assertIn("needs 6 foreground slots, 5 idle", str(job.reason))
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
        self.store.request_action(1, "complete")
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
