"""Base of all faults: a thread that causes one, and reports if it could not."""

import threading
from collections.abc import Iterable

from nova_twotier.tools.replay.errors import ReplayError


class Trouble(threading.Thread):
    """Base class; `make` is run in the thread, and ends early when `over` is set."""

    def __init__(self):
        super().__init__(name=type(self).__name__, daemon=True)
        self.over = threading.Event()
        self._error: Exception | None = None

    def make(self) -> None:
        raise NotImplementedError

    def run(self) -> None:
        try:
            self.make()
        except Exception as error:
            # Not hidden: raised in the main thread, by `check`.
            self._error = error

    def check(self) -> None:
        """:raises ReplayError: if something ended it that should not have."""
        if self._error:
            raise ReplayError(f"{self.name} failed: {self._error!r}") from self._error


class Troubles:
    """Several of them at once, from the entry to the exit."""

    def __init__(self, troubles: Iterable[Trouble]):
        self._troubles = list(troubles)

    def check(self) -> None:
        for trouble in self._troubles:
            trouble.check()

    def __enter__(self):
        for trouble in self._troubles:
            trouble.start()
        return self

    def __exit__(self, *_):
        for trouble in self._troubles:
            trouble.over.set()
        for trouble in self._troubles:
            trouble.join()
