"""What jobs learn from the measurements of earlier ones, on whatever database."""

from unittest import mock

from nova_twotier.db import learned
from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState


class LearningBehaviour:
    """Tests of `self.store`, a new one for each."""

    def test_a_job_starts_with_what_was_measured_of_the_last_one_of_its_kind(self):
        kind = {"name": "solver", "project_id": "p", "user_id": "u", "flavor": "slot"}
        first = self.store.submit(2, [0.4], **kind)
        self.assertIsNone(first.learned)
        self.finish(first, measured=[None, 0.97])
        second = self.store.job(self.store.submit(2, [0.4], **kind).number)
        self.assertEqual(([0.4, 0.97], [0.4, 0.97]), (second.learned, second.profile))
        self.assertEqual([0.4, 0.4], second.cpu)
        self.finish(second, finished_at=10.0)
        third = self.store.submit(2, [], **kind)
        self.assertEqual([0.4, 0.97], third.learned, "nothing has contradicted it since")
        third.measure({0: 0.8}, 1.0)
        self.assertEqual([0.8, 0.97], third.profile)
        [other] = {*self.store.submit(3, [], **kind).learned}
        self.assertAlmostEqual(0.685, other)

    def learned(self, *measured, size=2, cpu=(0.5,)):
        """What a job learns from one that began at 100 s, was measured so, and ended at 200 s.

        :param measured: time, and utilisation by process.
        :param cpu: what the earlier job declared.
        """
        kind = {"name": "solver", "project_id": "p", "user_id": "u"}
        job = self.store.submit(2, [*cpu], **kind)
        with self.store.transaction() as session:
            row = session.get(Job, job.number)
            row.run_since = 100.0
            for at, found in measured:
                row.measure(found, at)
            row.stop(200.0)
        self.finish(job, finished_at=200.0 + job.number)
        return self.store.submit(size, [], **kind).learned

    def test_a_job_learns_from_the_whole_run_of_another(self):
        """Neither from its end alone, nor from the time that it waited."""
        self.assertEqual([0.842, 0.5], self.learned((110, {0: 0.9}), (198, {0: 0.0})))
        self.assertEqual(
            [0.665, 0.95], self.learned((110, {1: 1.0}), (160, {0: 0.4}), (160, {1: 1.0}))
        )
        self.assertEqual([0.825], self.learned((100, {0: 0.7}), size=1))

    def test_what_is_measured_first_counts_from_the_beginning_if_nothing_was_expected(self):
        found = self.learned((150, {0: 0.1}), (160, {0: 0.2, 1: 0.9}), cpu=())
        self.assertEqual([0.14, 0.9], found)

    def test_a_job_does_not_learn_from_a_run_that_was_discarded(self):
        job = self.store.submit(1, [0.5], name="solver")
        with self.store.transaction() as session:
            row = session.get(Job, job.number)
            row.run_since = 100.0
            row.measure({0: 1.0}, 110.0)
            row.begin_anew(1000.0)
            row.run_since = 300.0
            row.measure({0: 0.2}, 300.0)
            row.stop(400.0)
        self.finish(job)
        self.assertEqual([0.2], self.store.submit(1, [], name="solver").learned)

    def test_what_is_not_of_a_kind(self):
        kind = {"name": "solver", "project_id": "p", "user_id": "u", "image": "i"}
        self.finish(self.store.submit(1, [], **kind), measured=[0.5])
        nameless = {**kind, "name": ""}
        self.finish(self.store.submit(1, [], **nameless), measured=[0.5])
        for other in (
            nameless,
            {**kind, "name": "Solver"},
            {**kind, "project_id": "q"},
            {**kind, "user_id": "v"},
            {**kind, "image": None},
            {**kind, "flavor": "large"},
        ):
            self.assertIsNone(self.store.submit(1, [], **other).learned, other)
        self.assertEqual([0.5], self.store.submit(1, [], **kind).learned)

    def test_a_job_learns_from_one_of_the_newest_of_its_name(self):
        """Many may have ended, none of which was of its kind."""
        kind = {"name": "solver", "project_id": "p", "user_id": "u"}
        self.finish(self.store.submit(1, [], image="i", **kind), measured=[0.5])
        self.store.submit(1, [], image="i", **kind)  # has not ended
        for state in (JobState.FINISHED, JobState.FAILED):
            self.finish(self.store.submit(1, [], **kind), finished_at=10.0, state=state)
        with mock.patch.object(learned, "NEWEST", 3):
            self.assertEqual([0.5], self.store.submit(1, [], image="i", **kind).learned)
        with mock.patch.object(learned, "NEWEST", 2):
            self.assertIsNone(self.store.submit(1, [], image="i", **kind).learned)
