"""Planned drains: jobs that would run into the window start elsewhere, or wait and say why."""

import random
import time

from nova_twotier.core.actions import Tier
from nova_twotier.db import changes, drains
from nova_twotier.db.states import OVER, JobState
from nova_twotier.ledger import claims
from tests.functional.manager_case import InMemoryTestCase, ManagerTestCase
from tests.functional.queue_case import QueueTestCase
from tests.unit.manager import builders


class WindowCase(InMemoryTestCase, ManagerTestCase):
    HOSTS = 3
    SLOTS = 2

    def setUp(self):
        super().setUp()
        self.options = builders.options(attempts=2, boot_grace=3.0, host_interval=1.0)

    def plan(self, host, since, until=None, migrate=False):
        values = {"since": since, "until": until, "migrate": migrate, "reason": "new BIOS"}
        drains.drain(self.store, host, self.now, **values)

    def submit(self, size, walltime=None, **values):
        return self.store.submit(size, [0.5], at=self.now, walltime=walltime, **values)

    def hosts_of(self, job):
        servers = [each for each in self.nova.servers() if each.job == job.uuid]
        return sorted(server.host for server in servers)

    def state(self, job):
        return self.store.job(job.number).state


class TestStarts(WindowCase):
    def test_a_long_job_goes_to_other_hosts(self):
        self.cloud(seed=1)
        self.plan("host0", since=1000.0)
        self.manager = self.engine("fcfs")
        long, short = self.submit(4, 2000.0), self.submit(2, 500.0)
        self.rounds(self.manager, 15)
        self.assertEqual([JobState.RUNNING] * 2, [self.state(long), self.state(short)])
        self.assertEqual(["host1", "host1", "host2", "host2"], self.hosts_of(long))
        self.assertEqual(["host0"] * 2, self.hosts_of(short))

    def test_one_that_finds_none_waits_until_its_walltime_is_shorter(self):
        for policy in ("amcbf", "easy"):
            self.cloud(seed=2)
            self.plan("host0", since=self.now + 1000.0)
            self.manager = self.engine(policy)
            job = self.submit(5, 2000.0)
            self.rounds(self.manager, 10)
            found = self.store.job(job.number)
            self.assertEqual((JobState.QUEUED, "window"), (found.state, found.reason.code.name))
            self.assertIn("needs 5 slots, 4 of 4 idle on hosts where", str(found.reason))
            self.assertIn("2000 s", str(found.reason))
            self.assertNotIn("host0", str(found.reason))
            changes.change(self.store, job.number, {"walltime": 500.0}, True)
            self.rounds(self.manager, 15)
            self.assertEqual(JobState.RUNNING, self.state(job))
            self.end(job)

    def test_the_slots_of_a_host_that_leaves_do_not_count(self):
        """A job that never fits into the hosts that stay does not hold up those behind it."""
        self.cloud(seed=7)
        self.manager = self.engine("fcfs")
        there = self.submit(2)
        self.rounds(self.manager, 15)
        [left, _left] = self.hosts_of(there)
        drained, other = sorted({"host0", "host1", "host2"} - {left})
        self.nova.left.add(left)
        self.plan(drained, since=self.now + 1000.0)
        self.rounds(self.manager, 5)
        large, small = self.submit(3, 2000.0), self.submit(2, 2000.0)
        self.rounds(self.manager, 15)
        reason = str(self.store.job(large.number).reason)
        self.assertIn("needs 3 slots", reason)
        self.assertEqual((JobState.QUEUED, [other] * 2), (self.state(large), self.hosts_of(small)))

    def test_both_causes_are_named(self):
        """Too few slots are idle, and some hosts are not for it; the reason stays the same."""
        self.cloud(seed=6)
        self.plan("host0", since=self.now + 1000.0)
        self.manager = self.engine("fcfs")
        first = self.submit(6, 500.0)
        self.rounds(self.manager, 15)
        self.assertEqual(JobState.RUNNING, self.state(first))
        job = self.submit(4, 2000.0)
        self.rounds(self.manager, 10)
        told = set()
        for _round in range(10):
            self.rounds(self.manager, 1)
            told.add(str(self.store.job(job.number).reason))
        [said] = told
        self.assertIn("needs 4 foreground slots, 0 idle; 2 slots, idle or not, are not", said)
        self.assertIn("it may run for 2000 s, and the first maintenance", said)
        self.assertNotIn("host0", said)
        self.end(first)
        self.rounds(self.manager, 15)
        self.assertEqual(["host1", "host1", "host2", "host2"], self.hosts_of(job))

    def test_the_window_goes_and_it_starts(self):
        self.cloud(seed=3)
        self.plan("host0", since=1000.0)
        self.manager = self.engine("amcbf")
        job = self.submit(6, 2000.0)
        self.rounds(self.manager, 10)
        self.assertEqual(JobState.QUEUED, self.state(job))
        drains.undrain(self.store, "host0")
        self.rounds(self.manager, 15)
        self.assertEqual(JobState.RUNNING, self.state(job))

    def test_without_a_walltime_the_estimate_counts_if_the_operator_says_so(self):
        self.cloud(seed=4)
        self.plan("host0", since=1000.0)
        self.manager = self.engine("amcbf")
        job = self.submit(6, estimate=2000.0)
        self.rounds(self.manager, 15)
        self.assertEqual(JobState.RUNNING, self.state(job))
        self.end(job)
        self.options.drain_by_estimate = True
        job = self.submit(6, estimate=2000.0)
        self.rounds(self.manager, 15)
        self.assertEqual(JobState.QUEUED, self.state(job))

    def test_a_saved_one_counts_what_is_left_and_goes_to_hosts_in_time(self):
        self.cloud(seed=5)
        self.manager = self.engine("cmbf")
        job = self.submit(2, 500.0)
        self.rounds(self.manager, 15)
        first = self.store.submit(6, [0.5], at=-1.0)  # an earlier arrival
        self.rounds(self.manager, 30)
        self.assertEqual(JobState.RUNNING, self.state(first))
        self.assertTrue(self.store.job(job.number).saved)
        self.plan("host0", since=self.now + 300.0)
        self.plan("host1", since=self.now + 300.0)
        self.end(first)
        self.rounds(self.manager, 20)
        self.assertEqual(JobState.RUNNING, self.state(job))
        self.assertEqual(["host2"] * 2, self.hosts_of(job))

    def end(self, job):
        self.store.request_action(job.number, "cancel")
        for _round in range(60):
            self.rounds(self.manager, 1)
            if self.state(job) in OVER:
                return
        self.fail(f"job {job.number} does not end")


class TestPreemption(WindowCase):
    """Of jobs that are also on hosts on which the preemptor may not start."""

    def test_it_goes_on_in_the_background_while_a_drain_is_planned(self):
        self.cloud(seed=21)
        self.preempt(since=1e6)

    def test_it_goes_on_in_the_background_of_a_drained_host(self):
        self.cloud(seed=22)
        self.preempt(since=0.0)

    def preempt(self, since):
        self.manager = self.engine("amcbf")
        job = self.submit(6)
        self.rounds(self.manager, 15)
        there = self.hosts_of(job)
        self.assertEqual({"host0", "host1", "host2"}, set(there))
        self.plan("host0", since=since)
        self.rounds(self.manager, 5)
        urgent = self.submit(3, 2e6, qos="urgent")
        self.rounds(self.manager, 20)
        self.assertEqual([JobState.RUNNING] * 2, [self.state(job), self.state(urgent)])
        tiers = [self.store.job(each.number).tier for each in (job, urgent)]
        self.assertEqual([Tier.BG, Tier.FG], tiers)
        self.assertNotIn("host0", self.hosts_of(urgent))
        self.assertEqual(there, self.hosts_of(job))

    def test_a_preemptor_finds_its_slots_although_others_are_idle(self):
        """The host that closes has as many as it needs, but may not be used."""
        self.cloud(seed=23)
        self.manager = self.engine("cmbf")
        self.plan("host0", since=0.0)
        job = self.submit(4)
        self.rounds(self.manager, 15)
        self.assertEqual(JobState.RUNNING, self.state(job))
        self.plan("host0", since=1e6)
        self.rounds(self.manager, 5)
        urgent = self.submit(2, 2e6, qos="urgent")
        self.rounds(self.manager, 40)
        self.assertEqual(JobState.RUNNING, self.state(urgent))
        self.assertNotIn("host0", self.hosts_of(urgent))
        self.assertEqual(0, self.store.job(urgent.number).failures)


class TestVacating(WindowCase):
    def test_a_job_is_moved_to_hosts_that_stay_if_there_are_enough(self):
        self.cloud(seed=11)
        self.manager = self.engine("amcbf")
        job = self.submit(2, 5000.0)
        self.rounds(self.manager, 15)
        [here] = set(self.hosts_of(job))
        soon, last = (host for host in ("host0", "host1", "host2") if host != here)
        self.plan(soon, since=self.now + 100.0)
        self.plan(here, since=0.0, migrate=True)
        self.rounds(self.manager, 20)
        self.assertEqual([last] * 2, self.hosts_of(job))
        self.plan(last, since=0.0, migrate=True)
        self.rounds(self.manager, 20)
        self.assertEqual([soon] * 2, self.hosts_of(job))


class TestAtRandom(WindowCase):
    def test_no_job_starts_that_would_run_into_a_window(self):
        for seed in range(4):
            self.play_one(seed, ("amcbf", "easy", "cmcbf", "acfcfs")[seed])

    def play_one(self, seed, policy):
        self.cloud(seed, failures=0.02, crashes=0.02)
        chosen = random.Random(seed)
        self.windows, self.started, self.begin = {}, {}, self.now
        for host in ("host0", "host1"):
            begin = self.now + chosen.randint(60, 120)
            self.windows[host] = begin, begin + 60
            self.plan(host, *self.windows[host])
        self.crossed = 0
        before = len(self.store.jobs())
        walls = [chosen.choice((15.0, 30.0, 200.0)) for _job in range(10)]
        self.due = {4 * at: (chosen.randint(1, 4), wall) for at, wall in enumerate(walls)}
        arrivals = [(40, 1, 0.5)]  # the others come with a walltime
        lives = [8] * (len(walls) + 1)
        self.play(policy, arrivals, [*([0] * before), *lives])
        self.assertGreater(self.crossed, 0)
        self.due = {}

    def others(self, at):
        if at in getattr(self, "due", {}):
            self.submit(*self.due[at], retries=600)

    def check(self, jobs):
        super().check(jobs)
        held = claims.read_claims(self.ledger, self.tiers)
        for job in jobs:
            if job.state != JobState.RUNNING or job.run_since is None or not job.walltime:
                continue
            gang = [each for each in self.nova.servers() if each.job == job.uuid]
            where = {claim.host for each in gang for claim in held.get(each.id, ())}
            end = job.run_since + job.walltime - job.run_before
            known = self.started.setdefault((job.number, job.run_since), where)
            for host in known & self.windows.keys():
                begin, over = self.windows[host]
                self.crossed += 1
                self.assertTrue(job.run_since >= over or end <= begin, (job.number, host))


class TestRealNova(QueueTestCase):
    HOSTS = 2
    SLOTS = 2

    def test_nova_places_a_long_job_where_it_may_be(self):
        drains.drain(self.store, "host0", time.time(), since=4e9, reason="new BIOS")
        long = self.store.submit(2, [0.5], walltime=4e9)
        self.until(long.number, JobState.RUNNING)
        short = self.store.submit(2, [0.5], walltime=60.0)
        self.until(short.number, JobState.RUNNING)
        self.assertEqual({"host1"}, self.hosts_of(long.number, Tier.FG))
        self.assertEqual({"host0"}, self.hosts_of(short.number, Tier.FG))

    def hosts_of(self, number, tier):
        held = claims.read_claims(self.ledger, self.tiers)
        found = [claim for each in self.servers(number) for claim in held[each["id"]]]
        return {claim.host for claim in found if claim.tier is tier}
