"""Plays a stream of jobs under a policy, and checks every decision on the way."""

from collections import Counter

from nova_twotier.core import policies
from nova_twotier.core.actions import Evict, How, Move, Start, Tier
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.policies.preemption import held_by_later
from nova_twotier.core.snapshot import Event, Snapshot
from tests.unit.core.builders import BG, FG, state


class Driver:
    """A body without time: jobs arrive and depart when the test says so.

    :param case: the test case, whose assertions are used.
    """

    def __init__(self, case, policy, hosts):
        self.case = case
        self.policy = policies.get(policy)
        self.cluster = Cluster(hosts)
        self.waiting = []
        self.admitted = set()
        self.clock = 0.0

    def arrive(self, *jobs):
        self.waiting += jobs
        self.admitted |= {job.number for job in jobs}
        return self.decide(Event.ARRIVAL)

    def depart(self, *numbers):
        event = Event(0)
        for number in numbers:
            run = self.cluster.remove(self.cluster.runs[number].job)
            event |= Event.FOREGROUND if run.tier is FG else Event.BACKGROUND
            self.admitted.remove(number)
        return self.decide(event)

    def decide(self, event):
        """Ask the policy, check its answer, and carry it out."""
        snapshot = Snapshot(self.cluster, tuple(self.waiting))
        before = state(self.cluster)
        actions = self.policy.schedule(snapshot, event, self.clock)
        self.case.assertEqual(before, state(self.cluster), "the snapshot was changed")
        self.case.assertEqual(actions, self.policy.schedule(snapshot, event, self.clock + 1))
        self.check_actions(actions)
        queued = [job.number for job in snapshot.queue]
        self.case.assertEqual(
            sorted(queued, key=lambda n: snapshot.queue[queued.index(n)].order), queued
        )
        self.cluster.apply(actions)
        self.waiting += [action.job for action in actions if isinstance(action, Evict)]
        self.waiting = [job for job in self.waiting if job.number not in self.cluster.runs]
        self.waiting.sort(key=lambda job: job.order)
        self.check_state()
        self.check_starts(actions)
        self.clock += 10
        return actions

    def check_actions(self, actions):
        kinds = {Evict: [], Move: [], Start: []}
        for action in actions:
            kinds[type(action)].append(action)
            self.case.assertNotIn(
                action.job.number, [a.job.number for a in kinds[type(action)][:-1]]
            )
        moved = {action.job.number for action in kinds[Move]}
        self.case.assertFalse(moved & {a.job.number for a in (*kinds[Evict], *kinds[Start])})
        for action in (*kinds[Evict], *kinds[Move]):
            run = self.cluster.runs[action.job.number]
            if isinstance(action, Evict):
                self.case.assertEqual(run.tier, action.tier)
            else:
                self.check_move(action, run)
        waiting = {job.number for job in self.waiting} | {a.job.number for a in kinds[Evict]}
        for action in kinds[Start]:
            self.case.assertIn(action.job.number, waiting)
            self.case.assertEqual(action.job.size, len(action.hosts))

    def check_move(self, move, run):
        self.case.assertEqual(run.hosts, move.before)
        self.case.assertIs(run.tier.other, move.tier)
        if move.tier is BG:
            self.case.assertEqual(move.before, move.after, "who falls stays on its hosts")
            self.case.assertEqual((), move.migrating)
            self.case.assertIsNotNone(move.by)
        changed = [i for i in range(run.job.size) if move.before[i] != move.after[i]]
        self.case.assertEqual(changed, list(move.migrating))

    def check_state(self):
        """No slot twice, none closed, no job lost, none both waiting and running."""
        running, waiting = set(self.cluster.runs), [job.number for job in self.waiting]
        self.case.assertEqual({}, {n: c for n, c in Counter(waiting).items() if c > 1})
        self.case.assertEqual(set(), running & set(waiting))
        self.case.assertEqual(self.admitted, running | set(waiting))
        for index, host in enumerate(self.cluster.hosts):
            self.case.assertLessEqual(self.cluster.used[FG][index], host.slots)
            self.case.assertEqual(0, self.cluster.overfull(index), "background under a closed slot")

    def check_starts(self, actions):
        for action in actions:
            if isinstance(action, Start):
                passed = any(job.order < action.job.order for job in self.waiting)
                self.case.assertEqual(How.BACKFILLED if passed else How.IMMEDIATE, action.how)

    def not_in_foreground(self):
        """Who waits for the foreground, in the queue or in the background, by arrival."""
        jobs = [*self.waiting, *(run.job for run in self.cluster.running(BG))]
        return sorted(jobs, key=lambda job: job.order)

    def could_have(self, job):
        """Foreground slots that are idle or held by later arrivals."""
        holders = [run.job for run in self.cluster.running(FG)]
        return self.cluster.idle[FG] + held_by_later(job, holders)

    def finish(self):
        """Let the running jobs depart one by one until nothing is left.

        :returns: the number of departures.
        """
        departures = 0
        while self.admitted:
            self.case.assertNotEqual({}, self.cluster.runs, f"{self.waiting} wait for nothing")
            first = min(self.cluster.runs.values(), key=lambda run: (run.tier is BG, run.job.order))
            self.depart(first.job.number)
            departures += 1
        self.case.assertEqual([0, 0], [sum(self.cluster.used[tier]) for tier in Tier])
        return departures
