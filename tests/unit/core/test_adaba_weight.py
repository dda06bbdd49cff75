"""Equation 7 of Symmetry 2018."""

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.embedding.weight import adaba_weight


class TestAdaBaWeight(testtools.TestCase):
    def best(self, mbps):
        """Free slots of the host that is best by figure 2: L = 8, Bmax = 800 Mbit/s."""
        return max(range(1, 9), key=lambda residual: adaba_weight(residual, 8, mbps, 800))

    def test_figure_2(self):
        found = {mbps: self.best(mbps) for mbps in (10, 110, 210, 310, 410, 510, 610, 710)}
        self.assertEqual({10: 1, 110: 1, 210: 2, 310: 3, 410: 4, 510: 5, 610: 6, 710: 7}, found)

    def test_values(self):
        self.assertEqual(8.0, adaba_weight(4, 8, 400, 800))
        self.assertEqual(-32.0, adaba_weight(8, 8, 0, 800))
        self.assertEqual(32.0, adaba_weight(8, 8, 800, 800))
        self.assertEqual(0.0, adaba_weight(0, 8, 500, 800))

    def test_more_than_the_largest(self):
        self.assertEqual(adaba_weight(3, 8, 800, 800), adaba_weight(3, 8, 8000, 800))

    @given(st.integers(1, 64), st.data(), st.floats(0, 1e6), st.floats(0.001, 1e6))
    def test_scale(self, slots, data, mbps, max_mbps):
        residual = data.draw(st.integers(0, slots))
        weight = adaba_weight(residual, slots, mbps, max_mbps)
        self.assertLessEqual(abs(weight), slots**2 / 2)
