"""What a poll records and logs."""

import types

import fixtures
import testtools

from nova_twotier.core.reasons import waits
from nova_twotier.db.models import Job
from nova_twotier.manager.operations.operation import Note
from nova_twotier.manager.round import Round


class TestNotes(testtools.TestCase):
    def test_the_log_has_number_and_name(self):
        log = self.useFixture(fixtures.FakeLogger(format="%(message)s"))
        jobs = {3: Job(number=3, name="solver"), 4: Job(number=4, name="")}
        work = Round(
            seen=None,
            env=types.SimpleNamespace(now=1.0),
            jobs=jobs,
            plain_waiting={},
            behind_limit={},
            active=[],
            opened=[],
            mode="active",
            stand_alone={},
        )
        work.note(Note(3, "finished"), Note(4, "not started", waits.PAUSED()))
        self.assertEqual("", log.output)
        work.log()
        told = ["Job 3 (solver) finished", f"Job 4 not started: {waits.PAUSED()}"]
        self.assertEqual(told, log.output.splitlines())
        self.assertEqual([3, 4], [event.job for event in work.events])
