"""`twotier-api` and the WSGI module, as processes of their own on the loopback address."""

import base64
import json
import os
import signal
import subprocess
import sys
import time

import fixtures
import requests

from nova_twotier.cmd import api
from tests.unit.api.case import KEYSTONE_OPTIONS
from tests.unit.cmd.case import apart_from_log
from tests.unit.cmd.server_case import ServerCase

#: What `openssl rand -base64 32` makes.
SECRET = base64.b64encode(bytes(32)).decode()


class TestServer(ServerCase):
    def test_it_serves_until_it_is_told_to_stop(self):
        self.start()
        headers = {"X-Auth-Token": "alice:demo"}
        jobs = f"{self.url}/v1/jobs"
        answer = requests.post(jobs, json={"size": 2}, headers=headers, timeout=60)
        self.assertEqual(201, answer.status_code)
        self.assertEqual(f"{jobs}/{answer.json()['uuid']}", answer.headers["Location"])
        self.assertEqual("twotier-api", answer.headers["Server"])
        in_pieces = requests.post(
            jobs,
            data=iter([b'{"size"', b": 1}"]),
            headers={**headers, "Content-Type": "application/json"},
            timeout=60,
        )
        self.assertEqual(201, in_pieces.status_code)
        self.stop()

    def test_a_log_rotation_does_not_end_it(self):
        self.start()
        self.server.send_signal(signal.SIGHUP)
        self.assertEqual(200, requests.get(f"{self.url}/healthcheck", timeout=60).status_code)
        self.stop()

    def submit_with_webhook(self):
        webhook = {"webhook": "https://hooks.example.org/a", "webhook_secret": SECRET}
        headers = {"X-Auth-Token": "alice:demo"}
        jobs = f"{self.url}/v1/jobs"
        answer = requests.post(jobs, json={"size": 1, **webhook}, headers=headers, timeout=60)
        return answer.status_code

    def test_webhooks_can_be_allowed_while_it_runs(self):
        self.start()
        self.assertEqual(400, self.submit_with_webhook())
        with self.conf.open("a") as file:
            file.write("[job_events]\nallowed_webhooks = https://hooks.example.org/\n")
        self.server.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 180
        while self.submit_with_webhook() != 201:
            self.assertLess(time.monotonic(), deadline, "it was not reloaded")
            time.sleep(0.1)
        # What cannot be used changes nothing.
        self.conf.write_text("[api]\nthreads = many\n")
        self.server.send_signal(signal.SIGHUP)
        self.assertEqual(201, self.submit_with_webhook())
        self.stop()

    def test_the_largest_body_is_decided_by_one_option(self):
        self.start("[oslo_middleware]\nmax_request_body_size = 1000")
        headers = {"X-Auth-Token": "alice:demo"}
        for size, status in ((1000, 201), (1001, 413)):
            body = json.dumps({"size": 1}).ljust(size)
            answer = requests.post(
                f"{self.url}/v1/jobs",
                data=body,
                headers={**headers, "Content-Type": "application/json"},
                timeout=60,
            )
            self.assertEqual(status, answer.status_code)

    def test_an_address_that_is_taken(self):
        self.start()
        taken = [sys.executable, "-m", "nova_twotier.cmd.api", "--config-file", str(self.conf)]
        second = subprocess.run(taken, capture_output=True, text=True, timeout=180)
        self.assertEqual(1, second.returncode)
        self.assertIn("twotier-api: [Errno 98] Address already in use", second.stderr)


class TestModule(ServerCase):
    def test_it_reads_the_directory_that_the_environment_names(self):
        self.configure("auth_strategy = keystone", KEYSTONE_OPTIONS)
        script = (
            "import wsgiref.util\n"
            "from nova_twotier.api import wsgi\n"
            "environ = {}\n"
            "wsgiref.util.setup_testing_defaults(environ)\n"
            "print(wsgi.application(environ, lambda status, _headers: print(status)))\n"
        )
        ran = self.run_script(script)
        self.assertEqual(0, ran.returncode, ran.stderr)
        self.assertIn("200 OK", ran.stdout)
        self.assertTrue((self.directory / "twotier.sqlite").exists())

    def test_noauth_is_for_the_command_only(self):
        self.configure("auth_strategy = noauth")
        ran = self.run_script("import nova_twotier.api.wsgi")
        self.assertNotEqual(0, ran.returncode)
        self.assertIn("ConfigError: [api]auth_strategy is noauth", ran.stderr)
        self.assertFalse((self.directory / "twotier.sqlite").exists())

    def run_script(self, script):
        environ = {**os.environ, "OS_TWOTIER_CONFIG_DIR": str(self.directory)}
        return subprocess.run(
            [sys.executable, "-c", script], env=environ, capture_output=True, text=True
        )


class TestMistakes(ServerCase):
    def refused(self, options):
        self.configure(options)
        error = self.useFixture(fixtures.StringStream("stderr")).stream
        self.useFixture(fixtures.MonkeyPatch("sys.stderr", error))
        self.assertEqual(1, api.main(["--config-file", str(self.conf)]))
        error.seek(0)
        return apart_from_log(error.read())

    def test_noauth_is_for_this_machine_only(self):
        for address in ("0.0.0.0", "::", "192.0.2.1", "cloud.test"):  # noqa: S104
            said = self.refused(f"auth_strategy = noauth\nlisten = {address}")
            self.assertIn("listen on 127.0.0.1", said)
            self.assertEqual(1, said.count("\n"))

    def test_keystone_is_not_configured(self):
        self.assertIn("[keystone_authtoken] has no auth_type", self.refused(""))

    def test_no_database_is_made(self):
        for options, words in (
            ("", "[keystone_authtoken] has no auth_type"),
            ("[keystone_authtoken]\nauth_type = password", "[keystone_authtoken]: Auth plugin"),
            ("auth_strategy = noauth\nrate_limit = often", "[api]rate_limit"),
            ("listen = nowhere.invalid", "[api]listen is 'nowhere.invalid', which is no address"),
            ("[nova]\ntimeout = long", "[nova]timeout"),
        ):
            said = self.refused(options)
            self.assertIn(words, said)
            self.assertEqual(1, said.count("\n"), said)
            self.assertEqual([self.conf], list(self.directory.iterdir()))

    def test_wrong_options(self):
        for options in ("auth_strategy = none", "threads = 0", "max_jobs_per_project = -2"):
            self.assertIn("twotier-api: configuration:", self.refused(options))
