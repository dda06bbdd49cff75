"""Writes are repeated when their read was overtaken: a bounded number of times, and then only."""

import fixtures
import testtools

from nova_twotier.ledger import retry
from nova_twotier.ledger.placement import Conflict, StaleGeneration


class TestUntilFresh(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.pauses = []
        self.useFixture(fixtures.MonkeyPatch("time.sleep", self.pauses.append))
        self.tries = 0

    def failing(self, times, error):
        def write():
            self.tries += 1
            if self.tries <= times:
                raise error("409")
            return "written"

        return write

    def test_repeats(self):
        write = self.failing(retry.ATTEMPTS - 1, StaleGeneration)
        self.assertEqual("written", retry.until_fresh(write))
        self.assertEqual(retry.ATTEMPTS, self.tries)
        for number, pause in enumerate(self.pauses):
            self.assertLessEqual(pause, retry.PAUSE * 2**number)

    def test_gives_up(self):
        write = self.failing(99, StaleGeneration)
        self.assertRaises(StaleGeneration, retry.until_fresh, write)
        self.assertEqual((retry.ATTEMPTS, retry.ATTEMPTS - 1), (self.tries, len(self.pauses)))

    def test_no_room_is_final(self):
        self.assertRaises(Conflict, retry.until_fresh, self.failing(99, Conflict))
        self.assertEqual((1, []), (self.tries, self.pauses))
