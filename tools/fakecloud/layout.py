"""Where the files of one fake cloud are: all below one directory."""

import contextlib
import fcntl
import json
import os
import pathlib
import shutil

from nova_twotier.tools.fakecloud.errors import FakeCloudError

# What `up` makes anew and `--purge` removes; nothing else in the directory is ours.
FRESH = ("etc", "db", "run", "images", "twotier")
KEPT = ("logs",)
FILES = ("cloud.json", "openrc", "nova-twotier.conf")


class Layout:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.etc = root / "etc"
        self.db = root / "db"
        self.run = root / "run"
        self.logs = root / "logs"
        self.state = root / "run" / "state.json"
        self.cloud_json = root / "cloud.json"
        self.openrc = root / "openrc"
        self.manager_conf = root / "nova-twotier.conf"
        #: The user's own options; they outlive the cloud.
        self.options = root / "options.conf"

    def log(self, service: str) -> pathlib.Path:
        return self.logs / f"{service}.log"

    def ready(self, service: str) -> pathlib.Path:
        return self.run / f"{service}.ready"

    def make_fresh(self) -> None:
        """Empty directories for a new cloud; the logs of the last one move to *.log.1."""
        self._remove_fresh()
        for name in FRESH + KEPT:
            (self.root / name).mkdir(parents=True, exist_ok=True)
        for log in self.logs.glob("*.log"):
            log.replace(log.with_suffix(".log.1"))

    def purge(self) -> None:
        """Remove what is ours, and the directory when nothing else is in it."""
        self._remove_fresh()
        for name in KEPT:
            shutil.rmtree(self.root / name, ignore_errors=True)
        self.options.unlink(missing_ok=True)
        (self.root / ".lock").unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.root.rmdir()

    def _remove_fresh(self) -> None:
        for name in FRESH:
            shutil.rmtree(self.root / name, ignore_errors=True)
        for name in FILES:
            (self.root / name).unlink(missing_ok=True)

    @contextlib.contextmanager
    def lock(self, waiting=None):
        """One `up` or `down` at a time; calls waiting() once when another one is at work."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            handle = open(self.root / ".lock", "w")  # noqa: SIM115 - closed by the with below
        except OSError as error:
            raise FakeCloudError(
                f"cannot write to {self.root}: {error.strerror}; choose another --dir"
            ) from error
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if waiting:
                    waiting()
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def read_state(self) -> dict | None:
        """What was recorded of the cloud; of a damaged record, that there was one."""
        try:
            return json.loads(self.state.read_text())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError:
            return {"status": "damaged", "settings": {}, "ports": {}, "processes": []}

    def write_state(self, state: dict) -> None:
        write_atomically(self.state, json.dumps(state, indent=2) + "\n")


def write_atomically(path: pathlib.Path, text: str, mode: int = 0o600) -> None:
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as handle:
        handle.write(text)
    scratch.replace(path)
