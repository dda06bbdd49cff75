"""The time to recover ends with the first record that a manager makes, and with no other."""

import pathlib
import time

import fixtures
import testtools

from nova_twotier.core.reasons import waits
from nova_twotier.db import migration
from nova_twotier.db.connection import connect
from nova_twotier.db.models import Job
from nova_twotier.db.store import Store
from nova_twotier.tools.faults.recovery import Recovery


class TestRecovery(testtools.TestCase):
    def setUp(self):
        super().setUp()
        file = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "queue.sqlite")
        url = f"sqlite:///{file}"
        engine = connect(url)
        migration.upgrade(engine)
        engine.dispose()
        self.store = Store(url)
        self.addCleanup(self.store.close)
        self.recovery = Recovery(self.store)
        self.recovery.start()
        self.addCleanup(self.recovery.join)
        self.addCleanup(self.recovery.over.set)

    def test_a_submission_is_no_decision_and_a_reason_is_one(self):
        number = self.store.submit(1, [0.5]).number
        self.recovery.ended("host")
        self.store.submit(1, [0.5])
        self.assertFalse(self.wait(0.5))
        with self.store.transaction() as session:
            session.get(Job, number).reason = waits.PAUSED()
        self.assertTrue(self.wait(60.0))
        [seconds] = self.recovery.seconds["host"]
        self.assertGreaterEqual(seconds, 0.5)

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.recovery.seconds:
            time.sleep(0.01)
        return bool(self.recovery.seconds)
