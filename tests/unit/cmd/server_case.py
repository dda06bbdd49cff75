"""A real `twotier-api` process on the loopback address."""

import pathlib
import signal
import subprocess
import sys
import time

import fixtures
import requests
import testtools

from tests.ports import free_port


class ServerCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.conf = self.directory / "nova-twotier.conf"

    def configure(self, options, *sections):
        self.conf.write_text(
            f"[DEFAULT]\nstate_path = {self.directory}\n[api]\n{options}\n" + "".join(sections)
        )

    def start(self, options="", *sections, strategy="noauth"):
        """A server: its process, which ends with the test, and its address."""
        self.address = ("127.0.0.1", free_port())
        auth = f"auth_strategy = {strategy}"
        self.configure(f"{auth}\nport = {self.address[1]}\n{options}\n", *sections)
        self.server = subprocess.Popen(
            [sys.executable, "-m", "nova_twotier.cmd.api", "--config-file", str(self.conf)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.addCleanup(self.server.stdout.close)
        self.addCleanup(self.server.kill)
        self.url = f"http://127.0.0.1:{self.address[1]}"
        self.wait_for_server()

    def wait_for_server(self):
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            self.assertIsNone(self.server.poll(), "the server has ended")
            try:
                return requests.get(self.url, timeout=60)
            except requests.ConnectionError:
                time.sleep(0.1)
        raise AssertionError("the server does not answer")

    def stop(self):
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(0, self.server.wait(60), self.server.stdout.read())
