"""Lists the cloud in background threads while the manager polls."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, wait
from typing import Generic, TypeVar

S = TypeVar("S")
T = TypeVar("T")

#: Requests of a manager's listings at the same time: for all servers, for the hosts, and, at its
#: first poll, for the claims, closed slots and new providers of all hosts.
AT_ONCE = 8


class Stopped(Exception):
    """Nobody waits for the listing any more."""


class Lister:
    """The threads of a manager's listings, for as long as it leads.

    A listing only reads, and what it finds counts only once a poll takes it.

    :param executor: None: whoever begins a listing makes it at once.
    """

    def __init__(self, executor: Executor | None = None):
        self._executor = executor
        self._stopping = threading.Event()

    def submit(self, read: Callable[[], T]) -> Future[T]:
        if self._executor is not None:
            return self._executor.submit(read)
        future: Future[T] = Future()
        try:
            future.set_result(read())
        except Exception as error:
            future.set_exception(error)
        return future

    def map(self, function: Callable[[S], T], items: Iterable[S]) -> list[T]:
        """Call a function for all items, several at the same time; its results in their order.

        All calls are over when it returns or raises, so that a poll may also write by it.

        :raises Exception: that of a call that failed; no further ones are begun then.
        """
        if self._executor is None:
            return [function(item) for item in items]
        futures = [self._executor.submit(function, item) for item in items]
        done, rest = wait(futures, return_when=FIRST_EXCEPTION)
        wait([future for future in rest if not future.cancel()])
        for future in done:
            future.result()
        return [future.result() for future in futures]

    def collect(self, items: Iterable[T]) -> list[T]:
        """All items, which may be read page by page.

        :raises Stopped: after the page under way, if the manager does not lead any more.
        """
        found = []
        for item in items:
            if self._stopping.is_set():
                raise Stopped
            found.append(item)
        return found

    def close(self) -> None:
        """Wait for the requests under way, and make no more."""
        self._stopping.set()
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)


class Listing(Generic[T]):
    """A listing that one poll begins and a later one takes; at most one is under way."""

    def __init__(self, lister: Lister):
        self._lister = lister
        self._future: Future[T] | None = None

    @property
    def under_way(self) -> bool:
        """Whether one was begun that nobody has taken yet."""
        return self._future is not None

    def begin(self, read: Callable[[], T], then: Callable[[], object] | None = None) -> None:
        """Begin one.

        :param then: called when it is done, from the thread that makes it.
        """
        self._future = future = self._lister.submit(read)
        if then is not None:
            future.add_done_callback(lambda _done: then())

    def drop(self) -> None:
        """Discard the listing under way, which may have been read before a change that counts."""
        self._future = None

    def take(self) -> T | None:
        """What was found; None if it is still under way, or there was none. Each is taken once.

        :raises Exception: the error with which it ended; once, too.
        """
        if self._future is None or not self._future.done():
            return None
        future, self._future = self._future, None
        return future.result()
