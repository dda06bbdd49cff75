"""A log of all faults that were injected, and when: read it beside the other logs."""

import pathlib
import threading
import time
from collections import Counter


class Journal:
    """A line for each trouble, with the time of day as the logs have it; any thread may write."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()

    def write(self, kind: str, detail: str = "") -> None:
        """:param kind: what the trouble is counted as."""
        now = time.time()
        clock = time.strftime("%H:%M:%S", time.localtime(now))
        with self._lock:
            self.counts[kind] += 1
            with self.path.open("a") as stream:
                stream.write(f"{clock}.{now % 1 * 1000:03.0f} {kind} {detail}".rstrip() + "\n")
