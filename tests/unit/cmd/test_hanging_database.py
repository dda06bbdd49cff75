"""`twotier-api` while its database lets nobody write, and raises no error."""

import contextlib
import sqlite3
import threading

import requests

from tests.unit.cmd.server_case import ServerCase

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
