"""What holds of the jobs in memory on every database."""

from unittest import mock

from nova_twotier.core import policies
from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import waits
from nova_twotier.db import arrays, open_jobs
from nova_twotier.db.models import DEFAULT_POOL, Job
from nova_twotier.db.open_jobs import OpenJobs
from nova_twotier.db.states import JobState


class OpenJobsBehaviour:
    """Tests on `self.store`, a new one for each."""

    def test_only_jobs_that_changed_are_read(self):
        first, second, third = (self.store.submit(1, [1.0], at=float(at)) for at in (1, 2, 3))
        elsewhere = self.store.submit(1, [1.0], pool="gpu")
        jobs = OpenJobs(DEFAULT_POOL)
        before = self.read(jobs)
        self.assertEqual([first.number, second.number, third.number], list(before))
        self.store.hold(second.number, True)
        with self.store.transaction() as session:
            session.get(Job, third.number).state = JobState.FINISHED
            session.get(Job, elsewhere.number).pool = DEFAULT_POOL
        after = self.read(jobs)
        self.assertEqual({first.number, second.number, elsewhere.number}, set(after))
        self.assertIs(before[first.number], after[first.number])
        self.assertIsNot(before[second.number], after[second.number])
        self.assertTrue(after[second.number].held)

    def test_what_its_reader_changes_in_a_job_is_seen_with_what_others_do(self):
        number = self.store.submit(1, [1.0]).number
        jobs = OpenJobs(DEFAULT_POOL)
        mine = self.read(jobs)[number]
        self.store.hold(number, True)
        mine.tier = "bg"
        with self.store.transaction() as session:
            session.add(mine)
        now = self.read(jobs)[number]
        self.assertEqual((True, "bg"), (now.held, now.tier))

    def test_they_can_be_forgotten(self):
        number = self.store.submit(1, [1.0]).number
        jobs = OpenJobs(DEFAULT_POOL)
        self.read(jobs)[number].reason = waits.TURN(7)
        jobs.forget()
        self.assertIsNone(self.read(jobs)[number].reason)

    def test_policies_see_them_as_they_admit_them(self):
        submitted = self.store.submit(1, [1.0], at=5.0, estimate=60.0, walltime=90.0)
        factor = 0.5
        jobs = OpenJobs(DEFAULT_POOL, policies.get("amcbf-deadline", factor).admit)
        job = self.read(jobs)[submitted.number]
        self.assertEqual((5.0 + factor * 90.0, job.number), job.core.order)
        job.measure({0: 0.4}, at=5.0)
        self.assertEqual((0.4,), job.core.cpu)
        self.assertEqual((5.0 + factor * 90.0, job.number), job.core.order)

    def test_tiers_of_flavors(self):
        low, default, other = (
            self.store.submit(1, [1.0], flavor=name) for name in ("low", None, "")
        )
        jobs = OpenJobs(DEFAULT_POOL)
        self.assertTrue(jobs.limit_tiers({"low": (Tier.BG,), None: (Tier.FG,)}))

        def tiers():
            cores = [self.read(jobs)[job.number].core for job in (low, default, other)]
            return [(core.foreground, core.background) for core in cores]

        self.assertEqual([(False, True), (True, False), (True, True)], tiers())
        self.assertFalse(jobs.limit_tiers({"low": (Tier.BG,), None: (Tier.FG,)}))
        self.assertTrue(jobs.limit_tiers({}))
        self.assertEqual([(True, True)] * 3, tiers())

    def test_many_jobs_that_changed_are_read_at_once(self):
        jobs = OpenJobs(DEFAULT_POOL)
        with mock.patch.object(open_jobs, "MANY", 1):
            numbers = [self.store.submit(1, [1.0]).number for _ in range(3)]
            self.assertEqual(numbers, sorted(self.read(jobs)))

    def test_calm_are_the_jobs_that_only_wait_for_slots(self):
        waiting, held, running, named = (self.store.submit(1, [1.0]) for _ in range(4))
        greedy = self.store.submit(1, [1.0], bandwidth=10.0)
        self.store.hold(held.number, True)
        with self.store.transaction() as session:
            session.get(Job, running.number).state = JobState.RUNNING
        jobs = OpenJobs(DEFAULT_POOL)
        self.assertIn(greedy.number, self.read(jobs))
        self.assertEqual({waiting.number, named.number}, set(jobs.plain_waiting((), 10.0)))
        self.assertEqual({waiting.number}, set(jobs.plain_waiting({named.uuid}, 10.0)))
        self.store.hold(waiting.number, True)
        self.store.hold(held.number, False)
        self.read(jobs)
        self.assertEqual({held.number, named.number}, set(jobs.plain_waiting((), 10.0)))

    def test_behind_the_limit_of_an_array_are_the_tasks_without_servers(self):
        first = self.store.submit(1, [1.0], tasks=arrays.Tasks("0-2", most_at_once=1))
        jobs = OpenJobs(DEFAULT_POOL)
        read = self.read(jobs)
        second, third = first.number + 1, first.number + 2
        self.assertEqual({second, third}, set(jobs.behind_array_limit(())))
        self.assertEqual({third}, set(jobs.behind_array_limit({read[second].uuid})))

    def test_who_backs_off_waits_for_slots_alone_once_that_is_over(self):
        job = self.store.submit(1, [1.0])
        with self.store.transaction() as session:
            session.get(Job, job.number).not_before = 20.0
        jobs = OpenJobs(DEFAULT_POOL)
        self.read(jobs)
        self.assertEqual([], list(jobs.plain_waiting((), 19.0)))
        self.assertEqual([job.number], list(jobs.plain_waiting((), 20.0)))

    def read(self, jobs):
        with self.store.reading() as session:
            return jobs.read(session)
