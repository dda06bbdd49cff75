"""When writes are repeated, and when credentials that were refused are tried again."""

import fixtures
import testtools
from keystoneauth1 import session, token_endpoint
from requests_mock.contrib import fixture as requests_mock_fixture

from nova_twotier.ledger import retry
from nova_twotier.ledger.placement import Conflict, PlacementError, StaleGeneration


class TestPatientPlacement(testtools.TestCase):
    """Placement answers, and `now` passes, as the test says."""

    def setUp(self):
        super().setUp()
        self.http = self.useFixture(requests_mock_fixture.Fixture())
        self.now = 100.0
        auth = token_endpoint.Token("http://placement", "token")
        self.placement = retry.PatientPlacement(session.Session(auth=auth), lambda: self.now)

    def refused_at(self, *times):
        """How often Placement was asked at these times."""
        before = self.http.call_count
        for self.now in times:
            error = self.assertRaises(PlacementError, self.placement.get, "/traits")
            self.assertTrue(error.login)
            self.assertIn("refused the credentials of [placement]: check username", str(error))
        return self.http.call_count - before

    def test_refused_credentials_are_not_tried_at_each_request(self):
        self.http.get("http://placement/traits", status_code=401)
        self.assertEqual(1, self.refused_at(100.0, 100.5))
        self.assertEqual(1, self.refused_at(101.0, 102.9))
        self.assertEqual(1, self.refused_at(103.0, 106.9))
        self.assertEqual(5, self.refused_at(*range(107, 107 + 8 + 16 + 32 + 60 + 60)))
        self.http.get("http://placement/traits", json={"traits": []})
        self.now += 60
        self.assertEqual({"traits": []}, self.placement.get("/traits"))
        self.http.get("http://placement/traits", status_code=401)
        self.assertEqual(2, self.refused_at(self.now, self.now + 1))

    def test_other_errors_are_tried_again_at_once(self):
        self.http.get("http://placement/traits", status_code=503)
        for _each in range(2):
            self.assertRaises(PlacementError, self.placement.get, "/traits")
        self.assertEqual(2, self.http.call_count)


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
