"""Trouble ends when the run does, and what goes wrong with it is told."""

import testtools

from nova_twotier.tools.faults.trouble import Trouble, Troubles
from nova_twotier.tools.replay.errors import ReplayError


class Waiting(Trouble):
    ended = False

    def make(self):
        self.over.wait()
        self.ended = True


class Failing(Trouble):
    def make(self):
        raise LookupError("no victim")


class TestTroubles(testtools.TestCase):
    def test_ends_with_the_run(self):
        trouble = Waiting()
        with Troubles([trouble]) as troubles:
            troubles.check()
            self.assertTrue(trouble.is_alive())
        self.assertTrue(trouble.ended)

    def test_an_error_is_raised_where_it_is_looked_at(self):
        failing = Failing()
        with Troubles([Waiting(), failing]) as troubles:
            failing.join()
            error = self.assertRaises(ReplayError, troubles.check)
        self.assertEqual("Failing failed: LookupError('no victim')", str(error))
