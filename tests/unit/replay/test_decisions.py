"""The queue manager's records and the simulator's actions tell the same in one form."""

import testtools

from nova_twotier.core.actions import BG, FG, Evict, Kill, Move, Start, StartKind, Tier
from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.db.models import Action, Place
from nova_twotier.db.plans import RelocatePlan, StartPlan
from nova_twotier.db.states import ActionKind, ActionState, Preemption
from nova_twotier.manager import relocations
from nova_twotier.manager.planning import records
from nova_twotier.sim.scripted import Decision
from nova_twotier.tools.replay import decisions
from tests.unit.manager import builders

JOBS = {number: Job(number, 2, 0.0, (0.5, 0.5)) for number in range(1, 6)}
ORDERS = {number: job.order for number, job in JOBS.items()}
DECISION = Decision(
    7.0,
    (
        Evict(JOBS[1], FG, by=JOBS[3]),
        Move(JOBS[2], BG, (0, 1), (0, 1), by=JOBS[3]),
        Move(JOBS[4], FG, (0, 1), (0, 0)),
        Start(JOBS[3], FG, (1, 1), StartKind.BACKFILLED),
    ),
)


def recorded(decision):
    """What the queue manager records of a decision, read back."""
    rows = {
        number: builders.job(number=number, tier=(BG if number == 4 else FG)) for number in JOBS
    }
    gangs = [builders.servers(row, hosts="ab") for row in rows.values()]
    seen = builders.seen(*gangs, tiers=[row.tier for row in rows.values()])
    return decisions.recorded(records(decision.actions, rows, seen, decision.at), ORDERS)


class TestDecided(testtools.TestCase):
    def test_words(self):
        self.assertEqual(
            [
                "7 s: evict job 1, by job 3",
                "7 s: move job 2 to bg, 2 in place, 0 elsewhere, by job 3",
                "7 s: move job 4 to fg, 1 in place, 1 elsewhere",
                "7 s: start job 3 in fg, backfilled",
            ],
            [str(one) for one in decisions.simulated([DECISION])],
        )

    def test_of_the_queue_manager(self):
        self.assertEqual(decisions.simulated([DECISION]), recorded(DECISION))

    def test_kills(self):
        job, other = JOBS[1], JOBS[2]
        decision = Decision(
            1.0,
            (
                Kill(job, BG, by=job),
                Kill(other, FG, by=job),
                Start(job, FG, (0, 1), StartKind.IMMEDIATE),
            ),
        )
        self.assertEqual(decisions.simulated([decision]), recorded(decision))
        self.assertEqual(
            ["kill job 1, by itself", "kill job 2, by job 1"],
            [str(one).partition(": ")[2] for one in recorded(decision)[:2]],
        )


class TestRelocated(testtools.TestCase):
    def test_as_the_eviction_and_the_start_that_it_stands_for(self):
        again = [Start(JOBS[number], BG, (1, 1), StartKind.BACKFILLED) for number in (1, 2, 3)]
        evictions = [Evict(JOBS[number], FG, by=JOBS[5]) for number in (1, 2, 3)]
        front = Start(JOBS[5], FG, (0, 0), StartKind.RESERVED)
        actions = (*evictions, front, *again)
        rows = {number: builders.job(number=number) for number in JOBS}
        gangs = [builders.servers(row, hosts="a") for row in rows.values()]
        seen = builders.seen(*gangs)
        runs = [Run(JOBS[number], FG, (0, 0)) for number in (1, 2, 3)]
        cluster = Hosts([Host(name, 8, 2) for name in "ab"], runs=runs)
        moved = relocations.find([evictions[1], again[1]], rows, seen, lambda: cluster)
        self.assertEqual({2}, moved.keys())
        found = decisions.recorded(records(actions, rows, seen, 7.0, relocated=moved), ORDERS)
        self.assertEqual(decisions.simulated([Decision(7.0, actions)]), found)


class TestKinds(testtools.TestCase):
    def test_of_one_decision(self):
        again = Decision(9.0, (Start(JOBS[3], BG, (1, 1), StartKind.IMMEDIATE),))
        partly = Decision(9.0, (Move(JOBS[5], FG, (0, 1), (1, 0)), Kill(JOBS[1], BG, by=JOBS[1])))
        self.assertEqual(
            {
                "evict": 1,
                "move to bg in place": 1,
                "move to fg in part": 1,
                "move to fg elsewhere": 1,
                "start fg backfilled": 1,
                "start again bg immediate": 1,
                "kill by itself": 1,
            },
            decisions.kinds(decisions.simulated([DECISION, again, partly])),
        )


class TestPlaced(testtools.TestCase):
    def test_hosts_after_a_relocation(self):
        """Also those of processes that stayed where they were."""
        moved = RelocatePlan({1: "c"}, {1: "a"}, (), 2, "backfilled", Preemption.SHELVE)
        actions = [
            start(begun_at=1.0, closed_at=3.0, tier="bg"),
            Action(
                kind=ActionKind.RELOCATE,
                job=1,
                plan=moved,
                state=ActionState.DONE,
                begun_at=5.0,
                closed_at=8.0,
            ),
        ]
        places = [
            *(place(0, "b", "bg", 3.0), place(1, "a", "bg", 3.0, until=7.0)),
            place(1, "c", "bg", 7.0),
        ]
        found = decisions.placed(actions, places, ["a", "b", "c"])
        self.assertEqual({1: [(1, 0), (1, 2)]}, found)

    def test_promoted_in_the_second_in_which_it_started(self):
        starts = [start(begun_at=1.0, closed_at=3.0, tier="bg")]
        places = [
            *(place(0, "b", "bg", 3.0, until=3.0), place(1, "a", "bg", 3.0, until=3.0)),
            *(place(0, "c", "fg", 3.0), place(1, "c", "fg", 3.0)),
        ]
        self.assertEqual({1: [(1, 0)]}, decisions.placed(starts, places, ["a", "b", "c"]))

    def test_hosts_of_each_start(self):
        starts = [
            start(begun_at=1.0, closed_at=3.0, tier="bg"),
            start(begun_at=8.0, closed_at=9.0, tier="fg", state=ActionState.FAILED),
            start(begun_at=11.0, closed_at=14.0, tier="fg"),
        ]
        places = [
            *(place(0, "b", "bg", 3.0, until=5.0), place(1, "a", "bg", 3.0, until=5.0)),
            *(place(0, "a", "fg", 5.0, until=10.0), place(1, "a", "fg", 5.0, until=10.0)),
            *(place(0, "c", "fg", 13.0), place(1, "b", "fg", 13.0)),
        ]
        self.assertEqual({1: [(1, 0), (2, 1)]}, decisions.placed(starts, places, ["a", "b", "c"]))


def start(tier, state=ActionState.DONE, **times):
    return Action(
        kind=ActionKind.START, job=1, plan=StartPlan(Tier(tier), "immediate"), state=state, **times
    )


def place(process, host, tier, since, until=None):
    return Place(job=1, process=process, host=host, tier=tier, since=since, until=until)
