"""`twotier-api` and the WSGI module, as processes of their own on the loopback address."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import fixtures
import requests
import testtools

from nova_twotier.cmd import api
from tests.unit.api.case import KEYSTONE_OPTIONS


class ServerCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.conf = self.directory / "nova-twotier.conf"

    def configure(self, options, *sections):
        self.conf.write_text(
            f"[DEFAULT]\nstate_path = {self.directory}\n[api]\n{options}\n" + "".join(sections)
        )


class TestServer(ServerCase):
    def test_it_serves_until_it_is_told_to_stop(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.configure(f"auth_strategy = noauth\nport = {port}")
        server = subprocess.Popen(
            [sys.executable, "-m", "nova_twotier.cmd.api", "--config-file", str(self.conf)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.kill)
        url = f"http://127.0.0.1:{port}"
        self.wait_for(url, server)
        headers = {"X-Auth-Token": "alice:demo"}
        answer = requests.post(f"{url}/v1/jobs", json={"size": 2}, headers=headers, timeout=30)
        self.assertEqual(201, answer.status_code)
        self.assertEqual(f"{url}/v1/jobs/{answer.json()['uuid']}", answer.headers["Location"])
        self.assertNotIn(socket.gethostname(), answer.headers["Server"])
        in_pieces = requests.post(
            f"{url}/v1/jobs",
            data=iter([b'{"size": 1}']),
            headers={**headers, "Content-Type": "application/json"},
            timeout=30,
        )
        self.assertEqual(400, in_pieces.status_code)
        self.assertIn("Content-Length", in_pieces.json()["errors"][0]["detail"])
        server.send_signal(signal.SIGTERM)
        self.assertEqual(0, server.wait(30), server.stdout.read())

    def wait_for(self, url, server):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            self.assertIsNone(server.poll(), "the server has ended")
            try:
                return requests.get(url, timeout=5)
            except requests.ConnectionError:
                time.sleep(0.1)
        raise AssertionError("the server does not answer")


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
        return error.read()

    def test_noauth_is_for_this_machine_only(self):
        for address in ("0.0.0.0", "::", "192.0.2.1", "cloud.test"):  # noqa: S104
            said = self.refused(f"auth_strategy = noauth\nlisten = {address}")
            self.assertIn("listen on 127.0.0.1", said)
            self.assertEqual(1, said.count("\n"))

    def test_keystone_is_not_configured(self):
        self.assertIn("[keystone_authtoken] has no auth_type", self.refused(""))

    def test_wrong_options(self):
        for options in ("auth_strategy = none", "threads = 0", "max_jobs_per_project = -2"):
            self.assertIn("twotier-api: configuration:", self.refused(options))
