"""`twotier-api` and `twotier-manager` while their database lets nobody write, without an error."""

import contextlib
import pathlib
import signal
import sqlite3
import subprocess
import sys
import threading

import fixtures
import requests
import testtools

from nova_twotier.db import terms
from tests.new_databases import new_store
from tests.unit.cmd.server_case import ServerCase
from tests.unit.cmd.test_manager import COMPLETE

ALICE = {"X-Auth-Token": "alice:demo"}


class TestHangingDatabase(ServerCase):
    def test_health_is_answered_while_all_threads_wait(self):
        self.start("threads = 1")
        # Shorter than a writer waits for SQLite.
        patience = 30
        database = sqlite3.connect(self.directory / "twotier.sqlite", isolation_level=None)
        self.addCleanup(database.close)
        database.execute("BEGIN IMMEDIATE")
        submitted = []
        thread = threading.Thread(target=lambda: submitted.append(self.submit().status_code))
        thread.start()
        try:
            while self.answers():
                pass
            for path in ("healthcheck", "healthcheck/"):
                answer = requests.get(f"{self.url}/{path}", timeout=patience)
                self.assertEqual(200, answer.status_code)
                self.assertEqual("pool default: no manager yet", answer.text)
            self.assertFalse(self.answers())
        finally:
            database.execute("ROLLBACK")
            thread.join()
        self.assertEqual([201], submitted)

    def submit(self):
        return requests.post(f"{self.url}/v1/jobs", json={"size": 1}, headers=ALICE, timeout=120)

    def answers(self):
        """Whether a thread is free for what needs no database."""
        with contextlib.suppress(requests.Timeout):
            return requests.get(self.url, timeout=1).ok
        return False


class TestManager(testtools.TestCase):
    def test_it_ends_nevertheless(self):
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        conf = directory / "nova-twotier.conf"
        conf.write_text(f"[DEFAULT]\nstate_path = {directory}\n{COMPLETE}")
        store = new_store(self, f"sqlite:///{directory}/twotier.sqlite")
        database = sqlite3.connect(directory / "twotier.sqlite", isolation_level=None)
        self.addCleanup(database.close)
        # A copied schema is not in this mode, without which nobody could open it meanwhile.
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("BEGIN IMMEDIATE")
        manager = subprocess.Popen(
            [sys.executable, "-m", "nova_twotier.cmd.manager", "--config-file", str(conf)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.addCleanup(manager.stdout.close)
        self.addCleanup(manager.wait)
        self.addCleanup(manager.kill)
        for line in manager.stdout:
            if "serves the pools" in line:
                break
        manager.send_signal(signal.SIGTERM)
        [*_others, last] = manager.stdout.read().splitlines()
        self.assertIn("[database] has not answered for 10 s: the queue manager stops", last)
        self.assertEqual(0, manager.wait(60))
        # What it was about to record is not, even when the database answers again.
        database.execute("ROLLBACK")
        self.assertEqual("", terms.leader_of(store, "default"))
