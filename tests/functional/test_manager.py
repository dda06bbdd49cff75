"""The queue manager on real Placement: a job's way from its submission to its end."""

import dataclasses

from sqlalchemy import select

from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import failures
from nova_twotier.db.models import Action, JobServer
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.progress import Progress
from nova_twotier.db.states import OVER, ActionKind, JobState, Preemption
from nova_twotier.ledger import claims
from tests.functional.manager_case import ManagerTestCase
from tests.unit.manager import builders


class TestManager(ManagerTestCase):
    def test_a_job_in_each_tier_then_a_swap(self):
        self.cloud(seed=1)
        jobs = self.play("amcbf", [(0, 4, 0.5), (0, 4, 0.5)], lives=[6, 40])
        self.assertEqual([JobState.FINISHED] * 2, [job.state for job in jobs])
        self.assertEqual(["submitted", "started", "swapped", "finished"], self.kinds(2))
        self.assertEqual(1, jobs[1].swaps)
        self.check_clean()

    def test_each_server_counts_as_its_own_process(self):
        self.cloud(seed=3)
        self.store.submit(2, [0.4, 1.0], at=self.now)
        self.rounds(self.engine("amcbf"), 6)
        held = claims.read_claims(self.ledger, self.tiers)
        points = {each.index: held[each.id][0].cpu_points for each in self.nova.servers()}
        self.assertEqual({0: 40, 1: 100}, points)

    def test_evicted_and_restored(self):
        # 2 waits for all 6 slots; 3 passes it, and has to make room when 1 ends. Its CPU use
        # closes its slots, and 2's is hot as well: no background for 3.
        self.cloud(seed=2)
        arrivals = [(0, 4, 1.0), (1, 6, 1.0), (12, 2, 1.0)]
        jobs = self.play("amcbf", arrivals, lives=[30, 10, 60])
        self.assertEqual([JobState.FINISHED] * 3, [job.state for job in jobs])
        self.assertEqual(["submitted", "started", "evicted", "restored", "finished"], self.kinds(3))
        self.assertEqual((1, 1), (jobs[2].evictions, jobs[2].restores))
        self.check_clean()

    def preempted(self, mode):
        """As above; the events of the job that is preempted."""
        arrivals = [(0, 4, 1.0), (1, 6, 1.0), (12, 2, 1.0, mode)]
        jobs = self.play("amcbf", arrivals, lives=[30, 10, 60])
        self.assertEqual([JobState.FINISHED] * 3, [job.state for job in jobs])
        self.check_clean()
        return self.kinds(3)

    def test_suspended_and_resumed(self):
        self.cloud(seed=8)
        self.assertEqual(
            ["submitted", "started", "evicted", "restored", "finished"],
            self.preempted(Preemption.SUSPEND),
        )

    def test_begun_anew(self):
        self.cloud(seed=9)
        self.assertEqual(
            ["submitted", "started", "killed", "started", "finished"],
            self.preempted(Preemption.REQUEUE),
        )

    def test_user_data_goes_with_the_end(self):
        self.cloud(seed=11)
        given = {"user_data": "QUJD", "at": 0}
        numbers = [self.store.submit(3, [0.5], retries=1, **given).number for _each in range(2)]
        self.store.hold(numbers[1], True)
        engine = self.engine("amcbf")
        kept = dict.fromkeys(numbers, "QUJD")
        for ask in (
            lambda: None,
            lambda: self.store.request_action(numbers[0], "complete"),
            lambda: self.store.request_action(numbers[1], "cancel"),
        ):
            ask()
            for _each in range(10):
                self.now += 1
                engine.poll()
                self.nova.work()
            over = {job.number for job in self.store.jobs() if job.state in OVER}
            kept |= dict.fromkeys(over)
            self.assertEqual(kept, {each: self.store.user_data(each) for each in numbers})
        self.assertEqual(set(numbers), over)
        self.check_clean()

    def test_a_host_goes_down(self):
        self.cloud(seed=10)
        self.options = builders.options(
            attempts=4, boot_grace=3.0, host_interval=1.0, host_down_grace=5.0
        )
        self.store.submit(3, [0.5], at=0, retries=1)
        engine = self.engine("amcbf")
        for at in range(60):
            self.now += 1
            engine.poll()
            self.nova.work()
            if at == 15:
                [lost, *_others] = {server.host for server in self.nova.servers()}
                self.nova.down.add(lost)
        self.assertEqual(["submitted", "started", "queued", "started"], self.kinds(1))
        self.assertNotIn(lost, {server.host for server in self.nova.servers()})

    def test_larger_than_the_cluster(self):
        """It waits for hosts, and nobody waits for it."""
        self.cloud(seed=3)
        large, small = self.store.submit(7, [0.5], at=0), self.store.submit(6, [0.5], at=0)
        self.rounds(self.engine("fcfs"), 20)
        jobs = [self.store.job(each.number) for each in (large, small)]
        self.assertEqual([JobState.QUEUED, JobState.RUNNING], [job.state for job in jobs])
        self.assertEqual("needs 7 slots in one tier, the pool has 6", str(jobs[0].reason))

    def test_a_job_that_cannot_start(self):
        self.cloud(seed=6)
        refused = self.store.submit(2, [0.5], at=0)
        self.nova.refused.add(refused.uuid)
        jobs = self.play("amcbf", [(1, 2, 0.5)], lives=[1, 3])
        self.assertEqual([JobState.FAILED, JobState.FINISHED], [job.state for job in jobs])
        self.assertIn("No valid host was found", str(jobs[0].reason))
        self.check_clean()

    def test_what_a_failure_drops_is_not_begun(self):
        self.cloud(seed=7)
        first, second = (self.store.submit(1, [0.5], at=0) for _ in range(2))
        plan = StartPlan(Tier.FG, "immediate")
        with self.store.transaction() as session:
            session.add_all(
                [
                    Action(
                        kind=ActionKind.START,
                        phase=4,
                        job=first.number,
                        plan=plan,
                        begun_at=1.0,
                        progress=Progress(undoing=failures.SERVERS_OFF()),
                        created_at=0.0,
                    ),
                    Action(
                        kind=ActionKind.START,
                        phase=4,
                        job=second.number,
                        plan=plan,
                        created_at=0.0,
                    ),
                ]
            )
        self.engine("fcfs").poll()
        self.assertIn("not started", self.kinds(first.number))
        self.assertEqual(JobState.QUEUED, self.store.job(second.number).state)
        self.assertEqual([], self.nova.servers())

    def test_wishes(self):
        self.cloud(seed=4)
        self.store.submit(2, [0.5], at=0)
        self.store.submit(2, [0.5], at=0)
        self.store.request_action(2, "cancel")
        engine = self.engine("fcfs")
        self.rounds(engine, 20)
        self.assertEqual(JobState.RUNNING, self.store.job(1).state)
        self.assertEqual(JobState.CANCELLED, self.store.job(2).state)
        self.store.request_action(1, "complete")
        self.rounds(engine, 20)
        self.assertEqual(JobState.FINISHED, self.store.job(1).state)
        self.check_clean()

    def test_metadata_that_was_written_while_no_manager_ran(self):
        """Its owner moves a server to another job, and one to none; then a manager starts."""
        self.cloud(seed=12)
        for _job in range(2):
            self.store.submit(3, [0.5], at=self.now)
        self.rounds(self.engine("fcfs"), 20)
        first, second = self.nova.servers()[0], self.nova.servers()[-1]
        self.assertNotEqual(first.job, second.job)
        for server, job in ((first, second.job), (second, "no job's")):
            self.nova.fleet[server.id] = dataclasses.replace(server, job=job)
        engine = self.engine("fcfs")
        self.rounds(engine, 10)
        for number in (1, 2):
            self.assertEqual(["submitted", "started"], self.kinds(number))
            self.assertEqual(JobState.RUNNING, self.store.job(number).state)
            self.store.request_action(number, "complete")
        self.rounds(engine, 20)
        self.check_clean()
        with self.store.reading() as session:
            self.assertEqual([], list(session.scalars(select(JobServer.id))))

    def test_a_released_job_waits_behind_those_that_waited_meanwhile(self):
        self.cloud(seed=11)
        for held in (False, True, False):
            self.store.submit(6, [0.5], at=self.now, held=held)
        engine = self.engine("fcfs")
        self.rounds(engine, 20)
        self.store.hold(2, False)
        self.store.request_action(1, "complete")
        self.rounds(engine, 20)
        self.assertEqual(["submitted", "started"], self.kinds(3))
        self.assertEqual(JobState.QUEUED, self.store.job(2).state)
        self.store.request_action(3, "complete")
        self.rounds(engine, 20)
        self.assertEqual(JobState.RUNNING, self.store.job(2).state)

    def test_a_server_deleted_behind_our_back(self):
        self.cloud(seed=5)
        self.store.submit(3, [0.5], at=0, retries=1)
        engine = self.engine("amcbf")
        for at in range(60):
            self.now += 1
            engine.poll()
            self.nova.work()
            if at == 15:
                self.nova.delete(self.nova.servers()[0])
        self.assertIn("queued", self.kinds(1))
        self.assertEqual(JobState.RUNNING, self.store.job(1).state)
        self.assertEqual(3, len(self.nova.servers()))
