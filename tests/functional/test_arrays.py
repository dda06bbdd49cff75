"""Job arrays on a real ledger and a fake Nova: limits, faults, an end, and what comes after it."""

from nova_twotier.db import array_requests, arrays
from nova_twotier.db.dependencies import Condition, Dependency
from nova_twotier.db.states import OVER, JobState
from tests.functional.fake_nova import Crash
from tests.functional.manager_case import ENOUGH, InMemoryTestCase


class TestArrays(InMemoryTestCase):
    HOSTS = 2
    SLOTS = 3
    LIMIT = 2
    #: Rounds of work in each task.
    LIFE = 3

    def array(self, indexes="0-5", most=LIMIT):
        tasks = arrays.Tasks(indexes, most)
        return self.store.submit(1, [0.5], at=self.now, retries=ENOUGH, tasks=tasks)

    def open(self):
        """The tasks that are in the queue or run."""
        jobs = [job for job in self.store.jobs() if job.array and job.state not in OVER]
        return [job for job in jobs if job.in_queue or job.state != JobState.QUEUED]

    def run_to_the_end(self, engine, policy, until=lambda jobs: all(j.state in OVER for j in jobs)):
        worked = [0] * len(self.store.jobs())
        most, crashes = 0, 0
        for _round in range(ENOUGH):
            self.now += 1
            try:
                engine.poll()
            except Crash:
                crashes += 1
                engine = self.engine(policy)
            jobs = self.store.jobs()
            most = max(most, len(self.open()))
            self.assertLessEqual(most, self.LIMIT)
            self.guests(jobs, worked, [self.LIFE] * len(jobs))
            self.nova.work()
            if until(self.store.jobs()):
                return most, crashes
        raise AssertionError([(job.label, job.state, job.reason) for job in self.store.jobs()])

    def test_the_limit_is_never_exceeded_and_a_killed_manager_continues(self):
        crashed = 0
        for seed in range(3):
            self.cloud(seed=seed, crashes=0.05)
            array = self.array()
            most, crashes = self.run_to_the_end(self.engine("amcbf"), "amcbf")
            self.assertEqual(self.LIMIT, most)
            crashed += crashes
            states = {job.state for job in self.store.jobs() if job.array == array.number}
            self.assertEqual({JobState.FINISHED}, states)
            self.check_clean()
        self.assertGreater(crashed, 0)

    def test_one_after_all_of_them(self):
        self.cloud(seed=1)
        array = self.array("0-3")
        last = self.store.submit(
            1,
            [0.5],
            at=self.now,
            dependencies=[Dependency(array.number, Condition.SUCCEEDED, array=True)],
        )
        self.run_to_the_end(self.engine("easy"), "easy")
        tasks = [job for job in self.store.jobs() if job.array]
        ended = max(job.finished_at for job in tasks)
        self.assertEqual(ended, self.store.job(last.number).eligible_at)
        self.assertEqual(JobState.FINISHED, self.store.job(last.number).state)

    def test_all_of_it_is_cancelled(self):
        self.cloud(seed=1)
        array, engine = self.array(), self.engine("fcfs")
        self.rounds(engine, 4)
        self.assertEqual(self.LIMIT, len(self.nova.servers()))
        array_requests.ask(self.store, array.number, "cancel")
        self.rounds(engine, 10)
        self.assertEqual({JobState.CANCELLED}, {job.state for job in self.store.jobs()})
        with self.store.reading() as session:
            self.assertIsNotNone(arrays.find(session, array.number).finished_at)
        self.check_clean()
