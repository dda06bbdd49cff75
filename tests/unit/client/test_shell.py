"""`openstack twotier ...` as a process of its own, against the API on a loopback port."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
from wsgiref import simple_server

import requests

from tests.unit.api.case import ApiCase

OPENSTACK = pathlib.Path(sys.executable).with_name("openstack")


class Quiet(simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass


class TestOpenStackClient(ApiCase):
    def setUp(self):
        super().setUp()
        server = simple_server.make_server("127.0.0.1", 0, self.application, handler_class=Quiet)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
        self.url = f"http://127.0.0.1:{server.server_port}"

    def start(self, *words, **environ):
        others = {name: value for name, value in os.environ.items() if name[:3] != "OS_"}
        running = subprocess.Popen(
            [OPENSTACK, *words],
            env={**others, "HOME": str(self.directory), **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Where the tests run in the background of a script, the shell has it ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        return running

    def openstack(self, *words, **environ):
        running = self.start(*words, **environ)
        out, error = running.communicate(timeout=120)
        return subprocess.CompletedProcess(words, running.returncode, out, error)

    def test_without_keystone(self):
        ran = self.openstack(
            *("--os-auth-type", "none", "--os-endpoint", self.url),
            *("twotier", "job", "create", "--size", "2", "--name", "first", "-f", "json"),
        )
        self.assertEqual((0, ""), (ran.returncode, ran.stderr))
        job = json.loads(ran.stdout)
        self.assertEqual(("first", "queued"), (job["name"], job["state"]))
        self.assertEqual(2, self.store.find(job["uuid"]).size)

    def test_names_that_the_terminal_cannot_show(self):
        """The job is submitted: an error would have a script submit it again."""
        job = ("twotier", "job")
        as_alice = {
            "OS_AUTH_TYPE": "admin_token",
            "OS_TOKEN": "alice:demo",
            "OS_ENDPOINT": self.url,
            "PYTHONIOENCODING": "ascii",
        }
        ran = self.openstack(*job, "create", "--size", "1", "--name", "größe", **as_alice)
        self.assertEqual((0, ""), (ran.returncode, ran.stderr))
        self.assertEqual("Job 1 (gr\\xf6\\xdfe) is queued, 1st in the queue.\n", ran.stdout)
        for style in ("table", "csv", "value"):
            ran = self.openstack(*job, "list", "-f", style, **as_alice)
            self.assertEqual((0, ""), (ran.returncode, ran.stderr), style)
            self.assertIn("gr\\xf6\\xdfe", ran.stdout, style)

    def test_an_endpoint_of_its_own(self):
        self.submit(by="alice:demo", name="first")
        ran = self.openstack(
            *("twotier", "job", "cancel", "first", "second", "-f", "value", "-c", "Asked To"),
            OS_AUTH_TYPE="admin_token",
            OS_TOKEN="alice:demo",
            OS_ENDPOINT="http://127.0.0.1:9/",
            OS_TWOTIER_ENDPOINT=self.url,
        )
        self.assertEqual((1, "cancel\n"), (ran.returncode, ran.stdout))
        self.assertEqual("second: there is no job 'second' in your project\n", ran.stderr)

    def test_following_ends_quietly_when_it_is_interrupted(self):
        self.submit(by="alice:demo", name="first")
        command = (
            *("--os-auth-type", "admin_token", "--os-token", "alice:demo"),
            *("--os-endpoint", self.url, "twotier", "event", "list", "--follow", "--limit", "1"),
            *("-f", "value", "-c", "Number", "-c", "Event"),
        )
        running = self.start(*command)
        self.assertEqual("1 submitted\n", running.stdout.readline())
        self.submit(by="alice:demo", name="second")
        self.assertEqual("2 submitted\n", running.stdout.readline())
        running.send_signal(signal.SIGINT)
        self.assertEqual(("", ""), running.communicate(timeout=60))
        self.assertEqual(130, running.returncode)

    def test_the_board_is_served_until_it_is_interrupted(self):
        self.submit(by="alice:demo", name="first")
        running = self.start(
            *("--os-auth-type", "admin_token", "--os-token", "alice:demo"),
            *("--os-endpoint", self.url, "twotier", "board"),
        )
        address, _sharp, fragment = running.stdout.readline().strip().partition("#")
        headers = {"X-Auth-Token": fragment.removeprefix("secret=")}
        jobs = f"{address.removesuffix('/board')}/v1/jobs"
        answer = requests.get(jobs, headers=headers, timeout=60)
        self.assertEqual(["first"], [job["name"] for job in answer.json()["jobs"]])
        self.assertEqual(401, requests.get(jobs, timeout=60).status_code)
        running.send_signal(signal.SIGINT)
        out, error = running.communicate(timeout=60)
        self.assertEqual(("", 0), (out, running.returncode))
        self.assertEqual("The board has ended.", error.splitlines()[-1])
