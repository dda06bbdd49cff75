"""Jobs that begin later, after others, or anew, on real Nova and Placement; and as if simulated."""

import time

from nova_twotier.core.reasons import waits
from nova_twotier.db import changes
from nova_twotier.db.dependencies import Condition, Dependency
from nova_twotier.db.states import OVER, JobState
from tests.functional.manager_case import ENOUGH, InMemoryTestCase
from tests.functional.queue_case import QueueTestCase

#: In seconds.
HOUR = 3600.0


class TestOnNova(QueueTestCase):
    def after(self, condition, *others):
        given = [Dependency(other.number, condition) for other in others]
        return self.store.submit(1, [0.5], dependencies=given)

    def replace_manager(self, **options):
        self.engine.close()
        self.engine = self.new_engine(**options)

    def polls(self, count=4):
        for _each in range(count):
            self.engine.poll()

    def test_one_after_the_other_with_a_new_manager_in_between(self):
        first = self.store.submit(1, [0.5])
        second, third = (self.after(each, first) for each in (Condition.STARTED, Condition.OVER))
        last = self.after(Condition.SUCCEEDED, second, third)
        self.until(first.number, JobState.RUNNING)
        self.until(second.number, JobState.RUNNING)
        self.replace_manager()
        self.polls()
        self.assertEqual([], self.servers(third.number))
        self.assertEqual(
            waits.DEPENDENCY(first.number, wanted="end"), self.store.job(third.number).reason
        )
        self.store.request_action(first.number, "complete")
        self.replace_manager()
        self.until(third.number, JobState.RUNNING)
        for number in (second.number, third.number):
            self.assertEqual([], self.servers(last.number))
            self.store.request_action(number, "complete")
            self.replace_manager()
            self.until(number, JobState.FINISHED)
        self.until(last.number, JobState.RUNNING)
        ended = [self.store.job(job.number).finished_at for job in (second, third)]
        self.assertEqual(max(ended), self.store.job(last.number).eligible_at)
        self.assertEqual(["submitted", "eligible", "started"], self.kinds(last.number))

    def test_what_waits_for_a_success_that_does_not_come(self):
        first = self.store.submit(1, [0.5])
        second = self.after(Condition.SUCCEEDED, first)
        self.until(first.number, JobState.RUNNING)
        self.store.request_action(first.number, "cancel")
        self.replace_manager()
        self.until(second.number, JobState.CANCELLED)
        self.assertEqual("dependency-failed", self.store.job(second.number).reason.code.name)
        self.assertEqual([], self.servers(second.number))

    def test_it_begins_at_its_time(self):
        begin = time.time() + HOUR
        job = self.store.submit(1, [0.5], begin_at=begin)
        self.polls()
        self.assertEqual([], self.servers(job.number))
        self.assertEqual("begin", self.store.job(job.number).reason.code.name)
        self.replace_manager(clock=lambda: time.time() + HOUR)
        started = self.until(job.number, JobState.RUNNING)
        self.assertEqual(begin, started.eligible_at)
        self.assertGreater(started.started_at, begin)

    def test_a_running_job_begins_anew(self):
        job = self.store.submit(2, [0.5], retries=0, keep_servers=True)
        self.until(job.number, JobState.RUNNING)
        before = {server["id"] for server in self.servers(job.number)}
        changes.requeue(self.store, job.number)
        self.replace_manager()
        again = self.until(job.number, JobState.RUNNING, requested_action=None)
        after = {server["id"] for server in self.servers(job.number)}
        self.assertEqual((2, 2, set()), (len(before), len(after), before & after))
        self.assertEqual((0, job.eligible_at), (again.requeues, again.eligible_at))
        self.assertEqual(
            ["submitted", "started", "asked to requeue", "queued", "started"],
            self.kinds(job.number),
        )
        [queued] = [each for each in self.store.events(job.number) if each.kind == "queued"]
        self.assertEqual(
            "restarts from the beginning: a user asked to requeue it",
            str(queued.reason),
        )

    def test_a_server_that_was_migrated_is_kept_though_nobody_confirmed_it(self):
        job = self.store.submit(1, [0.5], keep_servers=True)
        self.until(job.number, JobState.RUNNING)
        [server] = self.servers(job.number)
        self.act(server, "migrate", "VERIFY_RESIZE")
        self.store.request_action(job.number, "complete")
        self.until(job.number, JobState.FINISHED)
        self.assertEqual("SHELVED_OFFLOADED", self.api.get_server(server["id"])["status"])

    def test_a_server_that_was_rescued_is_kept(self):
        job = self.store.submit(1, [0.5], keep_servers=True)
        self.until(job.number, JobState.RUNNING)
        [server] = self.servers(job.number)
        self.act(server, "rescue", "RESCUE")
        self.store.request_action(job.number, "complete")
        self.until(job.number, JobState.FINISHED)
        self.assertEqual("SHELVED_OFFLOADED", self.api.get_server(server["id"])["status"])

    def test_held_it_waits_with_nothing_left_of_it(self):
        job = self.store.submit(1, [0.5])
        self.until(job.number, JobState.RUNNING)
        self.store.hold(job.number, True)
        changes.requeue(self.store, job.number)
        self.until(job.number, JobState.QUEUED, requested_action=None)
        self.polls()
        self.assertEqual([], self.servers(job.number))


class TestSimulated(InMemoryTestCase):
    """To the policies, a job that begins later is one that is submitted later."""

    HOSTS = 2
    SLOTS = 2

    #: Round, size, cpu and rounds of work of each job.
    JOBS = (
        *((1, 3, 0.5, 9), (2, 4, 0.99, 6), (3, 1, 0.5, 20), (5, 2, 0.99, 7), (8, 4, 0.5, 5)),
        *((9, 1, 0.99, 12), (15, 2, 0.5, 4), (30, 3, 0.99, 8)),
    )

    def run_all(self, policy, later):
        """What happened to each job: what, in which round.

        :param later: all jobs are submitted at first, and begin later.
        """
        self.cloud(seed=7)
        engine, origin = self.engine(policy), self.now
        jobs, worked = [], [0] * len(self.JOBS)
        for at in range(ENOUGH):
            self.now += 1
            for due, size, cpu, _life in self.JOBS:
                if due == at and not later:
                    jobs.append(self.store.submit(size, [cpu], at=self.now, retries=9))
                if at == 0 and later:
                    begin = self.now + due
                    jobs.append(
                        self.store.submit(size, [cpu], at=self.now, retries=9, begin_at=begin)
                    )
            engine.poll()
            found = [self.store.job(job.number) for job in jobs]
            self.guests(found, worked, [life for *_rest, life in self.JOBS])
            self.nova.work()
            if len(found) == len(self.JOBS) and all(job.state in OVER for job in found):
                break
        else:
            raise AssertionError(f"not over: {[(job.number, job.state) for job in found]}")
        self.check_clean()
        return [
            [
                (event.kind, event.at - origin)
                for event in self.store.events(job.number)
                if event.kind not in ("submitted", "eligible")
            ]
            for job in jobs
        ]

    def test_the_same_happens(self):
        for policy in ("fcfs", "easy", "ambf", "amcbf", "ccfcfs"):
            submitted = self.run_all(policy, later=False)
            self.assertEqual(submitted, self.run_all(policy, later=True), policy)
