"""The manager of a run with a wrong clock believes it, and its waits do not."""

import pathlib
import sys
import time
import types

import fixtures
import testtools

from nova_twotier.tools.faults import clock


class TestClock(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.file = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "clock")
        clock.set_offset(self.file, 0)
        # Puts the right one back.
        self.useFixture(fixtures.MonkeyPatch("time.time", time.time))

    def test_the_manager_reads_the_wrong_time(self):
        seen = []

        def manager(arguments):
            seen.append(arguments)
            for offset in (7200, -7200, 0):
                clock.set_offset(self.file, offset)
                seen.append(round((time.time() - right()) / 100))
            return 3

        right = time.time
        fake = types.SimpleNamespace(main=manager)
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.cmd.manager", fake))
        argv = ["clock", str(self.file), "--config-file", "a.conf"]
        self.useFixture(fixtures.MonkeyPatch("sys.argv", argv))
        self.assertEqual(argv, sys.argv)
        self.assertEqual(3, clock.main())
        self.assertEqual([["--config-file", "a.conf"], 72, -72, 0], seen)
