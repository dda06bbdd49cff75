"""What a replay refuses before it begins."""

import pathlib

import fixtures
import testtools

from nova_twotier.core.qos import NORMAL, SCAVENGER
from nova_twotier.tools.replay import run
from nova_twotier.tools.replay.errors import UsageError
from nova_twotier.tools.replay.run import Settings
from tests.unit.client.test_trace import LINE


class TestClasses(testtools.TestCase):
    """The classes of service of a trace whose jobs are all in queue 1."""

    def jobs(self, header, classes=True):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / "site.swf"
        path.write_text(header + LINE.format(1, 0, 5, 1, 1, 9))
        settings = Settings(path, path.parent, classes=classes)
        return run.fitted(run._read(settings), settings, 4)

    def test_only_if_they_are_asked_for(self):
        header = "; MaxProcs: 1\n; Queue: 1 scavenger\n"
        self.assertEqual([SCAVENGER], [job.qos for job in self.jobs(header)])
        self.assertEqual([NORMAL], [job.qos for job in self.jobs(header, classes=False)])

    def test_of_a_trace_without_any(self):
        error = self.assertRaises(UsageError, self.jobs, "; Queue: 1 express\n")
        self.assertIn("site.swf names no classes of service; its header", str(error))

    def test_scavengers_need_a_background(self):
        job = self.jobs("; MaxProcs: 1\n; Queue: 1 scavenger\n")[0]
        run.require_background("amcbf", [job])
        run.require_background("easy", self.jobs("", classes=False))
        error = self.assertRaises(UsageError, run.require_background, "easy", [job])
        self.assertIn("run in the background only, and easy does not use it", str(error))
