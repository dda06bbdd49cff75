"""One manager a state directory."""

import fixtures
import testtools

from nova_twotier.manager.single import AlreadyRunning, single


class TestSingle(testtools.TestCase):
    def test_a_second_is_refused_and_told_who_is_there(self):
        path = self.useFixture(fixtures.TempDir()).path
        with single(path):
            error = self.assertRaises(AlreadyRunning, single(path).__enter__)
            self.assertIn("pid", str(error))
        with single(path):
            pass
