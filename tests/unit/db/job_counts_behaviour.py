"""Numbers of jobs by state, on whatever database."""

import threading

from sqlalchemy import func, select

from nova_twotier.db import job_counts, purge
from nova_twotier.db.models import EndedJobs, Job
from nova_twotier.db.states import JobState


class JobCountsBehaviour:
    """Tests of `self.store`, which is empty."""

    def of_pools(self, **only):
        with self.store.reading() as session:
            return job_counts.by_pool_and_state(session, **only)

    def becomes(self, number, state, at=None):
        """As the manager does it: with a job that another session has read."""
        job = self.store.job(number)
        job.state, job.finished_at = state, at
        with self.store.transaction() as session:
            session.add(job)

    def recounted(self):
        query = select(Job.pool, Job.state, func.count(), func.sum(Job.size))
        with self.store.reading() as session:
            rows = session.execute(query.group_by(Job.pool, Job.state))
            return {(pool, state): (jobs, int(size)) for pool, state, jobs, size in rows}

    def test_jobs_are_counted_by_state(self):
        for size, pool, project in ((1, "a", "p"), (2, "a", "q"), (4, "b", "p"), (8, "a", "p")):
            self.store.submit(size, [], at=1.0, pool=pool, project_id=project)
        for number, state in ((1, JobState.FINISHED), (2, JobState.FINISHED), (3, JobState.FAILED)):
            self.becomes(number, state, 2.0)
        finished, failed, queued = ("a", "finished"), ("b", "failed"), ("a", "queued")
        found = {finished: (2, 3), failed: (1, 4), queued: (1, 8)}
        self.assertEqual(found, self.of_pools())
        self.assertEqual(found, self.recounted())
        self.assertEqual({finished: (2, 3), queued: (1, 8)}, self.of_pools(pool="a"))
        self.assertEqual({finished: (1, 2)}, self.of_pools(project_id="q"))

    def test_jobs_that_end_at_once_or_are_written_again_count_once(self):
        with self.store.transaction() as session:
            for name in ("one", "two"):
                session.add(Job(name=name, size=3, cpu=[], submitted_at=1.0, state="cancelled"))
        self.becomes(1, JobState.CANCELLED, 5.0)
        self.assertEqual({("default", "cancelled"): (2, 6)}, self.of_pools())

    def test_what_is_rolled_back_counts_nothing(self):
        self.store.submit(3, [], at=1.0)

        def end():
            with self.store.transaction() as session:
                session.get(Job, 1).state = JobState.FINISHED
                session.flush()
                raise ZeroDivisionError

        self.assertRaises(ZeroDivisionError, end)
        self.assertEqual({("default", "queued"): (1, 3)}, self.of_pools())

    def test_the_first_jobs_that_end_in_two_transactions_at_once_both_count(self):
        for _job in range(2):
            self.store.submit(3, [], at=1.0)
        other = threading.Thread(target=self.becomes, args=(2, JobState.FINISHED, 2.0))
        with self.store.transaction() as session:
            session.get(Job, 1).state = JobState.FINISHED
            session.flush()
            # It waits for this transaction, if not at the same row, at the lock of the database.
            other.start()
            other.join(1.0)
            self.assertTrue(other.is_alive())
        other.join(60)
        self.assertEqual({("default", "finished"): (2, 6)}, self.of_pools())

    def test_purged_jobs_do_not_count(self):
        for number in range(1, 5):
            self.store.submit(2, [], at=1.0)
            self.becomes(number, JobState.FINISHED, float(number))
        purge.purge(self.store, before=3.0, pause=lambda _: None)
        self.assertEqual({("default", "finished"): (2, 4)}, self.of_pools())
        self.assertEqual(self.of_pools(), self.recounted())
        with self.store.reading() as session:
            self.assertEqual(1, session.scalar(select(func.count()).select_from(EndedJobs)))
