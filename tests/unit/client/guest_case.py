"""A guest whose metadata service is an HTTP server of the test."""

import http.server
import json
import os
import pathlib
import subprocess
import threading

import fixtures
import testtools

from nova_twotier.client import peers
from nova_twotier.cloud import peers as cloud_peers
from nova_twotier.cloud.servers import JOB_KEY, Server
from nova_twotier.db.models import Job

UUID = "5e0f7b6c-0000-4000-8000-000000000001"
#: What the launcher of this test has in its own environment.
OURS = {"PATH", "PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}


def job(size=2, **values):
    """A job that runs for the first time."""
    given = {"uuid": UUID, "number": 12, "name": "solver", "walltime": 3600.0, "runs": 1}
    return Job(size=size, cpu=[], peers=True, **{**given, "run_since": 5.0, **values})


def server(addresses, metadata=None, index=0):
    """A server of the job with fixed addresses, and a floating one that is nobody's business."""
    found = [{"addr": address, "OS-EXT-IPS:type": "fixed"} for address in addresses]
    found.append({"addr": "203.0.113.9", "OS-EXT-IPS:type": "floating"})
    where = {"host": "a", "addresses": {"lan": found}, "metadata": metadata or {}}
    return Server(f"vm{index}", UUID, index, "ACTIVE", None, **where)


def gang(*addresses):
    return [server(each, index=index) for index, each in enumerate(addresses)]


class Service(fixtures.Fixture):
    """Nova's metadata service; `content` is what it answers, None that it is out of order."""

    def _setUp(self):
        self.content = None
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                content = service.content
                self.send_response(503 if content is None else 200)
                self.end_headers()
                self.wfile.write((content or "").encode())

            def log_message(self, *_args):
                """Nobody reads it."""

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}/openstack/latest/meta_data.json"


class GuestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.bin = self.directory / "bin"
        self.bin.mkdir()
        self.service = self.useFixture(Service())
        self.adopt(self.directory / "run it's")

    def adopt(self, run_directory):
        """Let the guest write what it knows into this directory."""
        self.run_directory = run_directory
        self.guest = peers.Guest(
            metadata=self.service.url,
            run=str(run_directory),
            labels=str(self.directory / "labels"),
            interval=0.05,
            patience=30,
            service_patience=0.2,
            refresh=0.1,
        )
        path = self.directory / "refresh"
        path.write_text(peers.reader_of(str(self.directory), self.guest))
        path.chmod(0o755)

    @property
    def environ(self):
        return {"PATH": f"{self.bin}:{os.environ['PATH']}"}

    def command(self, name, *lines):
        """A command of the guest that does what these lines say."""
        path = self.bin / name
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        path.chmod(0o755)

    @staticmethod
    def document(meta, rank=0, **others):
        """Nova's meta_data.json, with what could be mistaken for our keys."""
        content = {
            "uuid": "u-u-i-d",
            "meta": {JOB_KEY: UUID, **meta},
            "hostname": "tt-12-1",
            "name": '"twotier_env": "TWOTIER_SIZE=9" "launch_index": 7',
            "launch_index": rank,
            **others,
        }
        return json.dumps(content)

    def say(self, meta, rank=0, **others):
        """What the metadata service says from now on."""
        self.service.content = self.document(meta, rank, **others)

    def known(self, one, *addresses, rank=0):
        """The queue manager has told the guest where the others are."""
        self.say(cloud_peers.running(one, gang(*addresses)), rank)

    def refresh(self):
        """Exit status and output of one read."""
        path = self.directory / "refresh"
        done = subprocess.run([path], env=self.environ, capture_output=True, text=True)
        self.assertEqual("", done.stderr)
        return done.returncode, done.stdout.strip()

    def variables(self):
        """What a shell has after it has sourced the file."""
        command = ["/bin/sh", "-c", '. "$1/env" && env -0', "sh", self.run_directory]
        shown = subprocess.run(command, env=self.environ, capture_output=True, check=True).stdout
        pairs = (entry.partition("=")[::2] for entry in shown.decode().split("\0") if entry)
        return {name: value for name, value in pairs if name not in OURS}

    def peers(self):
        return (self.run_directory / "peers").read_text().splitlines()
