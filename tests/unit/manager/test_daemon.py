"""What signals do to the queue manager's process."""

import signal
import types
from concurrent.futures import Future
from functools import partial
from unittest import mock

import fixtures
import testtools

from nova_twotier.manager import daemon


class TestPolicy(testtools.TestCase):
    def test_it_has_the_factor_of_the_options(self):
        for name in ("Engine", "Candidate", "Listener", "placement_for"):
            self.useFixture(fixtures.MockPatchObject(daemon, name))
        conf = types.SimpleNamespace(
            manager=types.SimpleNamespace(policy="amcbf-deadline", deadline_factor=0.5),
            coordination=types.SimpleNamespace(lease=10.0),
        )
        with mock.patch.object(daemon, "Loop") as loops:
            daemon._loop(conf, None, "default", None, None)
        _candidate, _store, engine, *_rest = loops.call_args.args
        engine(conf.manager.policy, None, None, None)
        policy = daemon.Engine.call_args.args[4]
        self.assertEqual(("amcbf-deadline", 0.5), (policy.name, policy.factor))


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
            register_opts=lambda _options: None,
        )
        self.reloads = []
        self.looks = []
        loops = [
            types.SimpleNamespace(report_hang=partial(self.looks.append, pool))
            for pool in ("default", "gpu")
        ]
        running = [types.SimpleNamespace(done=lambda: False)]
        daemon._serve(conf, loops, running, lambda: None)
        return left

    def test_sigterm_ends_it(self):
        self.assertEqual([], self.serve(None, signal.SIGTERM))

    def test_meanwhile_it_looks_whether_loops_hang(self):
        self.serve(None, signal.SIGTERM)
        self.assertEqual(2 * ["default", "gpu"], self.looks)

    def test_sighup_reads_the_options_again(self):
        self.assertEqual([], self.serve(signal.SIGHUP, signal.SIGINT))
        self.assertEqual([1], self.reloads)

    def test_a_signal_that_was_never_sent_is_ignored(self):
        """CPython 3.11 returns garbage when SIGSTOP interrupts the wait."""
        self.assertEqual([], self.serve(430291936, signal.SIGTERM))


class Ended(Exception):
    """Raised in place of `os._exit`."""


class TestEnd(testtools.TestCase):
    """Polls in progress are finished, unless the database hangs."""

    HANGS = "WARNING [database] has not answered for 10 s: the queue manager stops without waiting"

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(format="%(levelname)s %(message)s"))
        self.useFixture(fixtures.MockPatchObject(daemon, "_CHECK_INTERVAL", 0.01))
        patch = fixtures.MockPatchObject(daemon.os, "_exit", side_effect=Ended)
        self.exit = self.useFixture(patch).mock
        self.loop = Future()

    def store(self, *waits):
        """One whose sessions have waited for so long, at one look after the other."""
        return types.SimpleNamespace(waited=mock.Mock(side_effect=waits))

    def test_what_is_slow_is_waited_for(self):
        waits = iter([9.0, 0.0, 9.0])

        def waited():
            if (seconds := next(waits, None)) is None:
                self.loop.set_result(None)
            return seconds or 0.0

        daemon._finish([self.loop], [types.SimpleNamespace(waited=waited)])
        self.exit.assert_not_called()
        self.assertEqual("", self.log.output)

    def test_a_database_that_hangs_is_not(self):
        stores = [self.store(0.0, 0.0, 0.0), self.store(9.0, 9.6, 10.1)]
        self.assertRaises(Ended, daemon._finish, [self.loop], stores)
        self.exit.assert_called_once_with(0)
        [line] = self.log.output.splitlines()
        self.assertTrue(line.startswith(self.HANGS), line)

    def test_a_failure_before_is_not_lost(self):
        failed = Future()
        failed.set_exception(ZeroDivisionError("a mistake"))
        self.assertRaises(Ended, daemon._finish, [self.loop, failed], [self.store(11.0)])
        self.exit.assert_called_once_with(1)
        self.assertIn("ZeroDivisionError: a mistake", self.log.output)

    def test_neither_is_what_ends_the_manager(self):
        def fail():
            try:
                raise ZeroDivisionError("a mistake")
            finally:
                daemon._finish([self.loop], [self.store(11.0)])

        self.assertRaises(Ended, fail)
        self.exit.assert_called_once_with(1)
        self.assertIn("ZeroDivisionError: a mistake", self.log.output)
