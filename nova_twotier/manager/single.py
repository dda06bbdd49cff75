"""At most one manager works on a state directory."""

import contextlib
import fcntl
import os
import pathlib
from collections.abc import Iterator


class AlreadyRunning(Exception):
    """Another manager holds the lock; the message says which process."""


@contextlib.contextmanager
def single(state_path: str) -> Iterator[None]:
    """Hold the directory's lock. The kernel lets go of it when the process dies, however it dies.

    :raises AlreadyRunning: if another process holds it.
    """
    path = pathlib.Path(state_path) / "manager.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            owner = lock.read().strip() or "unknown"
            raise AlreadyRunning(
                f"another manager (pid {owner}) works on {state_path}; stop it first"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
