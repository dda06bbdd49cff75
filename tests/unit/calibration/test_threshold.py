"""The threshold that points show."""

import testtools

from nova_twotier.calibration.threshold import threshold
from tests.unit.calibration import builders

WORTH = {"loss": 0.01, "progress": 0.2, "jitter": 0.001}
NOT_WORTH = {"loss": 0.1, "progress": 0.01, "jitter": 0.001}
UNDECIDED = {"loss": 0.01, "progress": 0.02, "jitter": 0.02}


class TestThreshold(testtools.TestCase):
    def found(self, *points):
        return threshold(
            [builders.point(utilisation, **kind) for utilisation, kind in points], least_gain=0.0
        )

    def test_between_the_points_where_the_gain_crosses_the_bound(self):
        found = self.found((0.8, WORTH), (0.9, WORTH), (1.0, NOT_WORTH))
        # 0.2 - 2 * 0.01 * 0.9 at 0.9, and 0.01 - 2 * 0.1 at 1.
        self.assertAlmostEqual(0.9 + 0.1 * 0.182 / (0.182 + 0.19), found.value)
        self.assertEqual("0.949 (worth it up to 0.90, not from 1.00 on)", str(found))

    def test_none_if_every_point_is_worth_it(self):
        found = self.found((0.8, WORTH), (0.9, WORTH))
        self.assertIsNone(found.value)
        self.assertEqual("no verdict (worth it up to 0.90)", str(found))

    def test_none_if_what_lies_between_is_undecided(self):
        found = self.found((0.8, WORTH), (0.9, UNDECIDED), (1.0, NOT_WORTH))
        self.assertIsNone(found.value)
        self.assertEqual("no verdict (worth it up to 0.80, not worth it from 1.00 on)", str(found))

    def test_none_if_points_contradict_each_other(self):
        self.assertIsNone(self.found((0.8, NOT_WORTH), (0.9, WORTH)).value)

    def test_nothing_decided(self):
        self.assertEqual("no verdict (no point is decided)", str(self.found((0.8, UNDECIDED))))
