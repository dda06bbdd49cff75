"""Garbage is collected as before once a run is over, however it ends."""

import gc

import testtools

from nova_twotier.sim.garbage import collected_seldom


class TestCollectedSeldom(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.before = gc.get_threshold()
        self.addCleanup(gc.set_threshold, *self.before)

    def test_within(self):
        with collected_seldom():
            self.assertEqual(100 * self.before[0], gc.get_threshold()[0])
        self.assertEqual(self.before, gc.get_threshold())

    def test_after_an_error(self):
        with testtools.ExpectedException(KeyError), collected_seldom():
            raise KeyError
        self.assertEqual(self.before, gc.get_threshold())

    def test_collection_that_is_off_stays_off(self):
        gc.set_threshold(0)
        with collected_seldom():
            self.assertEqual(0, gc.get_threshold()[0])
