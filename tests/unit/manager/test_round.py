"""What a poll records and logs."""

import types

import fixtures
import testtools

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
        work.note(Note(3, "finished"), Note(4, "finished"))
        self.assertEqual("", log.output)
        work.log()
        lines = [line.strip() for line in log.output.splitlines()]
        self.assertEqual(["Job 3 (solver) finished", "Job 4 finished"], lines)
        self.assertEqual([3, 4], [event.job for event in work.events])
