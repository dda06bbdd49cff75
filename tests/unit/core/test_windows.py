"""Planned maintenance: what policies start where, and what waits."""

import math
import random
from dataclasses import replace

import testtools

from nova_twotier.core import policies, windows
from nova_twotier.core.actions import BG, FG, Move, Start
from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.qos import SCAVENGER, URGENT
from nova_twotier.core.snapshot import Event, Snapshot

ALL = Event.ARRIVAL | Event.BACKGROUND | Event.FOREGROUND


def job(number, size, walltime=None, arrival=None, cpu=0.5):
    at = float(number) if arrival is None else arrival
    estimate = walltime or 50.0
    return Job(number, size, at, (cpu,) * size, estimate=estimate, walltime=walltime)


def lead(of):
    return of.walltime or 0.0


def hosts(*closes, slots=2, tiers=2):
    return [Host(f"h{i}", slots, tiers, closes=at) for i, at in enumerate(closes)]


def tier_of(snapshot, number):
    """Where a job runs; None if it waits."""
    run = snapshot.cluster.runs.get(number)
    return run and run.tier


class TestDecisions(testtools.TestCase):
    def decide(self, cluster, *waiting, policy="fcfs", now=100.0):
        """All that is decided until nothing more is, as the queue manager does it."""
        snapshot = Snapshot(cluster, waiting)
        started, event = {}, ALL
        while True:
            found = windows.decide(policies.get(policy), snapshot, event, now, lead)
            if not found.actions:
                return started, snapshot
            started |= {each.job.number: each for each in found.actions if isinstance(each, Start)}
            snapshot = found.after

    def test_a_long_job_goes_elsewhere_and_a_short_one_comes(self):
        cluster = Hosts(hosts(200.0, math.inf))
        started, _after = self.decide(cluster, job(1, 2, 500.0), job(2, 2, 50.0))
        self.assertEqual({1: (1, 1), 2: (0, 0)}, {n: start.hosts for n, start in started.items()})

    def test_slots_with_a_window_are_not_reserved_for_a_job_that_may_not_use_them(self):
        """It waits for the other host, where a long job would be in its way."""
        there = [(job(1, 2, 1000.0), 0), (job(2, 3, 200.0), 1)]
        runs = [Run(each, FG, (on,) * each.size, until=each.estimate) for each, on in there]
        for policy in ("easy", "easy-sjf", "easy-saf", "conservative"):
            cluster = Hosts(hosts(math.inf, 500.0, slots=3, tiers=1), runs=runs)
            head, late = job(3, 3, 2000.0), job(4, 1, 1e5)
            started, _after = self.decide(cluster, head, late, policy=policy)
            self.assertEqual({}, started, policy)

    def test_it_may_end_when_the_window_begins_but_no_later(self):
        for walltime, expected in ((100.0, {1}), (100.1, set())):
            cluster = Hosts(hosts(200.0))
            started, _after = self.decide(cluster, job(1, 2, walltime))
            self.assertEqual(expected, started.keys())

    def test_without_a_walltime_no_window_matters(self):
        started, _after = self.decide(Hosts(hosts(200.0)), job(1, 2))
        self.assertEqual({1}, started.keys())

    def test_a_short_one_passes_a_long_head_only_where_that_cannot_run(self):
        cluster = Hosts(hosts(200.0, math.inf))
        cluster.start(job(9, 1, 500.0), FG, [1])
        waiting = job(1, 2, 500.0), job(2, 3, 50.0), job(3, 1, 50.0), job(4, 2, 50.0)
        started, after = self.decide(cluster, *waiting, policy="fcfs")
        self.assertEqual(set(), started.keys())  # the second is the head there
        started, after = self.decide(cluster, waiting[0], *waiting[2:], policy="fcfs")
        self.assertEqual({3: (0,)}, {n: start.hosts for n, start in started.items()})
        self.assertEqual(1, after.cluster.idle[FG] - after.cluster.room(FG, 0))

    def test_one_for_which_no_hosts_are_enough_holds_up_nobody(self):
        """Neither where it could not run nor elsewhere, and whoever fits no part alone."""
        for closes in ((200.0, math.inf), (200.0, 200.0)):
            waiting = job(1, 3, 500.0), job(2, 3, 50.0), job(3, 1, 50.0)
            started, after = self.decide(Hosts(hosts(*closes)), *waiting)
            self.assertEqual({2, 3}, started.keys())
            self.assertEqual([1], [each.number for each in after.queue])

    def test_a_short_head_spans_all_hosts(self):
        cluster = Hosts(hosts(200.0, math.inf))
        started, _after = self.decide(cluster, job(1, 4, 50.0), job(2, 2, 500.0))
        self.assertEqual({1}, started.keys())

    def test_windows_one_after_another(self):
        cluster = Hosts(hosts(200.0, 300.0, 400.0, slots=1))
        waiting = job(1, 1, 290.0), job(2, 1, 190.0), job(3, 1, 90.0), job(4, 1, 90.0)
        started, _after = self.decide(cluster, *waiting)
        self.assertEqual({1: (2,), 2: (1,), 3: (0,)}, {n: s.hosts for n, s in started.items()})

    def test_many_windows_are_taken_for_earlier_ones(self):
        cluster = Hosts(hosts(*(200.0 + 10 * i for i in range(40)), slots=1))
        waiting = [job(n, 1, 95.0 + 10 * n) for n in range(1, 39)]
        started, _after = self.decide(cluster, *waiting, policy="amcbf")
        for start in started.values():
            for host in start.hosts:
                self.assertLessEqual(100.0 + start.job.walltime, cluster.hosts[host].closes)
        self.assertGreater(len(started), 10)

    def test_a_running_job_is_not_promoted_to_a_host_that_closes(self):
        cluster = Hosts(hosts(200.0, math.inf, slots=1))
        cluster.start(job(1, 1, 500.0), FG, [1])
        cluster.start(job(2, 1, 500.0), BG, [1])
        snapshot = Snapshot(cluster, [])
        self.assertTrue(policies.get("amcbf").schedule(snapshot.copy(), ALL, 100.0))
        found = windows.decide(policies.get("amcbf"), snapshot, ALL, 100.0, lead)
        self.assertEqual([], found.actions)

    def test_an_urgent_job_preempts_one_that_is_also_on_a_host_that_closes(self):
        """Weeks ahead of the window, as it would without one."""
        for name in ("amcbf", "cmbf", "cmcbf", "ambf", "acfcfs"):
            for closes in (math.inf, 1e6):
                cluster = Hosts(hosts(math.inf, closes))
                cluster.start(job(1, 4, 2e6), FG, [0, 0, 1, 1])
                urgent = replace(job(2, 2, 2e6), qos=URGENT)
                started, after = self.decide(cluster, urgent, policy=name)
                self.assertEqual(FG, started[2].tier, (name, closes))
                # It stays in the background: if it left, it could come back only after the window.
                below = BG if policies.get(name).tiers > 1 else None
                self.assertIs(below, tier_of(after, 1), (name, closes))
                if closes < math.inf:
                    self.assertEqual((0, 0), started[2].hosts, name)

    def test_one_that_needs_more_than_it_frees_preempts_nobody(self):
        for name in ("amcbf", "cmbf", "cmcbf", "ambf", "acfcfs"):
            cluster = Hosts(hosts(math.inf, 1e6))
            cluster.start(job(1, 3, 2e6), FG, [0, 1, 1])
            cluster.start(job(2, 1, 2e6, arrival=-1.0), FG, [0])
            # 1 came later, but frees one slot only of those that stay open long enough.
            started, after = self.decide(cluster, job(3, 2, 2e6, arrival=0.0), policy=name)
            self.assertFalse(any(start.tier is FG for start in started.values()), name)
            self.assertIs(FG, tier_of(after, 1), name)

    def test_a_scavenger_makes_way_on_the_hosts_that_stay_open(self):
        """Also one without a walltime, which would never end."""
        for name in ("amcbf", "cmcbf", "ccfcfs", "acfcfs"):
            for closes in (math.inf, 1e6):
                cluster = Hosts(hosts(math.inf, closes))
                cluster.start(job(1, 2, 2e6), FG, [0, 0])
                cluster.start(job(2, 2, 2e6), FG, [1, 1])
                idler = replace(job(3, 4), qos=SCAVENGER, foreground=False)
                cluster.start(idler, BG, [0, 0, 1, 1])
                started, after = self.decide(cluster, job(4, 2, 2e6), policy=name)
                self.assertEqual({4: BG}, {n: each.tier for n, each in started.items()}, name)
                self.assertEqual([3], [each.number for each in after.queue], name)
                if closes < math.inf:
                    self.assertEqual((0, 0), started[4].hosts, name)

    def test_without_windows_it_is_the_policy_alone(self):
        for name in policies.POLICIES:
            chosen = random.Random(1)
            waiting = [job(n, chosen.randint(1, 3), chosen.choice((20.0, 900.0))) for n in range(9)]
            cluster = Hosts(hosts(math.inf, math.inf))
            alone = policies.get(name).schedule(Snapshot(cluster.copy(), waiting), ALL, 100.0)
            shown = Snapshot(cluster.copy(), waiting)
            found = windows.decide(policies.get(name), shown, ALL, 100.0, lead)
            self.assertEqual((alone, None), (found.actions, found.taking))


class TestAtRandom(testtools.TestCase):
    """Under each policy: nothing comes where it would not end, and what fits there starts."""

    def test_every_policy(self):
        for name in policies.POLICIES:
            for seed in range(4):
                self.run_one(name, random.Random(f"{name} {seed}"))

    def run_one(self, name, chosen):
        policy = policies.get(name)
        closes = [chosen.choice((150.0, 300.0, math.inf)) for _host in range(4)]
        now, snapshot = 0.0, Snapshot(Hosts(hosts(*closes)), [])
        ends = {}
        number = 0
        while now < 400:
            now += chosen.choice((1.0, 7.0))
            for over in [n for n, at in ends.items() if at <= now and n in snapshot.cluster.runs]:
                snapshot.cluster.remove(snapshot.cluster.runs[over].job)
            if now < 200 and chosen.random() < 0.6:
                number += 1
                size, wall = chosen.randint(1, 5), chosen.choice((None, 20.0, 60.0, 140.0, 250.0))
                new = job(number, size, wall, now, chosen.choice((0.5, 1.0)))
                snapshot.queue.add(policy.admit(new))
            began = [h.enabled and h.closes > now for h in snapshot.cluster.hosts]
            snapshot.cluster.limit_hosts({i for i, is_open in enumerate(began) if is_open})
            for _pass in range(50):
                before = dict(snapshot.cluster.runs)
                found = windows.decide(policy, snapshot.copy(), ALL, now, lead)
                if not found.actions:
                    break
                check = snapshot.cluster.copy()
                check.apply(found.actions)  # raises if it is not feasible
                for action in found.actions:
                    self.check(action, before, snapshot.cluster, now)
                    if isinstance(action, Start):
                        ends[action.job.number] = now + (action.job.walltime or 50.0)
                snapshot = found.after
            else:
                self.fail(f"{name} decides for ever")
            waiting = snapshot.queue
            self.assertFalse(snapshot.cluster.runs.keys() & {each.number for each in waiting})

    def check(self, action, before, cluster, now):
        if not isinstance(action, Start | Move):
            return
        old = before[action.job.number].hosts if action.job.number in before else ()
        new = action.hosts if isinstance(action, Start) else action.after
        for host in set(new) - set(old):
            self.assertLessEqual(now + lead(action.job), cluster.hosts[host].closes)
