"""CPU utilisation as the ledger counts it."""

import testtools

from nova_twotier.core.slots import cpu_points, is_hot


class TestCpuPoints(testtools.TestCase):
    def test_whole_percents(self):
        self.assertEqual(list(range(101)), [cpu_points(number / 100) for number in range(101)])

    def test_hot_by_points_is_hot(self):
        for cpu in (0.955, 0.9599, 0.96, 0.9601, 0.995, 1.0):
            self.assertEqual(is_hot(cpu), cpu_points(cpu) >= 96, cpu)
