"""The cluster that a policy is shown."""

import math

import testtools

from nova_twotier.manager.db.models import JobState
from tests.unit.manager.builders import BG, FG, hosts, job, seen, servers


class TestCluster(testtools.TestCase):
    def cluster(self, running=(), starting=None, ending=(), tiers=None):
        gangs = [servers(one, hosts=("a", "b")) for one in (*running, *ending)]
        look = seen(*gangs, tiers=tiers, where=hosts("ab", slots=2))
        return look.cluster(running, starting or {}, ending, 0.96)

    def test_running(self):
        front, back = job(), job(tier=BG)
        made = self.cluster([front, back], tiers=[FG, BG])
        self.assertEqual(
            {front.number: (FG, (0, 1), False), back.number: (BG, (0, 1), False)},
            {n: (run.tier, run.hosts, run.pinned) for n, run in made.runs.items()},
        )
        self.assertEqual({FG: 2, BG: 2}, made.idle)

    def test_expected_ends(self):
        """Known of a job that has started and has an estimate."""
        known = job(started_at=50.0, estimate=30.0)
        running = [known, job(size=1, started_at=50.0), job(size=1, estimate=30.0)]
        made = self.cluster(running)
        self.assertEqual(
            [80.0, math.inf, math.inf], [made.runs[one.number].until for one in running]
        )
        self.assertEqual([(80.0, known.number, 2)], list(made.ends))

    def test_coming_and_going_jobs_are_pinned(self):
        new, old = job(size=3, state=JobState.QUEUED, tier=None), job(started_at=1.0, estimate=9.0)
        made = self.cluster(starting={new: BG}, ending=[old])
        self.assertTrue(all(run.pinned for run in made.runs.values()))
        self.assertEqual({FG: 2, BG: 1}, made.idle)
        self.assertEqual([], made.evictable())

    def test_expected_ends_of_coming_and_going_jobs(self):
        """A job that starts runs from now on; one that ends is about to be gone."""
        new = job(size=1, state=JobState.QUEUED, tier=None, estimate=30.0)
        old = job(started_at=1.0, estimate=900.0)
        look = seen(servers(old, hosts=("a", "b")), where=hosts("ab", slots=2))
        made = look.cluster((), {new: FG}, [old], 0.96)
        self.assertEqual(look.at + 30.0, made.runs[new.number].until)
        self.assertEqual(look.at, made.runs[old.number].until)
