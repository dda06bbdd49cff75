"""A leader is stopped between a look at the ledger and its next write; later writes are noted."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import testtools

from nova_twotier.tools.faults.proxy import Request
from nova_twotier.tools.faults.split import LedgerWatch

LOOK = Request("placement", "GET", "/allocations/job")
WRITE = Request("placement", "POST", "/allocations")


class TestLedgerWatch(testtools.TestCase):
    def setUp(self):
        super().setUp()
        argv = [sys.executable, "-c", "import time; time.sleep(600)"]
        self.process = subprocess.Popen(argv)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)

    def stopped(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        return status.rpartition(")")[2].split()[0] == "T"

    def test_stops_the_process_once_after_a_look(self):
        watch = LedgerWatch()
        watch.after(LOOK)
        watch.stop_at_next_look(self.process.pid)
        watch.after(WRITE)
        self.assertFalse(watch.stopped.is_set())
        watch.after(LOOK)
        self.assertTrue(watch.stopped.is_set())
        end = time.monotonic() + 60
        while not self.stopped() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertTrue(self.stopped())
        os.kill(self.process.pid, signal.SIGCONT)

    def test_notes_what_is_written_while_deposed(self):
        watch = LedgerWatch()
        for deposed in (False, True, False):
            watch.depose(deposed)
            watch.before(LOOK)
            watch.before(WRITE)
        self.assertEqual(["POST /allocations"], watch.writes)
