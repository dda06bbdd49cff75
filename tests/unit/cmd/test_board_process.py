"""`twotier-api` with a board, which has a process of its own for what boards ask."""

import contextlib
import os
import pathlib
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import requests

from tests.unit.cmd.server_case import ServerCase

PATIENT = {"Cache-Control": "max-stale=4"}


class TestBoardProcess(ServerCase):
    def setUp(self):
        super().setUp()
        self.log = self.directory / "api.log"
        self.start("board = true\nmetrics = true", f"[DEFAULT]\nlog_file = {self.log}\n")
        self.others, self.boards = self.children()
        # If a test fails while one is stopped.
        self.addCleanup(self.kill, self.others, self.boards)

    def children(self):
        """The pids of the two child processes; the one for boards is started last."""
        pid = self.server.pid
        listed = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
        self.until(lambda: len(listed.read_text().split()) == 2)
        return list(map(int, listed.read_text().split()))

    def until(self, holds):
        deadline = time.monotonic() + 180
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)

    def kill(self, *pids):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def logged(self, pid, text):
        lines = self.log.read_text().splitlines()
        return [line for line in lines if f" {pid} " in line and text in line]

    def ask(self, path="/v1/queue/jobs", **headers):
        headers = {"X-Auth-Token": "alice:demo", "OpenStack-API-Version": "twotier 1.1", **headers}
        return requests.get(f"{self.url}{path}", headers=headers, timeout=60)

    def submit_with_webhook(self):
        body = {"size": 1, "webhook": "https://hooks.example.org/a", "webhook_secret": "A" * 44}
        headers = {"X-Auth-Token": "alice:demo"}
        jobs = f"{self.url}/v1/jobs"
        return requests.post(jobs, json=body, headers=headers, timeout=60).status_code

    def connections(self):
        """Those of the other process to the one for boards: its sockets of the local kind."""
        table = pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]
        local = {f"socket:[{line.split()[6]}]" for line in table}
        descriptors = pathlib.Path(f"/proc/{self.others}/fd")
        return sum(
            os.path.realpath(each).rpartition("/")[2] in local for each in descriptors.iterdir()
        )

    def is_listening(self):
        with contextlib.suppress(ConnectionError), socket.create_connection(self.address, 5):
            return True
        return False

    def test_it_answers_boards_and_nobody_else(self):
        os.kill(self.boards, signal.SIGSTOP)
        self.assertEqual(200, self.ask().status_code)
        before = self.connections()
        with ThreadPoolExecutor() as pool:
            patient = pool.submit(self.ask, **PATIENT)
            self.until(lambda: self.connections() > before)
            self.assertEqual(200, self.ask().status_code)
            self.assertFalse(patient.done())
            os.kill(self.boards, signal.SIGCONT)
            answer = patient.result()
        self.assertEqual(200, answer.status_code)
        self.assertEqual(self.ask().json(), answer.json())
        again = self.ask(**PATIENT, **{"If-None-Match": answer.headers["ETag"]})
        self.assertEqual(304, again.status_code)
        self.assertEqual(401, self.ask(**PATIENT, **{"X-Auth-Token": None}).status_code)

    def test_boards_are_answered_without_it_and_it_is_replaced(self):
        self.assertEqual(200, self.ask(**PATIENT).status_code)
        self.kill(self.boards)
        self.assertEqual(200, self.ask(**PATIENT).status_code)
        self.until(lambda: self.boards not in self.children())
        self.assertEqual(200, self.ask(**PATIENT).status_code)
        said = f"Process {self.boards}, which served boards, has ended with exit code -9"
        self.assertTrue(self.logged(self.server.pid, said))
        self.stop()

    def test_the_other_process_is_replaced(self):
        self.kill(self.others)
        self.until(lambda: self.others not in self.children())
        self.assertEqual(200, self.ask().status_code)
        self.assertEqual(200, self.ask(**PATIENT).status_code)
        self.stop()
        self.assertFalse(self.is_listening())

    def test_a_new_configuration_reaches_present_and_later_processes(self):
        with self.conf.open("a") as file:
            file.write("[job_events]\nallowed_webhooks = https://hooks.example.org/\n")
        self.assertEqual(400, self.submit_with_webhook())
        self.server.send_signal(signal.SIGHUP)
        self.until(lambda: self.submit_with_webhook() == 201)
        for pid in (self.server.pid, self.others, self.boards):
            self.until(lambda pid=pid: self.logged(pid, "Reloaded the options"))
        self.assertEqual([self.others, self.boards], self.children())
        self.kill(self.others)
        self.until(lambda: self.others not in self.children())
        self.assertEqual(201, self.submit_with_webhook())
        self.assertEqual(200, self.ask(**PATIENT).status_code)

    def test_what_is_asked_when_all_are_told_to_stop_is_answered(self):
        """As systemd does: a signal to each process, and that of the parent besides."""
        os.kill(self.boards, signal.SIGSTOP)
        before = self.connections()
        with ThreadPoolExecutor() as pool:
            asked = pool.submit(self.ask, **PATIENT)
            self.until(lambda: self.connections() > before)
            time.sleep(0.5)
            for pid in (self.others, self.boards, self.server.pid):
                os.kill(pid, signal.SIGTERM)
            time.sleep(0.5)
            os.kill(self.boards, signal.SIGCONT)
            self.assertEqual(200, asked.result().status_code)
        self.assertEqual(0, self.server.wait(60))

    def test_both_end_if_their_parent_is_killed(self):
        self.server.kill()
        self.until(lambda: not self.is_listening())

    def test_the_requests_of_both_are_counted(self):
        for headers in ({}, PATIENT, PATIENT):
            self.ask(**headers)
        counted = 'twotier_api_requests_total{method="GET",route="/v1/queue/jobs",status="200"} 3.0'
        self.assertIn(counted, requests.get(f"{self.url}/metrics", timeout=60).text)
