"""From decisions to records."""

import testtools

from nova_twotier.core.actions import Evict, Kill, Move, Start, StartKind
from nova_twotier.core.reasons import changes
from nova_twotier.db.plans import EvictPlan, MigratePlan, StartPlan
from nova_twotier.db.states import ActionKind, JobState, Preemption
from nova_twotier.manager import planning
from tests.unit.manager.builders import BG, FG, job, seen, servers


class TestPlanning(testtools.TestCase):
    def test_order_and_content(self):
        up, down, out, new = job(tier=BG), job(), job(), job(state=JobState.QUEUED, tier=None)
        jobs = {one.number: one for one in (up, down, out, new)}
        look = seen(
            servers(up, hosts=("a", "b")),
            servers(down, hosts=("b",)),
            servers(out),
            tiers=[BG, FG, FG],
        )
        decision = [
            Start(new.core, BG, (0, 0), StartKind.BACKFILLED),
            Move(up.core, FG, before=(0, 1), after=(0, 0)),
            Move(down.core, BG, before=(1, 1), after=(1, 1), by=up.core),
            Evict(out.core, FG, by=up.core),
        ]
        records = planning.records(decision, jobs, look, now=5.0, idle={FG: 4, BG: 4})
        self.assertEqual(
            [
                (ActionKind.EVICT, 1, out.number),
                (ActionKind.SWAP, 2, None),
                (ActionKind.MIGRATE, 3, up.number),
                (ActionKind.START, 5, new.number),
            ],
            [(record.kind, record.phase, record.job) for record in records],
        )
        evict, swap, migrate, start = (record.plan for record in records)
        self.assertEqual(EvictPlan(changes.PREEMPTED(up.number), Preemption.SHELVE), evict)
        self.assertEqual((f"{up.number}/0",), swap.changes[0].vms)  # process 1 migrates
        self.assertEqual((f"{down.number}/0", f"{down.number}/1"), swap.changes[1].vms)
        self.assertEqual(MigratePlan({1: "a"}, {1: "b"}), migrate)
        self.assertEqual(StartPlan(BG, StartKind.BACKFILLED), start)

    def test_slots_that_others_are_to_free_for_a_start(self):
        """The first ones need them; what is idle suffices for the others."""
        out, first, second, below = (
            job(size=size, state=JobState.QUEUED, tier=None) for size in (4, 3, 2, 2)
        )
        jobs = {one.number: one for one in (out, first, second, below)}
        starts = [
            Start(first.core, FG, (0, 0, 0), StartKind.IMMEDIATE),
            Start(second.core, FG, (0, 0), StartKind.IMMEDIATE),
            Start(below.core, BG, (0, 0), StartKind.IMMEDIATE),
        ]
        evict = Evict(out.core, FG, by=first.core)
        idle = {FG: 1, BG: 2}
        freed = [
            record.plan.freed
            for record in planning.records([evict, *starts], jobs, seen(), 5.0, idle)
            if record.kind == ActionKind.START
        ]
        self.assertEqual([3, 1, 0], freed)
        alone = planning.records(starts, jobs, seen(), 5.0, idle)
        self.assertEqual([0, 0, 0], [record.plan.freed for record in alone])

    def test_the_foreground_starts_before_the_background(self):
        first, second = (job(state=JobState.QUEUED, tier=None) for _ in range(2))
        decision = [
            Start(first.core, BG, (0, 0), StartKind.IMMEDIATE),
            Start(second.core, FG, (0, 0), StartKind.IMMEDIATE),
        ]
        jobs = {one.number: one for one in (first, second)}
        records = planning.records(decision, jobs, seen(), now=5.0)
        self.assertEqual(
            {first.number: 5, second.number: 4}, {record.job: record.phase for record in records}
        )

    def modes(self, *decision):
        """Of each job that is preempted."""
        jobs = {action.job.number: self.jobs[action.job.number] for action in decision}
        records = planning.records(decision, jobs, seen(), now=5.0)
        return {
            record.job: record.plan.mode for record in records if record.kind == ActionKind.EVICT
        }

    def test_how_a_job_is_preempted(self):
        """As it asks for; but whoever is killed, or has to go elsewhere, is not suspended."""
        self.jobs = {
            number: job(number=number, preemption=mode)
            for number, mode in enumerate(("shelve", "suspend", "requeue"))
        }
        shelve, suspend, requeue = (one.core for one in self.jobs.values())
        asked = [Evict(one, FG, by=shelve) for one in (shelve, suspend, requeue)]
        self.assertEqual({0: "shelve", 1: "suspend", 2: "requeue"}, self.modes(*asked))
        again = Start(suspend, BG, (0, 0), StartKind.IMMEDIATE)
        self.assertEqual({1: "shelve"}, self.modes(asked[1], again))
        killed = [Kill(one, FG, by=shelve) for one in (shelve, suspend)]
        self.assertEqual({0: "requeue", 1: "requeue"}, self.modes(*killed))
        self.jobs[1].checkpoint = True
        self.assertEqual({0: "requeue", 1: "suspend"}, self.modes(*killed))
        self.assertEqual({1: "shelve"}, self.modes(killed[1], again))

    def test_who_is_killed_for_itself(self):
        """By those policies in which a job leaves the background only to begin anew."""
        one = job(tier=BG)
        [record] = planning.records([Kill(one.core, BG, one.core)], {one.number: one}, seen(), 5.0)
        self.assertEqual(changes.TO_FOREGROUND(), record.plan.reason)
