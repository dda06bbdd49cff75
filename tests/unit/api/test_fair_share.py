"""Positions in the queue under fair share, which the manager decides at its next poll."""

from tests.unit.api.case import ApiCase


class TestPosition(ApiCase):
    OPTIONS = "[manager]\nfair_share = user"

    def position(self, job):
        return self.get(f"/v1/jobs/{job['uuid']}/explain").json["position"]

    def listed(self):
        jobs = self.get("/v1/queue/jobs").json["jobs"]
        return [(job["number"], job["position"]) for job in jobs]

    def test_it_is_not_known_without_the_offset(self):
        """A new job has no place yet: it would seem to be ahead of those that were put back."""
        first, second = self.submit(), self.submit()
        self.change(first, queue_offset=3600.0)
        self.assertIsNone(self.position(second))
        # Without a position it comes last.
        self.assertEqual([(first["number"], 2), (second["number"], None)], self.listed())
        self.change(second, queue_offset=7200.0)
        self.assertEqual([1, 2], [self.position(job) for job in (first, second)])
        self.assertEqual([(first["number"], 1), (second["number"], 2)], self.listed())

    def test_a_job_that_is_not_put_back(self):
        job = self.submit()
        self.change(job, queue_offset=0.0)
        self.assertEqual(1, self.position(job))
