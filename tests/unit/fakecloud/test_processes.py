"""When a process of the fake cloud has ended."""

import os
import pathlib
import sys
import time

import fixtures
import testtools

from nova_twotier.tools.fakecloud import ports, processes

# The first thread ends at once, as it may in a process that is killed.
OUTLIVED = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""


class TestEnd(testtools.TestCase):
    def test_the_ports_of_an_ended_process_are_free(self):
        log = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / "log"
        listening = ports.listen_on(0)
        number = listening.getsockname()[1]
        argv = [sys.executable, "-c", OUTLIVED]
        process = processes.start("outlived", argv, log, {**os.environ}, [listening.fileno()])
        self.addCleanup(processes.stop, [process])
        listening.close()
        status = pathlib.Path(f"/proc/{process.pid}/status")
        deadline = time.monotonic() + 60
        while "zombie" not in status.read_text():
            self.assertLess(time.monotonic(), deadline, log.read_text())
            time.sleep(0.01)
        self.assertRaises(OSError, ports.listen_on, number)
        self.assertTrue(process.alive())
        processes.stop([process])
        self.assertFalse(process.alive())
        ports.listen_on(number).close()
