"""A `twotier-api` with a board in a process of its own, on a store that the test fills."""

import contextlib
import subprocess
import sys
import time
import uuid

import requests

from nova_twotier import conf as config
from nova_twotier.db.models import Event, Place
from nova_twotier.db.store import open_store
from nova_twotier.tools.fakecloud import inifile
from tests.cloud.waiting import wait_for
from tests.ports import free_port


class Api:
    """The API as a process, which can go away and come back on the same port.

    :param directory: for its database and its log.
    :param sections: of its configuration, besides those of the board.
    """

    def __init__(self, directory, auth_strategy="noauth", **sections):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = directory / "api.log"
        #: Of its configuration.
        self.file = directory / "nova-twotier.conf"
        api = {
            "auth_strategy": auth_strategy,
            "port": self.port,
            "board": "true",
            **sections.pop("api", {}),
        }
        default = {"state_path": directory, "debug": "true", **sections.pop("DEFAULT", {})}
        inifile.write(self.file, {"DEFAULT": default, "api": api, **sections})
        self._arguments = ["--config-file", str(self.file)]
        self.store = open_store(config.load(self._arguments, "test"))
        self._process = None

    def start(self):
        with self._log.open("a") as log:
            argv = [sys.executable, "-m", "nova_twotier.cmd.api", *self._arguments]
            self._process = subprocess.Popen(argv, stdout=log, stderr=log)

    def wait(self):
        """Return when it answers."""
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

    def submit(self, by, **body):
        """A new job of `user:project`."""
        return self.ask("POST", "/v1/jobs", by, json={"size": 1, **body})


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
