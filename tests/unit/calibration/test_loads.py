"""The work and the pause of a load."""

import testtools

from nova_twotier.calibration.loads import Load


class TestLoad(testtools.TestCase):
    def test_work_and_pause_make_the_utilisation(self):
        self.assertEqual(Load(80, 0.012), Load.of(0.4, 0.02, scan=0.0001))
        self.assertEqual(Load(200, 0), Load.of(1.0, 0.02, scan=0.0001))

    def test_there_is_always_some_work(self):
        self.assertEqual(1, Load.of(0.4, 0.001, scan=0.1).scans)
