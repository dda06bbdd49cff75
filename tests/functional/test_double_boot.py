"""A boot that Nova carries out after it was asked once more: the job keeps one gang."""

from nova_twotier.db.states import JobState
from nova_twotier.manager.requests import MOST_FAILURES
from tests.functional.manager_case import ManagerTestCase


class TestDoubleBoot(ManagerTestCase):
    def setUp(self):
        super().setUp()
        self.cloud(seed=6)

    def booted_once(self):
        """A job of which the first boot was not answered, and not carried out yet."""
        late = []
        self.nova.slow_boots = [late.append]
        self.store.submit(2, [0.5], at=self.now)
        engine = self.engine("amcbf")
        self.rounds(engine, 3)
        return engine, late[0]

    def ids(self):
        return {server.id for server in self.nova.servers()}

    def assert_runs_on(self, ids):
        job = self.store.job(1)
        self.assertEqual((JobState.RUNNING, 0), (job.state, job.requeues), job.reason)
        self.assertEqual(["submitted", "started"], self.kinds(1))
        self.assertEqual(ids, self.ids())
        self.assertEqual(2, sum(map(sum, self.usage().values())))

    def test_a_running_job_keeps_the_servers_that_it_has(self):
        engine, late = self.booted_once()
        self.rounds(engine, 15)
        first = self.ids()
        self.assertEqual(JobState.RUNNING, self.store.job(1).state)
        self.nova.boot_late(late)
        self.rounds(engine, 10)
        self.assert_runs_on(first)

    def test_a_starting_job_takes_the_older_ones(self):
        engine, late = self.booted_once()
        self.nova.boot_late(late)
        first = self.ids()
        self.now += 0.5
        self.nova.boot_late(late)
        self.rounds(engine, 15)
        self.assert_runs_on(first)

    def waits_again(self):
        """A job of which no boot was answered, and one of these boots."""
        late = []
        self.nova.slow_boots = [late.append] * MOST_FAILURES
        self.store.submit(2, [0.5], at=self.now)
        engine = self.engine("amcbf")
        while not self.store.job(1).failures:
            self.rounds(engine, 1)
        self.assertEqual(JobState.QUEUED, self.store.job(1).state)
        return engine, late[0]

    def test_a_job_that_waits_again_is_not_charged_for_them(self):
        engine, late = self.waits_again()
        self.nova.boot_late(late)
        first = self.ids()
        self.rounds(engine, 30)
        self.assertEqual(["submitted", "not started", "started"], self.kinds(1))
        self.assertEqual((JobState.RUNNING, 2), (self.store.job(1).state, len(self.ids() - first)))
        self.assertEqual(2, sum(map(sum, self.usage().values())))

    def test_they_are_gone_at_once_while_the_job_is_held(self):
        engine, late = self.waits_again()
        self.store.hold(1, True)
        self.nova.boot_late(late)
        self.rounds(engine, 5)
        self.assertEqual((set(), JobState.QUEUED), (self.ids(), self.store.job(1).state))

    def test_it_ends_whole(self):
        engine, late = self.booted_once()
        self.rounds(engine, 15)
        self.store.request_action(1, "cancel")
        self.rounds(engine, 1)
        self.nova.boot_late(late)
        self.rounds(engine, 15)
        self.assertEqual(JobState.CANCELLED, self.store.job(1).state)
        self.check_clean()

    def test_nothing_is_left_of_a_boot_after_the_end(self):
        engine, late = self.booted_once()
        self.store.request_action(1, "cancel")
        self.rounds(engine, 15)
        self.assertEqual(JobState.CANCELLED, self.store.job(1).state)
        self.nova.boot_late(late)
        self.assertEqual(2, len(self.ids()))
        self.rounds(engine, 5)
        self.assertEqual(set(), self.ids())
        self.assertEqual(0, sum(map(sum, self.usage().values())))
