"""A fake cloud with the queue manager and its API, as processes on this machine."""

import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import requests

from nova_twotier.tools.fakecloud import FakeCloud

PATIENCE = 900.0
ROOT = pathlib.Path(__file__).parents[2]
Found = TypeVar("Found")


def wait_for(
    condition: Callable[[], Found], what: str, pause: float = 0.2, patience: float = PATIENCE
) -> Found:
    """What `condition` returns as soon as that is true.

    :raises RuntimeError: if it takes too long.
    """
    deadline = time.monotonic() + patience
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {patience:.0f} s in vain: {what}")
        time.sleep(pause)
    return found


class Site:
    """
    :param directory: of everything that it writes.
    :param options: of the manager and its API, as `SECTION.OPTION=VALUE`.
    :param plugin: whether its Nova has our filters, weighers and options.
    :ivar took: seconds until the cloud was ready.
    """

    def __init__(
        self,
        directory: pathlib.Path,
        hosts: int,
        slots: int,
        options: Sequence[str] = (),
        plugin: bool = True,
    ):
        self.directory = directory
        self._cloud = FakeCloud(
            directory / "cloud",
            progress=_say,
            hosts=hosts,
            slots=slots,
            set=options,
            plugin=plugin,
        )
        self._polls = directory / "polls"
        self._sessions = threading.local()
        self.took = 0.0

    @contextlib.contextmanager
    def up(self) -> Iterator["Site"]:
        began = time.monotonic()
        try:
            self.info = self._cloud.up()
            self.took = time.monotonic() - began
            self.nova = self.another_nova()
            yield self
        finally:
            self._cloud.down()

    @contextlib.contextmanager
    def manager(self, **options) -> Iterator[int]:
        """Its process, from its first poll on, with these options of `[manager]`."""
        self._polls.unlink(missing_ok=True)
        watched = "benchmarks.loading.watched", str(self._polls)
        with self.process("manager", watched, **options) as process:
            wait_for(lambda: self.polls() or process.poll() is not None, "a poll of the manager")
            yield process.pid

    @contextlib.contextmanager
    def process(
        self, name: str, module: Sequence[str] = ("nova_twotier.cmd.manager",), **options
    ) -> Iterator[subprocess.Popen]:
        """A manager with these options of `[manager]`, which is stopped at the end.

        :param module: the program, with its first arguments.
        """
        extra = self.directory / f"{name}.conf"
        extra.write_text(
            "[manager]\n" + "".join(f"{name} = {each}\n" for name, each in options.items())
        )
        with (self.directory / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(  # noqa: S603
                [
                    *(sys.executable, "-m", *module),
                    f"--config-file={self.info['files']['manager_conf']}",
                    f"--config-file={extra}",
                ],
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        try:
            yield process
        finally:
            process.terminate()
            process.wait()

    def polls(self) -> list[dict]:
        """Of each poll, when it began, in seconds since the epoch, and what `Stopwatch` says."""
        if not self._polls.exists():
            return []
        return [json.loads(line) for line in self._polls.read_text().splitlines()]

    @property
    def api_pid(self) -> int:
        return self.info["pids"]["twotier"]

    def another_nova(self):
        """A client of the administrator, for one thread."""
        return self._cloud.nova()

    def active(self, name: str) -> int:
        """Count the ACTIVE servers whose names begin with `name`, in Nova's database.

        To ask Nova's API would take time in which it boots servers.
        """
        path = self._cloud.layout.db / "nova_cell1.sqlite"
        query = (
            "SELECT count(*) FROM instances"
            " WHERE deleted = 0 AND vm_state = 'active' AND display_name LIKE ? || '%'"
        )
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            [(found,)] = connection.execute(query, (name,))
        return found

    @property
    def plain_flavor(self) -> str:
        """The id of a flavor for servers that belong to no job."""
        return next(
            flavor.id
            for flavor in self.nova.flavors.list(is_public=None)
            if flavor.name == self.info["plain_flavor"]
        )

    def log(self, name: str) -> pathlib.Path:
        """Of a process of `process`, or of the cloud."""
        own = self.directory / f"{name}.log"
        return own if own.exists() else self._cloud.layout.log(name)

    def api(self, method: str, path: str, **options) -> dict:
        """What the manager's API answers; from any thread."""
        if not hasattr(self._sessions, "http"):
            self._sessions.http = requests.Session()
            self._sessions.http.headers["X-Auth-Token"] = self.info["auth"]["token"]
        answer = self._sessions.http.request(
            method, self.info["urls"]["twotier"] + path, timeout=PATIENCE, **options
        )
        if not answer.ok:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()

    def manage(self, *words: str) -> subprocess.CompletedProcess:
        """`twotier-manage` with the configuration of the managers, whatever it returns."""
        return subprocess.run(  # noqa: S603
            [
                pathlib.Path(sys.executable).with_name("twotier-manage"),
                f"--config-file={self.info['files']['manager_conf']}",
                *words,
            ],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def command(self, *words: str) -> subprocess.CompletedProcess:
        """`openstack` as this cloud's administrator."""
        return subprocess.run(  # noqa: S603
            [
                *("sh", "-c", '. "$0" && exec "$@"', self.info["files"]["openrc"]),
                pathlib.Path(sys.executable).with_name("openstack"),
                *words,
            ],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )


def memory(pid: int) -> tuple[float, float]:
    """What a process has of it in MiB, and the most that it had."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return tuple(int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))


def cpu_seconds(pid: int) -> float:
    """What a process has used."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _say(text: str) -> None:
    print(f"cloud: {text}", file=sys.stderr, flush=True)
