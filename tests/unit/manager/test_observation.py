"""The cluster that a policy is shown."""

import dataclasses
import math

import testtools

from nova_twotier.ledger.claims import Claim
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

    def test_a_gang_with_too_many_servers(self):
        """Nova may have carried out a request twice; they are about to be deleted."""
        coming, ending = job(size=2, state=JobState.STARTING), job(size=1)
        look = seen(servers(coming, count=2), servers(ending, count=1))
        for one in (coming, ending):
            twice = [dataclasses.replace(each, id=f"{each.id}b") for each in look.gang(one)]
            look.servers[one.uuid].extend(twice)
            look.claims.update(
                {each.id: Claim(each.id, each.host, FG, 50) for each in look.gang(one)}
            )
        made = look.cluster((), {coming: FG}, [ending], 0.96)
        self.assertEqual([2, 1], [len(made.runs[one.number].hosts) for one in (coming, ending)])

    def test_what_is_placed_is_not_promised_to_others(self):
        """The first one would be ranked onto host `a`, where the second one is by now."""
        first, second = (job(size=1, state=JobState.STARTING) for _ in range(2))
        look = seen(servers(second), where=hosts("ab", slots=1))
        made = look.cluster((), {first: FG, second: FG}, (), 0.96)
        places = {number: run.hosts for number, run in made.runs.items()}
        self.assertEqual({first.number: (1,), second.number: (0,)}, places)
        self.assertEqual(0, made.idle[FG])

    def test_expected_ends_of_coming_and_going_jobs(self):
        """A job that starts runs from now on; one that ends is about to be gone."""
        new = job(size=1, state=JobState.QUEUED, tier=None, estimate=30.0)
        old = job(started_at=1.0, estimate=900.0)
        look = seen(servers(old, hosts=("a", "b")), where=hosts("ab", slots=2))
        made = look.cluster((), {new: FG}, [old], 0.96)
        self.assertEqual(look.at + 30.0, made.runs[new.number].until)
        self.assertEqual(look.at, made.runs[old.number].until)
