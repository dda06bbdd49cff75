"""Our commands do not print the warning of Eventlet, which a library of theirs imports."""

import subprocess
import sys

import testtools

WARN = "import warnings; import nova_twotier.cmd; warnings.warn({!r}, Warning)"


class TestWarnings(testtools.TestCase):
    def printed(self, text, *options):
        command = [sys.executable, *options, "-c", WARN.format(text)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stderr

    def test_only_that_of_eventlet_is_silent(self):
        text = "\nEventlet is deprecated. It is currently being maintained in bugfix mode"
        self.assertEqual("", self.printed(text))
        self.assertIn("Warning: another", self.printed("another"))
        self.assertIn("Eventlet", self.printed(text, "-W", "default"), "it was asked for")
