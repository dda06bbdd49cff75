"""What the API's log says of a database that hangs."""

import threading
import types

import fixtures
import testtools
from oslo_db.exception import DBError

from nova_twotier.api import hangs

HANGS = "WARNING [database] has not answered for 30 s: requests wait for it"
ANSWERS = "INFO [database] answers again"


class TestHangs(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(format="%(levelname)s %(message)s"))
        self.waited, self.error = 0.0, None
        store = types.SimpleNamespace(waited=lambda: self.waited, last_event=self.last_event)
        self.watched = hangs.HangReporter(self.application, store)

    def last_event(self):
        if self.error:
            raise self.error
        return 1

    def application(self, _environ, _start_response):
        return [b"answer"]

    def look(self, *waits):
        for self.waited in waits:
            self.watched.look()
        return self.log.output.splitlines()

    def test_it_is_said_once(self):
        self.assertEqual([], self.look(0.0, 29.0, 0.0))
        self.assertEqual([HANGS], self.look(30.0, 31.0, 32.0))
        self.assertEqual([HANGS, ANSWERS], self.look(0.0, 0.0))
        self.assertEqual([HANGS, ANSWERS] * 2, self.look(30.0, 0.0))

    def test_an_error_is_no_answer(self):
        self.error = DBError("Lost connection")
        self.assertEqual([HANGS], self.look(30.0, 0.0, 1.0))
        self.error = None
        self.assertEqual([HANGS, ANSWERS], self.look(0.0))

    def test_a_thread_looks(self):
        self.useFixture(fixtures.MockPatchObject(hangs, "INTERVAL", 0.0))
        waits, looked = iter([0.0, 31.0]), threading.Event()

        def waited():
            if (seconds := next(waits, None)) is None:
                looked.set()
                threading.Event().wait()  # for good: the thread has no end
            return seconds

        watched = hangs.HangReporter(self.application, types.SimpleNamespace(waited=waited))
        self.assertEqual([b"answer"], watched({}, None))
        self.assertTrue(looked.wait(60))
        self.assertEqual([HANGS], self.log.output.splitlines())

    def test_the_first_request_begins_to_look(self):
        self.useFixture(fixtures.MockPatchObject(hangs.threading, "Thread"))
        thread = hangs.threading.Thread
        for alive, begun in ((False, 1), (True, 1), (False, 2)):
            thread.return_value.is_alive.return_value = alive
            self.assertEqual([b"answer"], self.watched({}, None))
            self.assertEqual(begun, thread.return_value.start.call_count)
