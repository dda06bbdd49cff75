"""A `twotier-api` of its own process with a board, on a store that the test fills, and Keystone."""

import contextlib
import http.server
import json
import socket
import subprocess
import sys
import threading
import time
import uuid

import requests

from nova_twotier import conf as config
from nova_twotier.db.models import Event, Place
from nova_twotier.db.store import open_store
from nova_twotier.tools.fakecloud import inifile
from tests.cloud.waiting import wait_for


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class Api:
    """The API as a process, which can go away and come back on the same port.

    :param directory: for its database and its log.
    :param sections: of its configuration, besides those of the board.
    """

    def __init__(self, directory, auth_strategy="noauth", **sections):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = directory / "api.log"
        self._file = directory / "nova-twotier.conf"
        api = {"auth_strategy": auth_strategy, "port": self.port, "board": "true"}
        inifile.write(
            self._file,
            {"DEFAULT": {"state_path": directory, "debug": "true"}, "api": api, **sections},
        )
        self._arguments = ["--config-file", str(self._file)]
        self.store = open_store(config.load(self._arguments, "test"))
        self._process = None

    def start(self):
        with self._log.open("a") as log:
            argv = [sys.executable, "-m", "nova_twotier.cmd.api", *self._arguments]
            self._process = subprocess.Popen(argv, stdout=log, stderr=log)
        wait_for(self._answers, f"the API does not answer; see {self._log}")

    def _answers(self):
        assert self._process.poll() is None, self.logged
        with contextlib.suppress(requests.ConnectionError):
            return requests.get(f"{self.url}/v1", timeout=10).ok

    @property
    def logged(self):
        return self._log.read_text()

    def stop(self):
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=30)
            self._process = None

    def close(self):
        self.stop()
        self.store.close()

    def ask(self, method, path, token, **rest):
        answer = requests.request(
            method, f"{self.url}{path}", headers={"X-Auth-Token": token}, timeout=30, **rest
        )
        assert answer.ok, answer.text
        return answer.json()

    def submit(self, token="alice:demo", **body):
        return self.ask("POST", "/v1/jobs", token, json={"size": 1, **body})


def change(store, job, **values):
    """What a manager does to a job."""
    with store.transaction() as session:
        row = session.merge(store.find(job["uuid"]))
        for name, value in values.items():
            setattr(row, name, value)


def wait(store, job, reason):
    """A manager decides that a job waits."""
    with store.transaction() as session:
        row = session.merge(store.find(job["uuid"]))
        row.reason = reason


def run(store, job, hosts, tier="fg", since=None):
    """A manager has started a job, a process on each of these hosts."""
    since = time.time() if since is None else since
    with store.transaction() as session:
        row = session.merge(store.find(job["uuid"]))
        row.state, row.tier, row.started_at, row.run_since = "running", tier, since, since
        row.how = "immediate"
        for process, host in enumerate(hosts):
            session.add(
                Place(
                    job=row.number,
                    process=process,
                    server=str(uuid.uuid4()),
                    host=host,
                    tier=tier,
                    slot=0,
                    since=since,
                )
            )


def happen(store, job, kind, reason=None, detail="", at=None):
    with store.transaction() as session:
        number = store.find(job["uuid"]).number
        at = time.time() if at is None else at
        session.add(Event(at=at, job=number, kind=kind, detail=detail, reason=reason))


class FakeKeystone:
    """The part of Keystone that logins and the validation of tokens need.

    :param users: name, password, project and roles of each.
    """

    def __init__(self, *users):
        self._users = {user: (password, project, roles) for user, password, project, roles in users}
        self._tokens = {}
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}/v3"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def revoke_all(self):
        self._tokens.clear()

    def login(self, body):
        """The id and the body of a token; None if the password is wrong."""
        user = body["auth"]["identity"]["password"]["user"]
        password, project, roles = self._users.get(user["name"], (None, None, None))
        if password is None or user["password"] != password:
            return None
        token = uuid.uuid4().hex
        domain = {"id": "default", "name": "Default"}
        self._tokens[token] = {
            "token": {
                "methods": ["password"],
                "user": {"id": user["name"], "name": user["name"], "domain": domain},
                "project": {"id": project, "name": project, "domain": domain},
                "roles": [{"id": role, "name": role} for role in roles],
                "issued_at": "2026-01-01T00:00:00.000000Z",
                "expires_at": "2096-01-01T00:00:00.000000Z",
                "catalog": [
                    {
                        "type": "identity",
                        "id": "identity",
                        "name": "keystone",
                        "endpoints": [
                            {"id": face, "interface": face, "region": "one", "url": self.url}
                            for face in ("public", "internal", "admin")
                        ],
                    }
                ],
            }
        }
        return token, self._tokens[token]

    def _handler(keystone):  # noqa: N805
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if found := keystone.login(body):
                    self.answer(201, found[1], found[0])
                else:
                    self.answer(401, {"error": {"code": 401, "message": "no", "title": "no"}})

            def do_GET(self):  # noqa: N802
                if not self.path.endswith("/auth/tokens"):
                    links = [{"rel": "self", "href": keystone.url}]
                    version = {"id": "v3.14", "status": "stable", "links": links}
                    self.answer(200, {"version": version})
                elif shown := keystone._tokens.get(self.headers["X-Subject-Token"]):
                    self.answer(200, shown, self.headers["X-Subject-Token"])
                else:
                    self.answer(404, {"error": {"code": 404, "message": "no", "title": "no"}})

            def answer(self, status, body, token=None):
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                if token:
                    self.send_header("X-Subject-Token", token)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                """Nothing: the log is the test's."""

        return Handler
