"""Hosts that operators drain: nothing new comes there, and jobs end there or are moved."""

import random
import time

from nova_twotier.cloud.errors import CloudError
from nova_twotier.core.actions import Tier
from nova_twotier.db import drains
from nova_twotier.db.models import Job
from nova_twotier.db.states import OVER, JobState
from nova_twotier.ledger import claims
from tests.functional.base import BG, FG
from tests.functional.manager_case import InMemoryTestCase, ManagerTestCase
from tests.functional.queue_case import QueueTestCase
from tests.unit.manager import builders


class DrainCase(ManagerTestCase):
    HOSTS = 3
    SLOTS = 2

    def setUp(self):
        super().setUp()
        self.options = builders.options(attempts=2, boot_grace=3.0, host_interval=1.0)

    def drain(self, host, since=0.0, until=None, migrate=False, reason="new BIOS"):
        values = {"since": since, "until": until, "migrate": migrate, "reason": reason}
        drains.drain(self.store, host, self.now, **values)

    def on(self, host, tier=None):
        """How many slots of a host are held, in one tier or both."""
        held = claims.read_claims(self.ledger, self.tiers).values()
        return sum(claim.host == host and tier in (None, claim.tier) for [claim] in held)

    def hosts_of(self, job):
        servers = [each for each in self.nova.servers() if each.job == job.uuid]
        return sorted(server.host for server in servers)

    def running(self, *sizes, cpu=0.5):
        """Jobs that were started by a new manager."""
        jobs = [self.store.submit(size, [cpu], at=self.now) for size in sizes]
        self.manager = self.engine("amcbf")
        self.rounds(self.manager, 12)
        for job in jobs:
            self.assertEqual(JobState.RUNNING, self.store.job(job.number).state)
        return jobs

    def until(self, reached, what):
        for _round in range(100):
            if reached():
                return
            self.rounds(self.manager, 1)
        self.fail(f"not so after 100 rounds: {what}")


class TestWithoutMigration(InMemoryTestCase, DrainCase):
    def test_nothing_new_comes_and_what_is_there_stays(self):
        self.cloud(seed=1)
        [job] = self.running(6)
        before = self.hosts_of(job)
        self.drain("host0")
        self.rounds(self.manager, 3)
        # Two are to wait below, on the other hosts only.
        below = [self.store.submit(size, [0.5], at=self.now) for size in (4, 2)]
        self.rounds(self.manager, 12)
        self.assertEqual(before, self.hosts_of(job))
        states = [self.store.job(each.number).state for each in below]
        self.assertEqual([JobState.RUNNING, JobState.QUEUED], states)
        self.assertEqual((2, 0), (self.on("host0", Tier.FG), self.on("host0", Tier.BG)))

    def test_nova_is_told_and_told_again(self):
        self.cloud(seed=2)
        self.running(1)
        self.drain("host1")
        self.until(lambda: self.nova.disabled, "disabled")
        self.assertEqual({"host1": "twotier drain: new BIOS"}, self.nova.disabled)
        # An operator who does not know of the drain.
        self.nova.disabled.clear()
        self.until(lambda: "host1" in self.nova.disabled, "disabled again")
        self.assertTrue(drains.undrain(self.store, "host1"))
        self.until(lambda: not self.nova.disabled, "enabled")
        self.assertFalse(drains.undrain(self.store, "host1"))

    def test_what_an_operator_has_disabled_stays_so(self):
        self.cloud(seed=3)
        self.nova.disabled = {"host1": "broken fan", "host2": ""}
        self.running(1)
        self.drain("host1")
        self.rounds(self.manager, 5)
        drains.undrain(self.store, "host1")
        self.rounds(self.manager, 5)
        self.assertEqual({"host1": "broken fan", "host2": ""}, self.nova.disabled)

    def test_a_window(self):
        self.cloud(seed=4)
        self.running(1)
        begin, end = self.now + 20, self.now + 40
        self.drain("host0", since=begin, until=end)
        told = {}
        while self.now < end + 5:
            self.rounds(self.manager, 1)
            told[self.now] = "host0" in self.nova.disabled
        self.assertEqual({False}, {told[at] for at in told if at < begin or at > end + 2})
        self.assertEqual({True}, {told[at] for at in told if begin + 2 <= at < end})

    def test_the_next_manager_goes_on(self):
        self.cloud(seed=5)
        self.running(1)
        self.drain("host0")
        self.manager = self.engine("amcbf")
        self.until(lambda: "host0" in self.nova.disabled, "disabled")
        self.drain("host0", until=self.now + 5)
        self.manager = self.engine("fcfs")
        self.until(lambda: "host0" not in self.nova.disabled, "enabled")


class TestWithMigration(InMemoryTestCase, DrainCase):
    def test_a_job_is_moved_and_keeps_its_tier(self):
        self.cloud(seed=11)
        [job] = self.running(4)
        host = self.hosts_of(job)[0]
        self.drain(host, migrate=True)
        self.until(lambda: not self.on(host), "drained")
        self.until(lambda: "migrated" in self.kinds(job.number), "migrated")
        self.rounds(self.manager, 5)
        found = self.store.job(job.number)
        self.assertEqual((JobState.RUNNING, "fg", 1, 0), self.shown(found))
        [event] = [e for e in self.store.events(job.number) if e.kind == "migrated"]
        self.assertIn("other hosts in the foreground: maintenance", str(event.reason))
        self.assertNotIn(host, str(event.reason))

    def shown(self, job):
        return job.state, job.tier, job.migrations, job.evictions

    def test_one_in_the_background(self):
        self.cloud(seed=12)
        first, second = self.running(6, 2)
        host = self.hosts_of(second)[0]
        self.drain(host, migrate=True)
        self.until(lambda: not self.on(host, Tier.BG), "its background is empty")
        self.rounds(self.manager, 10)
        self.assertEqual((JobState.RUNNING, "bg"), self.shown(self.store.job(second.number))[:2])
        # There is no room for the foreground.
        self.assertEqual(2, self.on(host, Tier.FG))
        self.assertEqual((JobState.RUNNING, "fg", 0, 0), self.shown(self.store.job(first.number)))

    def test_it_waits_for_room(self):
        self.cloud(seed=13)
        jobs = self.running(2, 2, 2)
        host = self.hosts_of(jobs[0])[0]
        self.drain(host, migrate=True)
        self.rounds(self.manager, 20)
        self.assertEqual(2, self.on(host, Tier.FG))
        there = [job for job in jobs if host in self.hosts_of(job)]
        gone = next(job for job in jobs if job not in there)
        self.store.request_action(gone.number, "cancel")
        self.until(lambda: not self.on(host), "drained")
        for job in there:
            self.assertEqual(JobState.RUNNING, self.store.job(job.number).state)

    def test_if_nova_refuses_it_stays(self):
        self.cloud(seed=14)
        [job] = self.running(4)
        host = self.hosts_of(job)[0]
        before = self.hosts_of(job)

        def refuse(server, target):
            raise CloudError("no live migration on these hosts", 400)

        self.nova.live_migrate = refuse
        self.drain(host, migrate=True)
        self.until(lambda: "not migrated" in self.kinds(job.number), "refused")
        self.assertEqual(before, self.hosts_of(job))
        found = self.store.job(job.number)
        self.assertEqual((JobState.RUNNING, "fg", 0, 0), self.shown(found))
        self.assertGreater(found.not_before, self.now - 1)

    def test_what_nova_refuses_is_tried_ever_less_often(self):
        self.cloud(seed=16)
        [job] = self.running(4)
        host = self.hosts_of(job)[0]

        def refuse(server, target):
            raise CloudError("no live migration on these hosts", 400)

        self.nova.live_migrate = refuse
        self.drain(host, migrate=True)
        for _minute in range(6 * 60):
            self.now += 55
            self.rounds(self.manager, 5)
        refused = [e for e in self.store.events(job.number) if e.kind == "not migrated"]
        # After 2, 4, ... 2048 s, and then each hour.
        self.assertTrue(10 <= len(refused) <= 17, len(refused))

    def test_a_cancel_overtakes_a_migration(self):
        self.cloud(seed=17)
        [job] = self.running(4)
        host = self.hosts_of(job)[0]
        self.nova.stuck = {each.id for each in self.nova.servers()}
        self.drain(host, migrate=True)
        self.until(lambda: self.nova_is_migrating(), "migrating")
        self.store.request_action(job.number, "cancel")
        self.rounds(self.manager, 10)
        self.assertEqual(JobState.CANCELLED, self.store.job(job.number).state)
        self.assertNotIn("not migrated", self.kinds(job.number))
        self.assertEqual([], self.nova.servers())

    def test_so_does_the_end_of_the_walltime(self):
        self.cloud(seed=17)
        [job] = self.running(4)
        with self.store.transaction() as session:
            session.get(Job, job.number).walltime = 600.0
        host = self.hosts_of(job)[0]
        self.nova.stuck = {each.id for each in self.nova.servers()}
        self.drain(host, migrate=True)
        self.until(lambda: self.nova_is_migrating(), "migrating")
        self.now = self.store.job(job.number).run_since + 600.0
        self.rounds(self.manager, 10)
        self.assertEqual(JobState.FAILED, self.store.job(job.number).state)
        self.assertNotIn("not migrated", self.kinds(job.number))

    def nova_is_migrating(self):
        return any(server.task == "migrating" for server in self.nova.servers())

    def test_a_migration_that_never_ends_costs_no_work(self):
        self.cloud(seed=15)
        self.options.operation_timeout = 30.0
        self.options.preemption_timeout = 10.0
        [job] = self.running(4)
        host = self.hosts_of(job)[0]
        ids = {each.id for each in self.nova.servers()}
        self.nova.stuck = set(ids)
        self.drain(host, migrate=True)
        self.until(lambda: "not migrated" in self.kinds(job.number), "given up")
        self.assertEqual(ids, {each.id for each in self.nova.servers()})
        self.assertEqual(0, self.store.job(job.number).evictions)

    def test_a_manager_dies_on_the_way(self):
        for seed in range(3):
            self.cloud(seed=20 + seed)
            [job] = self.running(4)
            host = self.hosts_of(job)[0]
            self.drain(host, migrate=True)
            for _manager in range(8):
                # Each sees one poll or two of it.
                self.manager = self.engine("amcbf")
                self.rounds(self.manager, 1 + _manager % 2)
            self.until(lambda host=host: not self.on(host), "drained")
            self.rounds(self.manager, 5)
            self.assertEqual((JobState.RUNNING, "fg", 1, 0), self.shown(self.store.job(job.number)))
            self.store.request_action(job.number, "cancel")
            self.until(lambda job=job: self.store.job(job.number).state in OVER, "over")
            drains.undrain(self.store, host)

    def test_at_random(self):
        """Hosts are drained and undrained while jobs run, and managers and requests fail."""
        for seed in range(4):
            chosen = random.Random(seed)
            self.cloud(seed, failures=0.02, crashes=0.02)
            arrivals = [
                (2 * at, chosen.randint(1, 4), chosen.choice((0.3, 0.6, 1.0))) for at in range(8)
            ]
            lives = [chosen.randint(5, 25) for _job in arrivals]
            self.script = {
                at: (chosen.choice(("host0", "host1", "host2")), chosen.random() < 0.7)
                for at in range(4, 60, 7)
            }
            before = len(self.store.jobs())
            self.last = None
            jobs = self.play("amcbf", arrivals, [*([0] * before), *lives])[before:]
            self.assertEqual({JobState.FINISHED}, {job.state for job in jobs})
            self.check_clean()

    def others(self, at):
        if not (hasattr(self, "script") and at in self.script):
            return
        # One at a time: what is left has room for every job.
        if self.last:
            drains.undrain(self.store, self.last)
        self.last, migrate = self.script[at]
        self.drain(self.last, migrate=migrate)


class TestRealNova(QueueTestCase):
    HOSTS = 2
    SLOTS = 2

    def until_so(self, reached, what):
        def look():
            self.engine.poll()
            return reached()

        self.poll(look, what)

    def drain(self, host, **values):
        values = {"since": 0.0, "reason": "new BIOS", **values}
        drains.drain(self.store, host, time.time(), **values)

    def status(self, host):
        [service] = self.api.get_services(host=host, binary="nova-compute")
        return service["status"], service.get("disabled_reason")

    def places(self, number):
        """Of the servers of a job; none of one that Nova is just about to migrate."""
        held = claims.read_claims(self.ledger, self.tiers)
        found = (claim for each in self.servers(number) for claim in held.get(each["id"], ()))
        return sorted((claim.host, claim.tier) for claim in found)

    def test_a_drained_host_gets_nothing_and_is_given_back(self):
        self.drain("host0")
        told = ("disabled", "twotier drain: new BIOS")
        self.until_so(lambda: self.status("host0") == told, "Nova knows")
        job = self.store.submit(2, [0.5])
        self.until(job.number, JobState.RUNNING)
        self.assertEqual([("host1", FG)] * 2, self.places(job.number))
        # A server without a job asks the same scheduler.
        self.boot_job(BG, 2)
        self.boot_job(BG, 1, expect="ERROR")
        drains.undrain(self.store, "host0")
        self.until_so(lambda: self.status("host0")[0] == "enabled", "it is enabled")
        other = self.store.submit(2, [0.5])
        self.until(other.number, JobState.RUNNING)
        self.assertEqual([("host0", FG)] * 2, self.places(other.number))

    def test_live_migration_and_another_leader(self):
        job = self.store.submit(2, [0.5])
        self.until(job.number, JobState.RUNNING)
        source = self.places(job.number)[0][0]
        target = next(host for host in self.hosts if host != source)
        self.drain(source, migrate=True)
        self.engine.poll()
        self.engine.close()
        self.engine = self.new_engine()
        self.until_so(lambda: self.places(job.number) == [(target, FG)] * 2, "it has moved")
        self.until_so(lambda: "migrated" in self.kinds(job.number), "that is recorded")
        found = self.store.job(job.number)
        self.assertEqual((JobState.RUNNING, "fg", 0), (found.state, found.tier, found.evictions))
        self.assertEqual({"ACTIVE"}, {each["status"] for each in self.servers(job.number)})
