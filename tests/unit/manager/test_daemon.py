"""What signals do to the queue manager's process."""

import signal
import types

import fixtures
import testtools

from nova_twotier.manager import daemon


class TestSignals(testtools.TestCase):
    def serve(self, *numbers):
        """Serve until a signal ends it; returns the signals that were not received yet."""
        left = [number and types.SimpleNamespace(si_signo=number) for number in numbers]
        self.useFixture(
            fixtures.MonkeyPatch("signal.sigtimedwait", lambda _signals, _timeout: left.pop(0))
        )
        conf = types.SimpleNamespace(
            manager=types.SimpleNamespace(pools=["default"]),
            mutate_config_files=lambda: self.reloads.append(1),
        )
        self.reloads = []
        running = [types.SimpleNamespace(done=lambda: False)]
        daemon._serve(conf, running, lambda: None)
        return left

    def test_sigterm_ends_it(self):
        self.assertEqual([], self.serve(None, signal.SIGTERM))

    def test_sighup_reads_the_options_again(self):
        self.assertEqual([], self.serve(signal.SIGHUP, signal.SIGINT))
        self.assertEqual([1], self.reloads)

    def test_a_signal_that_was_never_sent_is_ignored(self):
        """CPython 3.11 returns garbage when SIGSTOP interrupts the wait."""
        self.assertEqual([], self.serve(430291936, signal.SIGTERM))
