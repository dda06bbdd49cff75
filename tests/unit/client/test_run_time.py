"""How a run time from history is shown."""

import testtools

from nova_twotier.client import columns


class TestEstimateFromHistory(testtools.TestCase):
    def shown(self, value):
        return columns.cell("estimate_from_history", value).human_readable()

    def test_with_the_number_of_similar_jobs(self):
        self.assertEqual("0:12:30 (from 17 similar jobs)", self.shown(self.made(750.0, 17)))
        self.assertEqual("0:00:05 (from 1 similar job)", self.shown(self.made(5.0, 1)))

    def test_none(self):
        self.assertIsNone(columns.cell("estimate_from_history", None))

    @staticmethod
    def made(seconds, jobs):
        return {"seconds": seconds, "similar_jobs": jobs}
