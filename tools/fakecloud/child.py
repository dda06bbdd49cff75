"""What all children of the launcher share: their sockets, ready file and end."""

import gc
import os
import pathlib
import signal
import threading

RUN_DIR = "FAKECLOUD_RUN_DIR"
NAME = "FAKECLOUD_NAME"
_FD = "FAKECLOUD_FD_"


def environment(name: str, run_dir: pathlib.Path, fds: dict[str, int]) -> dict[str, str]:
    return {
        RUN_DIR: str(run_dir),
        NAME: name,
        **{f"{_FD}{name}": str(fd) for name, fd in fds.items()},
    }


def socket_fd(name: str) -> int:
    return int(os.environ[f"{_FD}{name}"])


def run_until_told_to_stop(name: str) -> None:
    """Say that the service answers, and leave at once when told: nothing here needs to be saved."""
    # What is there after the start stays: no use to visit it at each collection.
    gc.collect()
    gc.freeze()
    end = threading.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: end.set())
    pathlib.Path(os.environ[RUN_DIR], f"{name}.ready").touch()
    end.wait()
    os._exit(0)
