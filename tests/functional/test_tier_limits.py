"""Jobs whose flavor allows one tier only, under the queue manager."""

from nova_twotier.core.actions import Tier
from nova_twotier.db.models import JobState
from tests.functional.base import BG, FG
from tests.functional.manager_case import ManagerTestCase
from tests.functional.queue_case import QueueTestCase
from tests.unit.manager import builders


class TestLimits(ManagerTestCase):
    """On a fake Nova; all foreground slots are one job's."""

    def setUp(self):
        super().setUp()
        self.cloud(seed=1)
        self.options = builders.options(attempts=4, boot_grace=3.0, host_interval=5.0)
        self.nova.flavors = {"low": (Tier.BG,), "high": (Tier.FG,)}

    def submit(self, size=6, flavor=None, cpu=0.5):
        return self.store.submit(size, [cpu], at=self.now, flavor=flavor).number

    def running(self):
        """Of the jobs that run."""
        jobs = self.store.jobs()
        return {job.number: job.tier for job in jobs if job.state == JobState.RUNNING}

    def test_stays_in_the_background(self):
        front = self.submit()
        low = self.submit(flavor="low")
        engine = self.engine("amcbf")
        self.rounds(engine, 15)
        self.assertEqual({1: FG, 2: BG}, self.running())
        self.store.request_action(front, "complete")
        self.rounds(engine, 15)
        self.submit()
        self.rounds(engine, 15)
        self.assertEqual({2: BG, 3: FG}, self.running())
        self.assertEqual(["submitted", "started"], self.kinds(low))

    def test_does_not_fall_to_the_background(self):
        self.submit(size=4)
        self.submit(size=6, cpu=0.1)
        high = self.submit(size=2, flavor="high")
        engine = self.engine("amcbf")
        self.rounds(engine, 15)
        self.assertEqual({1: FG, 2: BG, 3: FG}, self.running())
        self.store.request_action(1, "complete")
        self.rounds(engine, 25)
        self.assertEqual({2: FG}, self.running())
        self.assertIn("needs 2 foreground slots, 0 idle", str(self.store.job(high).reason))
        self.assertNotIn("background", str(self.store.job(high).reason))

    def test_policy_of_one_tier(self):
        """It says why it waits, holds nobody up, and starts when the flavor allows it."""
        low = self.submit(flavor="low", size=2)
        other = self.submit(size=2)
        engine = self.engine("fcfs")
        self.rounds(engine, 10)
        self.assertEqual([JobState.QUEUED, JobState.RUNNING], [j.state for j in self.store.jobs()])
        told = "may run only in the background, which policy fcfs does not use"
        self.assertEqual(told, str(self.store.job(low).reason))
        self.nova.flavors = {}
        self.rounds(engine, 15)
        self.assertEqual([JobState.RUNNING] * 2, [j.state for j in self.store.jobs()])
        self.assertEqual(["submitted", "started"], self.kinds(other))


class TestOnNova(QueueTestCase):
    """A flavor of the background, with its extra spec and filters."""

    HOSTS = 1
    SLOTS = 2

    def test_stays_in_the_background(self):
        low = self.tier_flavor(**{"twotier:tiers": "bg"})
        front = self.store.submit(2, [0.5]).number
        back = self.store.submit(1, [0.5], flavor=low).number
        self.until(front, JobState.RUNNING, tier=FG)
        self.until(back, JobState.RUNNING, tier=BG)
        self.store.request_action(front, "complete")
        self.until(front, JobState.FINISHED)
        later = self.store.submit(2, [0.5]).number
        self.until(later, JobState.RUNNING, tier=FG)
        self.assertEqual(BG, self.store.job(back).tier)
        self.assertEqual((2, 1), self.totals())
